"""Negotiation sessions, owned by a principal.

`sessions` keeps them; `routes` offers them under `/api/negotiations`. Table: `negotiations`. Knows nobody but the
store: who the caller is comes in with the call.
"""
