"""Expected agreements lie inside the zone of agreement, or there are none."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.advice.leverage.outcomes import outcome_space, pareto_frontier
from negotiator.advice.leverage.solutions import asymmetric_nash_package, asymmetric_nash_price, price_precision
from negotiator.terms.utility import part_worths

PRICE = st.floats(0, 1e6)
ALPHA = st.floats(0.05, 0.95)


@given(PRICE, PRICE, ALPHA, st.none() | PRICE, st.none() | PRICE)
def test_the_expected_price_is_between_the_walk_aways_or_null(
    mine: float, theirs: float, alpha: float, my_other: float | None, their_other: float | None
) -> None:
    price = asymmetric_nash_price((mine, theirs), alpha, better="lower", alternatives=(my_other, their_other))
    if theirs > mine:
        assert price is None
    if price is not None:
        assert theirs <= price <= mine
        assert my_other is None or price <= my_other or my_other >= mine
        assert their_other is None or price >= their_other or their_other <= theirs


@given(PRICE, st.floats(0, 1e6), ALPHA, ALPHA)
def test_more_power_never_means_a_worse_price(low: float, wide: float, one: float, other: float) -> None:
    weak, strong = sorted((one, other))
    ends = (low + wide, low)
    prices = [asymmetric_nash_price(ends, alpha, better="lower") for alpha in (weak, strong)]
    assert prices[0] is not None
    assert prices[1] is not None
    assert prices[1] <= prices[0]


@given(PRICE, st.floats(1, 1e6), ALPHA)
def test_buyer_and_seller_expect_the_same_price(low: float, wide: float, alpha: float) -> None:
    high = low + wide
    buyer = asymmetric_nash_price((high, low), alpha, better="lower")
    seller = asymmetric_nash_price((low, high), 1.0 - alpha, better="higher")
    assert buyer == pytest.approx(seller)
    assert buyer == pytest.approx(low + (1.0 - alpha) * wide)


def test_an_alternative_counts_only_once_it_binds() -> None:
    ends = (100.0, 60.0)
    free = asymmetric_nash_price(ends, 0.5, better="lower")
    assert free == 80.0
    assert asymmetric_nash_price(ends, 0.5, better="lower", alternatives=(95.0, None)) == free
    assert asymmetric_nash_price(ends, 0.5, better="lower", alternatives=(70.0, None)) == 70.0
    assert asymmetric_nash_price(ends, 0.5, better="lower", alternatives=(None, 90.0)) == 90.0
    assert asymmetric_nash_price(ends, 0.5, better="lower", alternatives=(50.0, None)) is None


@pytest.mark.parametrize(("alpha", "value"), [(0.1, "0"), (0.5, "5"), (0.9, "10")])
def test_the_expected_package_follows_power_along_the_frontier(alpha: float, value: str) -> None:
    mine = part_worths({"x": [(str(n), n / 10) for n in range(11)]})
    theirs = part_worths({"x": [(str(n), 1 - n / 10) for n in range(11)]})
    space = outcome_space(mine, theirs)
    found = asymmetric_nash_package(space, pareto_frontier(space), (0.0, 0.0), alpha=alpha)
    assert found is not None
    assert abs(int(str(found.package["x"])) - int(value)) <= 1


def test_an_alternative_better_than_all_they_accept_leaves_nothing_to_expect() -> None:
    mine = part_worths({"x": [("a", 0.2), ("b", 0.8)]})
    theirs = part_worths({"x": [("a", 0.8), ("b", 0.2)]})
    space = outcome_space(mine, theirs)
    edge = pareto_frontier(space)
    bound = asymmetric_nash_package(space, edge, (0.0, 0.0), alpha=0.05, alternatives=(0.5, None))
    assert bound is not None
    assert bound.package == {"x": "b"}
    assert asymmetric_nash_package(space, edge, (0.0, 0.0), alpha=0.5, alternatives=(0.9, None)) is None


def test_prices_are_rounded_to_cents_and_finer_where_the_range_is_small() -> None:
    assert price_precision(Decimal(40_000)) == Decimal("0.01")
    assert price_precision(Decimal("0.005")) == Decimal("1E-9")
