"""What the other side's offers tell about what they accept: their demand now, their steps, and their own offers again.

Who bargains accepts, with few exceptions, what they would offer themselves. So the least that they accept is tied, in
every hypothesis, to the worth of their latest offers (their demand), and an own past offer that is worth as much to
them as their latest ones is the safest package to propose near the end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from negotiator.advice.strategy.opponent_model import ANSWER_SPREAD, OpponentModel
from negotiator.advice.strategy.preference_prior import Floats
from negotiator.advice.strategy.situation import OfferValues, StrategyOffer, StrategySituation, ValueKey, typed_key

# Measured by make bench-strategy: what the negotiators of the strong pool accept at the end, beside what they offer.
DEMAND_WINDOW = 4  # their latest offers, the least of which is their demand
STEP_WINDOW = 3  # rounds over which their steps are averaged
STEP_GROWTH = 1.2  # their next step as a multiple of the average of the last ones
UNSEEN_STEP = 0.4  # how much they may still fall without a sign of it, over a whole negotiation
DEMAND_MARGIN = 0.02  # they accept a little less than they ask for
RECALL_CHANCE = 0.95
REFUSED_RECALL_CHANCE = 0.1
SILENT_ROUNDS = 20  # from so many rounds on, one offer said again and again is no sign of what they accept at the end
SILENT_END_CHANCE = 0.35
TREND_SHARE = 0.5  # of a rise over the last offers, the part expected of the next one


@dataclass(frozen=True, slots=True)
class Demand:
    """By hypothesis: `now`, the worth of the least of their latest offers, and `step`, its fall per round."""

    now: Floats
    step: Floats


@dataclass(frozen=True, slots=True)
class RecalledOffer:
    """A past offer of theirs to propose again, its utility to me, and the probability that they accept it."""

    offer: OfferValues
    my_utility: float
    chance: float


def read_demand(situation: StrategySituation, belief: OpponentModel) -> Demand | None:
    """The demand that their offers show; None before their first complete offer."""
    worths = [worth for past in situation.theirs if (worth := belief.of(past.offer)) is not None]
    if not worths:
        return None
    lows = np.minimum.accumulate(np.array(worths), axis=0)
    back = min(STEP_WINDOW, len(lows) - 1)
    step = (lows[-1 - back] - lows[-1]) / max(1, back)
    return Demand(np.min(worths[-DEMAND_WINDOW:], axis=0), step)


def least_accepted(situation: StrategySituation, belief: OpponentModel, times: Floats) -> Floats:
    """The least utility that they accept, hypotheses by times.

    It follows the curve of the hypothesis between the demand of their latest offers and where their steps lead.
    """
    least = belief.least(times)
    demand = read_demand(situation, belief)
    if demand is None:
        return least
    span = situation.progress.rounds + 1.0
    ahead = np.maximum(0.0, times - (situation.progress.step + 1.0) / span)
    most = demand.now[:, None] - DEMAND_MARGIN
    fall = STEP_GROWTH * demand.step[:, None] * (ahead * span + 1.0) + UNSEEN_STEP * ahead
    return np.clip(least, most - fall, most)


def recalled_offer(situation: StrategySituation, belief: OpponentModel) -> RecalledOffer | None:
    """The past offer of theirs with the best expected gain when I propose it; None when none beats no agreement."""
    demand = read_demand(situation, belief)
    floor = situation.my_preferences.reservation_utility
    if demand is None:
        return None
    latest = {_sign(situation, past) for past in situation.theirs[-DEMAND_WINDOW:]}
    refused = _recently_refused(situation)
    found: dict[tuple[ValueKey, ...], RecalledOffer] = {}
    for past in situation.theirs:
        worth, sign = belief.of(past.offer), _sign(situation, past)
        if worth is None or sign in found or past.my_utility < floor:
            continue
        near = (worth - demand.now + ANSWER_SPREAD) / ANSWER_SPREAD
        share = 1.0 if sign in latest else float((1.0 / (1.0 + np.exp(-near))).mean())
        chance = share * (REFUSED_RECALL_CHANCE if refused else RECALL_CHANCE)
        found[sign] = RecalledOffer(past.offer, past.my_utility, chance)
    return max(found.values(), key=lambda one: one.chance * (one.my_utility - floor), default=None)


def _recently_refused(situation: StrategySituation) -> bool:
    """Whether they have lately refused an own past offer, as those do who accept by chance."""
    offered: set[tuple[ValueKey, ...]] = set()
    since = situation.progress.step - DEMAND_WINDOW
    for past in situation.history:
        sign = _sign(situation, past)
        if past.by == "them":
            offered.add(sign)
        elif sign in offered and past.step >= since:
            return True
    return False


def _sign(situation: StrategySituation, past: StrategyOffer) -> tuple[ValueKey, ...]:
    return tuple(typed_key(past.offer[issue.name]) for issue in situation.issues if issue.name in past.offer)


def silent_end_chance(situation: StrategySituation) -> float:
    """The probability that somebody who has said one offer only all along takes anything at the last word."""
    said = {_sign(situation, past) for past in situation.theirs}
    silent = len(situation.theirs) >= SILENT_ROUNDS and len(said) == 1
    return SILENT_END_CHANCE if silent else 0.0


def expected_last_offer(situation: StrategySituation) -> float | None:
    """My expected gain from the last offer that they will make; None before their first offer.

    Somebody whose offers rise goes on rising; otherwise it is the mean of their latest offers, not the best of them,
    which may be long gone.
    """
    floor = situation.my_preferences.reservation_utility
    gains = [past.my_utility - floor for past in situation.theirs[-DEMAND_WINDOW:]]
    if not gains:
        return None
    if len(gains) >= 3 and gains[-3] <= gains[-2] <= gains[-1] and gains[-1] > max(0.0, gains[-3]):
        return gains[-1] + TREND_SHARE * (gains[-1] - gains[-3]) / 2.0
    return float(np.mean([max(0.0, gain) for gain in gains]))
