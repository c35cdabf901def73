"""Negotiations of one principal: states, offers, and the advice that the engines give on them.

`routes` offers `/api/negotiations`; `queries` stores and loads a negotiation and its terms; `lifecycle` opens, edits
and moves it; `offers` records offers. `advice_routes` answers leverage and the next move: `person_advice` asks the
engine where a person is on the other side, `engine_input` where it is a program. `plan_routes` makes battle plans,
`tactic_routes` suggests tactics, and `tactic_recogniser` hears those of the other side. Tables: `negotiations`,
`negotiation_events`, `offers`, `battle_plans`. The caller comes in with each call; agents and users are not imported.
"""
