"""Every operation: a sentence, what it takes, what it needs, what it answers, how it refuses."""

from collections.abc import Iterable
from typing import Any

from docs.pages.markdown import code, grid, span
from negotiator import __version__
from negotiator.base.scopes import ordered
from negotiator.discovery import openapi
from negotiator.http.operation import JSON, Operation, ServiceDescription

_ACCESS = {
    "open": "No bearer token is looked at.",
    "public": "Works without a token; one that is sent must be good.",
    "bearer": "A bearer token.",
}

_KINDER = {"200": "200 when it was there already", "304": "304 when the client has it already"}
_BODIES = {
    "json": "json",
    "form": "form",
    "either": "json or form",
    "lines": "ndjson or json",
    "event": "one security event token",
}


def page(service: ServiceDescription) -> Iterable[str]:
    """Operations by tag, in the order the service offers them."""
    document = openapi.openapi_document(service, __version__)
    yield "# Operations\n"
    yield "Every operation but `/livez` and `/readyz` can also refuse with 429."
    yield "The machine-readable form is `/openapi.json`.\n"
    for tag in dict.fromkeys(operation.tag for operation in service.operations):
        yield f"## {tag.capitalize()}\n"
        for operation in service.operations:
            if operation.tag == tag:
                yield from _operation(operation, document)


def _operation(operation: Operation, document: dict[str, Any]) -> Iterable[str]:
    described = document["paths"][operation.path][operation.method.lower()]
    schemas = document["components"]["schemas"]
    yield f"### `{operation.method} {operation.path}`\n"
    tool = f" MCP tool `{operation.tool.name or operation.name}`." if operation.tool else ""
    also = f" Also at {' '.join(map(code, operation.aliases))}." if operation.aliases else ""
    yield f"{operation.summary}. Operation `{operation.name}`.{also}{tool}\n"
    scopes = " ".join(code(scope) for scope in ordered(operation.scopes))
    needs = f"A bearer token with {scopes}." if scopes else _ACCESS[operation.access]
    kind = "" if operation.reads_query or not operation.input.model_fields else f" Body: {_BODIES[operation.encoding]}."
    yield f"Needs: {needs}{kind}\n"
    yield from grid(("Field", "In", "Type", "Meaning"), _fields(described, schemas))
    answers = _answer(operation, described, schemas)
    rest = [status for status in described["responses"] if status != str(operation.status)]
    refused = ", ".join(status for status in rest if status >= "400")
    kinder = [text for status, text in _KINDER.items() if status in rest]
    yield f"Answers {', '.join([f'{operation.status}{answers}', *kinder])}. Refuses with {refused}.\n"


def _fields(described: dict[str, Any], schemas: dict[str, Any]) -> Iterable[tuple[str, ...]]:
    for parameter in described["parameters"]:
        schema = {**_resolved(parameter["schema"], schemas)}
        if "description" in parameter:
            schema["description"] = parameter["description"]
        yield _field(parameter["name"], parameter["in"], schema, needed=parameter["required"])
    contents = described.get("requestBody", {}).get("content", {}).values()
    bodies = [_resolved(content["schema"], schemas) for content in contents]
    body = next((body for body in bodies if "properties" in body), dict[str, Any]())
    for name, schema in body.get("properties", {}).items():
        needed = name in body.get("required", ())
        yield _field(name, "body", _resolved(schema, schemas), needed=needed)


def _field(name: str, place: str, schema: dict[str, Any], *, needed: bool) -> tuple[str, ...]:
    meaning = [schema.get("description", ""), _bounds(schema), "" if needed else "Optional."]
    return code(name), place, _type(schema), " ".join(part for part in meaning if part)


def _answer(operation: Operation, described: dict[str, Any], schemas: dict[str, Any]) -> str:
    content = described["responses"][str(operation.status)].get("content", {})
    schema = _resolved(content.get(JSON, {}).get("schema", {}), schemas)
    names = ", ".join(code(name) for name in schema.get("properties", {}))
    kinds = [code(kind) for kind in content if kind != JSON]
    return " with " + ", or ".join([names, *kinds] if names else kinds) if names or kinds else ""


def _resolved(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    """The schema behind a reference, or the one that is not null, with its own words kept."""
    options = [option for option in schema.get("anyOf", []) if option.get("type") != "null"]
    if len(options) == 1:
        schema = {**options[0], **{key: value for key, value in schema.items() if key != "anyOf"}}
    reference = schema.get("$ref", "").rpartition("/")[2]
    return {**schemas[reference], **schema} if reference in schemas else schema


def _type(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return " ".join(code(str(value)) for value in schema["enum"])
    if "const" in schema:
        return code(str(schema["const"]))
    if "anyOf" in schema:
        return " or ".join(_type(option) for option in schema["anyOf"])
    if schema.get("type") == "array":
        return f"array of {_type(schema.get('items', {}))}"
    return str(schema.get("type", schema.get("$ref", "any").rpartition("/")[2]))


def _bounds(schema: dict[str, Any]) -> str:
    """What is allowed and what is assumed, as one sentence; nothing that the description says already."""
    said = [
        span(schema.get(low), schema.get(high), unit)
        for low, high, unit in (
            ("minLength", "maxLength", " characters"),
            ("minItems", "maxItems", " entries"),
            ("minimum", "maximum", ""),
        )
    ]
    default = schema.get("default")
    said.append("" if default is None else f"default {default}")
    described = schema.get("description", "")
    text = "; ".join(part for part in said if part and part not in described)
    return f"{text[0].upper()}{text[1:]}." if text else ""
