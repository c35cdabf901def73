"""Numbers as people type them."""

import tomllib
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.console.form_fields import read_entered
from negotiator.terms.issues import ISSUE_TYPES, IssueType
from negotiator.terms.short_forms import IssueForm, ShortFormReader

ONE = "Write an amount of money, such as €500, 1,500.00 or 15k."


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
        ("$45", "money", "", "All money here is in EUR, and this says USD; nothing is converted."),
        ("45 CHF", "money", "", "All money here is in EUR, and this says CHF; nothing is converted."),
        ("2 weeks", "integer", "months", "Is counted in months, and this says weeks: write the months."),
        ("6 months", "duration_days", "days", "Is counted in days, and this says months: write the days."),
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


TYPED = tomllib.loads(Path(__file__).with_name("entered_numbers.toml").read_text("utf-8"))


@pytest.mark.parametrize(("text", "kind", "label", "unit", "currency", "value"), TYPED["read"])
def test_a_form_and_the_api_read_the_same_value(
    text: str, kind: IssueType, label: str, unit: str, currency: str, value: str
) -> None:
    assert read_entered(text, kind, label=label, unit=unit, currency=currency) == Decimal(value)
    reader = ShortFormReader([], currency or None)
    if "￥" not in text:  # a form folds the signs of wide keyboards first
        assert Decimal(reader.value(IssueForm("it", kind, unit, (), label), text, "/target")) == Decimal(value)
    assert not reader.errors


@pytest.mark.parametrize(("text", "kind", "label", "unit", "currency", "named"), TYPED["refused"])
def test_a_form_and_the_api_name_the_word_that_they_cannot_read(
    text: str, kind: IssueType, label: str, unit: str, currency: str, named: str
) -> None:
    with pytest.raises(ValueError, match=r".") as refused:
        read_entered(text, kind, label=label, unit=unit, currency=currency)
    reader = ShortFormReader([], currency or None)
    reader.value(IssueForm("it", kind, unit, (), label), text, "/target")
    for sentence in (str(refused.value), reader.errors[0].description):
        assert named in sentence


@given(
    text=st.lists(
        st.sampled_from(
            [*"0123456789.,- +¢%€₹万億½kTm", "9" * 29, " years", " weeks", " lakh", " mil", " per ", " pa"]
        ),
        max_size=12,
    ).map("".join),
    kind=st.sampled_from([kind for kind in ISSUE_TYPES if kind not in {"enum", "boolean", "date"}]),
    unit=st.sampled_from(["", "months", "weeks", "m", "per year"]),
)
def test_any_text_is_read_or_refused_in_a_sentence(text: str, kind: IssueType, unit: str) -> None:
    said = "."
    try:
        read_entered(text, kind, unit=unit, currency="EUR")
    except ValueError as fault:
        said = str(fault)
    assert said.endswith(".")
