"""Which limits of the user a package passes, and by how much in money."""

from decimal import Decimal
from typing import Any, Final

from negotiator.negotiations import limits
from negotiator.negotiations.issues import Package, coordinate
from negotiator.negotiations.terms import Terms
from negotiator.negotiations.utility import package_utility, utility_of_worth
from negotiator.negotiations.wording import Wording
from negotiator.values import format_money

_CENT: Final = Decimal("0.01")


def passed_limits(terms: Terms, package: Package, *, binding: bool) -> list[dict[str, Any]]:
    """The limits that a package passes, `walk_away` and `authority`: each with an `amount`, its `words` and its `side`.

    The amount is how much better the price would have to be to keep the limit, in all where a unit price is
    multiplied; null where no money says it. `side` is `above` or `below`, as the price lies.
    """
    found: list[dict[str, Any]] = []
    if limits.is_below_floor(terms, package, binding=binding):
        gap = limits.shortfall(terms, package, binding=binding)
        found.append(_passed(terms, package, "walk_away", gap))
    if limits.needs_approval(terms, package):
        found.append(_passed(terms, package, "authority", _beyond_authority(terms, package)))
    return found


def _passed(terms: Terms, package: Package, limit: str, gap: Decimal | None) -> dict[str, Any]:
    amount, words, wording = None, "", Wording(terms)
    if gap is not None and gap > 0:
        in_all = wording.amount_in_all(package, gap)
        amount = format_money(in_all.quantize(_CENT), terms.currency)
        words = wording.difference(package, gap)
    above = terms.price is None or terms.price.direction == "lower"
    return {
        "limit": limit,
        "amount": amount,
        "words": words,
        "side": "above" if above else "below",
    }


def _beyond_authority(terms: Terms, package: Package) -> Decimal | None:
    """By how much the price is worse than the authority allows: the most over its limits."""
    given, price = terms.authority, terms.price
    gaps: list[Decimal] = []
    at = None if price is None else coordinate("money", package.get(price.name))
    if price is not None and at is not None:
        gaps += [at - one if price.direction == "lower" else one - at for one in given.prices]
    least = utility_of_worth(terms.preferences, given.least, fill="low")
    if least is not None:
        short = least - package_utility(terms.preferences, package).high
        gap = terms.money_of_utility(short) if short > limits.TOLERANCE else None
        gaps += [] if gap is None else [gap]
    return max((gap for gap in gaps if gap > 0), default=None)
