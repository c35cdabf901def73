"""Examples: what a model declares as its example, or what a JSON Schema yields, whole or at one place."""

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final, TypeAlias, cast

from pydantic import BaseModel, TypeAdapter

from negotiator.base.schema import JsonSchema

Place: TypeAlias = Sequence[str | int]
_TEXTS: Final = {"date-time": "2027-03-31T17:00:00.000Z", "date": "2027-03-31", "uri": "https://example.com"}
_TEXT: Final = "text"
"""A text of which nothing is known: it is valid, and tells a reader nothing."""
_ID: Final = re.compile(r"\b([a-z]{3,4}_)…")
_DEPTH: Final = 6
_ANSWER_DEPTH: Final = 3
_LONGEST: Final = 160
"""Characters of an example inside a sentence; a longer one is cut down to what is required."""


def example_input(model: type[BaseModel]) -> dict[str, Any]:
    """A small valid input: the example that the model declares, and the required members that it lacks."""
    schema = _schema(model)
    made: dict[str, Any] = _made({**schema, "examples": None}, schema.get("$defs", {}), 0)
    return {**made, **_declared(model)}


def _declared(model: type[BaseModel]) -> dict[str, Any]:
    """The model's own example, in the order of its author; pydantic sorts the members of a schema."""
    extra: Any = model.model_config.get("json_schema_extra")
    declared = cast("dict[str, Any]", extra) if isinstance(extra, dict) else {}
    found: list[dict[str, Any]] = declared.get("examples", [])
    return found[0] if found else {}


def example_output(output: Any) -> Any:
    """A value of this type with all its members, texts left out as `…`; None for an empty one."""
    schema = TypeAdapter(output).json_schema(mode="serialization", schema_generator=JsonSchema)
    return _answered(schema, schema.get("$defs", {}), 0) or None


def schema_at(model: type[BaseModel], place: Place) -> dict[str, Any] | None:
    """The schema at a place of the model's input, without references; None where the model has no such place."""
    schema = _schema(model)
    defs: dict[str, Any] = schema.get("$defs", {})
    for part in place:
        inside = next((found for form in _forms(schema, defs) if (found := _inside(form, part))), None)
        if inside is None:
            return None
        schema = inside
    return _resolved(schema, defs)


def forms_at(model: type[BaseModel], schema: dict[str, Any]) -> list[dict[str, Any]]:
    """The alternatives of a schema from `schema_at`, without references and without null."""
    return list(_forms(schema, _schema(model).get("$defs", {})))


def example_at(model: type[BaseModel], place: Place) -> str:
    """One small example of the value at a place, as JSON; empty where the model has no such place."""
    schema = schema_at(model, place)
    if schema is None:
        return ""
    defs: dict[str, Any] = _schema(model).get("$defs", {})
    own: Any = schema.get("examples")
    found: Any = own[0] if own else _value_at(_declared(model), place)
    if found is None:
        found = _id_in(schema) or _made(schema, defs, 0)
    if found == _TEXT:
        return ""
    text = _json(found)
    if len(text) > _LONGEST and isinstance(found, list):
        text = _json(cast("list[Any]", found)[:1])
    if len(text) > _LONGEST:
        text = _json(_made({**schema, "examples": None}, defs, 0))
    return text if len(text) <= _LONGEST else ""


def _id_in(schema: Mapping[str, Any]) -> str:
    """An id of the kind that a description names as `neg_…`, empty where it names none."""
    found = _ID.search(schema.get("description", ""))
    return f"{found[1]}01k5w3z8q4h6r2t9v7x1y0abcd" if found else ""


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


@cache
def _schema(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema(schema_generator=JsonSchema)


def _value_at(value: Any, place: Place) -> Any:
    """The value at a place of an example, None if it has none; a list has its first entry at every number."""
    for part in place:
        if isinstance(value, dict) and part in value:
            value = cast("dict[str | int, Any]", value)[part]
        elif isinstance(value, list) and value and isinstance(part, int):
            value = cast("list[Any]", value)[0]
        else:
            return None
    return value


def _resolved(schema: dict[str, Any], defs: Mapping[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        beside = {name: value for name, value in schema.items() if name != "$ref"}
        schema = {**defs[schema["$ref"].rpartition("/")[2]], **beside}
    return schema


def _forms(schema: dict[str, Any], defs: Mapping[str, Any]) -> list[dict[str, Any]]:
    schema = _resolved(schema, defs)
    options: list[dict[str, Any]] = schema.get("anyOf") or schema.get("oneOf") or []
    if not options or "type" in schema:
        return [] if schema.get("type") == "null" else [schema]
    return [form for option in options for form in _forms(option, defs)]


def _inside(form: dict[str, Any], part: str | int) -> dict[str, Any] | None:
    if isinstance(part, int):
        items = form.get("items")
        return cast("dict[str, Any]", items) if isinstance(items, dict) else None
    found: Any = form.get("properties", {}).get(part)
    if found is None:
        found = form.get("additionalProperties")
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None


def _answered(schema: dict[str, Any], defs: Mapping[str, Any], depth: int) -> Any:
    """A value of this schema with all members to a depth of three objects; of several alternatives the first."""
    if "$ref" in schema:
        return _answered(defs[schema["$ref"].rpartition("/")[2]], defs, depth)
    if shown := schema.get("examples") or schema.get("enum"):
        return shown[0]
    if "const" in schema:
        return schema["const"]
    if forms := schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf"):
        real = [form for form in forms if form.get("type") != "null"]
        return _answered(real[0], defs, depth)
    kind: Any = schema.get("type")
    if kind == "object":
        properties: dict[str, Any] = schema.get("properties", {}) if depth < _ANSWER_DEPTH else {}
        return {name: _answered(each, defs, depth + 1) for name, each in properties.items()}
    if kind == "array":
        item = schema.get("items")
        return [_answered(item, defs, depth)] if item and depth < _ANSWER_DEPTH else []
    if kind == "string":
        return _TEXTS.get(schema.get("format", ""), "…")
    return _plain(schema, defs, depth)


def _made(schema: dict[str, Any], defs: Mapping[str, Any], depth: int) -> Any:
    """A value of this schema; of several alternatives the first that is not null."""
    if "$ref" in schema:
        return _made(defs[schema["$ref"].rpartition("/")[2]], defs, depth + 1)
    for name in ("examples", "enum"):
        if schema.get(name):
            return schema[name][0]
    for name in ("const", "default"):
        if schema.get(name) is not None:
            return schema[name]
    if forms := schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf"):
        real = [form for form in forms if form.get("type") != "null"]
        return _made(real[0], defs, depth + 1)
    return _plain(schema, defs, depth)


def _plain(schema: dict[str, Any], defs: Mapping[str, Any], depth: int) -> Any:
    kind: Any = schema.get("type")
    if isinstance(kind, list):
        kind = next(name for name in cast("list[str]", kind) if name != "null")
    if kind == "object":
        properties: dict[str, Any] = schema.get("properties", {})
        required: list[str] = schema.get("required", [])
        return {name: _made(properties[name], defs, depth + 1) for name in required if depth < _DEPTH}
    if kind == "array":
        item = schema.get("items")
        return [_made(item, defs, depth + 1)] if item and schema.get("minItems") else []
    if kind in {"integer", "number"}:
        return schema.get("minimum", 1)
    if kind == "boolean":
        return True
    return _TEXTS.get(schema.get("format", ""), _TEXT[: schema.get("maxLength", 4)])
