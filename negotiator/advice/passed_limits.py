"""Which limits of the user a package passes, and by how much in money."""

import hashlib
from decimal import Decimal
from typing import Any, Final

import orjson

from negotiator.base.values import format_money
from negotiator.terms import limits
from negotiator.terms.issues import Package, coordinate
from negotiator.terms.terms import Terms
from negotiator.terms.terms_view import terms_view, value_view
from negotiator.terms.utility import package_utility, utility_of_worth
from negotiator.terms.wording import Wording

_CENT: Final = Decimal("0.01")
_ASKED: Final = ("offer_id", "by", "kind", "package", "conditions", "valid_until")


def with_present_limits(negotiation: str, terms: Terms, held: dict[str, Any]) -> dict[str, Any]:
    """What waits for approval, with the limits that it passes by these terms and the digest that an approval names.

    The digest is of all that the user is asked: the negotiation and its terms, and the offer with what it depends on.
    """
    package: dict[str, Any] = held["package"]
    asked = [negotiation, terms_view(terms), [held.get(name) for name in _ASKED]]
    return {
        **held,
        "beyond": passed_limits(terms, package, binding=held["kind"] == "acceptance"),
        "past_limits": past_limits_view(terms, package, binding=held["kind"] == "acceptance"),
        "package_sha256": hashlib.sha256(orjson.dumps(asked, option=orjson.OPT_SORT_KEYS)).hexdigest(),
    }


def passed_limits(terms: Terms, package: Package, *, binding: bool) -> list[dict[str, Any]]:
    """The limits that a package passes, each with an `amount`, its `words` and its `side`.

    They are `walk_away`, `authority`, and `issues/{name}/limit` where the walk-away does not say the same. The amount
    is how much better the price would have to be to keep the limit, in all where a unit price is multiplied; null where
    no money says it. `side` is `above` or `below`, as the price lies.
    """
    found: list[dict[str, Any]] = []
    below = limits.is_below_floor(terms, package, binding=binding)
    if below:
        gap = limits.shortfall(terms, package, binding=binding)
        found.append(_passed(terms, package, "walk_away", gap))
    for name in limits.passed_beside_walk_away(terms, package, below=below, binding=binding):
        gap = _beyond_price(terms, package) if terms.price and terms.price.name == name else None
        passed = _passed(terms, package, f"issues/{name}/limit", gap)
        found.append({**passed, "words": _past_words(terms, package, name)})
    if limits.needs_approval(terms, package):
        found.append(_passed(terms, package, "authority", _beyond_authority(terms, package)))
    return found


def past_limits_view(terms: Terms, package: Package, *, binding: bool = False) -> list[dict[str, Any]]:
    """The issues on which a package passes the user's own limit without a trade that they allow; empty without any.

    A `binding` package passes the limits on issues that it leaves open, too; their value is null.
    """
    found: list[dict[str, Any]] = []
    for name in limits.unpaid_issues(terms, package, binding=binding):
        issue = terms.issue(name)
        limit = None if issue is None else limits.own_limit(terms, issue)
        found.append(
            {
                "issue": name,
                "limit": value_view(issue, limit, terms.currency),
                "value": value_view(issue, package.get(name), terms.currency),
            }
        )
    return found


def past_limits_text(terms: Terms, package: Package, *, binding: bool) -> str:
    """The same in sentences; empty where the package passes none."""
    said = [_past_words(terms, package, name) for name in limits.unpaid_issues(terms, package, binding=binding)]
    return " ".join(f"{text[:1].upper()}{text[1:]}." for text in said)


def _past_words(terms: Terms, package: Package, name: str) -> str:
    issue, words = terms.issue(name), Wording(terms)
    limit = None if issue is None else limits.own_limit(terms, issue)
    if issue is None or limit is None:
        return ""
    least = words.value(issue, limit)
    if name not in package:
        return f"{words.label(issue)} is left open, and the limit is {least}"
    said = words.value(issue, package[name])
    return f"{words.label(issue)} of {said} passes the limit of {least}"


def _beyond_price(terms: Terms, package: Package) -> Decimal | None:
    price = terms.price
    limit = None if price is None else limits.own_limit(terms, price)
    if price is None or limit is None:
        return None
    at, least = (coordinate(price.type, value) for value in (package.get(price.name), limit))
    return None if at is None or least is None else abs(at - least)


def _passed(terms: Terms, package: Package, limit: str, gap: Decimal | None) -> dict[str, Any]:
    amount, words, wording = None, "", Wording(terms)
    if gap is not None and gap > 0:
        in_all = wording.amount_in_all(package, gap)
        amount = format_money(in_all.quantize(_CENT), terms.currency)
        words = wording.difference(package, gap)
    above = terms.price is None or terms.price.direction == "lower"
    return {"limit": limit, "amount": amount, "words": words, "side": "above" if above else "below"}


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
