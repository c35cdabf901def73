"""The words for values, packages, totals and sides, on cases as people write them and on random ones."""

import re
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from negotiator.base.values import MINOR_UNITS
from negotiator.numbers.read import numbers_in
from negotiator.terms.issues import ISSUE_TYPES, Issue, IssueType, Multiple
from negotiator.terms.plain_text import cut_at_word, join_words, sentence
from negotiator.terms.terms import Authority, OtherParty, Terms
from negotiator.terms.utility import Preferences
from negotiator.terms.wording import MAX_PACKAGE_CHARACTERS, Wording


def talk(*issues: Issue, title: str = "Talk", role: str = "buyer", **members: Any) -> Terms:
    given: dict[str, Any] = {"category": "other", "kind": "other", "currency": "EUR"} | members
    return Terms(title, role, preferences=Preferences(issues), **given)


def issue(name: str, type: IssueType = "money", label: str = "", unit: str | None = None) -> Issue:
    return Issue(name, type, label, unit)


SEAT_PRICE = issue("price", label="Price per seat and month")
TERM = issue("term", "integer", "Contract term", "months")
PAYMENT = issue("payment_days", "duration_days", "Payment terms")


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (issue("price_per_seat"), "price per seat"),
        (issue("pricePerSeat"), "price per seat"),
        (issue("sla_credit", "percent"), "SLA credit"),
        (issue("x", label="SLA credit"), "SLA credit"),
        (issue("x", label="Price Per Seat"), "price per seat"),
        (issue("x", label="price_per_seat"), "price per seat"),
        (issue("x", label="VAT rate"), "VAT rate"),
        (issue("x", label="Price (EUR)"), "price"),
        (issue("x", "integer", "Term (months)"), "term"),
        (issue("lead_time_weeks", "integer"), "lead time"),
        (issue("___"), "point"),
    ],
)
def test_label_is_written_as_inside_a_sentence(one: Issue, expected: str) -> None:
    assert Wording(talk(one)).label(one) == expected


def test_label_keeps_the_capital_of_a_name_in_the_title() -> None:
    one = issue("x", label="Golf price")
    assert Wording(talk(one, title="My used Golf")).label(one) == "Golf price"


@pytest.mark.parametrize(
    ("one", "value", "expected"),
    [
        (issue("p"), "45.00", "€45"),
        (issue("p"), Decimal(12500), "€12,500"),
        (issue("p"), "43.5", "€43.50"),
        (issue("p"), "0.0045", "€0.0045"),
        (issue("p"), -5, "-€5"),
        (issue("d", "duration_days"), 45, "45 days"),
        (issue("d", "duration_days"), 1, "1 day"),
        (TERM, 24, "24 months"),
        (issue("n", "integer", unit="month"), 24, "24 months"),
        (issue("n", "number", unit="hours per week"), 1, "1 hour per week"),
        (issue("c", "percent"), 5.0, "5%"),
        (issue("d", "date"), "2027-03-01", "1 March 2027"),
        (issue("e", "enum"), "half_yearly_upfront", "half yearly upfront"),
        (issue("e", "enum"), "None", "none"),
        (issue("b", "boolean"), True, "yes"),
        (issue("b", "boolean"), False, "no"),
    ],
)
def test_value_has_its_unit(one: Issue, value: Any, expected: str) -> None:
    assert Wording(talk(one)).value(one, value) == expected


@pytest.mark.parametrize(
    ("currency", "expected"),
    [("USD", "$1,200"), ("GBP", "£1,200"), ("JPY", "¥1,200"), ("CHF", "CHF 1,200"), (None, "1,200")],
)
def test_money_is_written_with_its_sign_or_its_code(currency: str | None, expected: str) -> None:
    assert Wording(talk(currency=currency)).money(Decimal(1200)) == expected


