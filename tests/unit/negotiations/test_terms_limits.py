"""The walk-away as an invariant, constraints and authority."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.base.errors import ValidationFailed
from negotiator.terms import limits
from negotiator.terms.negotiation_body import NegotiationBody
from negotiator.terms.terms import Terms, decode_terms, encode_terms
from negotiator.terms.terms_parsing import parse_terms
from negotiator.terms.utility import package_utility

PRICE: dict[str, Any] = {"name": "price", "range": {"min": 0, "max": 100}, "weight": 2}
SEATS: dict[str, Any] = {
    "name": "seats",
    "type": "integer",
    "range": {"min": 1, "max": 11},
    "direction": "higher",
    "weight": 1,
}
prices, seats = st.integers(0, 100), st.integers(1, 11)


def terms(**members: Any) -> Terms:
    body = {"title": "t", "role": "buyer", "issues": [PRICE, SEATS], **members}
    return parse_terms(NegotiationBody.model_validate(body))


@given(prices, seats, st.floats(0, 1))
def test_a_complete_package_is_below_exactly_when_its_utility_is(price: int, count: int, floor: float) -> None:
    given_terms = terms(walk_away={"utility": floor})
    package = {"price": price, "seats": count}
    worth = package_utility(given_terms.preferences, package).low
    for binding in (False, True):
        assert limits.is_below_floor(given_terms, package, binding=binding) == (worth < floor - limits.TOLERANCE)


@given(prices, prices, seats)
def test_a_walk_away_price_is_a_limit_whatever_else_is_offered(limit: int, price: int, count: int) -> None:
    given_terms = terms(walk_away={"package": {"price": limit}})
    below = limits.is_below_floor(given_terms, {"price": price, "seats": count}, binding=False)
    assert below if price > limit else True


@given(prices)
def test_a_partial_package_counts_at_its_best_offered_and_at_its_worst_accepted(price: int) -> None:
    given_terms = terms(walk_away={"utility": 0.5})
    ends = package_utility(given_terms.preferences, {"price": price})
    assert limits.is_below_floor(given_terms, {"price": price}, binding=False) == (ends.high < 0.5 - 1e-9)
    assert limits.is_below_floor(given_terms, {"price": price}, binding=True) == (ends.low < 0.5 - 1e-9)


@pytest.mark.parametrize(
    ("op", "value", "kept"),
    [
        ("<=", 50, {40, 50}),
        ("<", 50, {40}),
        (">=", 50, {50, 60}),
        (">", 50, {60}),
        ("==", "50.0", {50}),
        ("!=", 50, {40, 60}),
        ("in", [40, 60], {40, 60}),
        ("not_in", [40, 60], {50}),
    ],
)
def test_each_operator_keeps_what_it_says(op: str, value: Any, kept: set[int]) -> None:
    given_terms = terms(constraints=[{"issue": "price", "op": op, "value": value}])
    found = {price for price in (40, 50, 60) if not limits.broken_constraints(given_terms, {"price": price})}
    assert found == kept
    assert not limits.broken_constraints(given_terms, {"seats": 3})


def test_a_soft_constraint_refuses_nothing() -> None:
    rule = {"issue": "price", "op": "<=", "value": 50, "hard": False}
    assert not limits.broken_constraints(terms(constraints=[rule]), {"price": 60})


LIMITED: dict[str, Any] = {
    "target": {"package": {"price": 20, "seats": 9}},
    "walk_away": {"package": {"price": 60, "seats": 4}},
}


def issue_limit(given_terms: Terms, name: str) -> Any:
    issue = given_terms.issue(name)
    assert issue is not None
    return limits.own_limit(given_terms, issue)


def test_an_issue_s_limit_is_that_of_the_walk_away_package() -> None:
    given_terms = terms(**LIMITED)
    assert (issue_limit(given_terms, "price"), issue_limit(given_terms, "seats")) == (60, 4)
    single = terms(walk_away={"package": {"price": 60}})
    assert (issue_limit(single, "price"), issue_limit(single, "seats")) == (60, None)
    assert issue_limit(terms(walk_away={"utility": 0.5}), "price") is None


def test_a_limit_on_the_issue_itself_goes_before_the_walk_away() -> None:
    given_terms = terms(**LIMITED, issues=[{**PRICE, "limit": "70"}, SEATS])
    assert (issue_limit(given_terms, "price"), issue_limit(given_terms, "seats")) == (70, 4)


def test_a_target_that_is_worse_than_the_walk_away_on_an_issue_passes_no_limit() -> None:
    goal = {"price": 20, "seats": 2}
    given_terms = terms(**{**LIMITED, "target": {"package": goal}})
    assert issue_limit(given_terms, "seats") == 2
    assert not limits.passes_own_limit(given_terms, goal)


@given(prices, seats)
def test_a_package_passes_the_limits_that_it_is_worse_than(price: int, count: int) -> None:
    passed = limits.passes_own_limit(terms(**LIMITED), {"price": price, "seats": count})
    assert passed == tuple(name for name, worse in (("price", price > 60), ("seats", count < 4)) if worse)


@given(prices, seats)
def test_a_limit_is_passed_only_as_far_as_allowed_and_for_its_price(price: int, count: int) -> None:
    trade = {"issue": "price", "to": 70, "in_return": {"seats": 8}}
    given_terms = terms(**LIMITED, allow=[trade])
    package = {"price": price, "seats": count}
    allowed = count >= 4 and (price <= 60 or (price <= 70 and count >= 8))
    assert limits.allowed_by(given_terms, package) == allowed
    assert limits.allowed_by(given_terms, {"price": price}) == (price <= 60)


def test_one_of_several_trades_is_enough_and_each_passed_limit_needs_one() -> None:
    trades = [
        {"issue": "price", "to": 65, "in_return": {"seats": 6}},
        {"issue": "price", "to": 80, "in_return": {"seats": 10}},
        {"issue": "seats", "to": 3, "in_return": {"price": 30}},
    ]
    given_terms = terms(**LIMITED, allow=trades)
    for price, count, allowed in [
        (65, 6, True),
        (66, 6, False),
        (80, 10, True),
        (81, 11, False),
        (30, 3, True),
        (30, 2, False),
        (65, 3, False),
    ]:
        package = {"price": price, "seats": count}
        assert limits.allowed_by(given_terms, package) == allowed, package


def test_an_allowed_trade_passes_a_walk_away_on_that_issue_and_never_the_utility_of_it() -> None:
    trade = {"issue": "price", "to": 70, "in_return": {"seats": 8}}
    given_terms = terms(walk_away={"package": {"price": 60}}, allow=[trade])
    floor = limits.utility_floor(given_terms)
    assert floor is not None
    for price in range(50, 100):
        for count in range(1, 12):
            package = {"price": price, "seats": count}
            worth = package_utility(given_terms.preferences, package).low
            beyond = price > 60 and not (price <= 70 and count >= 8)
            below = limits.is_below_floor(given_terms, package, binding=True)
            assert below == (beyond or worth < floor - limits.TOLERANCE), package


@given(st.one_of(st.integers(-(2**53), 2**53), st.sampled_from(["1e30", "-1e30", "1e-400"])), seats, st.floats(0, 1))
def test_a_price_beyond_the_bad_end_of_the_range_is_below_every_walk_away(
    price: int | str, count: int, floor: float
) -> None:
    package = {"price": price, "seats": count}
    at_most = float(price) > 100
    given_terms = terms(walk_away={"utility": floor})
    worth = package_utility(given_terms.preferences, package).low
    below = limits.is_below_floor(given_terms, package, binding=True)
    assert below == (at_most or worth < floor - limits.TOLERANCE)
    assert 0 <= worth <= 1


def test_authority_follows_the_good_direction_of_the_price() -> None:
    buying = terms(authority={"limit": 50})
    selling = terms(role="seller", authority={"limit": 50})
    assert limits.needs_approval(buying, {"price": 51})
    assert not limits.needs_approval(buying, {"price": 50})
    assert limits.needs_approval(selling, {"price": 49})
    assert not limits.needs_approval(selling, {"price": 51})


def test_without_a_walk_away_the_certain_alternative_is_the_floor() -> None:
    batna = {"value": {"package": {"price": 40, "seats": 11}}, "probability": 0.5}
    found = terms(batna=batna)
    sure = package_utility(found.preferences, {"price": 40, "seats": 11}).low
    assert limits.utility_floor(found) == pytest.approx(sure / 2)
    assert limits.utility_floor(terms()) is None


HAGGLE: dict[str, Any] = {
    **{"walk_away": 8500, "target": 7900, "issues": [{**PRICE, "range": [7000, 9500]}]},
    "batna": {"description": "Buy the other Golf from a dealer in Ulm", "value": 8900},
}


@pytest.mark.parametrize(
    ("fact", "by_default", "when_allowed"),
    [
        ("Two tyres are worn, a set costs about 250.", True, True),
        ("I cannot go over €8.500,00.", False, False),
        ("My limit is eight and a half thousand.", False, False),
        ("I would like to pay 7.9k.", False, False),
        ("Another costs 8,900.", False, True),
        ("A dealer has the same Golf.", False, True),
        ("The dealer said so.", True, True),
        ("The price of a Golf falls each year.", True, True),
    ],
)
def test_a_fact_that_tells_a_limit_is_never_said(fact: str, by_default: bool, when_allowed: bool) -> None:
    sent = [fact, {"fact": fact, "shareable": True}]
    body = NegotiationBody.model_validate({"title": "t", "role": "buyer", **HAGGLE, "arguments": sent})
    assert [one.shareable for one in parse_terms(body, lenient=True).arguments] == [by_default, when_allowed]
    if not when_allowed:
        with pytest.raises(ValidationFailed) as refusal:
            parse_terms(body)
        assert [error.pointer for error in refusal.value.errors] == ["/arguments/1/shareable"]


@pytest.mark.parametrize(
    "arguments",
    [[""], [{"kind": "wish"}], [{"fact": "x", "kind": "plea"}], [{"fact": "x", "worth": "much"}], ["x"] * 31, [1]],
)
def test_an_argument_has_a_fact_a_kind_and_an_amount(arguments: list[Any]) -> None:
    with pytest.raises(ValueError, match="arguments"):
        terms(arguments=arguments)


def test_terms_that_were_stored_before_there_were_arguments_read_back() -> None:
    given_terms = terms(**HAGGLE, arguments=[{"fact": "A tank.", "kind": "wish", "worth": "60", "shareable": False}])
    assert decode_terms(encode_terms(given_terms)) == given_terms
    old = orjson.loads(encode_terms(given_terms))
    del old["terms"]["arguments"]
    assert decode_terms(orjson.dumps(old)).arguments == ()
