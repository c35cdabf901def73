"""The form of a preparation: what its buttons and its selects change."""

from dataclasses import replace
from decimal import Decimal

import pytest

from negotiator.console.talk.preparation_form import (
    MAX_ROWS,
    IssueRow,
    Preparation,
    change_preparation,
    compared_weights,
    new_preparation,
    preparation_kinds,
    read_preparation,
)
from tests.helpers.preparation_pages import sent_fields


def sent(form: Preparation, **changes: str) -> Preparation:
    """The form as it comes back with some fields typed or chosen; a field's `__` stands for a full stop."""
    fields = sent_fields(form)
    fields |= {name.replace("__", "."): value for name, value in changes.items()}
    return read_preparation({name: value for name, value in fields.items() if value})


@pytest.mark.parametrize("kind", preparation_kinds())
def test_what_was_sent_is_what_was_shown(kind: str) -> None:
    form = new_preparation(kind)
    assert sent(form) == form
    assert form.role == form.kind_template.usual_role


def test_another_kind_brings_its_points_and_keeps_those_that_were_touched() -> None:
    form = sent(new_preparation(), i0__target="900", i0__label="Rent of the hall")
    form = sent(form, kind="rent")
    assert (form.role, form.shown_kind) == ("tenant", "rent")
    labels = [row.label for row in form.rows]
    assert labels == ["Rent of the hall", "Rent per month", "Deposit", "Day of moving in", "Minimum stay"]
    assert form.rows[0].target == "900"


def test_the_other_side_turns_what_nobody_changed() -> None:
    form = sent(new_preparation("software_renewal"), i1__direction="higher", role="seller")
    directions = {row.label: row.direction for row in form.rows}
    assert directions["Price per seat and month"] == "higher"
    assert directions["Contract term"] == "higher", "as the user chose it"
    assert form.rows[3].options == ("yearly in advance", "quarterly", "monthly")
    back = sent(form, role="buyer")
    assert back.rows[0].direction == "lower"


def test_points_are_added_and_taken_out_within_bounds() -> None:
    form = new_preparation("purchase")
    for _ in range(20):
        form = change_preparation(form, "add")
    assert len(form.rows) == MAX_ROWS
    assert form.rows[-1].label == ""
    form = change_preparation(form, "remove.1")
    assert [row.label for row in form.rows][:2] == ["Price", "Warranty"]
    for _ in range(20):
        form = change_preparation(form, "remove.0")
    assert len(form.rows) == 1, "the last one stays"


@pytest.mark.parametrize("do", ["", "look", "remove", "remove.x", "remove.99", "remove.²", "other"])
def test_an_unknown_button_changes_nothing(do: str) -> None:
    form = new_preparation("salary")
    assert change_preparation(form, do) == form


def test_comparing_two_at_a_time_gives_weights() -> None:
    rows = [
        IssueRow(label="Price", weight="6"),
        IssueRow(label="Term", weight="2", compare="0.5"),
        IssueRow(label="Payment", weight="3"),
        IssueRow(label="Support", weight="1", compare="2"),
    ]
    assert compared_weights(rows) == [Decimal(5), Decimal("2.5"), Decimal("2.5"), Decimal(10)]
    assert compared_weights([replace(row, compare="") for row in rows]) is None
    form = change_preparation(replace(new_preparation("rent"), rows=tuple(rows)), "compare")
    assert [row.weight for row in form.rows] == ["5", "2.5", "2.5", "10"]
    assert not any(row.compare for row in form.rows)


@pytest.mark.parametrize("weight", ["", "x", "-3", "NaN", "1e9", "Infinity"])
def test_a_weight_that_is_none_counts_within_the_slider(weight: str) -> None:
    rows = [IssueRow(weight="5"), IssueRow(weight=weight), IssueRow(compare="1")]
    found = compared_weights(rows)
    assert found is not None
    assert all(0 <= one <= 10 for one in found)


@pytest.mark.parametrize("rows", ["", "x", "-1", "1000000", "²"])
def test_a_form_with_an_odd_number_of_rows_is_read(rows: str) -> None:
    assert len(read_preparation({"rows": rows, "shown_kind": ""}).rows) <= MAX_ROWS
