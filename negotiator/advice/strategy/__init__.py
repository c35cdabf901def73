"""The next move: accept, counter or walk away, as a pure function of one `StrategySituation`.

`preference_prior` says what the other side may want and `opponent_model` what they want by their offers.
`target_utility` says how much to ask for now, `candidate_packages` finds the package that asks for it, and `next_move`
decides and judges the standing offer. The same situation gives the same move, and no move lies below the walk-away
value.
"""
