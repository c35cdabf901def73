"""The forecast of a final price from the figures of both sides."""

import math
from dataclasses import replace
from itertools import pairwise
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.advice.forecast import PriceForecast, PriceTalk, forecast_price, forecast_reach
from negotiator.advice.leverage.zone_of_agreement import Spread

BEST, WORST = 1_000.0, 2_000.0
FIGURE = st.floats(BEST, WORST)
ANY = st.floats(-1e30, 1e30)
CAR = PriceTalk(best=9_000, worst=14_000, aim=10_800, limit=12_500)


@st.composite
def spreads(draw: st.DrawFn, figure: st.SearchStrategy[float] = FIGURE) -> Spread:
    """An estimate of the other side's limit."""
    return Spread(*sorted(draw(st.tuples(figure, figure, figure))))


@st.composite
def talks(draw: st.DrawFn, figure: st.SearchStrategy[float] = FIGURE) -> PriceTalk:
    """Any talk, also one whose figures make no sense."""
    return PriceTalk(
        best=BEST,
        worst=WORST,
        mine=tuple(draw(st.lists(figure, max_size=6))),
        theirs=tuple(draw(st.lists(figure, max_size=6))),
        aim=draw(st.none() | figure),
        ask=draw(st.none() | figure),
        limit=draw(st.none() | figure),
        their_limit=draw(st.none() | spreads(figure)),
        comparable=draw(st.none() | figure),
    )


def forecast(talk: PriceTalk) -> PriceForecast:
    """The forecast of a talk that has one."""
    found = forecast_price(talk)
    assert found is not None
    return found


@given(talks(ANY))
def test_every_ledger_has_an_ordered_forecast_inside_the_range_or_none(talk: PriceTalk) -> None:
    found = forecast_price(talk)
    if found is None:
        assert talk.limit is not None
        assert talk.their_limit is not None
        return
    assert all(map(math.isfinite, (found.low, found.median, found.high)))
    assert found.low <= found.median <= found.high
    if talk.limit is None or talk.limit >= BEST:
        assert found.low >= BEST - 1e-9
        assert found.high <= WORST + 1e-9
    assert found.deal_probability is None or 0 <= found.deal_probability <= 1


@given(talks())
def test_the_forecast_is_inside_both_limits(talk: PriceTalk) -> None:
    found = forecast_price(talk)
    if found is None:
        return
    if talk.limit is not None:
        assert found.high <= max([talk.limit, *talk.mine[-1:]])
    if talk.their_limit is not None:
        assert found.low >= min([talk.their_limit.low, *talk.theirs[-1:], talk.limit or WORST]) or math.isclose(
            found.low, talk.their_limit.low
        )


@given(FIGURE, FIGURE, FIGURE)
def test_a_known_limit_of_the_other_side_is_never_passed(mine: float, theirs: float, ask: float) -> None:
    talk = PriceTalk(best=BEST, worst=WORST, ask=ask, limit=mine, their_limit=Spread(theirs, theirs, theirs))
    found = forecast_price(talk)
    assert (found is None) == (theirs > mine)
    if found is not None:
        assert theirs <= found.low <= found.high <= mine
        assert found.deal_probability == 1.0


@given(talks(), FIGURE, FIGURE)
def test_once_both_have_spoken_it_is_between_the_standing_offers(talk: PriceTalk, mine: float, theirs: float) -> None:
    found = forecast_price(replace(talk, mine=(*talk.mine, mine), theirs=(*talk.theirs, theirs), limit=None))
    assert found is not None
    low, high = sorted((mine, theirs))
    assert low - 1e-9 <= found.low <= found.high <= high + 1e-9


@given(talks(), FIGURE, FIGURE, st.sampled_from(["mine", "theirs"]))
def test_a_higher_standing_offer_never_lowers_the_forecast(
    talk: PriceTalk, one: float, other: float, side: str
) -> None:
    figures = talk.mine if side == "mine" else talk.theirs
    reaches = [forecast_reach(replace(talk, **{side: (*figures, at)})) for at in sorted((one, other))]
    medians = [reach.median for reach in reaches if reach is not None]
    assert all(b >= a - 1e-6 for a, b in pairwise(medians))


