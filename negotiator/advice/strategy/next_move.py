"""Advice for one turn: accept, counter or walk away.

An offer is accepted when it is worth at least my own next offer (AC_next), when I have the last word, or, in the last
round and in a negotiation without an end, when it is worth at least the expected value of continuing (cf. AC_combi,
Baarslag et al. 2014). An offer below the reservation utility is never accepted. A last word that cannot be an
acceptance is one more offer, in case it is still answered.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from negotiator.advice.strategy.candidate_packages import (
    CandidatePackages,
    best_for_them,
    equivalent_packages,
    weigh_candidates,
)
from negotiator.advice.strategy.opponent_model import OpponentModel, learn_opponent_model
from negotiator.advice.strategy.situation import OfferValues, Scalar, StandingOffer, StrategySituation
from negotiator.advice.strategy.target_utility import TargetPlan, plan_target

CLOSING_ROUNDS = 1
ACCEPTANCE_MARGIN = {"balanced": 0.0, "firm": 0.03, "cooperative": -0.03}


@dataclass(frozen=True, slots=True)
class AcceptanceVerdict:
    """Whether to accept, and a sentence that gives the reason."""

    accept: bool
    reason: str


def judge_acceptance(situation: StrategySituation, plan: TargetPlan, ask: float) -> AcceptanceVerdict:
    """Compare the offer on the table with my next offer, of utility `ask`, and with the expected value of the plan."""
    table = situation.on_table
    floor = situation.my_preferences.reservation_utility
    if table is None:
        return AcceptanceVerdict(False, "There is no offer on the table yet.")
    if not table.my_utility >= floor:
        return AcceptanceVerdict(False, "Their offer is worth less to you than no agreement.")
    if table.my_utility >= ask:
        return AcceptanceVerdict(True, "Their offer is worth at least as much as what you would ask next.")
    if situation.progress.has_end and situation.offers_left <= 0:
        return AcceptanceVerdict(True, "This is the last word in the talk, and it beats no agreement.")
    ending = situation.progress.remaining <= CLOSING_ROUNDS or not situation.progress.has_end
    if ending and table.my_utility >= plan.value + ACCEPTANCE_MARGIN[situation.style]:
        return AcceptanceVerdict(True, "Going on is not expected to bring more than this offer does.")
    return AcceptanceVerdict(False, "Going on is expected to bring more than their offer does.")


OpponentScores = dict[str, list[tuple[Scalar, float]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class NextMove:
    """The advice, with the members of the response.

    `action` is accept, counter or walk_away. `offer` is the package to propose or accept, None when walking away, and
    `my_utility` its utility. `acceptance_probability` is estimated (1 for accept, 0 for walk_away). `reasons` are for
    the user; `say` is for the other side and contains no private number. `opponent_utility` is the estimated part-worth
    of every value of every issue. `floor` is the reservation utility.
    """

    action: str
    offer: OfferValues | None = None
    my_utility: float | None = None
    alternatives: list[dict[str, Scalar]] = field(default_factory=list[dict[str, Scalar]])
    acceptance_probability: float
    reasons: list[str]
    say: str
    opponent_utility: OpponentScores
    floor: float
    approximate: bool = False


def next_move(situation: StrategySituation) -> NextMove:
    """The advice for one turn; never a package below the reservation utility."""
    belief = learn_opponent_model(situation)
    packages = weigh_candidates(situation, belief)
    floor = situation.my_preferences.reservation_utility
    if not bool(np.any(packages.mine >= floor)):
        return _without_room(situation, belief)
    plan = plan_target(situation, packages, belief)
    offer, ask = _next_offer(packages, plan)
    verdict = judge_acceptance(situation, plan, ask)
    if verdict.accept and situation.on_table is not None:
        return _accept(situation, situation.on_table, belief, verdict.reason)
    return _counter(packages, belief, plan, (offer, ask), verdict.reason)


def _next_offer(packages: CandidatePackages, plan: TargetPlan) -> tuple[OfferValues, float]:
    """The package to propose, and its utility to me."""
    if plan.offer is not None:
        return plan.offer, plan.target
    chosen = best_for_them(packages, plan.target)
    if chosen is None:
        chosen = int(np.argmax(packages.mine))
    return packages.offer(chosen), float(packages.mine[chosen])


def _without_room(situation: StrategySituation, belief: OpponentModel) -> NextMove:
    table = situation.on_table
    if table is not None and table.my_utility >= situation.my_preferences.reservation_utility:
        return _accept(situation, table, belief, "No package you listed does better than their offer.")
    return NextMove(
        action="walk_away",
        acceptance_probability=0.0,
        reasons=["No package is worth as much to you as no agreement."],
        say="Thank you for your time. We do not see an agreement here today.",
        opponent_utility=_scores(situation, belief),
        floor=situation.my_preferences.reservation_utility,
    )


def _accept(situation: StrategySituation, table: StandingOffer, belief: OpponentModel, reason: str) -> NextMove:
    return NextMove(
        action="accept",
        offer=dict(table.offer),
        my_utility=table.my_utility,
        acceptance_probability=1.0,
        reasons=[reason],
        say="Thank you. That works for us; let us put it in writing.",
        opponent_utility=_scores(situation, belief),
        floor=situation.my_preferences.reservation_utility,
    )


def _counter(
    packages: CandidatePackages,
    belief: OpponentModel,
    plan: TargetPlan,
    proposal: tuple[OfferValues, float],
    reason: str,
) -> NextMove:
    situation = packages.situation
    offer, ask = proposal
    reasons = [] if situation.on_table is None else [reason]
    reasons.append(_choice(situation, offer))
    if situation.progress.has_end and situation.offers_left <= 0:
        reasons.append("It is your last word: leaving brings no more than a last offer does.")
    if packages.approximate:
        reasons.append("There are too many packages to weigh each; a sample was searched.")
    return NextMove(
        action="counter",
        offer=offer,
        my_utility=ask,
        alternatives=equivalent_packages(packages, offer, ask),
        acceptance_probability=plan.chance,
        reasons=reasons,
        say=_line(situation, offer),
        opponent_utility=_scores(situation, belief),
        floor=situation.my_preferences.reservation_utility,
        approximate=packages.approximate,
    )


def _choice(situation: StrategySituation, offer: OfferValues) -> str:
    """The sentence that says why it is this package."""
    if any(past.offer == offer for past in situation.theirs):
        return "They have offered it themselves, so they are likely to accept it again."
    return "Among packages this good for you, it is the one they should like best."


def _line(situation: StrategySituation, offer: OfferValues) -> str:
    """A sentence for the other side: the package, and the issues on which it takes their values."""
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


def _scores(situation: StrategySituation, belief: OpponentModel) -> OpponentScores:
    return {
        issue.name: [(v, float(s)) for v, s in zip(issue.values, table, strict=True)]
        for issue, table in zip(situation.issues, belief.mean, strict=True)
    }
