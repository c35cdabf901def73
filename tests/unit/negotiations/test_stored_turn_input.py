"""What the strategy engine is told about a stored negotiation."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.advice.strategy.next_move import next_move
from negotiator.advice.strategy.opponent_model import acceptance, learn_opponent_model
from negotiator.advice.strategy.situation import StrategySituation
from negotiator.negotiations.engine_input import stored_turn_input
from negotiator.negotiations.offer_queries import OfferRow
from negotiator.terms.negotiation_body import NegotiationBody
from negotiator.terms.terms_parsing import parse_terms

CAR: dict[str, Any] = {
    "title": "Used car",
    "role": "buyer",
    "issues": [
        {"name": "price", "type": "money", "range": {"min": 9000, "max": 14000}, "weight": 3},
        {"name": "delivery", "type": "integer", "range": {"min": 1, "max": 10}, "weight": 1},
    ],
    "walk_away": {"package": {"price": 12500}},
    "target": {"package": {"price": 10800}},
}


def offer_row(seq: int, side: str, package: dict[str, Any], **content: Any) -> OfferRow:
    told = {"package": package, "complete": True, "conditions": None, "claimed_final": False}
    return OfferRow(
        id=f"o{seq}", seq=seq, at=seq, side=side, kind="offer", source="user", answers=None,
        confirms=None, valid_until=None, approval="", content={**told, **content},
    )  # fmt: skip


def situation(*offers: tuple[str, dict[str, Any]], body: dict[str, Any] | None = None) -> StrategySituation:
    rows = [offer_row(n, side, package) for n, (side, package) in enumerate(offers)]
    terms = parse_terms(NegotiationBody.model_validate(body or {**CAR, "max_rounds": 7}))
    return stored_turn_input(terms, rows, opened_at=0, now=len(rows))


def test_a_price_beyond_the_walk_away_keeps_its_worth_and_is_forbidden() -> None:
    asked = {"price": "13000.00", "delivery": 3}
    told = situation(("them", asked))
    price = told.issues[0]
    beyond = {value for value in price.values if float(str(value)) > 12_500}
    assert {key[1] for key in price.forbidden} == beyond
    assert "13000.00" in beyond
    assert told.worths["price"][False, "13000.00"] > 0.0
    table = told.on_table
    assert table is not None
    assert table.my_utility < told.my_preferences.reservation_utility


def test_values_of_an_ordered_issue_have_their_coordinates() -> None:
    price, delivery = situation(("them", {"price": "13000.00", "delivery": 3})).issues
    assert price.scale is not None
    assert price.scale == tuple(float(str(value)) for value in price.values)
    assert delivery.scale is not None


def chances(prices: list[int], *offers: tuple[str, int]) -> list[float]:
    """The believed chance that the seller of the car takes each price now, with seven rounds in all."""
    body = {**CAR, "issues": CAR["issues"][:1], "max_rounds": 7}
    told = situation(*((side, {"price": f"{price}.00"}) for side, price in offers), body=body)
    belief = learn_opponent_model(told)
    now = np.array([(told.progress.step + 2.0) / (told.progress.rounds + 1.0)])
    least = belief.least(now)[:, 0]
    worths = [belief.of({"price": f"{price}.00"}) for price in prices]
    return [float(acceptance(worth - least).mean()) for worth in worths if worth is not None]


def test_a_seller_far_above_a_price_is_not_believed_to_take_it() -> None:
    """They ask more than the walk-away of 12,500 at first, and 12,300 at last."""
    (low,) = chances([9125], ("them", 13_500), ("them", 12_900), ("them", 12_600), ("them", 12_300))
    assert low < 0.1


def test_a_price_that_was_refused_is_believed_to_be_too_low() -> None:
    offers = (("them", 12_700), ("me", 10_000), ("them", 12_200), ("me", 10_500), ("them", 12_200))
    found = chances([9125, 10_500, 11_500, 12_000], *offers)
    assert found == sorted(found)
    assert found[1] < 0.1
    assert found[3] > found[1] + 0.1


@pytest.mark.parametrize("likely", [10_000, 12_100])
def test_their_estimated_walk_away_is_where_they_are_believed_to_stop(likely: int) -> None:
    estimate = {"walk_away": {"low": likely - 300, "likely": likely, "high": likely + 300}}
    body = {**CAR, "issues": CAR["issues"][:1], "max_rounds": 7, "their_estimate": estimate}
    told = situation(("them", {"price": "13500.00"}), ("them", {"price": "12900.00"}), body=body)
    belief = learn_opponent_model(told)
    worth = belief.of({"price": f"{likely}.00"})
    assert worth is not None
    assert abs(float(np.median(worth - belief.least(np.array([1.0]))[:, 0]))) < 0.1


def test_what_is_said_of_the_other_side_arrives_as_hints() -> None:
    issues = [{**issue, "their_weight": weight} for issue, weight in zip(CAR["issues"], (1, 4), strict=True)]
    told = situation(("them", {"price": "12000.00", "delivery": 3}), body={**CAR, "issues": issues})
    assert told.hints is not None
    assert told.hints.weights == {"price": 1, "delivery": 4}
    priorities = {**CAR, "their_estimate": {"priorities": ["delivery"], "confidence": 0.8}}
    told = situation(("them", {"price": "12000.00", "delivery": 3}), body=priorities)
    assert told.hints is not None
    assert told.hints.weights["delivery"] > told.hints.weights["price"]
    assert told.hints.confidence == 0.8


@given(st.lists(st.tuples(st.integers(12_501, 14_000), st.integers(1, 10)), max_size=4))
def test_no_advice_names_a_forbidden_value(asked: list[tuple[int, int]]) -> None:
    told = situation(*(("them", {"price": f"{p}.00", "delivery": d}) for p, d in asked))
    move = next_move(told)
    packages = [*move.alternatives, *([] if move.offer is None else [move.offer])]
    assert all(float(str(package["price"])) <= 12_500 for package in packages)