@pytest.mark.parametrize(
    ("one", "value", "expected"),
    [
        (SEAT_PRICE, 45, "€45 per seat and month"),
        (issue("price", unit="EUR/seat/month"), 45, "€45 per seat and month"),
        (issue("price_per_seat_month"), 45, "€45 per seat and month"),
        (issue("salary", label="Annual salary"), 87000, "a salary of €87,000 a year"),
        (issue("price", label="Price per year"), 87000, "€87,000 a year"),
        (issue("rate", label="Hourly rate"), 95, "€95 an hour"),
        (issue("price", label="Price for the car"), 9000, "€9,000 for the car"),
        (issue("price", label="Price per seat (net)"), 45, "€45 per seat"),
        (TERM, 24, "a term of 24 months"),
        (issue("payment", "enum"), "30_days", "payment within 30 days"),
        (issue("term", "enum"), "24 months", "a term of 24 months"),
        (issue("drinks", "enum"), "bought_by_us", "drinks bought by us"),
        (issue("transport", "enum", "Transport by"), "seller", "transport by the seller"),
        (issue("upkeep", "enum", "Who sees to garden and gutters"), "owner", "garden and gutters by the owner"),
        (issue("transport", "enum"), "seller", "transport by the seller"),
        (PAYMENT, 45, "payment within 45 days"),
        (PAYMENT, 1, "payment within 1 day"),
        (PAYMENT, 0, "immediate payment"),
        (issue("vacation_days", "integer"), 30, "30 vacation days"),
        (issue("vacation_days", "integer"), 1, "1 vacation day"),
        (issue("x", "integer", "Remote days per week"), 3, "3 remote days per week"),
        (issue("x", "integer", "Number of seats"), 80, "80 seats"),
        (issue("x", "duration_days", "Annual leave"), 30, "30 days of annual leave"),
        (issue("x", "percent", "Cap on yearly price increase"), 3, "a cap of 3% on the yearly price increase"),
        (issue("x", "percent", "Yearly price increase"), 3, "a yearly price increase of 3%"),
        (issue("x", "percent", "Share of revenue"), 3, "3% of revenue"),
        (issue("x", "percent", "Equity"), 3, "equity of 3%"),
        (issue("x", "boolean", "Winter tyres"), True, "with winter tyres"),
        (issue("x", "boolean", "Winter tyres included"), False, "without winter tyres"),
        (issue("x", "enum", "Payment"), "monthly", "monthly payment"),
        (issue("x", "enum", "Payment frequency"), "yearly upfront", "yearly upfront payment"),
        (issue("x", "enum", "Support level"), "gold", "a gold support level"),
        (issue("x", "enum", "Exclusivity"), "none", "no exclusivity"),
        (issue("x", "duration_days", "Days until payment"), 45, "payment within 45 days"),
        (issue("x", "integer", "Months free of rent", "months"), 1, "1 month free of rent"),
        (issue("x", "integer", "Loads promised per month", "loads"), 80, "80 loads promised per month"),
        (issue("x", "duration_days", "Days before the event"), 60, "60 days before the event"),
        (issue("x", "date", "First day of work"), "2031-03-01", "the first day of work on 1 March 2031"),
        (issue("x", "date", "Day of moving in"), "2031-06-15", "moving in on 15 June 2031"),
        (issue("x", label="Unit price"), "7.60", "€7.60 per unit"),
        (issue("x", "date", "Start date"), "2027-03-01", "a start on 1 March 2027"),
        (issue("x", "date", "Delivery date"), "2027-03-01", "delivery on 1 March 2027"),
        (issue("x", "date", "Available from"), "2027-03-01", "available from 1 March 2027"),
    ],
)
def test_phrase_is_a_part_of_an_offer(one: Issue, value: Any, expected: str) -> None:
    assert Wording(talk(one)).phrase(one, value) == expected


def test_an_amount_beside_the_price_says_what_it_is_for() -> None:
    price, deposit, cap = issue("price"), issue("deposit"), issue("cap")
    wording = Wording(talk(price, deposit, cap))
    assert wording.package({"price": 900, "deposit": 1800}) == "€900 and a deposit of €1,800"
    assert wording.package({"price": 0, "deposit": 0, "cap": 0}) == "€0, no deposit and a cap of €0"


def test_what_comes_with_an_offer_stands_last() -> None:
    tyres, rack = issue("tyres", "boolean", "Winter tyres"), issue("rack", "boolean", "Roof rack")
    wording = Wording(talk(tyres, issue("price"), rack, PAYMENT))
    assert wording.package({"tyres": True, "price": 900}) == "€900 with winter tyres"
    assert wording.package({"tyres": True, "price": 900, "rack": False, "payment_days": 7}) == (
        "€900 and payment within 7 days, with winter tyres and without roof rack"
    )


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (SEAT_PRICE, "price"),
        (issue("x", label="Monthly rent"), "rent"),
        (issue("x", label="Base salary"), "base salary"),
        (issue("x", label="per seat"), "price"),
        (TERM, "contract term"),
    ],
)
def test_short_label_leaves_out_what_a_price_is_per(one: Issue, expected: str) -> None:
    assert Wording(talk(one)).short_label(one) == expected


