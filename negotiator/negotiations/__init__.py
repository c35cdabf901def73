"""Negotiations of one principal: terms, offers, states, and advice on them.

`routes` offers `/api/negotiations`; `queries` stores and loads a negotiation and its terms; `lifecycle` opens,
edits and moves it; `offers` records offers; `limits` says which packages the user may agree to. `advice_routes` answers
leverage and the next move: `person_advice` asks the engine `concession` where a person is on the other side,
`engine_input` asks `strategy` where it is a program. `plan_routes` makes battle plans, which show the steps of
`concession`, `tactic_routes` suggests tactics, and `tactic_recogniser` hears those of
the other side. `wording` has the words for values, packages and totals, with
`issue_words`, `unit_price`, `voice` and `plain_text`. Tables: `negotiations`, `negotiation_events`, `offers`,
`battle_plans`. The caller comes in with each call; agents and users are not imported.
"""
