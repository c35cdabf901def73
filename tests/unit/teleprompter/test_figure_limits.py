"""Figures are held against limits, and no limit is ever spoken."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.teleprompter.figures import FigureLimit, LimitStanding, compare_figure
from negotiator.teleprompter.spoken_figures import find_figures

SALARY = FigureLimit("money", Decimal(40_000), Decimal(50_000), "salary")
PURCHASE = FigureLimit("money", Decimal(12_000), Decimal(9_000))
TERMS = FigureLimit("days", Decimal(45), Decimal(14), "payment")


@pytest.mark.parametrize(
    ("said", "measure", "low", "high"),
    [
        ("we pay net sixty", "days", "60", "60"),
        ("could we have two weeks", "days", "14", "14"),
        ("we'd want ten percent off", "percent", "10", "10"),
        ("between ten and twelve thousand", "money", "10000", "12000"),
        ("i was thinking five hundred to six hundred pounds", "money", "500", "600"),
        ("eight hundred a month", "money", "800", "800"),
        ("we'd do it for 42k", "money", "42000", "42000"),
    ],
)
def test_the_words_around_a_number_say_what_it_is(said: str, measure: str, low: str, high: str) -> None:
    (figure,) = find_figures(said)
    assert (figure.measure, figure.low, figure.high) == (measure, Decimal(low), Decimal(high))


@pytest.mark.parametrize(
    "said",
    [
        "we have thirty employees",
        "let's meet at ten",
        "our office opened in nineteen ninety eight",
        "it saves two days a week",
        "the code is four seven two one",
        "we offer four kinds of coffee",
    ],
)
def test_counts_clocks_years_and_codes_are_no_figures(said: str) -> None:
    assert find_figures(said) == ()


def test_currency_period_and_off_are_kept() -> None:
    (rent,) = find_figures("it is $1,250 a month")
    assert (rent.currency, rent.per) == ("USD", "month")
    (cut,) = find_figures("take five hundred pounds off")
    assert (cut.currency, cut.off) == ("GBP", True)


@pytest.mark.parametrize(
    ("said", "limit", "value", "standing"),
    [
        ("i could do thirty eight", SALARY, "38000", "past_limit"),
        ("we can offer forty two five", SALARY, "42500", "on_the_way"),
        ("the offer is fifty thousand", SALARY, "50000", "at_target"),
        ("i want twelve five for it", PURCHASE, "12500", "past_limit"),
        ("the price is eleven thousand", PURCHASE, "11000", "on_the_way"),
        ("we pay net sixty", TERMS, "60", "past_limit"),
        ("i'd sell between ten and thirteen thousand", PURCHASE, "13000", "past_limit"),
    ],
)
def test_a_figure_is_read_in_the_scale_of_its_limit(
    said: str, limit: FigureLimit, value: str, standing: LimitStanding
) -> None:
    (figure,) = find_figures(said)
    held = compare_figure(figure, [limit])
    assert held is not None
    assert (held.value, held.standing) == (Decimal(value), standing)


def test_a_percentage_off_is_held_against_the_list_price() -> None:
    limit = FigureLimit("money", Decimal(900), Decimal(1000), list_price=Decimal(1000))
    (figure,) = find_figures("we need fifteen percent off")
    held = compare_figure(figure, [limit])
    assert held is not None
    assert (held.value, held.standing) == (Decimal(850), "past_limit")


def test_what_is_far_from_the_limit_or_in_other_money_is_about_something_else() -> None:
    euros = FigureLimit("money", Decimal(900), Decimal(800), currency="EUR", per="month")
    for said in ("our turnover was twelve million", "it costs 850 dollars", "it costs 850 euros a year"):
        assert not any(compare_figure(figure, [euros]) for figure in find_figures(said))


@given(st.integers(1, 10**9), st.integers(1, 10**9), st.integers(1, 10**9))
def test_the_floor_is_never_past_the_limit_and_order_is_kept(floor: int, target: int, value: int) -> None:
    limit = FigureLimit("money", Decimal(floor), Decimal(target))
    assert limit.standing(Decimal(floor)) != "past_limit"
    assert limit.standing(Decimal(target)) == "at_target"
    order = ("past_limit", "on_the_way", "at_target")
    better = value + (1 if target >= floor else -1)
    assert order.index(limit.standing(Decimal(better))) >= order.index(limit.standing(Decimal(value)))
