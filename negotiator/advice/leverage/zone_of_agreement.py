"""The probability of a zone of possible agreement (ZOPA) when the other side's walk-away is uncertain.

Their walk-away has a triangular distribution over (low, likely, high), as a price or as a utility.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Literal

from negotiator.terms.terms import PriceOrUtility

MIN_UTILITY_STEP = 1e-9
"""A change of utility up to this size counts as none."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A triangular distribution; equal ends mean a known value. ValueError unless low <= likely <= high."""

    low: float
    likely: float
    high: float

    def __post_init__(self) -> None:
        if not self.low <= self.likely <= self.high:
            raise ValueError("low <= likely <= high")


@dataclass(frozen=True, slots=True)
class ZopaEstimate:
    """The probability of a ZOPA and, given that one exists, the mean of their walk-away (None at probability 0)."""

    probability: float
    their_walk_away: float | None


@dataclass(frozen=True, slots=True)
class Zopa:
    """The probability of a ZOPA and, given that it exists, its ends, as money or as my utility."""

    probability: float | None
    low: PriceOrUtility | None
    high: PriceOrUtility | None


@dataclass(frozen=True, slots=True)
class TheirWalkAway:
    """Their walk-away as assumed: money when the price is the only issue, else their own utility."""

    low: PriceOrUtility | None
    likely: PriceOrUtility | None
    high: PriceOrUtility | None


@dataclass(frozen=True, slots=True)
class Position:
    """The ZOPA and both walk-aways, before the split of power."""

    zopa: Zopa
    my_walk_away: PriceOrUtility | None
    their_walk_away: TheirWalkAway


def probability_below(spread: Spread, x: float) -> float:
    """P(X ≤ x) of the triangular distribution; a step at the known value when the ends are equal."""
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

    Integration by parts gives x - ∫F / F(x). It is computed in units of the spread, so large amounts lose no precision.
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


def zopa_estimate(spread: Spread, limit: float, acceptable: Literal["below", "above"]) -> ZopaEstimate:
    """The ZOPA against my `limit`: a deal is possible when their walk-away lies below (or above) it."""
    if acceptable == "below":
        return ZopaEstimate(probability_below(spread, limit), mean_below(spread, limit))
    turned = Spread(-spread.high, -spread.likely, -spread.low)
    mean = mean_below(turned, -limit)
    return ZopaEstimate(probability_below(turned, -limit), None if mean is None else -mean)


def likely_limit(own: Sequence[float]) -> Spread | None:
    """The utility at which shrinking concessions would stop: u + Δ·r/(1-r), with r the ratio of successive steps.

    `own` is the side's own utility of its offers, oldest first. The result is None unless the last three concessions
    shrink. The ends use the smallest and the largest ratio, and the high end is at most the last offer. A strategic
    slowdown looks the same, so the interval is a belief and not a bound.
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
    """The spread as returned: money rounded to `cent`, or a utility when `cent` is None."""
    if spread is None:
        return TheirWalkAway(None, None, None)
    ends = (spread.low, spread.likely, spread.high)
    if cent is None:
        return TheirWalkAway(*ends)
    return TheirWalkAway(*(Decimal(repr(end)).quantize(cent) for end in ends))
