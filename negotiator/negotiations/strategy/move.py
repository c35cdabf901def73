"""The next move: one situation in, one piece of advice out."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from negotiator.negotiations.strategy.acceptance import judge
from negotiator.negotiations.strategy.offers import (
    Packages,
    alternatives,
    best_for_them,
    weigh_packages,
)
from negotiator.negotiations.strategy.opponent import Belief, read_belief
from negotiator.negotiations.strategy.situation import Offer, OnTable, Scalar, Situation
from negotiator.negotiations.strategy.target import Plan, make_plan

Scores = dict[str, list[tuple[Scalar, float]]]


@dataclass(frozen=True, slots=True)
class Move:
    """Advice in the shape of the contract's answer.

    `action` is accept, counter or walk_away. `offer` is the package to propose or accept, None
    when walking away. `my_utility` is what it is worth to me, `acceptance_probability` the
    estimated chance of a yes (1 for an acceptance, 0 for leaving). `reasons` are for me; `say`
    is for the other side and holds no private number. `opponent_utility` scores every value.
    """

    action: str
    offer: Offer | None
    my_utility: float | None
    alternatives: list[dict[str, Scalar]]
    acceptance_probability: float
    reasons: list[str]
    say: str
    opponent_utility: Scores
    floor: float
    approximate: bool = field(default=False)


def next_move(situation: Situation) -> Move:
    """Advise one turn; never proposes or accepts below the reservation utility."""
    belief = read_belief(situation)
    packages = weigh_packages(situation, belief)
    floor = situation.my_preferences.reservation_utility
    if not bool(np.any(packages.mine >= floor)):
        return _without_room(situation, belief)
    plan = make_plan(situation, packages, belief)
    chosen = best_for_them(packages, plan.target) if plan.package is None else plan.package
    if chosen is None:
        chosen = int(np.argmax(packages.mine))
    verdict = judge(situation, plan, float(packages.mine[chosen]))
    if verdict.accept and situation.on_table is not None:
        return _accept(situation, situation.on_table, belief, verdict.reason)
    if situation.progress.has_end and situation.offers_left <= 0:
        return _leave(situation, belief, [verdict.reason, "No further offer would be answered."])
    return _counter(packages, belief, plan, chosen, verdict.reason)


def _without_room(situation: Situation, belief: Belief) -> Move:
    table = situation.on_table
    if table is not None and table.my_utility >= situation.my_preferences.reservation_utility:
        return _accept(
            situation, table, belief, "No package you listed does better than their offer."
        )
    return _leave(situation, belief, ["No package is worth as much to you as no agreement."])


def _accept(situation: Situation, table: OnTable, belief: Belief, reason: str) -> Move:
    return Move(
        action="accept",
        offer=dict(table.offer),
        my_utility=table.my_utility,
        alternatives=[],
        acceptance_probability=1.0,
        reasons=[reason],
        say="Thank you. That works for us; let us put it in writing.",
        opponent_utility=_scores(situation, belief),
        floor=situation.my_preferences.reservation_utility,
    )


def _leave(situation: Situation, belief: Belief, reasons: list[str]) -> Move:
    return Move(
        action="walk_away",
        offer=None,
        my_utility=None,
        alternatives=[],
        acceptance_probability=0.0,
        reasons=reasons,
        say="Thank you for your time. We do not see an agreement here today.",
        opponent_utility=_scores(situation, belief),
        floor=situation.my_preferences.reservation_utility,
    )


def _counter(packages: Packages, belief: Belief, plan: Plan, chosen: int, reason: str) -> Move:
    situation = packages.situation
    offer = packages.offer(chosen)
    reasons = [] if situation.on_table is None else [reason]
    reasons.append("Among packages this good for you, it is the one they should like best.")
    if packages.approximate:
        reasons.append("There are too many packages to weigh each; a sample was searched.")
    return Move(
        action="counter",
        offer=offer,
        my_utility=float(packages.mine[chosen]),
        alternatives=alternatives(packages, chosen),
        acceptance_probability=plan.chance,
        reasons=reasons,
        say=_line(situation, offer),
        opponent_utility=_scores(situation, belief),
        floor=situation.my_preferences.reservation_utility,
        approximate=packages.approximate,
    )


def _line(situation: Situation, offer: Offer) -> str:
    """A sentence for the other side: the package, and what of theirs it keeps."""
    terms = ", ".join(f"{name}: {value}" for name, value in offer.items())
    table = situation.on_table
    kept = (
        []
        if table is None
        else [
            name
            for name, value in offer.items()
            if len(offer) > 1 and name in table.offer and table.offer[name] == value
        ]
    )
    if kept:
        return f"We can meet you on {', '.join(kept)}. Our proposal is {terms}."
    return f"Our proposal is {terms}."


def _scores(situation: Situation, belief: Belief) -> Scores:
    return {
        issue.name: [(v, float(s)) for v, s in zip(issue.values, table, strict=True)]
        for issue, table in zip(situation.issues, belief.mean, strict=True)
    }
