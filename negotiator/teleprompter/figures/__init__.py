"""Numbers in speech: "forty two five", "net sixty", "ten percent off", and what they mean beside the limits.

`spoken` reads number words and digits into values, `figure` decides what each is (money, a percentage, days) from the
words around it, `limits` holds figures against a floor and a target given as plain values and says what to ask. Pure.
Neighbours: `cues.policy` shows the resulting card before any other; `negotiations` keeps the limits and the ledger.
"""
