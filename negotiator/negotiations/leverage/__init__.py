"""How strong each side is, in numbers: position, split power, solution points, concessions.

Owns arithmetic only; `assess` puts the parts together. Below it is `preferences` (one side's
utility); above it the negotiation's routes and the battle plan. No paths, no tables, no web.
"""
