"""What a win saved: the one place where it is computed, in decimals.

Amounts are prices of one unit over one term of the contract. A seller, candidate or landlord gains where the achieved
amount is above the baseline, everybody else where it is below. A loss is a negative saving, and is kept.
"""

from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Final

_RATE: Final = Decimal("0.000001")
_WIDE: Final = Context(prec=60)
_GAINS_ABOVE: Final = frozenset({"seller", "candidate", "landlord"})


@dataclass(frozen=True, slots=True)
class WinSavings:
    """In the win's currency; `rate` is a fraction of the baseline to six places, `tcv` the total contract value."""

    total: Decimal
    annualised: Decimal | None
    rate: Decimal
    tcv: Decimal


def gains_when_higher(role: str, savings_type: str) -> bool:
    """Whether more money is the better outcome for this side."""
    return role in _GAINS_ABOVE or savings_type == "revenue_gain"


def calculate_savings(
    baseline: Decimal,
    achieved: Decimal,
    *,
    quantity: Decimal,
    period_months: int | None,
    above: bool,
    places: int,
) -> WinSavings:
    """What was saved against a positive baseline.

    `total` is over the whole term and all units, exactly; `annualised` the same for twelve months, to the currency's
    `places`, None without a term.
    """
    each = achieved - baseline if above else baseline - achieved
    total = _WIDE.multiply(each, quantity)
    yearly = None
    if period_months is not None:
        exact = _WIDE.divide(_WIDE.multiply(total, Decimal(12)), Decimal(period_months))
        yearly = exact.quantize(Decimal(1).scaleb(-places), context=_WIDE)
    return WinSavings(
        total=total,
        annualised=yearly,
        rate=_WIDE.divide(each, baseline).quantize(_RATE, context=_WIDE),
        tcv=_WIDE.multiply(achieved, quantity),
    )
