"""What feedback teaches: each owner's own examples, and the head that has learned from them.

`examples` keeps them (the table `cue_examples`), `learned` is the arithmetic, loaded by whoever listens first, and
`heads` answers the head of an owner as it is now. What one owner teaches never reaches another's head. Neighbours:
`cues.head` (the method), `hearing` (asks for heads), `sessions` (feedback comes in there).
"""