@pytest.mark.parametrize(
    ("one", "before", "after", "expected"),
    [
        (PAYMENT, 30, 45, "45 instead of 30 days"),
        (PAYMENT, 1, 2, "2 days instead of 1"),
        (PAYMENT, 2, 1, "1 instead of 2 days"),
        (SEAT_PRICE, 45, 44, "€44 instead of €45"),
        (issue("c", "percent"), 5, 3, "3 instead of 5%"),
        (issue("e", "enum"), "yearly", "monthly", "monthly instead of yearly"),
        (issue("b", "boolean", "Winter tyres"), False, True, "with winter tyres instead of without"),
        (issue("d", "date"), "2027-02-01", "2027-03-01", "1 March 2027 instead of 1 February 2027"),
    ],
)
def test_change_names_both_values(one: Issue, before: Any, after: Any, expected: str) -> None:
    assert Wording(talk(one)).change(one, before, after) == expected


def test_package_ends_with_and_and_its_total() -> None:
    terms = talk(SEAT_PRICE, TERM, PAYMENT, title="CRM renewal, 80 seats")
    package = {"price": "45.00", "term": 12, "payment_days": 30}
    said = "€45 per seat and month, a term of 12 months and payment within 30 days"
    assert Wording(terms).package(package) == f"{said} (80 seats × €45 × 12 months = €43,200)"
    assert Wording(terms).package(package, with_total=False) == said


@pytest.mark.parametrize(
    ("issues", "title", "package", "text"),
    [
        ((SEAT_PRICE, TERM), "80-seat CRM", {"price": 45, "term": 24}, "80 seats × €45 × 24 months = €86,400"),
        ((SEAT_PRICE,), "80 CRM seats", {"price": 45}, "80 seats × €45 × 12 months = €43,200 a year"),
        ((issue("p", label="Price per user per year"), TERM), "1.2k users", {"p": 60, "term": 36},
         "1,200 users × €60 × 3 years = €216,000"),
        ((issue("p", label="Price per unit"), issue("volume", "integer")), "", {"p": "1.5", "volume": 500},
         "500 units × €1.50 = €750"),
        ((issue("p", unit="EUR/tonne"), issue("v", "integer", "Volume", "tonnes")), "", {"p": 700, "v": 12},
         "12 tonnes × €700 = €8,400"),
        ((issue("p", label="Unit price"), issue("v", "integer", "Volume per year", "pieces")), "",
         {"p": "7.60", "v": 20000}, "20,000 pieces × €7.60 = €152,000 a year"),
        ((issue("cash", label="Cash per month"), issue("months", "integer", unit="months")), "",
         {"cash": 9000, "months": 9}, "€9,000 × 9 months = €81,000"),
        ((issue("rate", label="Hourly rate"),), "Web site, 40 hours", {"rate": 95}, "40 hours × €95 = €3,800"),
        ((issue("rent", label="Monthly rent"),), "Flat", {"rent": 900}, "€900 × 12 months = €10,800 a year"),
    ],
)  # fmt: skip
def test_total_shows_the_multiplication(issues: tuple[Issue, ...], title: str, package: Any, text: str) -> None:
    total = Wording(talk(*issues, title=title)).total(package)
    assert total is not None
    assert total.text == text
    assert total.assumed == bool(total.assumption)
    assert total.assumed == (not {"rent", "cash"} & set(package))


