"""Percentiles and the confidence of a median, in decimals."""

from collections.abc import Sequence
from decimal import Decimal
from math import comb
from typing import Final

CONFIDENCE: Final = 0.95
TAILS_FROM: Final = 20
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
        if ordered and (percent not in _TAILS or len(ordered) >= TAILS_FROM)
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
        if 1 - 2 * tail >= CONFIDENCE:
            return ordered[inner - 1], ordered[count - inner], round(1 - 2 * tail, 4)
    return None


def weighted_mean(values: Sequence[Decimal], weights: Sequence[Decimal]) -> Decimal | None:
    """The mean by weight; None when nothing weighs anything."""
    total = sum(weights, Decimal(0))
    if not total:
        return None
    return sum((v * w for v, w in zip(values, weights, strict=True)), Decimal(0)) / total
