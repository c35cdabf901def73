"""What the advisor model is told of a negotiation, and what it is never told."""

import json
from dataclasses import asdict
from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from negotiator.advice.leverage.concessions import LedgerOffer
from negotiator.negotiations.advisor_case import MAX_CASE_OFFERS, case_request, wording_case
from negotiator.numbers.read import numbers_in
from negotiator.terms.negotiation_body import NegotiationBody
from negotiator.terms.terms import Terms
from negotiator.terms.terms_parsing import parse_terms

PRIVATE: dict[str, Any] = {
    "title": "Laptops, at most 11444 for 20 pieces",
    "role": "buyer",
    "category": "hardware",
    "currency": "EUR",
    "counterparty": {"organisation": "Nordic 24 Supplies", "notes": "Their limit is 10555."},
    "issues": [
        {
            "name": "price",
            "label": "Price (max 11444)",
            "type": "money",
            "weight": 0.777,
            "range": {"min": "8000", "max": "12000"},
        },
        {
            "name": "payment_days",
            "type": "duration_days",
            "direction": "higher",
            "weight": 0.333,
            "their_weight": 0.9,
            "limit": 17,
            "range": {"min": 0, "max": 90},
        },
    ],
    "target": {"package": {"price": "9111", "payment_days": 61}},
    "walk_away": {"package": {"price": "11444", "payment_days": 17}},
    "batna": {
        "description": "Baltic Machines",
        "value": {"package": {"price": "11333", "payment_days": 22}},
        "override_reason": "Stated.",
    },
    "their_estimate": {"confidence": 0.4242},
    "facts": {"me": {"dependency": 0.8181}},
}
OFFERS = (LedgerOffer(1, "them", {"price": "10900", "payment_days": 14}), LedgerOffer(2, "me", {"price": "9300"}))


def terms_of(**members: Any) -> Terms:
    return parse_terms(NegotiationBody.model_validate({**PRIVATE, **members}), lenient=True)


def test_the_case_has_what_both_sides_know() -> None:
    found = wording_case(terms_of(), OFFERS)
    assert found.title == "Laptops, at most # for # pieces"
    assert (found.role, found.other_side, found.category) == ("buyer", "Nordic # Supplies", "hardware")
    assert found.issues == ("price (max #)", "payment")
    assert found.offers == (
        ("them", {"price (max #)": "€10,900", "payment": "14 days"}),
        ("me", {"price (max #)": "€9,300"}),
    )


def test_the_case_has_no_limit_weight_target_or_alternative() -> None:
    told = json.dumps(asdict(wording_case(terms_of(), OFFERS)), ensure_ascii=False)
    for private in ("11444", "11,444", "11333", "9111", "777", "333", "4242", "8181", "10555", "17", "61"):
        assert private not in told
    assert "Baltic" not in told


def test_the_private_numbers_of_a_request_include_the_limit_of_an_issue() -> None:
    request = case_request(terms_of(), {"say": "Hello."}, "a greeting", offers=OFFERS)
    assert {Decimal(11444), Decimal(17), Decimal(11333)} <= set(request.secrets)
    assert request.case == wording_case(terms_of(), OFFERS)


def test_only_the_last_offers_are_told() -> None:
    many = tuple(LedgerOffer(n, "them", {"price": str(11000 - n)}) for n in range(20))
    offers = wording_case(terms_of(), many).offers
    assert len(offers) == MAX_CASE_OFFERS
    assert offers[-1][1]["price (max #)"] == "€10,981"


@given(title=st.text(st.characters(exclude_categories=("C",)), max_size=199).map("t{}".format))
def test_no_title_brings_a_number_in_digits_to_the_model(title: str) -> None:
    told = wording_case(terms_of(title=title)).title
    assert not any(mark.isnumeric() for mark in told)
    assert not numbers_in(told)
    assert len(told) <= 240
