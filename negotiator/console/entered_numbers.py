"""Numbers that people type into a form: read as the API reads them, but a point before three digits has one reading."""

from decimal import Decimal
from typing import Final

from negotiator.numbers.read import normalise_text
from negotiator.terms.issues import WHOLE_TYPES, Issue, IssueType, Scalar
from negotiator.terms.short_forms import IssueForm, read_figure

LARGEST_ENTERED: Final = Decimal(10) ** 15


def read_entered(text: str, kind: IssueType, *, label: str = "", unit: str = "", currency: str = "") -> Decimal:
    """The number in the text; ValueError with a sentence for the user where there is not exactly one.

    A point before three digits parts thousands in an amount of money and in a whole number: `1.250` is 1,250. On a
    number or a percentage it is a decimal point.
    """
    point = "thousands" if kind == "money" or kind in WHOLE_TYPES else "decimal"
    is_folded = any(mark.isnumeric() and not mark.isdecimal() for mark in text)  # `2½` would become `21⁄2`
    try:
        value = read_figure(
            IssueForm(label, kind, unit), text if is_folded else normalise_text(text), currency or None, point
        )
    except ValueError as fault:
        raise ValueError(f"{fault}.".replace("Must be", "Write", 1)) from None
    if abs(value) > LARGEST_ENTERED:
        raise ValueError("This number is too large.")
    if kind in WHOLE_TYPES and value != value.to_integral_value():
        raise ValueError("Write a whole number.")
    return value


def read_entered_value(text: str, issue: Issue, currency: str | None) -> Scalar:
    """The value of the issue that the text or the choice of a field says, as JSON carries it: money as text."""
    if issue.type == "boolean":
        return text == "true"
    if issue.type == "enum" or issue.options:
        return next((option.value for option in issue.options if str(option.value) == text), text)
    if issue.type == "date":
        return text
    label, unit = issue.label or issue.name, issue.unit or ""
    number = read_entered(text, issue.type, label=label, unit=unit, currency=currency or "")
    return str(number) if issue.type == "money" else float(number) if number % 1 else int(number)
