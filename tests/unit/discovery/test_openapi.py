"""What the description of the service says, beyond what requests can show."""

from typing import Any, Final

from pydantic import TypeAdapter

from docs.generate import service
from negotiator.discovery.openapi import document

SERVICE: Final = service()
DOCUMENT: Final = document(SERVICE, "0")


def _described(name: str) -> dict[str, Any]:
    operation = SERVICE.find(name)
    assert operation is not None
    found: dict[str, Any] = DOCUMENT["paths"][operation.path][operation.method.lower()]
    return found


def test_a_schema_has_its_name_for_itself() -> None:
    """Components are one namespace: the second of a name would stand for the first, too."""
    known: dict[str, Any] = {}
    for operation in SERVICE.operations:
        made = [operation.input.model_json_schema()]
        if operation.output is not None:
            made.append(TypeAdapter[Any](operation.output).json_schema(mode="serialization"))
        for schema in made:
            for name, found in schema.get("$defs", {}).items():
                assert known.setdefault(name, found) == found, name
    assert len(known) > 20


def test_what_has_a_revision_may_be_unchanged() -> None:
    assert "content" not in _described("get_negotiation")["responses"]["304"]
    assert "304" in _described("list_tools")["responses"]
    assert "304" not in _described("edit_negotiation")["responses"]


def test_a_body_without_a_needed_member_may_be_left_out() -> None:
    assert _described("suggest_tactics")["requestBody"]["required"] is False
    assert _described("open_negotiation")["requestBody"]["required"] is True


def test_every_form_of_an_answer_is_described() -> None:
    plan = _described("get_battle_plan")["responses"]["200"]["content"]
    assert set(plan) == {"application/json", "text/markdown"}
    export = _described("export_tools")["responses"]["200"]["content"]
    assert set(export) == {"application/x-ndjson"}


def test_an_empty_parameter_of_a_query_counts_as_none() -> None:
    parameters = {each["name"]: each for each in _described("list_negotiations")["parameters"]}
    assert parameters["query"]["allowEmptyValue"] is True
