"""What the strategy engine is told about a stored negotiation."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from negotiator.negotiations.engine_input import stored_turn_input
from negotiator.negotiations.offer_queries import OfferRow
from negotiator.negotiations.schemas_negotiations import NegotiationBody
from negotiator.negotiations.strategy.next_move import next_move
from negotiator.negotiations.strategy.situation import StrategySituation
from negotiator.negotiations.terms_parsing import parse_terms

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


def situation(
    *offers: tuple[str, dict[str, Any]], body: dict[str, Any] | None = None
) -> StrategySituation:
    rows = [offer_row(n, side, package) for n, (side, package) in enumerate(offers)]
    terms = parse_terms(NegotiationBody.model_validate(body or {**CAR, "max_rounds": 7}))
    return stored_turn_input(terms, rows, opened_at=0, now=len(rows))


def test_a_price_beyond_the_walk_away_keeps_its_worth_and_is_forbidden() -> None:
    asked = {"price": "13000.00", "delivery": 3}
    told = situation(("them", asked))
    price = told.issues[0]
    assert {key[1] for key in price.forbidden} == {"13000.00"}
    assert told.worths["price"][False, "13000.00"] > 0.0
    table = told.on_table
    assert table is not None
    assert table.my_utility < told.my_preferences.reservation_utility


def test_values_of_an_ordered_issue_have_their_coordinates() -> None:
    price, delivery = situation(("them", {"price": "13000.00", "delivery": 3})).issues
    assert price.scale is not None
    assert price.scale == tuple(float(str(value)) for value in price.values)
    assert delivery.scale is not None


@given(st.lists(st.tuples(st.integers(12_501, 14_000), st.integers(1, 10)), max_size=4))
def test_no_advice_names_a_forbidden_value(asked: list[tuple[int, int]]) -> None:
    told = situation(*(("them", {"price": f"{p}.00", "delivery": d}) for p, d in asked))
    move = next_move(told)
    packages = [*move.alternatives, *([] if move.offer is None else [move.offer])]
    assert all(float(str(package["price"])) <= 12_500 for package in packages)
