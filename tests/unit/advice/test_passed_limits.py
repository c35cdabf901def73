"""Which limits a package passes, and by how much in money."""

from typing import Any

from negotiator.advice.passed_limits import passed_limits
from negotiator.terms.negotiation_body import NegotiationBody
from negotiator.terms.terms import Terms
from negotiator.terms.terms_parsing import parse_terms

SEATS: dict[str, Any] = {
    "name": "price",
    "label": "Price per seat and month",
    "type": "money",
    "weight": 3,
    "range": {"min": 40, "max": 60},
    "multiples": [{"count": 80, "of": "seats"}, {"count": 12, "of": "months a year"}],
}
TERM: dict[str, Any] = {
    "name": "months",
    "type": "integer",
    "direction": "lower",
    "weight": 1,
    "range": {"min": 12, "max": 36},
}


def terms(*issues: dict[str, Any], **members: Any) -> Terms:
    body = {"title": "t", "role": "buyer", "currency": "EUR", "issues": issues, **members}
    return parse_terms(NegotiationBody.model_validate(body))


def test_a_price_beyond_the_walk_away_is_told_in_all() -> None:
    given = terms(SEATS, walk_away={"package": {"price": 54}})
    [passed] = passed_limits(given, {"price": 56}, binding=False)
    assert (passed["limit"], passed["amount"], passed["side"]) == ("walk_away", "1920.00", "above")
    assert passed["words"] == "€1,920 a year"
    assert passed_limits(given, {"price": 54}, binding=False) == []


def test_with_several_issues_the_amount_is_what_the_package_lacks_in_worth() -> None:
    given = terms(SEATS, TERM, walk_away={"package": {"price": 54, "months": 24}})
    passed, term = passed_limits(given, {"price": 54, "months": 36}, binding=False)
    assert (term["limit"], term["amount"]) == ("issues/months/limit", None)
    assert term["words"] == "months of 36 months passes the limit of 24 months"
    assert passed["limit"] == "walk_away"
    assert float(passed["amount"]) > 0
    assert passed["words"].startswith("about €")


def test_beyond_the_authority_the_amount_is_the_most_over_its_limits() -> None:
    authority = {"limit": "50", "needs_approval_above": "48"}
    given = terms(SEATS, authority=authority)
    [passed] = passed_limits(given, {"price": 51}, binding=False)
    assert (passed["limit"], passed["amount"]) == ("authority", "2880.00")


def test_a_seller_s_price_lies_below() -> None:
    given = terms({**SEATS, "multiples": []}, role="seller", walk_away={"package": {"price": 50}})
    [passed] = passed_limits(given, {"price": 47}, binding=False)
    assert passed["side"] == "below"
