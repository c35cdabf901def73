"""What of others' deals may be told: only what shows nobody.

The floor is the antitrust agencies' former safety zone for exchanging prices (1996, withdrawn 2023), still a sensible
one: five contributors besides the asker, none with more than a quarter of the value, nothing younger than ninety days.
Cells are fixed and figures rounded to half a point, so that two questions cannot be subtracted from each other.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Final

CONTRIBUTORS: Final = 5
LARGEST_SHARE: Final = Decimal("0.25")
YOUNGEST_DAYS: Final = 90
_HALF_POINT: Final = Decimal("0.005")


@dataclass(frozen=True, slots=True)
class Deal:
    """A closed deal as benchmarks see it: the fraction saved, the baseline's value in its currency, rounds and days."""

    owner: str
    currency: str
    rate: Decimal
    weight: Decimal
    rounds: int | None
    days: int | None


def hidden(deals: Sequence[Deal]) -> str | None:
    """Why these deals of others may not be told of; None when they may."""
    by_owner: defaultdict[str, Decimal] = defaultdict(Decimal)
    for deal in deals:
        by_owner[deal.owner] += deal.weight
    if len(by_owner) < CONTRIBUTORS:
        return "too_few_contributors"
    total = sum(by_owner.values())
    if not total or max(by_owner.values()) / total > LARGEST_SHARE:
        return "one_contributor_dominates"
    return None


def rounded(rate: Decimal | None) -> Decimal | None:
    """A rate to half a percentage point."""
    if rate is None:
        return None
    return (rate / _HALF_POINT).quantize(Decimal(1), ROUND_HALF_EVEN) * _HALF_POINT
