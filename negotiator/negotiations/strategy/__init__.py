"""The next move: accept, counter or walk away, as a pure function of one `StrategySituation`.

`opponent_model` estimates what the other side wants, `target_utility` how much to ask for now, `candidate_packages`
finds the package that asks for it, and `next_move` decides and judges the standing offer. The same situation gives
the same move, and no move lies below the walk-away value.
"""
