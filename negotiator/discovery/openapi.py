"""OpenAPI 3.1 of every operation, read from its description."""

from http import HTTPStatus
from typing import Any, Final

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import JsonSchemaValue

from negotiator.discovery import examples
from negotiator.edge.operation import JSON, LINES, Operation, Service
from negotiator.scopes import ordered

PATH: Final = "/openapi.json"
_REFERENCE: Final = "#/components/schemas/{model}"
_REASONS: Final = {
    200: "It was there already; this is it.",
    304: "The client has what the ETag names.",
    400: "The request is malformed, or refused for the reason its error names.",
    401: "No credential, or one that is not believed.",
    403: "The credential lacks a scope, or the caller is not entitled.",
    404: "Not there, or somebody else's.",
    409: "The state of the resource forbids it.",
    410: "It was there and is over.",
    412: "The revision moved on.",
    413: "The body is too large.",
    415: "The media type is not the one the operation reads.",
    422: "Fields are refused; `errors` points to each.",
    426: "The path speaks WebSocket; Upgrade says so.",
    428: "The change needs If-Match.",
    429: "A budget is used up; Retry-After says until when.",
    503: "Not now; Retry-After says when.",
}
_LINES: Final[dict[str, Any]] = {
    "schema": {"type": "string", "description": "One JSON object a line: the members of `lines`."}
}
_REFUSAL: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["error", "error_description", "request_id"],
    "properties": {
        "error": {"type": "string", "description": "A stable machine word."},
        "error_description": {"type": "string", "description": "Prose; may change."},
        "request_id": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["pointer", "description"],
                "properties": {
                    "pointer": {"type": "string"},
                    "description": {"type": "string"},
                },
            },
        },
    },
}


def document(service: Service, version: str) -> dict[str, Any]:
    """The OpenAPI document of the service."""
    schemas: dict[str, Any] = {"Refusal": _REFUSAL}
    paths: dict[str, Any] = {}
    for operation in service.operations:
        described = _operation(operation, schemas)
        sample = {"lang": "Shell", "source": examples.command(operation, service.base)}
        paths.setdefault(operation.path, {})[operation.method.lower()] = {
            **described,
            "x-codeSamples": [sample],
        }
    return {
        "openapi": "3.1.1",
        "info": {
            "title": "Negotiator",
            "version": version,
            "summary": "A negotiation assistant that any agent can walk up to",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": service.base}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}
            },
        },
    }


def input_schema(model: type[BaseModel]) -> JsonSchemaValue:
    """The JSON Schema of an operation's whole input, self-contained."""
    return model.model_json_schema()


def _operation(operation: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    inputs = _flat(operation.input.model_json_schema(ref_template=_REFERENCE), schemas)
    properties: dict[str, Any] = inputs.get("properties", {})
    required: list[str] = inputs.get("required", [])
    path = operation.path_parameters
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "tags": [operation.tag],
        "parameters": [
            {
                "name": name,
                "in": "path",
                "required": True,
                "schema": properties.get(name, {"type": "string"}),
            }
            for name in path
        ],
        "responses": _responses(operation, schemas),
        "security": _security(operation),
    }
    if operation.scopes:
        described["x-required-scopes"] = ordered(operation.scopes)
    rest = {name: schema for name, schema in properties.items() if name not in path}
    if operation.reads_query:
        described["parameters"] += [
            {
                "name": name,
                "in": "query",
                "required": name in required,
                "schema": schema,
                # An empty value is one that was not given (`input.parse_query`).
                **({} if name in required else {"allowEmptyValue": True}),
            }
            for name, schema in rest.items()
        ]
    elif rest:
        needed = [name for name in required if name not in path]
        body = {**inputs, "properties": rest, "required": needed}
        described["requestBody"] = {"required": bool(needed), "content": _content(operation, body)}
    if operation.aliases:
        described["description"] = f"Also at {', '.join(operation.aliases)}."
    described["parameters"] += _headers(operation)
    return described


def _headers(operation: Operation) -> list[dict[str, Any]]:
    """The request headers that this operation, and not every one, looks at."""
    found: list[dict[str, Any]] = []
    if operation.creates:
        key = {"type": "string", "maxLength": 255}
        found.append({"name": "Idempotency-Key", "in": "header", "required": False, "schema": key})
    if HTTPStatus.PRECONDITION_FAILED in operation.refusals:
        needed = HTTPStatus.PRECONDITION_REQUIRED in operation.refusals
        tag = {"type": "string", "description": "The ETag of the revision that is changed."}
        found.append({"name": "If-Match", "in": "header", "required": needed, "schema": tag})
    return found


def _content(operation: Operation, schema: dict[str, Any]) -> dict[str, Any]:
    """The body in every media type that it may come in, with its example."""
    if operation.encoding == "event":
        example: Any = examples.body(operation)["token"]
        return {operation.takes[0]: {"schema": {"type": "string"}, "example": example}}
    shown = {"schema": schema, "example": examples.body(operation)}
    return {media: _LINES if media == LINES else shown for media in operation.takes}


def _responses(operation: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    success: dict[str, Any] = {"description": operation.summary}
    tagged = False
    if operation.output is not None:
        schema = _flat(
            TypeAdapter(operation.output).json_schema(
                ref_template=_REFERENCE, mode="serialization"
            ),
            schemas,
        )
        success["content"] = {JSON: {"schema": schema}}
        tagged = operation.method == "GET" and "revision" in schema.get("properties", ())
    if operation.media_type != JSON:
        content = success.setdefault("content", {})
        content[operation.media_type] = {"schema": {"type": "string"}}
    statuses = {*operation.refusals, 429, *_implied(operation), *([304] if tagged else [])}
    refusal = {"content": {JSON: {"schema": {"$ref": "#/components/schemas/Refusal"}}}}
    bodies = {HTTPStatus.OK: success, HTTPStatus.NOT_MODIFIED: {}}
    refused = {
        str(status): {**bodies.get(HTTPStatus(status), refusal), "description": _REASONS[status]}
        for status in sorted(statuses)
    }
    return {str(operation.status): success, **refused}


def _implied(operation: Operation) -> set[int]:
    """What the edge itself may say of any operation like this one."""
    statuses: set[int] = set()
    if operation.access != "open":
        statuses |= {400, 401}
    if operation.scopes:
        statuses.add(403)
    if not operation.reads_query:
        statuses |= {400, 413, 415}
    if operation.creates or operation.path_parameters or operation.input.model_fields:
        statuses |= {400, 422} if operation.input.model_config.get("extra") == "forbid" else {400}
    return statuses


def _security(operation: Operation) -> list[dict[str, list[str]]]:
    if operation.access == "open":
        return []
    return [{"bearer": []}] if operation.access == "bearer" else [{}, {"bearer": []}]


def _flat(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    """Move a schema's own definitions into the document's components."""
    schemas.update(schema.pop("$defs", {}))
    return schema