@given(talks(), st.floats(0, 500), st.sampled_from(["mine", "theirs"]))
def test_a_side_that_asks_more_all_along_never_lowers_the_forecast(talk: PriceTalk, more: float, side: str) -> None:
    wide = replace(talk, worst=WORST + 500)
    figures = wide.mine if side == "mine" else wide.theirs
    raised = replace(wide, **{side: tuple(at + more for at in figures)})
    before, after = forecast_reach(wide), forecast_reach(raised)
    if before is not None and after is not None:
        assert after.median >= before.median - 1e-6


@given(talks(), FIGURE, FIGURE)
def test_a_looser_own_limit_never_lowers_the_forecast(talk: PriceTalk, one: float, other: float) -> None:
    tight, loose = sorted((one, other))
    reaches = [forecast_reach(replace(talk, limit=at, their_limit=None)) for at in (tight, loose)]
    medians = [reach.median for reach in reaches if reach is not None]
    assert medians[0] <= medians[1] + 1e-6


@given(talks())
def test_nobody_who_has_spoken_is_asked_for_their_target(talk: PriceTalk) -> None:
    if talk.has_both:
        silent = replace(talk, aim=None, ask=None, comparable=None)
        assert forecast_price(talk) == forecast_price(silent)


def test_the_first_offers_meet_in_the_middle_where_no_limit_is_known() -> None:
    found = forecast(replace(CAR, limit=None, mine=(10_000,), theirs=(14_000,)))
    assert found.median == pytest.approx(12_000)


def test_a_side_whose_steps_shrink_is_taken_to_stop() -> None:
    shrinking = replace(CAR, limit=None, mine=(10_000, 10_500, 11_000), theirs=(14_000, 13_200, 13_000))
    steady = replace(shrinking, theirs=(14_000, 13_500, 13_000))
    assert forecast(shrinking).median > forecast(steady).median


def test_the_interval_narrows_as_the_offers_come_nearer() -> None:
    far = replace(CAR, mine=(10_000, 10_800), theirs=(14_000, 13_200))
    talks = [CAR, replace(CAR, theirs=(13_500,)), far, replace(far, mine=(10_000, 11_800))]
    widths = [forecast(talk).high - forecast(talk).low for talk in talks]
    assert widths[-1] < min(widths[:-1])
    assert forecast(replace(far, mine=(10_000, 12_000), theirs=(14_000, 12_000))).low == 12_000


def test_an_offer_of_theirs_inside_the_limit_makes_a_deal_possible() -> None:
    assert forecast(CAR).deal_probability is None
    assert forecast(replace(CAR, theirs=(13_500,))).deal_probability is None
    assert forecast(replace(CAR, theirs=(12_400,))).deal_probability == 1.0
    doubtful = replace(CAR, their_limit=Spread(12_000, 12_500, 13_000))
    assert forecast(doubtful).deal_probability == pytest.approx(0.5)


def test_without_room_nothing_is_expected_until_they_go_past_their_estimated_limit() -> None:
    talk = replace(CAR, their_limit=Spread(12_600, 12_800, 13_000))
    assert forecast_price(talk) is None
    assert forecast(replace(talk, theirs=(12_500,))).median <= 12_500


def test_the_time_grows_with_the_number_of_offers_alone() -> None:
    def seconds(count: int) -> float:
        figures = tuple(1_000.0 + place % 400 for place in range(count))
        talk = PriceTalk(best=BEST, worst=WORST, mine=figures, theirs=figures[::-1])
        started = process_time()
        for _ in range(5):
            forecast_price(talk)
        return process_time() - started

    seconds(1_000)
    assert seconds(20_000) < 40 * max(seconds(1_000), 0.002)
