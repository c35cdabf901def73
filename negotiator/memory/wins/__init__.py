"""Closed deals and what they saved: computed by the server, in decimals, losses included.

`savings` is the arithmetic, `recording` what happens to a win and the memory that tells of it, `results` what tactics
did for their owner; `/api/wins`. Table: `wins`. Neighbours: `benchmarks` compares them, `negotiations` cites them.
"""
