"""The concession path for a negotiation with a person: where to open, which steps to make, and the next of them.

`people_values` lists the figures that people would name on an issue. `aims` decides where the path begins and ends on
each issue, `path` makes the steps between, `reading` says what the other side just did, and `move` weighs their
offer and chooses the next move. The battle plan and the next move read the same path, so they never disagree.
"""
