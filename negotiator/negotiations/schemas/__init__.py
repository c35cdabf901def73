"""What crosses the wire under `/api/negotiations`: bodies in, views out (contract §3).

`parts` holds the members of a negotiation, `session` the negotiation itself, `offer` the ledger's rows and state
moves, `advice` what leverage and next move take and give. Nothing here knows the database.
"""
