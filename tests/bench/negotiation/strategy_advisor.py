"""The engine in the bench harness's form: one JSON view in, one JSON answer out."""

from __future__ import annotations

from typing import Any

from negotiator.advice.strategy.next_move import next_move
from negotiator.advice.strategy.situation import (
    StandingOffer,
    StrategyIssue,
    StrategyOffer,
    StrategyPreferences,
    StrategyProgress,
    StrategySituation,
    numeric_scale,
)


def advise(view: dict[str, Any]) -> dict[str, Any]:
    """Answer one view as the server would."""
    table = view["on_table"]
    preferences = view["my_preferences"]
    move = next_move(
        StrategySituation(
            issues=tuple(
                StrategyIssue(i["name"], tuple(i["values"]), numeric_scale(i["values"])) for i in view["issues"]
            ),
            my_preferences=StrategyPreferences(
                preferences["reservation_utility"],
                preferences["constant"],
                {n: [(v, u) for v, u in t] for n, t in preferences["part_worths"].items()},
            ),
            progress=StrategyProgress(**view["progress"]),
            history=tuple(StrategyOffer(**past) for past in view["history"]),
            on_table=None if table is None else StandingOffer(**table),
        )
    )
    return {
        "action": move.action,
        "offer": move.offer,
        "opponent_utility": {n: [[v, s] for v, s in t] for n, t in move.opponent_utility.items()},
    }
