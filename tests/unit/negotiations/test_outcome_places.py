"""The places of agreements between the walk-away and the target."""

import pytest

from negotiator.negotiations.outcome_routes import outcome_share, place_of_share
from negotiator.terms.negotiation_body import NegotiationBody
from negotiator.terms.terms_parsing import parse_terms

BODY = {
    "title": "Golf",
    "role": "buyer",
    "currency": "EUR",
    "issues": [{"name": "price", "type": "money", "range": {"min": 10000, "max": 16000}}],
    "target": {"package": {"price": 12000}},
    "walk_away": {"package": {"price": 14000}},
}


@pytest.mark.parametrize(
    ("share", "place"),
    [
        (-0.01, "below_walk_away"),
        (0, "first_quarter"),
        (0.249, "first_quarter"),
        (0.25, "second_quarter"),
        (0.5, "third_quarter"),
        (0.75, "last_quarter"),
        (0.999, "last_quarter"),
        (1, "target"),
        (3, "target"),
    ],
)
def test_each_share_has_one_place(share: float, place: str) -> None:
    assert place_of_share(share) == place


@pytest.mark.parametrize(
    ("price", "share"), [("14000", 0), ("13000", 0.5), ("12000", 1), ("11000", 1.5), ("15000", -0.5)]
)
def test_the_share_is_that_of_the_way(price: str, share: float) -> None:
    terms = parse_terms(NegotiationBody.model_validate(BODY))
    assert outcome_share(terms, {"price": price}) == pytest.approx(share)


def test_without_a_target_there_is_no_share() -> None:
    terms = parse_terms(NegotiationBody.model_validate({**BODY, "target": None}))
    assert outcome_share(terms, {"price": "13000"}) is None
