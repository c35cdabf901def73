"""Is there room for a deal, when their walk-away is only known as a spread?

Their walk-away is triangular over (low, likely, high). The same arithmetic serves a price and a
utility: `lower` says on which side of their walk-away a deal is acceptable to them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Literal

from negotiator.negotiations.terms import PriceOrUtility

MIN_UTILITY_STEP = 1e-9
"""A change of utility smaller than this is no change."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A quantity believed between `low` and `high`, most likely `likely`; equal ends: known."""

    low: float
    likely: float
    high: float

    def __post_init__(self) -> None:
        if not self.low <= self.likely <= self.high:
            raise ValueError("low <= likely <= high")


@dataclass(frozen=True, slots=True)
class ZopaEstimate:
    """P(ZOPA) and, given that there is one, the mean of their walk-away (None at probability 0)."""

    probability: float
    their_walk_away: float | None


@dataclass(frozen=True, slots=True)
class Zopa:
    """P(a zone of agreement), and its ends given that it exists: money, or my utility."""

    probability: float | None
    low: PriceOrUtility | None
    high: PriceOrUtility | None


@dataclass(frozen=True, slots=True)
class TheirWalkAway:
    """Their walk-away as assumed: money in a price talk, their own utility otherwise."""

    low: PriceOrUtility | None
    likely: PriceOrUtility | None
    high: PriceOrUtility | None


@dataclass(frozen=True, slots=True)
class Position:
    """Where both sides stand before any power is used."""

    zopa: Zopa
    my_walk_away: PriceOrUtility | None
    their_walk_away: TheirWalkAway


def probability_below(spread: Spread, x: float) -> float:
    """P(X ≤ x) of the triangular distribution; a point when the ends are equal."""
    if x >= spread.high:
        return 1.0
    if x < spread.low:
        return 0.0
    wide = spread.high - spread.low
    up, down = spread.likely - spread.low, spread.high - spread.likely
    if x <= spread.likely and up > 0:
        return ((x - spread.low) / wide) * ((x - spread.low) / up)
    return 1.0 - ((spread.high - x) / wide) * ((spread.high - x) / down)


def mean_below(spread: Spread, x: float) -> float | None:
    """E[X | X ≤ x], None when that has probability 0.

    By parts: x - ∫F / F(x), in units of the spread so that no size of money loses digits.
    """
    chance = probability_below(spread, x)
    if chance <= 0:
        return None
    wide = spread.high - spread.low
    if wide <= 0:
        return spread.likely
    t = min(1.0, (x - spread.low) / wide)
    c = (spread.likely - spread.low) / wide
    if t <= c:
        mean = 2.0 * t / 3.0
    else:
        tail = (t - c) - ((1.0 - c) ** 3 - (1.0 - t) ** 3) / (3.0 * (1.0 - c))
        mean = t - (c * c / 3.0 + tail) / chance
    return min(x, spread.high, max(spread.low, spread.low + mean * wide))


def zopa_estimate(
    spread: Spread, limit: float, acceptable: Literal["below", "above"]
) -> ZopaEstimate:
    """Room against my limit: a deal exists when their walk-away lies below (or above) it."""
    if acceptable == "below":
        return ZopaEstimate(probability_below(spread, limit), mean_below(spread, limit))
    turned = Spread(-spread.high, -spread.likely, -spread.low)
    mean = mean_below(turned, -limit)
    return ZopaEstimate(probability_below(turned, -limit), None if mean is None else -mean)


def likely_limit(own: Sequence[float]) -> Spread | None:
    """Where falling concessions would stop: u + Δ·r/(1-r), r the ratio of successive steps.

    Needs three successive concessions, each smaller than the last. The ends use the least and
    greatest ratio seen, and the high end never lies above the last offer. A strategic slowdown
    looks the same, so this is an interval of belief and no bound.
    """
    steps: list[float] = []
    for before, after in zip(reversed(own[:-1]), reversed(own), strict=False):
        if after >= before - MIN_UTILITY_STEP:
            break
        steps.insert(0, after - before)
    ratios = [b / a for a, b in pairwise(steps)]
    falling: list[float] = []
    for ratio in reversed(ratios):
        if not 0.0 < ratio < 1.0 - MIN_UTILITY_STEP:
            break
        falling.append(ratio)
    if len(falling) < 2:
        return None
    ends = sorted(own[-1] + steps[-1] * r / (1.0 - r) for r in (min(falling), max(falling)))
    middle = math.exp(math.fsum(map(math.log, falling)) / len(falling))
    likely = own[-1] + steps[-1] * middle / (1.0 - middle)
    return Spread(ends[0], min(max(likely, ends[0]), ends[1]), ends[1])


def walk_away_view(spread: Spread | None, cent: Decimal | None) -> TheirWalkAway:
    """The spread as answered: rounded to `cent` as money, or a utility when that is None."""
    if spread is None:
        return TheirWalkAway(None, None, None)
    ends = (spread.low, spread.likely, spread.high)
    if cent is None:
        return TheirWalkAway(*ends)
    return TheirWalkAway(*(Decimal(repr(end)).quantize(cent) for end in ends))
