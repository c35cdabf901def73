"""Negotiations of one principal: terms, offers, states, and advice on them.

`routes` offers `/api/negotiations`; `queries` stores and loads a negotiation and its terms; `lifecycle` opens,
edits and moves it; `offers` records offers; `advice_routes` asks the engines `leverage` and `strategy`,
`plan_routes` makes battle plans and `tactic_routes` suggests tactics. `wording` has the words for values, packages and
totals, with `issue_words`, `unit_price`, `voice` and `plain_text`. Tables: `negotiations`, `negotiation_events`,
`offers`, `battle_plans`. The caller comes in with each call; agents and users are not imported.
"""
