"""Cues: what people say in a negotiation, and when a card answers it. Pure: vectors and times are arguments.

`families/*.toml` are the cues with example phrasings, `neutral.toml` sentences that mean none; `catalogue` reads and
checks both. `matcher` finds cues by phrases and by the `classifier` over sentence vectors; `policy` decides which cards
stand on the screen.
"""
