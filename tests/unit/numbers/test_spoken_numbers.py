"""Number words and digits become values."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.numbers.read import number_runs, number_tokens
from tests.helpers.spelled_numbers import spelled


def values(text: str) -> list[Decimal]:
    return [run.value for run in number_runs(number_tokens(text))]


@given(st.integers(2, 999_999_999))
def test_every_cardinal_in_words_is_read_back(value: int) -> None:
    assert values(f"we say {spelled(value)} for now") == [Decimal(value)]


@given(st.integers(0, 999_999_999))
def test_digits_with_and_without_commas_are_the_same(value: int) -> None:
    assert values(f"it is {value:,} now") == values(f"it is {value} now") == [Decimal(value)]


@given(st.text(max_size=300))
def test_any_text_is_read_without_an_error(text: str) -> None:
    assert all(run.first < run.last for run in number_runs(number_tokens(text)))


@pytest.mark.parametrize(
    ("said", "readings"),
    [
        ("twelve five", ["12500", "12.5"]),
        ("two fifty", ["250", "2.5", "250000"]),
        ("forty two thousand five", ["42500", "42005"]),
        ("two million five", ["2500000", "2000005"]),
        ("half a million", ["500000"]),
        ("half of a million", ["500000"]),
        ("half million dollars", ["500000"]),
        ("a quarter million", ["250000"]),
        ("three quarters of a million", ["750000"]),
        ("two and a quarter million", ["2250000"]),
        ("a million and three quarters", ["1750000"]),
        ("45 M€", ["45000000"]),
        ("30T€", ["30000"]),
        ("a million and a half", ["1500000"]),
        ("two and a half thousand", ["2500"]),
        ("one point two five", ["1.25"]),
        ("twelve hundred", ["1200"]),
        ("a hundred and fifty", ["150"]),
        ("a grand", ["1000"]),
        ("42k", ["42000"]),
        ("1.2m", ["1200000"]),
        ("two thousand and eight", ["2008"]),
    ],
)
def test_short_forms_have_their_readings(said: str, readings: list[str]) -> None:
    (run,) = number_runs(number_tokens(said))
    assert run.readings == tuple(Decimal(one) for one in readings)


@pytest.mark.parametrize("said", ["four seven two one", "one of them", "the first", "a man"])
def test_what_counts_nothing_is_no_number(said: str) -> None:
    assert values(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "my price is two thirds of a million",
        "eine viertel Million",
        "un demi million",
        "medio millón",
        "trois quarts de million",
        "deux millions et quart",
        "ein Drittel von 90.000",
        "double 10,000",
        "5 mln euro",
        "500 mila euro",
        "$30T",
        "€45 M",
        "eine halbe Million Euro",
        "2½ hundred thousand",
        "4k500",
        "4½ thousand",
        "5 1/2 thousand",
        "€5 Mrd",
        "$2.5B",
        "₹45L",
        "500万円",
    ],
)
def test_a_number_of_which_a_part_is_not_read_is_none(said: str) -> None:
    assert number_runs(number_tokens(said)) == []


@pytest.mark.parametrize(("said", "value"), [("two fifty k", "250000"), ("0.125 euros", "0.125"), ("€0.085", "0.085")])
def test_a_short_form_with_a_scale_and_decimals_after_zero_have_one_reading(said: str, value: str) -> None:
    assert [run.readings for run in number_runs(number_tokens(said))] == [(Decimal(value),)]


def test_two_numbers_side_by_side_stay_two() -> None:
    assert values("between ten and twelve") == [10, 12]
    assert values("10 12") == [10, 12]
