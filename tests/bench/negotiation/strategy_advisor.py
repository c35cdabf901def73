"""The engine in the bench harness's form: one JSON view in, one JSON answer out."""

from __future__ import annotations

from typing import Any

from negotiator.negotiations.strategy.move import next_move
from negotiator.negotiations.strategy.situation import (
    Issue,
    OnTable,
    Past,
    Preferences,
    Progress,
    Situation,
)


def advise(view: dict[str, Any]) -> dict[str, Any]:
    """Answer one view as the server would."""
    table = view["on_table"]
    preferences = view["my_preferences"]
    move = next_move(
        Situation(
            issues=tuple(Issue(i["name"], tuple(i["values"])) for i in view["issues"]),
            my_preferences=Preferences(
                preferences["reservation_utility"],
                preferences["constant"],
                {n: [(v, u) for v, u in t] for n, t in preferences["part_worths"].items()},
            ),
            progress=Progress(**view["progress"]),
            history=tuple(Past(**past) for past in view["history"]),
            on_table=None if table is None else OnTable(**table),
        )
    )
    return {
        "action": move.action,
        "offer": move.offer,
        "opponent_utility": {n: [[v, s] for v, s in t] for n, t in move.opponent_utility.items()},
    }
