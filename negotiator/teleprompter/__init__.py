"""A person is on a call; what is said comes in, and a card says what to answer.

`cues` turns what was said into cards and `figures` reads the numbers in it and holds them against limits; both are
pure. Neighbours: `negotiations` (the shelf of tactics, plans, the ledger), `memory` (sentence vectors).
"""
