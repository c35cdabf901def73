"""Numbers as people type them."""

from decimal import Decimal

import pytest

from negotiator.console.entered_numbers import read_entered
from negotiator.negotiations.issues import IssueType

ONE = "Write one number, such as 45, 43,200 or 15k."


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("45", "45"),
        ("43,200", "43200"),
        ("1.250,00", "1250"),
        ("1,234,567.89", "1234567.89"),
        ("15k", "15000"),
        ("1.5m", "1500000"),
        ("€ 45", "45"),
        ("45.50 EUR", "45.50"),
        ("45 per seat, all in", "45"),
        ("1.250", "1250"),
        ("1 250", "1250"),
        ("12'500", "12500"),
        ("0.125", "0.125"),
        ("nine thousand five hundred", "9500"),
        ("-20", "-20"),
        ("− 20 €", "-20"),
    ],
)
def test_an_amount_of_money_is_read(text: str, value: str) -> None:
    assert read_entered(text, "money", currency="EUR") == Decimal(value)


@pytest.mark.parametrize(
    ("text", "kind", "unit", "value"),
    [
        ("12 %", "percent", "", "12"),
        ("2,5", "percent", "", "2.5"),
        ("1.250", "number", "", "1.25"),
        ("1,250", "number", "", "1250"),
        ("24 months", "integer", "months", "24"),
        ("three", "integer", "", "3"),
        ("30 days", "duration_days", "days", "30"),
    ],
)
def test_other_numbers_are_read(text: str, kind: IssueType, unit: str, value: str) -> None:
    assert read_entered(text, kind, unit=unit) == Decimal(value)


@pytest.mark.parametrize(
    ("text", "kind", "unit", "sentence"),
    [
        ("", "money", "", ONE),
        ("about as last year", "money", "", ONE),
        ("45 to 50", "money", "", ONE),
        ("4" * 200, "money", "", ONE),
        ("$45", "money", "", "All money here is in EUR, and this says USD."),
        ("45 CHF", "money", "", "All money here is in EUR, and this says CHF."),
        ("2 years", "integer", "months", "This point is counted in months."),
        ("6 weeks", "duration_days", "days", "This point is counted in days."),
        ("12.5", "integer", "months", "Write a whole number."),
        ("9" * 30, "money", "", "This number is too large."),
    ],
)
def test_what_is_not_one_number_is_refused_with_a_sentence(
    text: str, kind: IssueType, unit: str, sentence: str
) -> None:
    with pytest.raises(ValueError, match=r".") as refused:
        read_entered(text, kind, unit=unit, currency="EUR")
    assert str(refused.value) == sentence
