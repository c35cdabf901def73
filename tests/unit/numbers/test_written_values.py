"""Amounts, numbers, percentages and days as people write them: each has one reading, or is refused with both."""

from collections.abc import Callable
from contextlib import suppress
from datetime import date
from decimal import Decimal
from typing import Any

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

READERS: tuple[Callable[[str], Any], ...] = (
    read_amount,
    read_number,
    read_percentage,
    read_with_unit,
    read_day,
    read_currency,
)


@pytest.mark.parametrize(
    ("text", "value", "currency"),
    [
        ("500", "500", None),
        ("12500.00", "12500.00", None),
        ("€500", "500", "EUR"),
        ("500 EUR", "500", "EUR"),
        ("1 500 €", "1500", "EUR"),
        ("€1,500", "1500", "EUR"),
        ("1,500.00", "1500.00", None),
        ("1.250,00", "1250.00", None),
        ("12,50 €", "12.50", "EUR"),
        ("15k", "15000", None),
        ("5 million euros", "5000000", "EUR"),
        ("nine thousand five hundred", "9500", None),
        ("-500", "-500", None),
        ("0.125", "0.125", None),
    ],
)
def test_an_amount_is_read(text: str, value: str, currency: str | None) -> None:
    assert read_amount(text) == WrittenAmount(Decimal(value), currency)


@pytest.mark.parametrize(
    ("text", "readings"),
    [
        ("1.500", ("1500", "1.5")),
        ("€14.995", ("14995", "14.995")),
        ("1.500k", ("1500000", "1500")),
        ("1.500,000", ("1500000", "1500")),
    ],
)
def test_an_amount_with_two_readings_is_refused_with_both(text: str, readings: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match=f"write {readings[0]} or {readings[1]}"):
        read_amount(text)


def test_three_decimals_are_those_of_a_currency_that_has_them() -> None:
    assert read_amount("1.500", "KWD").value == Decimal("1.5")


@pytest.mark.parametrize(
    ("text", "currency", "words"),
    [
        ("$500", None, "several countries"),
        ("500 dollars", "EUR", "All money here is in EUR, and this says USD"),
        ("500 EUR USD", None, "two currencies"),
        ("500 per month", None, "says per month"),
        ("500-600", None, "amount of money"),
        ("٥٠٠", None, "amount of money"),
        ("５００", None, "amount of money"),
        ("5\u202e00", None, "amount of money"),
        ("½", None, "amount of money"),
    ],
)
def test_what_is_no_single_amount_is_refused(text: str, currency: str | None, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_amount(text, currency)


def test_a_sign_of_several_countries_is_the_currency_that_is_known() -> None:
    assert read_amount("$500", "CAD") == WrittenAmount(Decimal(500), "CAD")


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2027-03-01", "2027-03-01"),
        ("2027-3-1", "2027-03-01"),
        ("1 March 2027", "2027-03-01"),
        ("March 1st, 2027", "2027-03-01"),
        ("13/04/2027", "2027-04-13"),
        ("04.04.2027", "2027-04-04"),
    ],
)
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