@pytest.mark.parametrize(
    ("label", "multiples", "package", "text"),
    [
        ("Price", (Multiple(Decimal(80), "seats"), Multiple(None, "months", "term")), {"price": 45, "term": 24},
         "80 seats × €45 × 24 months = €86,400"),
        ("Price per seat and month", (Multiple(Decimal(80), "seats"),), {"price": 45, "term": 24},
         "80 seats × €45 × 24 months = €86,400"),
        ("Price per seat and month", (Multiple(Decimal(80), "licences"),), {"price": 45},
         "80 licences × €45 × 12 months = €43,200 a year"),
        ("Price per seat and month",
         (Multiple(Decimal(80), "seats"), Multiple(Decimal(12), "months a year")), {"price": 45, "term": 24},
         "80 seats × €45 × 12 months = €43,200 a year"),
        ("Price per bag", (Multiple(Decimal(500), "bags per year"),), {"price": 8}, "500 bags × €8 = €4,000 a year"),
        ("Price per day", (Multiple(Decimal(2), "days"),), {"price": 800}, "2 days × €800 = €1,600"),
        ("Rent per week", (Multiple(Decimal(12), "months a year"),), {"price": 390},
         "€390 × 52 weeks = €20,280 a year"),
        ("Weekly rent", (Multiple(Decimal(6), "months"),), {"price": 390}, "€390 × 26 weeks = €10,140"),
        ("Rent per quarter", (Multiple(Decimal(12), "months a year"),), {"price": 300},
         "€300 × 4 quarters = €1,200 a year"),
        ("Fee per year", (Multiple(Decimal(36), "months"),), {"price": 300}, "€300 × 3 years = €900"),
        ("Fee per month", (Multiple(Decimal(2), "years"),), {"price": 300}, "€300 × 24 months = €7,200"),
    ],
)  # fmt: skip
def test_total_multiplies_by_what_the_user_gave(
    label: str, multiples: tuple[Multiple, ...], package: Any, text: str
) -> None:
    price = replace(issue("price", label=label), multiples=multiples)
    total = Wording(talk(price, TERM, title="20 seats")).total(package)
    assert total is not None
    assert total.text == text
    assert not total.assumed


@pytest.mark.parametrize(
    ("label", "multiples"),
    [
        ("Rent per week", (Multiple(Decimal(1), "month"),)),
        ("Rent per week", (Multiple(Decimal(12), "months"), Multiple(Decimal(3), "years"))),
        ("Rent per year", (Multiple(Decimal(12), "months a year"),)),
        ("Rent per year", (Multiple(Decimal(5), "months"),)),
    ],
)
def test_no_total_is_said_where_the_count_is_of_another_period_and_does_not_convert(
    label: str, multiples: tuple[Multiple, ...]
) -> None:
    price = replace(issue("price", label=label), multiples=multiples)
    assert Wording(talk(price, title="Flat")).total({"price": 45}) is None


def test_no_total_is_said_where_the_package_lacks_the_count_that_the_user_named() -> None:
    price = replace(SEAT_PRICE, multiples=(Multiple(None, "months", "term"),))
    assert Wording(talk(price, TERM, title="80 seats")).total({"price": 45}) is None


@pytest.mark.parametrize(
    ("issues", "title", "package"),
    [
        ((issue("price"),), "80 seats", {"price": 12000}),
        ((issue("price", label="Yearly premium"), issue("term", "integer", unit="years")), "", {"price": 9, "term": 1}),
        ((issue("price", label="Price of the car"),), "Golf, 80 kilometres", {"price": 12000}),
        ((SEAT_PRICE,), "CRM", {"price": 45}),
        ((SEAT_PRICE,), "50-80 seats", {"price": 45}),
        ((SEAT_PRICE,), "50 to 80 seats", {"price": 45}),
        ((SEAT_PRICE,), "20 seats and later 80 seats", {"price": 45}),
        ((issue("r", label="Hourly rate"),), "Support, 40 hours a week", {"r": 95}),
        ((issue("p", label="Price per seat"), TERM), "80 seats", {"p": 45, "term": 24}),
        ((issue("p", label="Price per 1000 seats"),), "80 seats", {"p": 45}),
        ((issue("p", label="Price per seat in year 1"),), "80 seats", {"p": 45}),
        ((SEAT_PRICE, issue("d", "percent", "Volume discount")), "80 seats", {"price": 45, "d": 5}),
        ((issue("salary", label="Annual salary"),), "Engineer, 40 hours a week", {"salary": 87000}),
    ],
)
def test_no_total_is_said_where_it_is_not_certain(issues: tuple[Issue, ...], title: str, package: Any) -> None:
    assert Wording(talk(*issues, title=title)).total(package) is None


def test_a_count_from_the_title_is_an_assumption_in_a_sentence() -> None:
    total = Wording(talk(SEAT_PRICE, title="CRM renewal, 80 seats")).total({"price": 45})
    assert total is not None
    assert total.assumption == "80 seats is read from the title."


