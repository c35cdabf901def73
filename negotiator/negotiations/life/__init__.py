"""What happens to a negotiation: opened and edited (`changes`), moved (`moving`, `states`), told (`history`).

`states` is pure. Table: `negotiation_events`. Neighbours: `sessions` keeps what these change, `ledger`
adds the offers that move states by themselves.
"""
