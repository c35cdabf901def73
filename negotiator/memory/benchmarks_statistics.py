"""What of others' deals may be told: only what shows nobody.

The floor is the antitrust agencies' former safety zone for exchanging prices (1996, withdrawn 2023), still a sensible
one: five contributors besides the asker, none with more than a quarter of the value, nothing younger than ninety days.
Cells are fixed and figures rounded to half a point, so that two questions cannot be subtracted from each other.

Percentiles and the confidence of a median, in decimals.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from math import comb
from typing import Final

MIN_CONTRIBUTORS: Final = 5
MAX_CONTRIBUTOR_SHARE: Final = Decimal("0.25")
MIN_DEAL_AGE_DAYS: Final = 90
_HALF_POINT: Final = Decimal("0.005")


@dataclass(frozen=True, slots=True)
class BenchmarkDeal:
    """A closed deal as benchmarks see it: the fraction saved, the baseline's value in its currency, rounds and days."""

    owner: str
    currency: str
    rate: Decimal
    weight: Decimal
    rounds: int | None
    days: int | None


def suppression_reason(deals: Sequence[BenchmarkDeal]) -> str | None:
    """Why these deals of others may not be told of; None when they may."""
    by_owner: defaultdict[str, Decimal] = defaultdict(Decimal)
    for deal in deals:
        by_owner[deal.owner] += deal.weight
    if len(by_owner) < MIN_CONTRIBUTORS:
        return "too_few_contributors"
    total = sum(by_owner.values())
    if not total or max(by_owner.values()) / total > MAX_CONTRIBUTOR_SHARE:
        return "one_contributor_dominates"
    return None


def round_rate(rate: Decimal | None) -> Decimal | None:
    """A rate to half a percentage point."""
    if rate is None:
        return None
    return (rate / _HALF_POINT).quantize(Decimal(1), ROUND_HALF_EVEN) * _HALF_POINT


MEDIAN_CONFIDENCE: Final = 0.95
MIN_DEALS_FOR_TAILS: Final = 20
_TAILS: Final = frozenset({10, 90})


def percentile(ordered: Sequence[Decimal], percent: int) -> Decimal:
    """Linear between the two nearest of at least one ordered value (Hyndman and Fan 1996, definition 7)."""
    place = Decimal(len(ordered) - 1) * percent / 100
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def percentiles(ordered: Sequence[Decimal]) -> dict[str, Decimal | None]:
    """p10 to p90; the tails only from twenty values on, none of nothing."""
    return {
        f"p{percent}": percentile(ordered, percent)
        if ordered and (percent not in _TAILS or len(ordered) >= MIN_DEALS_FOR_TAILS)
        else None
        for percent in (10, 25, 50, 75, 90)
    }


def median_interval(ordered: Sequence[Decimal]) -> tuple[Decimal, Decimal, float] | None:
    """The narrowest pair of order statistics that holds the median with at least 95 %, and how surely it does.

    It assumes nothing of the distribution (David and Nagaraja 2003, §7.1); None when there are fewer than six values.
    """
    count = len(ordered)
    for inner in range(count // 2, 0, -1):
        tail = sum(comb(count, few) for few in range(inner)) / 2**count
        if 1 - 2 * tail >= MEDIAN_CONFIDENCE:
            return ordered[inner - 1], ordered[count - inner], round(1 - 2 * tail, 4)
    return None


def weighted_mean(values: Sequence[Decimal], weights: Sequence[Decimal]) -> Decimal | None:
    """The mean by weight; None when nothing weighs anything."""
    total = sum(weights, Decimal(0))
    if not total:
        return None
    return sum((v * w for v, w in zip(values, weights, strict=True)), Decimal(0)) / total
