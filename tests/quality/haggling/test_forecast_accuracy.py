"""The forecast comes nearer to the deals of scripted people than a midpoint, and its interval holds."""

from statistics import fmean

import pytest

from negotiator.advice.forecast import LEVEL, RESIDUALS
from tests.quality.haggling.measure_forecast import COUNTS, Moment, baselines, holds, moments

SEEDS = (1, 3, 5, 7, 9)
"""Of the measured half: a talk with each of the five advisers on which the intervals are set."""


@pytest.fixture(scope="module")
def measured() -> list[Moment]:
    """Moments with noise."""
    return list(moments(SEEDS, noise=True))


@pytest.mark.parametrize("count", COUNTS)
def test_the_forecast_is_nearer_than_any_midpoint(measured: list[Moment], count: int) -> None:
    here = [one for one in measured if one.offers == count]
    assert len(here) > 100

    def error(name: str) -> float:
        return fmean(abs(baselines(one.talk)[name] - one.deal) / one.span for one in here)

    ours = fmean(abs(one.reach.median - one.deal) / one.span for one in here)
    assert all(ours < error(name) for name in baselines(here[0].talk))


def test_the_interval_holds_about_its_share(measured: list[Moment]) -> None:
    inside = fmean(holds(one, RESIDUALS) for one in measured if one.offers in COUNTS)
    assert LEVEL - 0.05 <= inside <= LEVEL + 0.1
