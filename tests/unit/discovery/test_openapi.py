"""What the description of the service says, beyond what requests can show."""

from collections.abc import Iterator
from typing import Any, Final, cast

import pytest
from jsonschema_rs import Draft202012Validator
from pydantic import ValidationError

from docs.generate import service
from negotiator.base.schema import MergePatch
from negotiator.discovery.openapi import openapi_document
from negotiator.mcp import tools

SERVICE: Final = service()
DOCUMENT: Final = openapi_document(SERVICE, "0")
SCHEMAS: Final[dict[str, Any]] = DOCUMENT["components"]["schemas"]
_AMOUNTS: Final = {"baseline": {"amount": "120.00"}, "achieved": {"amount": 100}}
_ASSERTION: Final = {"assertion_type": "verified_email", "assertion": "ada@example.com"}
_BOUNDS: Final = {
    "string": {"minLength", "maxLength", "pattern", "format"},
    "number": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
    "array": {"minItems", "maxItems", "uniqueItems", "items", "prefixItems"},
    "object": {"minProperties", "maxProperties", "properties", "required", "propertyNames"},
}
_KEYWORDS: Final = frozenset(
    {
        *(bound for bounds in _BOUNDS.values() for bound in bounds),
        *("$ref", "type", "enum", "const", "anyOf", "oneOf", "allOf", "not", "if", "then", "else"),
        *("additionalProperties", "dependentRequired", "contains"),
        *("title", "description", "default", "examples", "deprecated", "$defs"),
    }
)


def _described(name: str) -> dict[str, Any]:
    operation = SERVICE.find(name)
    assert operation is not None
    found: dict[str, Any] = DOCUMENT["paths"][operation.path][operation.method.lower()]
    return found


def _body(name: str) -> dict[str, Any]:
    content = _described(name)["requestBody"]["content"]["application/json"]
    found: dict[str, Any] = SCHEMAS[content["schema"]["$ref"].rpartition("/")[2]]
    return found


def test_a_number_of_a_query_has_one_spelling() -> None:
    kinds: list[Any] = [int, float, int | None]
    numbers = 0
    for operation in SERVICE.operations:
        for name, field in operation.input.model_fields.items():
            if field.annotation not in kinds:
                continue
            numbers += 1
            for text in ("1_0", " 10", "+1", "1e1", "\uff11", "0x1", "1."):
                with pytest.raises(ValidationError) as refused:
                    operation.input.model_validate({name: text})
                assert (name,) in [fault["loc"] for fault in refused.value.errors()], (operation.name, name, text)
    assert numbers > 20


