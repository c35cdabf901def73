"""What stands beside the field of an issue."""

import pytest

from negotiator.console.negotiation_words import issue_unit


@pytest.mark.parametrize(
    ("kind", "label", "unit", "expected"),
    [
        ("money", "Rent", "month", "EUR a month"),
        ("money", "Monthly rent", "month", "EUR"),
        ("money", "Price per seat", None, "EUR"),
        ("money", "Price per seat and month", "seat and month", "EUR"),
        ("money", "Price", None, "EUR"),
        ("money", "Price", "EUR", "EUR"),
        ("money", "Budget", "thousand", "thousand"),
        ("integer", "Term", "months", "months"),
        ("percent", "Discount", None, "%"),
        ("duration_days", "Payment", None, "days"),
        ("boolean", "Kitchen", None, ""),
    ],
)
def test_an_amount_is_asked_for_in_its_currency_and_period(
    kind: str, label: str, unit: str | None, expected: str
) -> None:
    issue = {"name": "x", "type": kind, "label": label, "unit": unit}
    assert issue_unit({"currency": "EUR"}, issue) == expected
