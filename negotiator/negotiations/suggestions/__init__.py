"""Tactics that fit here and now, and the user's own tactics beside the built-in shelf.

`situation` turns terms, ledger and leverage into what a suggestion may rest on; `own` keeps the user's tactics (table
`tactics`); `answers` is the contract's Suggestions; `routes` offers `/api/tactics` and the two suggestion operations.
The shelf and the ranking are `tactics`, the terms and the ledger belong to the negotiation. An agent's tactic
moves to its user on a claim and goes with its principal.
"""
