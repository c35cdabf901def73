"""Percentiles, the confidence of a median, and what of others may be told."""

import random
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.memory.benchmarks_figures import (
    BenchmarkDeal,
    median_interval,
    percentile,
    percentiles,
    round_rate,
    suppression_reason,
    weighted_mean,
)

RATES = st.lists(st.decimals("-1", "1", places=4), min_size=1, max_size=60).map(sorted)


@given(RATES, st.integers(0, 100))
def test_percentiles_are_those_of_everybody_else(rates: list[Decimal], percent: int) -> None:
    expected = float(np.percentile([float(rate) for rate in rates], percent))
    assert float(percentile(rates, percent)) == pytest.approx(expected, abs=1e-9)


@given(RATES)
def test_percentiles_lie_in_order_and_within_the_values(rates: list[Decimal]) -> None:
    found = [value for value in percentiles(rates).values() if value is not None]
    assert found == sorted(found)
    assert rates[0] <= found[0]
    assert found[-1] <= rates[-1]


def test_tails_are_told_from_twenty_deals_on() -> None:
    nineteen = [Decimal(n) for n in range(19)]
    assert percentiles(nineteen)["p90"] is None
    assert percentiles([*nineteen, Decimal(19)])["p10"] == Decimal("1.9")
    assert set(percentiles([]).values()) == {None}


def test_a_median_of_five_has_no_interval_and_of_six_the_whole_range() -> None:
    five = [Decimal(n) for n in range(5)]
    assert median_interval(five) is None
    assert median_interval([*five, Decimal(5)]) == (Decimal(0), Decimal(5), 0.9688)


def test_the_interval_holds_the_true_median_as_often_as_it_says() -> None:
    drawn = random.Random(7)  # noqa: S311  a sample, not a secret
    held, rounds = 0, 2000
    for _ in range(rounds):
        values = sorted(Decimal(repr(drawn.gauss(0, 1))) for _ in range(15))
        interval = median_interval(values)
        assert interval is not None
        held += interval[0] <= 0 <= interval[1]
    assert held / rounds >= 0.94


@given(RATES)
def test_a_mean_of_equal_weights_is_the_mean(rates: list[Decimal]) -> None:
    found = weighted_mean(rates, [Decimal(2)] * len(rates))
    assert found is not None
    assert abs(found - sum(rates, Decimal(0)) / len(rates)) < Decimal("1e-12")


def test_nothing_weighs_nothing() -> None:
    assert weighted_mean([Decimal(1)], [Decimal(0)]) is None


def deals(*weights: int) -> list[BenchmarkDeal]:
    """One deal a contributor, of these values."""
    return [
        BenchmarkDeal(f"usr_{place}", "EUR", Decimal("0.1"), Decimal(weight), None, None)
        for place, weight in enumerate(weights)
    ]


def test_four_contributors_are_too_few_and_five_enough() -> None:
    assert suppression_reason(deals(1, 1, 1, 1)) == "too_few_contributors"
    assert suppression_reason(deals(1, 1, 1, 1, 1)) is None
    assert suppression_reason(deals(1, 1, 1, 1) * 9) == "too_few_contributors"


def test_nobody_may_hold_more_than_a_quarter_of_the_value() -> None:
    assert suppression_reason(deals(3, 3, 2, 2, 2)) is None
    assert suppression_reason(deals(4, 3, 2, 2, 2)) == "one_contributor_dominates"
    assert suppression_reason(deals(0, 0, 0, 0, 0)) == "one_contributor_dominates"


@given(st.decimals("-2", "2", places=6))
def test_rates_of_others_are_told_to_half_a_point(rate: Decimal) -> None:
    told = round_rate(rate)
    assert told is not None
    assert told % Decimal("0.005") == 0
    assert abs(told - rate) <= Decimal("0.0025")
