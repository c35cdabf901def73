"""An example of every operation: its input, which the model declares or its schema yields, and a `curl` command."""

import json
import shlex
from typing import Any, Final, cast
from urllib.parse import urlencode

from pydantic import BaseModel, TypeAdapter

from negotiator.http.operation import Operation
from negotiator.schema import JsonSchema

_TEXTS: Final = {
    "date-time": "2027-03-31T17:00:00.000Z",
    "date": "2027-03-31",
    "uri": "https://example.com",
}
_DEPTH: Final = 6
_ANSWER_DEPTH: Final = 3


def example_input(model: type[BaseModel]) -> dict[str, Any]:
    """A small valid input: the required members only."""
    schema = model.model_json_schema(schema_generator=JsonSchema)
    made: dict[str, Any] = _made({**schema, "examples": None}, schema.get("$defs", {}), 0)
    return {**made, **(schema.get("examples") or [{}])[0]}


def example_body(operation: Operation) -> dict[str, Any]:
    """The example without the members that belong in the path."""
    example = example_input(operation.input)
    return {name: value for name, value in example.items() if name not in operation.path_parameters}


def example_answer(operation: Operation) -> Any:
    """An answer of the operation with all its members, texts left out as `…`; None where it answers no JSON."""
    if operation.output is None:
        return None
    schema = TypeAdapter(operation.output).json_schema(
        mode="serialization", schema_generator=JsonSchema
    )
    return _answered(schema, schema.get("$defs", {}), 0) or None


def curl_command(operation: Operation, base: str) -> str:
    """A shell command that calls the operation; the caller fills in `$TOKEN` and the parameters of the path."""
    path = operation.path
    for name in operation.path_parameters:
        path = path.replace(f"{{{name}}}", f"${name.upper()}")
    given, words = example_body(operation), [f'curl "{base}{path}"']
    if operation.reads_query and given:
        words = [f'curl "{base}{path}?{urlencode(given, doseq=True)}"']
    if operation.method not in {"GET", "POST"}:
        words.append(f"-X {operation.method}")
    if operation.access == "bearer":
        words.append('-H "Authorization: Bearer $TOKEN"')
    if not operation.reads_query:
        words += _sent(operation, given)
    return " \\\n  ".join(words)


def _sent(operation: Operation, given: dict[str, Any]) -> list[str]:
    if not given and operation.method == "POST":
        return ["-X POST"]
    if operation.encoding == "form":
        fields = (f"{name}={value}" for name, value in given.items())
        return [f"--data-urlencode {shlex.quote(field)}" for field in fields]
    if operation.encoding == "event":
        return [
            "-H 'Content-Type: application/secevent+jwt'",
            f"--data-raw {shlex.quote(given['token'])}",
        ]
    sent = shlex.quote(json.dumps(given, indent=2, ensure_ascii=False))
    return ["-H 'Content-Type: application/json'", f"-d {sent}"]


def _answered(schema: dict[str, Any], defs: dict[str, Any], depth: int) -> Any:
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


def _made(schema: dict[str, Any], defs: dict[str, Any], depth: int) -> Any:
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


def _plain(schema: dict[str, Any], defs: dict[str, Any], depth: int) -> Any:
    kind: Any = schema.get("type")
    if isinstance(kind, list):
        kind = next(name for name in cast("list[str]", kind) if name != "null")
    if kind == "object":
        properties: dict[str, Any] = schema.get("properties", {})
        required: list[str] = schema.get("required", [])
        return {
            name: _made(properties[name], defs, depth + 1) for name in required if depth < _DEPTH
        }
    if kind == "array":
        item = schema.get("items")
        return [_made(item, defs, depth + 1)] if item and schema.get("minItems") else []
    if kind in {"integer", "number"}:
        return schema.get("minimum", 1)
    if kind == "boolean":
        return True
    return _TEXTS.get(schema.get("format", ""), "text"[: schema.get("maxLength", 4)])
