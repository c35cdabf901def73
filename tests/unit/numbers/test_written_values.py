"""Amounts, numbers, percentages and days as people write them: each has one reading, or is refused with both."""

import tomllib
from collections.abc import Callable
from contextlib import suppress
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.base.values import number_text
from negotiator.numbers.written import (
    WrittenAmount,
    decimal_text,
    read_amount,
    read_currency,
    read_day,
    read_number,
    read_percentage,
    read_with_unit,
)
from tests.helpers.linear_time import is_linear

TABLE: Final[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("numbers.toml").read_text("utf-8"))
READERS: tuple[Callable[[str], Any], ...] = (
    read_amount,
    read_number,
    read_percentage,
    read_with_unit,
    read_day,
    read_currency,
)


@pytest.mark.parametrize(("text", "value", "currency"), TABLE["amounts"])
def test_an_amount_is_read(text: str, value: str, currency: str) -> None:
    assert read_amount(text) == WrittenAmount(Decimal(value), currency or None)


@pytest.mark.parametrize(("text", "readings"), TABLE["ambiguous"])
def test_an_amount_with_two_readings_is_refused_with_both(text: str, readings: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match=f"write {readings[0]} or {readings[1]}"):
        read_amount(text)


def test_three_decimals_are_those_of_a_currency_that_has_them() -> None:
    assert read_amount("1.500", "KWD").value == Decimal("1.5")


@pytest.mark.parametrize(("text", "currency", "words"), TABLE["no_amounts"])
def test_what_is_no_single_amount_is_refused(text: str, currency: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_amount(text, currency or None)


def test_a_sign_of_several_countries_is_the_currency_that_is_known() -> None:
    assert read_amount("$500", "CAD") == WrittenAmount(Decimal(500), "CAD")


@pytest.mark.parametrize(("text", "day"), TABLE["days"])
def test_a_day_is_read(text: str, day: str) -> None:
    assert read_day(text) == day


def test_a_day_with_two_readings_is_refused_with_both() -> None:
    with pytest.raises(ValueError, match="3 April 2027 or 4 March 2027: write 2027-04-03 or 2027-0"):
        read_day("03/04/2027")


@given(st.dates(date(1000, 1, 1), date(9999, 12, 31)))
def test_a_day_that_is_written_in_words_is_read_back(day: date) -> None:
    for text in (
        f"{day.day} {day:%B} {day.year}",
        f"{day:%b} {day.day}, {day.year}",
        f"{day.year:04}/{day.month}/{day.day}",
    ):
        assert read_day(text) == day.isoformat()


@given(st.decimals(-(10**12), 10**12, places=2), st.sampled_from(["EUR", "GBP", "PLN"]))
def test_an_amount_that_is_written_is_read_back(value: Decimal, code: str) -> None:
    for text in (f"{value:.2f} {code}", f"{code} {value:,.2f}", str(value), number_text(value, 2)):
        assert read_amount(text, code).value == value
    assert read_amount(decimal_text(value), code).value == value


@given(st.integers(1, 999), st.integers(0, 999))
def test_a_point_before_three_digits_is_never_guessed(left: int, right: int) -> None:
    """What is accepted is what programs write, and its reading is theirs."""
    text = f"{left}.{right:03}"
    for said in (text, f"{text} EUR", f"€{text}"):
        if said == text and right % 10:
            assert read_amount(said).value == Decimal(text)
            continue
        with pytest.raises(ValueError, match=f"write {left}{right:03} or "):
            read_amount(said)


@given(st.text(max_size=70) | st.text("0123456789.,'kKmM %€$-/ EURmonthsMarch\u00a0\u202e٣", max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    for read in READERS:
        with suppress(ValueError):
            read(text)


@pytest.mark.parametrize("read", READERS)
def test_a_long_text_is_refused_in_linear_time(read: Callable[[str], Any]) -> None:
    def refused(text: str) -> None:
        with pytest.raises(ValueError, match=r"\w"):
            read(text)

    for piece in ("9", "1,", "1.", " 1", "€", "a", "٣", "\u202e", "k"):
        refused(piece * 100_000)
        assert is_linear(lambda size, piece=piece: refused(piece * (size // len(piece) + 61)))