@pytest.mark.parametrize(
    ("members", "voice"),
    [
        ({"role": "candidate", "kind": "salary"}, "I"),
        ({"role": "tenant", "kind": "lease"}, "I"),
        ({"role": "buyer", "category": "used_car", "kind": "new_purchase"}, "I"),
        ({"role": "buyer", "title": "VW Golf, first hand"}, "I"),
        ({"role": "seller", "category": "freelance"}, "I"),
        ({"role": "seller", "category": "services", "title": "Day rate for the autumn project"}, "I"),
        ({"role": "seller", "category": "licensing", "title": "Licence of the picture"}, "I"),
        ({"role": "landlord", "kind": "lease"}, "I"),
        ({"role": "landlord", "kind": "lease", "other_party": OtherParty(organisation="Helvar AG")}, "we"),
        ({"role": "seller", "category": "furniture", "kind": "sale"}, "I"),
        ({"role": "buyer"}, "I"),
        ({"role": "employer", "kind": "salary"}, "we"),
        ({"role": "buyer", "kind": "renewal", "category": "software"}, "we"),
        ({"role": "buyer", "category": "supplier"}, "we"),
        ({"role": "seller", "category": "saas"}, "we"),
        ({"role": "buyer", "title": "Laptops for the Berlin office"}, "we"),
        ({"role": "buyer", "authority": Authority(approver="CFO", stated=True)}, "we"),
    ],
)
def test_voice_is_that_of_a_person_or_of_a_company(members: dict[str, Any], voice: str) -> None:
    found = Wording(talk(SEAT_PRICE, **members)).voice
    assert found.i == voice
    assert found.is_private == (voice == "I")


@pytest.mark.parametrize(
    ("role", "party", "expected"),
    [
        ("buyer", None, "the seller"),
        ("candidate", OtherParty(), "the employer"),
        ("party", None, "the other side"),
        ("buyer", OtherParty(name="Ada", organisation="Nimbus  CRM\n"), "Nimbus CRM"),
        ("buyer", OtherParty(name="Ada"), "Ada"),
        ("party", OtherParty(role="Supplier"), "the supplier"),
        ("buyer", OtherParty(name="\u202e\x07"), "the seller"),
    ],
)
def test_the_other_side_has_a_name_or_a_role(role: str, party: OtherParty | None, expected: str) -> None:
    assert Wording(talk(role=role, other_party=party)).them == expected


def test_words_are_joined_made_sentences_and_cut_whole() -> None:
    assert join_words([]) == ""
    assert join_words(["a"]) == "a"
    assert join_words(["a", "b", "c"]) == "a, b and c"
    assert sentence(" the seller  said so ") == "The seller said so."
    assert sentence("does it fit?") == "Does it fit?"
    assert sentence("“so be it.”") == "“So be it.”"
    assert cut_at_word("Cap on yearly price increase", 17) == "Cap on yearly"
    assert cut_at_word("Price of the car", 12) == "Price"
    assert cut_at_word("x" * 30, 10) == "x" * 9 + "…"
    assert cut_at_word("on pickup", 8) == "on pick…"


# Random cases

LETTERS = "abcdefgh ABC_-,.()[]{}/&'\"\n\t\u202e\u00a0éß"
LABELS = st.one_of(
    st.text(LETTERS, max_size=100),
    st.sampled_from(
        [
            "Price per seat and month", "Cap on yearly price increase", "payment_terms", "Start date", "Volume",
            "Remote days per week", "Number of seats", "Deposit (refundable", "[Rent", "SLA credit", "Annual leave",
            "Winter tyres included", "A very long label, with commas, and with many words that go on and on",
        ]
    ),
)  # fmt: skip
UNITS = st.one_of(
    st.none(), st.sampled_from(["months", "day", "seats", "EUR/seat", "%", "per_week", "kg", "m²", "(", "licences"])
)
AMOUNTS = st.one_of(
    st.decimals(-(10**15), 10**15, places=2, allow_nan=False),
    st.decimals(0, 1, places=12, allow_nan=False),
    st.integers(0, 10**15).map(Decimal),
)


