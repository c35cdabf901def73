"""The ledger of offers: rows that are only ever added, and what stands of them.

`rows` keeps them, `standing` says what is live, superseded, withdrawn or expired (pure), `recording` adds one under
every rule of contract §3, `approval` decides what was held. Table: `offers`. Neighbours: `terms` and `sessions`.
"""
