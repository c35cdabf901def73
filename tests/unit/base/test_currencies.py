"""Currency codes and money on the wire."""

import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.base.values import MINOR_UNITS, format_money

amounts = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**15), max_value=10**15)


def test_codes_are_three_capitals_and_the_old_ones_are_gone() -> None:
    assert all(re.fullmatch("[A-Z]{3}", code) for code in MINOR_UNITS)
    assert len(MINOR_UNITS) > 150
    assert not {"DEM", "FRF", "ITL", "XXX", "XTS", "XAU"} & set(MINOR_UNITS)


@pytest.mark.parametrize(
    ("amount", "currency", "text"),
    [
        ("12500", "EUR", "12500.00"),
        ("12500", None, "12500.00"),
        ("1E+5", "USD", "100000.00"),
        ("0.0035", "USD", "0.0035"),
        ("1.50", "JPY", "1.5"),
        ("1500.00", "JPY", "1500"),
        ("1.5", "KWD", "1.500"),
        ("-0.1", "EUR", "-0.10"),
        ("1e30", "EUR", "1" + "0" * 30 + ".00"),
        ("-0", "EUR", "0.00"),
    ],
)
def test_money_has_at_least_its_minor_units(amount: str, currency: str | None, text: str) -> None:
    assert format_money(Decimal(amount), currency) == text


@given(amounts, st.sampled_from(["EUR", "JPY", "KWD", "CLF", None]))
def test_money_keeps_the_amount_and_has_no_exponent(amount: Decimal, currency: str | None) -> None:
    text = format_money(amount, currency)
    assert Decimal(text) == amount
    assert re.fullmatch(r"-?\d+(\.\d+)?", text)
