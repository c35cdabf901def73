"""Computes what a win saved, in decimals.

Amounts are prices of one unit over one term of the contract. A seller, candidate or landlord gains when the achieved
amount is above the baseline, everyone else when it is below. A loss is a negative saving.
"""

from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Final

_RATE: Final = Decimal("0.000001")
_WIDE: Final = Context(prec=60)
_GAINS_ABOVE: Final = frozenset({"seller", "candidate", "landlord"})


@dataclass(frozen=True, slots=True)
class WinSavings:
    """Amounts in the win's currency; `rate` is a fraction of the baseline to six places, `tcv` the total contract
    value.
    """

    total: Decimal
    annualised: Decimal | None
    rate: Decimal
    tcv: Decimal


def gains_when_higher(role: str, savings_type: str) -> bool:
    """Whether more money is the better outcome for this side."""
    return role in _GAINS_ABOVE or savings_type == "revenue_gain"


def calculate_savings(
    baseline: Decimal, achieved: Decimal, *, quantity: Decimal, period_months: int | None, above: bool, places: int
) -> WinSavings:
    """The savings against a positive baseline.

    `total` covers the whole term and all units, exactly. `annualised` is the same for twelve months, rounded to the
    currency's `places`; None without a term.
    """
    per_unit = achieved - baseline if above else baseline - achieved
    total = _WIDE.multiply(per_unit, quantity)
    yearly = None
    if period_months is not None:
        exact = _WIDE.divide(_WIDE.multiply(total, Decimal(12)), Decimal(period_months))
        yearly = exact.quantize(Decimal(1).scaleb(-places), context=_WIDE)
    return WinSavings(
        total=total,
        annualised=yearly,
        rate=_WIDE.divide(per_unit, baseline).quantize(_RATE, context=_WIDE),
        tcv=_WIDE.multiply(achieved, quantity),
    )
