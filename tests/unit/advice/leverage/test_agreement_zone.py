"""Room for a deal under uncertainty, against numerical integration."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.advice.leverage.zone_of_agreement import (
    Spread,
    likely_limit,
    mean_below,
    probability_below,
    zopa_estimate,
)
from negotiator.terms.terms import Estimate

ENDS = st.lists(st.integers(-1000, 1000), min_size=3, max_size=3, unique=True)


def density(spread: Spread, x: float) -> float:
    wide = spread.high - spread.low
    if x < spread.likely:
        return 2 * (x - spread.low) / (wide * (spread.likely - spread.low))
    return 2 * (spread.high - x) / (wide * (spread.high - spread.likely))


@given(ENDS, st.floats(0.05, 1.2))
def test_probability_and_mean_are_the_integrals_of_the_triangle(ends: list[int], place: float) -> None:
    spread = Spread(*map(float, sorted(ends)))
    limit = spread.low + place * (spread.high - spread.low)
    top = min(limit, spread.high)
    count = 4000
    xs = [spread.low + (top - spread.low) * (k + 0.5) / count for k in range(count)]
    step = (top - spread.low) / count
    mass = sum(density(spread, x) for x in xs) * step
    moment = sum(x * density(spread, x) for x in xs) * step
    assert probability_below(spread, limit) == pytest.approx(mass, abs=1e-3)
    mean = mean_below(spread, limit)
    assert mean is not None
    assert mean == pytest.approx(moment / mass, abs=2e-3 * (spread.high - spread.low))


@given(ENDS, st.floats(-1500, 1500), st.floats(0, 100))
def test_a_wider_limit_never_lowers_the_chance_of_a_deal(ends: list[int], limit: float, more: float) -> None:
    spread = Spread(*map(float, sorted(ends)))
    assert probability_below(spread, limit + more) >= probability_below(spread, limit)
    assert 0.0 <= probability_below(spread, limit) <= 1.0


@given(ENDS, st.floats(-1500, 1500))
def test_the_conditional_walk_away_lies_in_the_spread_and_on_my_side_of_my_limit(ends: list[int], limit: float) -> None:
    spread = Spread(*map(float, sorted(ends)))
    for found, low, high in (
        (zopa_estimate(spread, limit, "below"), spread.low, min(limit, spread.high)),
        (zopa_estimate(spread, limit, "above"), max(limit, spread.low), spread.high),
    ):
        assert (found.their_walk_away is None) == (found.probability <= 0)
        if found.their_walk_away is not None:
            assert low <= found.their_walk_away <= high


def test_a_known_walk_away_equal_to_mine_is_one_point_of_agreement() -> None:
    known = Spread(100.0, 100.0, 100.0)
    assert zopa_estimate(known, 100.0, "below") == zopa_estimate(known, 100.0, "above")
    assert zopa_estimate(known, 100.0, "below").probability == 1.0
    assert zopa_estimate(known, 99.99, "below").probability == 0.0


@pytest.mark.parametrize("ends", [(0.0, 0.0, 10.0), (0.0, 10.0, 10.0)])
def test_a_spread_may_lean_all_the_way_to_one_end(ends: tuple[float, float, float]) -> None:
    spread = Spread(*ends)
    assert probability_below(spread, 5.0) == pytest.approx(0.75 if ends[1] == 0 else 0.25)
    assert mean_below(spread, 10.0) == pytest.approx(sum(ends) / 3)


def test_an_estimate_out_of_order_is_a_field_error() -> None:
    assert Estimate(1, 2, 3).errors() == []
    assert [r.pointer for r in Estimate(3, 2, 1).errors("/here")] == ["/here"]
    assert Estimate(1, 2, float("inf")).errors()


@given(st.floats(0.1, 0.9), st.floats(0.01, 0.2), st.integers(4, 8))
def test_steady_slowing_points_at_the_limit_of_the_series(ratio: float, first: float, count: int) -> None:
    own, step = [1.0], first
    for _ in range(count):
        own.append(own[-1] - step)
        step *= ratio
    limit = likely_limit(own)
    end = 1.0 - first / (1.0 - ratio)
    if first * ratio ** (count - 1) < 1e-7:
        return
    assert limit is not None
    assert limit.likely == pytest.approx(end, abs=1e-6)
    assert limit.low <= limit.likely <= limit.high <= own[-1]


@pytest.mark.parametrize("own", [[], [1.0, 0.9], [1.0, 0.9, 0.85], [1.0, 0.9, 0.8, 0.7], [1.0, 0.9, 0.95, 0.9]])
def test_too_few_or_unslowing_moves_say_nothing_about_a_limit(own: list[float]) -> None:
    assert likely_limit(own) is None
