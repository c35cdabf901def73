"""One table of fields fills a form, reads it and places faults."""

from typing import Any

import pytest

from negotiator.base.errors import Conflict, FieldError, ValidationFailed
from negotiator.console.form_fields import FormField, field_finder, fill_fields, read_fields
from negotiator.console.owned.memories_page import FIELDS as MEMORY
from negotiator.console.owned.tactics_page import FIELDS as TACTIC
from negotiator.console.page_router import NO_FORM, RefusedForm, UnreadFields
from negotiator.console.tools.submission_pages import FIELDS as TOOL

TABLE = {
    "name": FormField("name", blank=""),
    "auth": FormField("auth/type", unknown="unknown"),
    "tags": FormField("tags", "tags"),
    "steps": FormField("steps", "lines"),
    "pinned": FormField("pinned", "tick"),
    "open": FormField("open", "truth"),
    "registry": FormField("packages/0/registry", blank=""),
    "package": FormField("packages/0/identifier", blank=""),
}


def test_what_is_typed_becomes_members() -> None:
    typed = {"name": " Tool ", "auth": "oauth", "tags": "a, b,,a", "steps": "one\r\n\r\n two", "pinned": "on"}
    assert read_fields({**typed, "open": "false", "package": "left-pad"}, TABLE) == {
        "name": "Tool",
        "auth": {"type": "oauth"},
        "tags": ["a", "b"],
        "steps": ["one", "two"],
        "pinned": True,
        "open": False,
        "packages": [{"registry": "", "identifier": "left-pad"}],
    }


def test_an_empty_form_states_nothing() -> None:
    nothing: dict[str, Any] = {
        "name": "",
        "auth": None,
        "tags": [],
        "steps": [],
        "pinned": False,
        "open": None,
        "packages": None,
    }
    assert read_fields({}, TABLE) == nothing
    assert read_fields(fill_fields({}, TABLE), TABLE) == nothing
    assert fill_fields({}, TABLE)["auth"] == "unknown"


@pytest.mark.parametrize(
    ("members", "name", "text"),
    [
        ({"open": True}, "open", "true"),
        ({"pinned": False}, "pinned", ""),
        ({"steps": ["one", "two"]}, "steps", "one\ntwo"),
        ({"steps": [{"text": "one"}]}, "steps", "one"),
        ({"packages": []}, "package", ""),
        ({"packages": [{"identifier": "a"}, {"identifier": "b"}]}, "package", "a"),
        ({"auth": None}, "auth", "unknown"),
    ],
)
def test_members_are_shown_as_they_would_have_been_typed(members: dict[str, Any], name: str, text: str) -> None:
    assert fill_fields(members, TABLE)[name] == text


@pytest.mark.parametrize(
    ("pointer", "field"),
    [
        ("/name", "name"),
        ("/auth/type", "auth"),
        ("/packages/0/registry", "registry"),
        ("/packages/0", "package"),
        ("/steps/3", "steps"),
        ("/unknown/1", "unknown"),
        ("", ""),
    ],
)
def test_a_fault_stands_at_its_field(pointer: str, field: str) -> None:
    refusal = ValidationFailed([FieldError(pointer, "No."), FieldError(pointer, "Not at all.")])
    assert RefusedForm(refusal=refusal).faults(field_finder(TABLE)) == {field: "No."}


def test_other_refusals_have_no_fields_and_fields_that_cannot_be_read_no_pointers() -> None:
    refused = RefusedForm(refusal=Conflict("Changed."))
    assert (refused.faults(field_finder(TABLE)), refused.said) == ({"": "Changed."}, "Changed.")
    unread = RefusedForm(refusal=UnreadFields({"issue:price": "No."}))
    assert (unread.faults(field_finder(TABLE)), unread.said, unread.status) == ({"issue:price": "No."}, "", 422)
    assert NO_FORM.faults() == {}


@pytest.mark.parametrize("table", [MEMORY, TACTIC, TOOL])
def test_a_filled_form_is_read_as_what_it_shows(table: dict[str, FormField]) -> None:
    typed = {name: "on" if field.kind == "tick" else "x" for name, field in table.items() if field.kind != "truth"}
    members = read_fields(typed, table)
    assert read_fields(fill_fields(members, table), table) == members
