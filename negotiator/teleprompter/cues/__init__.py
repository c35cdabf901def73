"""From what was said to what is shown: which cue it is, and whether a card is worth the glance.

`families/*.toml` are the cues with the ways people say them, `neutral.toml` the talk that must stay silent; `catalogue`
reads and checks both. `rules` finds fixed patterns of words, `head` weighs a sentence vector against the phrasings, and
`matcher` joins the two; `policy` decides over time what stands on the screen. All pure: vectors are handed in, so is
the time. Neighbours: `negotiations.tactics` (the shelf a cue points to, the pattern language), `figures` (numbers).
"""
