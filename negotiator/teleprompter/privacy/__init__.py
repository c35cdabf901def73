"""What may be heard, what is kept of it, and what nobody needs to keep: pure.

`redaction` takes cards, accounts, ids, numbers of people and secrets out of a text before it is stored or leaves the
house: `digits` reads runs of digits however they were said, `checks` proves them, `written` and `said` find the rest.
`consent` says whose words may be heard and when they are forgotten. Neighbours: `hearing`, which redacts all it hears.
"""
