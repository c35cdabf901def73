"""From what was typed to the body of `open_negotiation`."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from negotiator.base.errors import FieldError, ValidationFailed
from negotiator.console.talk.preparation_body import BELOW_ALTERNATIVE, PreparedBody, prepared_body, suggested_range
from negotiator.console.talk.preparation_form import IssueRow, Preparation, new_preparation, preparation_kinds
from negotiator.terms.issues import IssueType
from negotiator.terms.negotiation_body import NegotiationBody
from negotiator.terms.terms_parsing import parse_terms


def filled(kind: str, rows: dict[int, dict[str, str]], **typed: str) -> Preparation:
    """The form of a kind with some fields typed."""
    form = new_preparation(kind)
    changed = tuple(replace(row, **rows.get(n, {})) for n, row in enumerate(form.rows))
    return replace(form, rows=changed, **typed)


def renewal(**typed: str) -> Preparation:
    """A software renewal with every point filled."""
    rows = {
        0: {"target": "45", "limit": "54 €", "count0": "80"},
        1: {"target": "12", "limit": "24 months"},
        2: {"target": "3 %", "limit": "5"},
        3: {"target": "quarterly", "limit": "yearly in advance"},
    }
    return filled("software_renewal", rows, counterparty="Relatio", **typed)


def faults(prepared: PreparedBody) -> dict[str, str]:
    """What the rules of a negotiation refuse, by field."""
    try:
        parse_terms(NegotiationBody.model_validate(prepared.body))
    except ValidationFailed as refusal:
        return prepared.faults_of(refusal)
    return {}


@pytest.mark.parametrize("kind", ["", *preparation_kinds()])
def test_an_empty_form_of_each_kind_is_a_negotiation(kind: str) -> None:
    prepared = prepared_body(new_preparation(kind))
    assert prepared.errors == {}
    assert faults(prepared) == {}
    assert len(prepared.body["issues"]) == len(new_preparation(kind).rows)
    assert not prepared.body.keys() & {"target", "walk_away", "batna", "their_estimate"}


def test_every_answer_has_its_member() -> None:
    prepared = prepared_body(
        renewal(
            title="CRM renewal",
            deadline="2031-01-31",
            baseline="58",
            alternative="Move to Nimbus",
            alternative_price="57",
            alternative_chance="likely",
            their_guess="48",
            their_deadline="2031-01-15",
            their_needs="a signature this quarter",
            decision_maker="no",
            relationship="ongoing",
            reasons="Half the seats are idle.\r\n\r\n We sign for two years. ",
            wishes="Training",
        )
    )
    body = prepared.body
    assert prepared.errors == {}
    assert faults(prepared) == {}
    assert (body["role"], body["kind"], body["category"]) == ("buyer", "renewal", "software")
    assert body["target"] == {
        "package": {"price": "45", "contract_term": 12, "increase_cap": 3, "payment": "quarterly"}
    }
    assert body["walk_away"]["package"]["price"] == "54"
    assert body["deadline"] == "2031-01-31"
    assert body["baseline"] == {"kind": "previous_price", "value": "58"}
    assert body["batna"]["probability"] == 0.75
    assert body["batna"]["value"]["package"] == {**body["walk_away"]["package"], "price": "57"}
    assert body["their_estimate"]["walk_away"] == {**{"low": "43.0", "likely": "48", "high": "53.0"}, "unit": "money"}
    facts = (("reason", "Half the seats are idle."), ("reason", "We sign for two years."), ("wish", "Training"))
    assert body["arguments"] == [{"fact": fact, "kind": kind} for kind, fact in facts]
    assert [prepared.field_of(f"/arguments{at}") for at in ("", "/1/fact", "/2")] == ["reasons", "reasons", "wishes"]
    assert body["counterparty"] == {
        **{"name": "Relatio", "relationship": "ongoing", "decision_maker": "no"},
        "notes": "a signature this quarter",
    }
    price, term, _, payment = body["issues"]
    assert price["multiples"] == [{"count": 80.0, "of": "seats"}, {"count": 12.0, "of": "months a year"}]
    assert price["range"] == {"min": "40.5", "max": "63.0"}
    assert term["range"] == {"min": 12, "max": 36}, "no contract is for less than a year"
    assert payment["options"][-1] == {"value": "monthly"}, "the best one last"


def test_a_point_without_figures_is_left_out_while_another_has_some() -> None:
    form = filled("salary", {0: {"target": "100k", "limit": "88,000"}})
    prepared = prepared_body(form)
    assert [one["name"] for one in prepared.body["issues"]] == ["salary"]
    assert prepared.places == (0,)
    with_price = prepared_body(filled("purchase", {}, their_guess="13,400"))
    assert [one["name"] for one in with_price.body["issues"]] == ["price"]


def test_a_title_is_made_where_none_was_typed() -> None:
    assert prepared_body(renewal()).body["title"] == "Software renewal with Relatio"
    assert prepared_body(new_preparation()).body["title"] == "Negotiation"


def test_names_are_those_of_the_template_or_made_from_the_label() -> None:
    form = filled("purchase", {0: {"label": "Price of the car"}, 1: {"label": "Price of the car"}})
    form = replace(form, rows=(*form.rows, IssueRow(label="Größe", type="number"), IssueRow()))
    prepared = prepared_body(form)
    assert prepared.names == ("price_of_the_car", "price_of_the_car_2", "warranty", "gr_e", "point_5")
    assert len(prepared.body["issues"]) == 4, "one has no name"


def test_the_priorities_are_in_the_order_of_what_matters_to_them() -> None:
    form = filled("rent", {0: {"target": "900", "theirs": "2"}, 2: {"target": "2031-06-01", "theirs": "4"}})
    body = prepared_body(form).body
    assert body["their_estimate"]["priorities"] == ["move_in", "rent"]
    assert [one["their_weight"] for one in body["issues"]] == [2.0, 4.0]


def test_what_cannot_be_read_is_noted_at_its_field() -> None:
    form = renewal(deadline="soon", baseline="$58", their_low="40")
    rows = [
        replace(form.rows[0], limit="a bit more", count0="none"),
        replace(form.rows[1], target="2 weeks"),
        form.rows[2],
        replace(form.rows[3], target="weekly", choices="monthly"),
        IssueRow(type="boolean", target="maybe"),
    ]
    prepared = prepared_body(replace(form, rows=tuple(rows)))
    assert set(prepared.errors) == {
        *("deadline", "baseline", "their_guess"),
        *("i0.limit", "i0.count0", "i1.target", "i3.target", "i3.limit", "i3.choices"),
        *("i4.target", "i4.label"),
    }


def test_a_limit_that_is_better_than_the_target_is_pointed_out() -> None:
    form = filled(
        "software_renewal",
        {
            0: {"target": "54", "limit": "45"},
            1: {"target": "12", "limit": "24"},
            3: {"target": "quarterly", "limit": "monthly"},
        },
    )
    prepared = prepared_body(form)
    assert prepared.swapped == {0, 3}
    ends = prepared.body["issues"][0]["range"]
    assert Decimal(ends["min"]) < Decimal(45) < Decimal(54) < Decimal(ends["max"])


def test_refusals_stand_at_their_field_in_words_for_a_person() -> None:
    assert faults(prepared_body(renewal(alternative_price="40"))) == {"i0.limit": BELOW_ALTERNATIVE}
    excused = renewal(alternative_price="40", override_reason="They know our data")
    assert faults(prepared_body(excused)) == {}
    swapped = filled("purchase", {0: {"target": "14,000", "limit": "12,500"}})
    assert list(faults(prepared_body(swapped))) == ["i0.target"]
    guess = renewal(their_guess="48", their_low="50")
    assert list(faults(prepared_body(guess))) == ["their_guess"]
    narrow = renewal()
    narrow = replace(narrow, rows=(replace(narrow.rows[0], best="50", worst="60"), *narrow.rows[1:]))
    assert list(faults(prepared_body(narrow))) == ["i0.target"]


@pytest.mark.parametrize(
    ("pointer", "field"),
    [
        ("/title", "title"),
        ("/counterparty/Counterparty/name", "counterparty"),
        ("/issues/0/label", "i0.label"),
        ("/issues/1/range/max", "i3.worst"),
        ("/issues/1/range/min", "i3.best"),
        ("/issues/0/multiples/1/count", "i0.count1"),
        ("/issues/7/label", ""),
        ("/target/package/rent", "i0.target"),
        ("/walk_away/package/stay", "i3.limit"),
        ("/walk_away/override_reason", "override_reason"),
        ("/batna/value/package/rent", "alternative_price"),
        ("/batna/description", "alternative"),
        ("/their_estimate/walk_away/low", "their_low"),
        ("/their_estimate/deadline", "their_deadline"),
        ("/nothing/like/it", ""),
    ],
)
def test_a_pointer_leads_to_its_field(pointer: str, field: str) -> None:
    prepared = prepared_body(filled("rent", {0: {"target": "900"}, 3: {"target": "12"}}))
    assert prepared.faults_of(ValidationFailed([FieldError(pointer, "No.")])) == {field: "No."}


@pytest.mark.parametrize(
    ("kind", "target", "limit", "ends"),
    [
        ("money", 12500, 14000, (11750, 15500)),
        ("money", 100000, 88000, (106000, 76000)),
        ("integer", 3, 2, (4, 1)),
        ("percent", 95, 90, (97.5, 85)),
        ("duration_days", 14, 45, (0, 76)),
        ("integer", 30, 27, (32, 24)),
    ],
)
def test_a_range_goes_half_the_way_past_the_target_and_all_of_it_past_the_limit(
    kind: IssueType, target: int, limit: int, ends: tuple[float, float]
) -> None:
    found = suggested_range(kind, Decimal(target), Decimal(limit))
    assert [float(end) for end in found] == list(ends)


AMOUNTS = st.decimals(min_value=0, max_value=10**9, places=2)


@given(target=AMOUNTS, limit=AMOUNTS)
def test_a_suggested_range_holds_target_and_limit(target: Decimal, limit: Decimal) -> None:
    best, worst = suggested_range("money", target, limit)
    low, high = sorted((best, worst))
    assert 0 <= low <= min(target, limit) <= max(target, limit) <= high
    assert low < high


TEXTS = st.sampled_from(["", "45", "0", "54", "yes", "monthly", "x", "-3", "1e9", "2031-02-30", "15k"])
ROWS = st.builds(
    IssueRow,
    origin=st.sampled_from(["", "price"]),
    label=st.sampled_from(["", "Price", "Term", "/~"]),
    type=st.sampled_from(["money", "integer", "percent", "date", "enum", "boolean", "number", "no"]),
    unit=st.sampled_from(["", "months"]),
    direction=st.sampled_from(["", "higher", "lower", "up"]),
    choices=st.sampled_from(["", "monthly, yearly", "yes, monthly, yes"]),
    weight=st.sampled_from(["", "5", "NaN"]),
    compare=st.sampled_from(["", "2", "7"]),
    **dict.fromkeys(("target", "limit", "best", "worst", "count0", "of0", "theirs"), TEXTS),
)


@given(
    rows=st.lists(ROWS, min_size=1, max_size=4),
    typed=st.fixed_dictionaries(
        dict.fromkeys(("deadline", "alternative_price", "their_guess", "baseline", "currency"), TEXTS)
    ),
)
@settings(max_examples=150)
def test_whatever_is_typed_is_read_or_refused_at_a_field(rows: list[IssueRow], typed: dict[str, Any]) -> None:
    form = replace(new_preparation("purchase"), rows=tuple(rows), **typed)
    prepared = prepared_body(form)
    assert all(sentence.endswith(".") for sentence in prepared.errors.values())
    assert len(set(prepared.names)) == len(rows)


def test_a_total_typed_for_the_price_of_one_unit_is_asked_about() -> None:
    assert prepared_body(renewal(their_guess="48")).errors == {}
    said = prepared_body(renewal(their_guess="46000")).errors
    assert said == {"their_guess": "This is far from your own figures. Count it as they are: Price per seat and month."}
