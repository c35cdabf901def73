"""Negotiations, owned by a principal: sessions, their ledgers, and advice on them.

`routes` offers `/api/negotiations`; `session` is one inside a unit and `sessions` keeps them; `life` opens, edits and
moves them and tells what happened; `ledger` holds the offers; `terms` are a negotiation as pure values; `advice` asks
the engines `leverage` and `strategy` over `preferences`. Tables: `negotiations`, `negotiation_events`, `offers`. Knows
nobody but the store: who the caller is comes in with the call.
"""