def _schemas(value: Any, place: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema in the document, with the place where it stands."""
    if isinstance(value, list):
        for index, entry in enumerate(cast("list[Any]", value)):
            yield from _schemas(entry, f"{place}/{index}")
    elif isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        yield place, members
        for name in ("properties", "$defs"):
            for key, schema in members.get(name, {}).items():
                yield from _schemas(schema, f"{place}/{name}/{key}")
        for name in ("items", "additionalProperties", "propertyNames", "anyOf", "oneOf", "allOf"):
            if isinstance(members.get(name), dict | list):
                yield from _schemas(members[name], f"{place}/{name}")


def _every() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, operation in tools.tool_operations(SERVICE).items():
        yield from _schemas(tools.input_schema(operation), f"tool {name}")
    for name, schema in SCHEMAS.items():
        yield from _schemas(schema, name)
    for path, methods in DOCUMENT["paths"].items():
        for operation in methods.values():
            for parameter in operation["parameters"]:
                yield from _schemas(parameter["schema"], f"{path}/{parameter['name']}")


def _listed(types: str | list[str]) -> list[str]:
    return types if isinstance(types, list) else [types]


def test_schemas_use_only_keywords_of_json_schema_and_those_of_their_type() -> None:
    for place, schema in _every():
        assert schema.keys() <= _KEYWORDS, (place, schema.keys() - _KEYWORDS)
        said = schema.get("type", [*_BOUNDS])
        kinds = {"number" if kind == "integer" else kind for kind in _listed(said)}
        for other, bounds in _BOUNDS.items():
            if other not in kinds:
                assert not schema.keys() & bounds, (place, kinds, schema.keys() & bounds)


def test_arrays_say_what_they_hold_and_no_default_contradicts_its_type() -> None:
    found = 0
    for place, schema in _every():
        if schema.get("type") == "array":
            found += 1
            assert "items" in schema, place
        assert schema.get("default", "") is not None, place
    assert found > 100


def test_bounds_behind_a_validator_are_in_the_schema() -> None:
    weight = SCHEMAS["IssueBody"]["properties"]["weight"]["anyOf"][0]
    assert (weight["minimum"], weight["maximum"]) == (0, 1e12)


def test_a_patch_has_the_types_of_what_it_changes() -> None:
    patches = 0
    for operation in SERVICE.operations:
        if not issubclass(operation.input, MergePatch):
            continue
        patches += 1
        body = _body(operation.name)
        assert "required" not in body, operation.name
        members = operation.input.patched.model_fields
        assert body["properties"].keys() >= members.keys(), operation.name
        for name, schema in body["properties"].items():
            assert schema.keys() & {"type", "anyOf", "$ref", "enum"}, (operation.name, name)
            assert "default" not in schema, (operation.name, name)
    assert patches == 7


def test_null_in_a_patch_removes_only_what_the_result_can_lack() -> None:
    members = _body("edit_win")["properties"]
    assert {"type": "null"} in members["notes"]["anyOf"]
    assert "anyOf" not in members["currency"]


def test_an_object_in_a_patch_is_changed_member_by_member() -> None:
    inner = SCHEMAS["WinBaselinePatch"]
    assert "required" in SCHEMAS["WinBaseline"]
    assert "required" not in inner
    assert {"type": "null"} in inner["properties"]["as_of"]["anyOf"]


_PRICE: Final = {"title": "Laptops", "role": "buyer", "issues": [{"name": "price"}]}
_AGREEING: Final[list[tuple[str, dict[str, Any], bool]]] = [
    ("open_negotiation", {**_PRICE, "currency": "EUR"}, True),
    ("open_negotiation", {**_PRICE, "title": "a\x00"}, False),
    ("open_negotiation", {**_PRICE, "target": {"utility": 1}}, True),
    ("open_negotiation", {**_PRICE, "target": {"package": None, "utility": 1}}, True),
    ("open_negotiation", {**_PRICE, "max_rounds": 0}, False),
    ("record_win", {**_AMOUNTS, "currency": "EUR"}, True),
    ("record_win", {**_AMOUNTS, "currency": 5}, False),
    ("record_win", {**_AMOUNTS, "currency": "EUR", "quantity": []}, False),
    ("register_agent", {"agent_name": "a", "identity_type": "anonymous"}, True),
    ("register_agent", {"type": "anonymous"}, True),
    ("register_agent", {"agent_name": "a"}, False),
    ("register_agent", {"identity_type": "anonymous"}, False),
    ("register_agent", {"type": "anonymous", "assertion": "a"}, False),
    ("register_agent", {"type": "identity_assertion", "assertion": "a"}, False),
    ("register_agent", {"type": "identity_assertion", **_ASSERTION}, True),
    ("register_identity", {"type": "anonymous"}, True),
    ("register_identity", {"type": "service_auth", "login_hint": "a@example.com"}, True),
    ("register_identity", {"type": "service_auth"}, False),
    ("register_identity", {"type": "refresh", "refresh_token": "a", "assertion": "a"}, False),
    ("request_claim", {"claim_token": "a", "email": "a@example.com"}, True),
    ("request_claim", {"claim_token": "a"}, False),
    ("request_claim", {"claim_token": "a", "email": "a@b.co", "login_hint": "a@b.co"}, False),
    ("complete_claim", {"claim_token": "a", "otp": "b"}, True),
    ("complete_claim", {"claim_token": "a", "otp": "b", "user_code": "c"}, False),
    ("register_directory_agent", {"type": "identity_assertion", **_ASSERTION}, True),
    ("register_directory_agent", {"identity_type": "agent_id", "identity_value": "abc"}, False),
    ("register_directory_agent", {"agent_name": "a", "identity_value": "abc"}, False),
]


@pytest.mark.parametrize(("name", "body", "fits"), _AGREEING)
def test_schema_and_reader_agree(name: str, body: dict[str, Any], *, fits: bool) -> None:
    operation = SERVICE.find(name)
    assert operation is not None
    schema = Draft202012Validator({**_body(name), "components": DOCUMENT["components"]})
    assert schema.is_valid(body) is fits
    try:
        operation.input.model_validate(body)
    except ValidationError:
        assert not fits
    else:
        assert fits


def test_every_component_is_used_and_every_body_has_a_name() -> None:
    text = str(DOCUMENT)
    assert [name for name in SCHEMAS if f"#/components/schemas/{name}'" not in text] == []
    assert "__" not in "".join(SCHEMAS)


def test_every_operation_has_a_described_tag_and_a_description() -> None:
    tags = {tag["name"]: tag["description"] for tag in DOCUMENT["tags"]}
    for operation in SERVICE.operations:
        described = _described(operation.name)
        assert all(tags[tag] for tag in described["tags"]), operation.name
        assert described["description"], operation.name


def test_oauth_flows_name_the_scopes_that_operations_need() -> None:
    schemes = DOCUMENT["components"]["securitySchemes"]
    flows = schemes["oauth2"]["flows"]
    assert flows.keys() == {"authorizationCode", "clientCredentials"}
    assert flows["authorizationCode"]["authorizationUrl"] == f"{SERVICE.base}/oauth/authorize"
    for flow in flows.values():
        assert flow["tokenUrl"] == f"{SERVICE.base}/oauth/token"
        assert flow["scopes"] == SERVICE.scopes
    security = _described("open_negotiation")["security"]
    assert security == [{"bearer": []}, {"oauth2": ["negotiations:write"]}]
    assert _described("register_agent")["security"] == []
    assert {} in _described("list_tools")["security"]


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
