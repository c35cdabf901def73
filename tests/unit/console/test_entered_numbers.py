"""Numbers as people type them."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.console.entered_numbers import read_entered
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


READ = [
    # text, kind, label, unit, currency, value
    *((text, "money", "Price", "", currency, value) for text, currency, value in [
        ("600万円", "JPY", "6000000"), ("500万", "JPY", "5000000"), ("3億円", "JPY", "300000000"),
        ("12 lakh", "INR", "1200000"), ("₹45L", "INR", "4500000"), ("1.2 crore", "INR", "12000000"),
        ("2 Cr", "INR", "20000000"), ("₹25,00,000", "INR", "2500000"), ("1,23,456", "INR", "123456"),
        ("1,23,456.50", "INR", "123456.50"), ("Rs. 5 lakhs", "INR", "500000"), ("2 lakh crore", "INR", "2000000000000"),
        ("65 Tsd.", "EUR", "65000"), ("65 TEUR", "EUR", "65000"), ("65 T€", "EUR", "65000"), ("65 k€", "EUR", "65000"),
        ("45 M€", "EUR", "45000000"), ("1,2 Mrd", "EUR", "1200000000"), ("2,5 Mio. €", "EUR", "2500000"),
        ("5 Millionen", "EUR", "5000000"), ("12 mille", "EUR", "12000"), ("2 milliards", "EUR", "2000000000"),
        ("40 grand", "GBP", "40000"), ("2 grand", "USD", "2000"), ("$2.5B", "USD", "2500000000"),
        ("US$ 45", "USD", "45"), ("C$45k", "CAD", "45000"), ("1.2 million", "EUR", "1200000"),
        ("5bn", "EUR", "5000000000"), ("twenty k", "EUR", "20000"), ("two lakh", "INR", "200000"),
        ("5 hundred thousand", "EUR", "500000"), ("a million", "EUR", "1000000"),
        ("45 cents", "EUR", "0.45"), ("99¢", "USD", "0.99"), ("73p", "GBP", "0.73"), ("72c", "USD", "0.72"),
        ("€0.085", "EUR", "0.085"), ("2.500", "KWD", "2.500"), ("2.500 KWD", "KWD", "2.500"),
        ("CHF 1'250.–", "CHF", "1250"), ("-€20", "EUR", "-20"), ("€ -20", "EUR", "-20"), ("R1800", "ZAR", "1800"),
        ("$45", "CAD", "45"), ("500 dollars", "AUD", "500"), ("500 kr", "NOK", "500"),
        ("￥500", "JPY", "500"),
    ]),
    ("£390 pw", "money", "Rent per week", "", "GBP", "390"),
    ("$31/hr", "money", "Hourly rate", "per hour", "USD", "31"),
    ("$31 an hour", "money", "Rate", "USD/hour", "USD", "31"),
    ("€5,000 a month", "money", "Rent (per month)", "", "EUR", "5000"),
    ("£22,000 p.a.", "money", "Salary", "per year", "GBP", "22000"),
    ("22k per annum", "money", "Annual salary", "", "GBP", "22000"),
    ("45 per seat and month", "money", "Price per seat and month", "", "EUR", "45"),
    ("six weeks", "duration_days", "Payment", "", "", "42"),
    ("2 weeks", "duration_days", "Payment", "days", "", "14"),
    ("2 years", "integer", "Term", "months", "", "24"),
    ("4 Wochen", "duration_days", "Zahlungsziel", "", "", "28"),
    ("45 €/Monat", "money", "Rent per month", "", "EUR", "45"),
    ("2 yrs", "integer", "Term", "months", "", "24"),
    ("14 days", "integer", "Notice", "weeks", "", "2"),
    ("36 months", "integer", "Term", "years", "", "3"),
    ("12 m", "number", "Length", "m", "", "12"),
    ("80 seats", "integer", "Seats", "", "", "80"),
    ("12 lakh", "integer", "Users", "users", "", "1200000"),
    ("3 mio units", "integer", "Volume", "units", "", "3000000"),
    ("10 percent", "percent", "Discount", "", "", "10"),
    ("2.5k", "percent", "Growth", "", "", "2500"),
]  # fmt: skip

REFUSED = [
    # text, kind, label, unit, currency, what the sentence names
    *((text, "money", "Price", "", currency, named) for text, currency, named in [
        ("₹500", "EUR", "INR"), ("US$ 45", "CAD", "USD"), ("500 USD", "AUD", "USD"), ("500 sek", "NOK", "SEK"),
        ("extra five", "EUR", "extra"), ("three and a half thousand", "EUR", "amount of money"),
        ("500円", "EUR", "JPY"), ("₩500", "EUR", "₩"), ("₪500", "EUR", "₪"),
        ("500 руб", "EUR", "руб"), ("₦500", "EUR", "₦"), ("5 mil", "EUR", "mil"), ("10%", "EUR", "%"),
        ("20% less", "EUR", "%"), ("(500)", "EUR", "("), ("500 minus deposit", "EUR", "minus"), ("45L", "EUR", "l"),
        ("45 cents", "JPY", "cents"), ("45p", "EUR", "p"), ("570 and a bit", "EUR", "bit"),
        ("5 gazillion", "EUR", "gaz"),
        ("4k500", "EUR", "amount of money"), ("5 1/2 thousand", "EUR", "amount of money"),
        ("2½ hundred thousand", "EUR", "amount of money"), ("½ million", "EUR", "amount of money"),
        ("4½k", "EUR", "amount of money"), ("half of a million", "EUR", "amount of money"),
        ("two and a half million", "EUR", "amount of money"), ("three quarter million", "EUR", "amount of money"),
        ("two dozen", "EUR", "amount of money"), ("twelve five", "EUR", "amount of money"),
        ("nineteen ninety", "EUR", "amount of money"), ("２²", "EUR", "amount of money"),
        ("~45", "EUR", "~"), (">45", "EUR", ">"), ("about 45", "EUR", "about"), ("45 + VAT", "EUR", "+"),
        ("45 per seat", "EUR", "seat"), ("1.250 Mio", "EUR", "1250000000 or 1250000"),
    ]),
    ("5000 im Monat", "money", "Salary", "per year", "EUR", "per year, and this says per month"),
    ("€5,000 a month", "money", "Salary", "per year", "EUR", "per year, and this says per month"),
    ("£390 pw", "money", "Rent per month", "", "GBP", "per month, and this says per week"),
    ("£22,000 pa", "money", "Rent", "", "GBP", "year"),
    ("10 basis points", "percent", "Margin", "", "", "basis"),
    ("10 bps", "percent", "Margin", "", "", "bps"),
    ("2 months", "duration_days", "Payment", "", "", "months"),
    ("1 year", "duration_days", "Payment", "days", "", "year"),
    ("10 business days", "duration_days", "Payment", "", "", "business"),
    ("6 weeks", "integer", "Term", "months", "", "weeks"),
    ("10 days", "integer", "Notice", "weeks", "", "days"),
    ("12 days", "integer", "Notice", "weeks", "", "days"),
    ("1.5 weeks", "duration_days", "Payment", "", "", "weeks"),
    ("12 gross", "integer", "Volume", "units", "", "gross"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "kind", "label", "unit", "currency", "value"), READ)
def test_a_form_and_the_api_read_the_same_value(
    text: str, kind: IssueType, label: str, unit: str, currency: str, value: str
) -> None:
    assert read_entered(text, kind, label=label, unit=unit, currency=currency) == Decimal(value)
    reader = ShortFormReader([], currency or None)
    if "￥" not in text:  # a form folds the signs of wide keyboards first
        assert Decimal(reader.value(IssueForm("it", kind, unit, (), label), text, "/target")) == Decimal(value)
    assert not reader.errors


@pytest.mark.parametrize(("text", "kind", "label", "unit", "currency", "named"), REFUSED)
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
