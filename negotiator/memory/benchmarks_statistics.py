"""Statistics of benchmarks, and the privacy floor under which others' deals are not shown.

The floor follows the antitrust agencies' former safety zone for exchanging prices (1996, withdrawn 2023): at least five
contributors besides the caller, none with more than a quarter of the value, no deal younger than ninety days. Cells are
fixed and figures rounded to half a percentage point, so that two answers cannot be subtracted from each other.
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
    """A closed deal: the fraction saved (`rate`), the baseline's value in its currency (`weight`), rounds and days."""

    owner: str
    currency: str
    rate: Decimal
    weight: Decimal
    rounds: int | None
    days: int | None


def suppression_reason(deals: Sequence[BenchmarkDeal]) -> str | None:
    """Why figures over these deals of others may not be shown; None when they may."""
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
    """The rate rounded to half a percentage point."""
    if rate is None:
        return None
    return (rate / _HALF_POINT).quantize(Decimal(1), ROUND_HALF_EVEN) * _HALF_POINT


MEDIAN_CONFIDENCE: Final = 0.95
MIN_DEALS_FOR_TAILS: Final = 20
_TAILS: Final = frozenset({10, 90})


def percentile(ordered: Sequence[Decimal], percent: int) -> Decimal:
    """The percentile of at least one ordered value, interpolated linearly (Hyndman and Fan 1996, definition 7)."""
    place = Decimal(len(ordered) - 1) * percent / 100
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def percentiles(ordered: Sequence[Decimal]) -> dict[str, Decimal | None]:
    """p10 to p90, None without values. p10 and p90 need at least `MIN_DEALS_FOR_TAILS` values."""
    return {
        f"p{percent}": percentile(ordered, percent)
        if ordered and (percent not in _TAILS or len(ordered) >= MIN_DEALS_FOR_TAILS)
        else None
        for percent in (10, 25, 50, 75, 90)
    }


def median_interval(ordered: Sequence[Decimal]) -> tuple[Decimal, Decimal, float] | None:
    """The narrowest pair of order statistics that holds the median with at least 95 %, and its confidence.

    It assumes no distribution (David and Nagaraja 2003, §7.1). None for fewer than six values.
    """
    count = len(ordered)
    for inner in range(count // 2, 0, -1):
        tail = sum(comb(count, few) for few in range(inner)) / 2**count
        if 1 - 2 * tail >= MEDIAN_CONFIDENCE:
            return ordered[inner - 1], ordered[count - inner], round(1 - 2 * tail, 4)
    return None


def weighted_mean(values: Sequence[Decimal], weights: Sequence[Decimal]) -> Decimal | None:
    """The weighted mean; None when the weights add up to zero."""
    total = sum(weights, Decimal(0))
    if not total:
        return None
    return sum((v * w for v, w in zip(values, weights, strict=True)), Decimal(0)) / total
