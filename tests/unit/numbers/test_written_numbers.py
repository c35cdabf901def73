"""Numbers in any spelling."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.numbers.read import normalise_text, number_readings, numbers_in


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("9500", "9500"),
        ("€9,500.00", "9500"),
        ("9.500,00 EUR", "9500"),
        ("9 500", "9500"),
        ("9'500", "9500"),
        ("9\u202f500", "9500"),
        ("9.5k", "9500"),
        ("USD 9.5 thousand", "9500"),
        ("nine thousand five hundred", "9500"),
        ("nine thousand and five hundred dollars", "9500"),
        ("ninety-five hundred", "9500"),
        ("１２３", "123"),
        ("9\u200b500", "9500"),
        ("0.45", "0.45"),
        (".45", "0.45"),
        ("45 %", "45"),
        ("1.2 million", "1200000"),
        ("two dozen", "14"),
        ("half", "0.5"),
        ("a hundred", "100"),
        ("12.500", "12500"),
        ("12.500", "12.5"),
    ],
)
def test_a_number_is_read_however_it_is_spelled(text: str, value: str) -> None:
    assert Decimal(value) in number_readings([text])


@pytest.mark.parametrize("text", ["", "no numbers here", "someone often won", "tense bitten weight"])
def test_words_that_only_contain_number_words_are_none(text: str) -> None:
    assert numbers_in(text) == []


@given(amount=st.integers(0, 10**9))
def test_every_grouping_of_an_amount_is_the_amount(amount: int) -> None:
    for text in (str(amount), f"{amount:,}", f"{amount:,}".replace(",", "."), f"{amount:,}".replace(",", " ")):
        assert Decimal(amount) in number_readings([text])


@given(text=st.text(max_size=300))
def test_any_text_is_read_without_a_fault(text: str) -> None:
    plain = normalise_text(text)
    for number in numbers_in(plain):
        assert 0 <= number.start < number.end <= len(plain)
        assert number.readings


@pytest.mark.parametrize("text", ["1.250 900", "1,250'900", "9.500 000,5"])
def test_mixed_separators_are_read_without_a_fault(text: str) -> None:
    assert numbers_in(normalise_text(text))[0].readings