def values_for(kind: IssueType) -> st.SearchStrategy[Any]:
    match kind:
        case "boolean":
            return st.booleans()
        case "date":
            return st.dates().map(lambda day: day.isoformat())
        case "enum":
            words = st.text(LETTERS, min_size=1, max_size=500)
            return st.one_of(words, st.sampled_from(["monthly", "None", "yearly_upfront", "(a"]))
        case "integer" | "duration_days":
            return st.one_of(st.integers(-(2**53), 2**53), st.sampled_from([0, 1, 2]))
        case "money":
            return AMOUNTS
        case _:
            return st.one_of(AMOUNTS.map(float), st.sampled_from([1.0, 0.5, 1e-12, 3]))


@st.composite
def cases(draw: st.DrawFn) -> tuple[Terms, dict[str, Any]]:
    issues: list[Issue] = []
    package: dict[str, Any] = {}
    for place in range(draw(st.integers(1, 6))):
        kind: IssueType = draw(st.sampled_from(ISSUE_TYPES))
        name = f"{draw(st.sampled_from(['price_per_seat', 'term_months', 'x', '_']))}{'_' * place}"
        issues.append(issue(name, kind, draw(LABELS), draw(UNITS)))
        package[name] = draw(values_for(kind))
    title = draw(st.one_of(st.text(max_size=200), st.sampled_from(["80 seats", "500 units of C, D"])))
    currency = draw(st.one_of(st.none(), st.sampled_from(sorted(MINOR_UNITS))))
    role = draw(st.sampled_from(["buyer", "candidate", "landlord", "party"]))
    party = OtherParty(name=draw(st.text(max_size=100)), organisation=draw(st.text(max_size=100)))
    return talk(*issues, title=title, role=role, currency=currency, other_party=party), package


def assert_fit_to_print(text: str) -> None:
    assert text
    assert text == " ".join(text.split()), text
    assert "_" not in text, text
    assert "None" not in text, text
    assert not re.search(r"\.00\b(?!\d)", text), text
    for opening, closing in ("()", "[]"):
        assert text.count(opening) == text.count(closing), text
    assert "{" not in text


@settings(max_examples=300, deadline=None)
@given(cases())
def test_every_text_is_fit_to_print(case: tuple[Terms, dict[str, Any]]) -> None:
    terms, package = case
    wording = Wording(terms)
    assert_fit_to_print(wording.package(package))
    assert len(wording.package(package)) <= MAX_PACKAGE_CHARACTERS
    assert_fit_to_print(wording.them)
    assert len(wording.them) <= 80
    for one in terms.issues:
        value = package[one.name]
        assert_fit_to_print(wording.label(one))
        assert_fit_to_print(wording.short_label(one))
        assert_fit_to_print(wording.value(one, value))
        assert_fit_to_print(wording.phrase(one, value))
        assert_fit_to_print(wording.change(one, value, value))


@settings(max_examples=300, deadline=None)
@given(cases())
def test_every_number_that_can_be_read_is_the_value(case: tuple[Terms, dict[str, Any]]) -> None:
    terms, package = case
    wording = Wording(terms)
    for one in terms.issues:
        if one.type in {"enum", "boolean", "date"}:
            continue
        value = abs(Decimal(str(package[one.name])))
        said = wording.phrase(one, package[one.name]).replace("m²", "").replace("m2", "")
        for number in numbers_in(said):
            assert value in number.readings, said


@given(st.text(LETTERS + "xyz", max_size=200), st.integers(10, 80))
def test_cut_text_holds_whole_words_only(text: str, limit: int) -> None:
    cut = cut_at_word(text, limit)
    assert len(cut) <= limit
    words = re.split(r"[\s()\[\],;:–-]+", text)
    if not cut.endswith("…"):
        assert set(re.split(r"[\s()\[\],;:–-]+", cut)) <= {*words, ""}


@given(st.text(max_size=100))
def test_a_sentence_begins_with_a_capital_and_ends_with_a_mark(text: str) -> None:
    said = sentence(text)
    assert said == "" or said.rstrip("\"'”’)")[-1] in ".?!…"
    assert "  " not in said


@pytest.mark.parametrize(
    ("role", "value", "expected"),
    [
        ("seller", "seller", "transport by me"),
        ("seller", "buyer", "transport by you"),
        ("tenant", "landlord", "transport by you"),
        ("candidate", "employee", "transport by me"),
        ("buyer", "owner", "transport by the owner"),
    ],
)
def test_what_is_said_to_the_other_side_names_both_in_the_first_person(role: str, value: str, expected: str) -> None:
    one = issue("transport", "enum")
    assert Wording(talk(one, role=role)).spoken.phrase(one, value) == expected
