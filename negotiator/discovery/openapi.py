"""OpenAPI 3.1 of every operation, read from its description."""

import json
import shlex
from http import HTTPStatus
from inspect import getdoc
from typing import Any, Final
from urllib.parse import urlencode

from negotiator.base.schema_examples import example_input, example_output
from negotiator.base.scopes import ordered
from negotiator.discovery.authorization_metadata import AUTHORIZE_PATH
from negotiator.discovery.openapi_schemas import SchemaComponents, input_schema, schema_components
from negotiator.http.operation import JSON, LINES, Operation, ServiceDescription


def example_body(operation: Operation) -> dict[str, Any]:
    """The example without the members that belong in the path."""
    example = example_input(operation.input)
    return {name: value for name, value in example.items() if name not in operation.path_parameters}


def example_answer(operation: Operation) -> Any:
    """An answer of the operation with all its members; None where it answers no JSON."""
    return None if operation.output is None else example_output(operation.output)


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
        return ["-H 'Content-Type: application/secevent+jwt'", f"--data-raw {shlex.quote(given['token'])}"]
    sent = shlex.quote(json.dumps(given, indent=2, ensure_ascii=False))
    return ["-H 'Content-Type: application/json'", f"-d {sent}"]


OPENAPI_PATH: Final = "/openapi.json"
TAGS: Final = {
    "negotiations": "Negotiations with their terms, states and history.",
    "rehearsals": "Negotiations practised against a simulated counterpart, with a debrief.",
    "offers": "The offers and answers of both sides, in the order they were made.",
    "advice": "Leverage and the next move, for a stored negotiation or a described one.",
    "plans": "Battle plans, each a version made from one revision of a negotiation.",
    "tactics": "The catalogue of tactics, the caller's own ones, and those that fit a situation.",
    "memory": "What is remembered for the caller: search, review, history, export and import.",
    "wins": "Closed deals with what they saved, and benchmarks over them.",
    "teleprompter": "Live sessions of a call: utterances in, cards out.",
    "tools": "The directory of AI tools: search, lists, categories and changes.",
    "submissions": "New tools and changes to tools, from proposal to decision, and reports.",
    "bookmarks": "The caller's collections of tools.",
    "exchange": "The directory in the formats of others: NDJSON and the MCP registry API.",
    "accounts": "API keys of the directory and the proofs that raise what they may do.",
    "agents": "How an agent registers, is claimed by a user, and what issuers report of its user.",
    "tokens": "The OAuth 2.0 and OpenID Connect endpoints.",
    "health": "Whether the service is well.",
}
_ABOUT: Final = (
    "A negotiation assistant and a directory of AI tools. Agents register themselves and get a bearer token in one "
    "request; {base}/auth.md says how. Every refusal has the same JSON shape, with a stable `error`. Lists are read "
    "page by page with `limit` and `cursor`. Resources that change carry a `revision` and an `ETag`."
)
_ACCESS: Final = {
    "open": "No bearer token is looked at.",
    "public": "Works without a credential; one that is sent must be good.",
    "bearer": "Needs a bearer credential of any scope.",
}
_TEXT: Final[dict[str, Any]] = {"type": "string"}
_EVENT: Final[dict[str, Any]] = {
    "type": "string",
    "pattern": r"^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$",
    "description": "A security event token (RFC 8417) as a compact JWS.",
}
_IDEMPOTENCY_KEY: Final[dict[str, Any]] = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Within 24 hours the same key with the same body gets the first answer again.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255},
}
_IF_MATCH: Final[dict[str, Any]] = {
    "name": "If-Match",
    "in": "header",
    "description": "The ETag of the revision that is changed, or `*` for any.",
    "schema": {"type": "string", "pattern": r'^(\*|"[0-9]{1,18}")$'},
}
_REASONS: Final = {
    200: "It was there already; this is it.",
    204: "The session is over and all its events were seen.",
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
    "schema": {"type": "string", "pattern": r"\S", "description": "One JSON object a line: the members of `lines`."}
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
                "properties": {"pointer": {"type": "string"}, "description": {"type": "string"}},
            },
        },
    },
}


def openapi_document(service: ServiceDescription, version: str) -> dict[str, Any]:
    known = schema_components(service.operations)
    known.schemas["Refusal"] = _REFUSAL
    schemes = _schemes(service)
    paths: dict[str, Any] = {}
    for operation in service.operations:
        sample = {"lang": "Shell", "source": curl_command(operation, service.base)}
        paths.setdefault(operation.path, {})[operation.method.lower()] = {
            **_operation(operation, known),
            "security": _security(operation, schemes),
            "x-codeSamples": [sample],
        }
    tags = dict.fromkeys(operation.tag for operation in service.operations)
    return {
        "openapi": "3.1.1",
        "info": {
            "title": "Negotiator",
            "version": version,
            "summary": "A negotiation assistant and a directory of AI tools, for agents",
            "description": _ABOUT.format(base=service.base),
            "contact": {"name": "The operator of this service", "url": service.base},
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": service.base}],
        "tags": [{"name": tag, "description": TAGS[tag]} for tag in tags],
        "paths": paths,
        "components": {"schemas": known.reached(paths), "securitySchemes": schemes},
    }


def _schemes(service: ServiceDescription) -> dict[str, Any]:
    """The security schemes: a bearer credential of any kind, and the OAuth flows that issue one where the service has
    them.
    """
    schemes: dict[str, Any] = {
        "bearer": {
            "type": "http",
            "scheme": "bearer",
            "description": "Any credential of this service: an access token (a JWT or an opaque one) or an API key.",
        }
    }
    if token := service.url("issue_token"):
        scopes = dict(service.scopes)
        schemes["oauth2"] = {
            "type": "oauth2",
            "description": "Authorization code with PKCE (S256) for users, client credentials for machines.",
            "flows": {
                "authorizationCode": {
                    "authorizationUrl": f"{service.base}{AUTHORIZE_PATH}",
                    "tokenUrl": token,
                    "refreshUrl": token,
                    "scopes": scopes,
                },
                "clientCredentials": {"tokenUrl": token, "scopes": scopes},
            },
        }
    return schemes


def _operation(operation: Operation, known: SchemaComponents) -> dict[str, Any]:
    inputs = known.resolved(known.inputs[operation.name])
    properties: dict[str, Any] = inputs.get("properties", {})
    required: list[str] = inputs.get("required", [])
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "description": _description(operation),
        "tags": [operation.tag],
        "parameters": _path(operation),
        "responses": _responses(operation, known),
    }
    if operation.scopes:
        described["x-required-scopes"] = ordered(operation.scopes)
    if operation.reads_query:
        described["parameters"] += [
            {
                "name": name,
                "in": "query",
                "required": name in required,
                "schema": schema,
                # An empty value counts as absent (`input.parse_query`).
                **({} if name in required else {"allowEmptyValue": True}),
            }
            for name, schema in properties.items()
            if name not in operation.path_parameters
        ]
    elif properties:
        described["requestBody"] = {
            "required": bool(required),
            "content": _content(operation, known.inputs[operation.name]),
        }
    described["parameters"] += _headers(operation)
    return described


def _path(operation: Operation) -> list[dict[str, Any]]:
    schema = input_schema(operation.input)
    known: dict[str, Any] = schema.get("properties", {})
    return [
        {"name": name, "in": "path", "required": True, "schema": known.get(name, _TEXT)}
        for name in operation.path_parameters
    ]


def _description(operation: Operation) -> str:
    """What the summary leaves out: how the operation is used, its input and output, and the credential it needs."""
    said = [operation.tool.hint] if operation.tool and operation.tool.hint else []
    if operation.input.model_fields.keys() - set(operation.path_parameters):
        said.append(f"Input: {getdoc(operation.input)}")
    if isinstance(operation.output, type) and (answer := getdoc(operation.output)):
        said.append(f"Answer: {answer}")
    if operation.scopes:
        said.append(f"Needs the scope {' and '.join(ordered(operation.scopes))}.")
    else:
        said.append(_ACCESS[operation.access])
    if operation.creates:
        said.append("With an Idempotency-Key it is safe to repeat.")
    if operation.aliases:
        said.append(f"Also at {', '.join(operation.aliases)}.")
    return "\n\n".join(said)


def _headers(operation: Operation) -> list[dict[str, Any]]:
    """The request headers that this operation reads beyond those of every operation."""
    found: list[dict[str, Any]] = []
    if operation.creates:
        found.append(_IDEMPOTENCY_KEY)
    if HTTPStatus.PRECONDITION_FAILED in operation.refusals:
        needed = HTTPStatus.PRECONDITION_REQUIRED in operation.refusals
        found.append({**_IF_MATCH, "required": needed})
    return found


def _content(operation: Operation, schema: dict[str, Any]) -> dict[str, Any]:
    """The body in every media type that is accepted, with its example."""
    if operation.encoding == "event":
        example: Any = example_body(operation)["token"]
        return {operation.takes[0]: {"schema": _EVENT, "example": example}}
    shown = {"schema": schema, "example": example_body(operation)}
    return {media: _LINES if media == LINES else shown for media in operation.takes}


def _responses(operation: Operation, known: SchemaComponents) -> dict[str, Any]:
    success: dict[str, Any] = {"description": f"{operation.summary}."}
    tagged = False
    if operation.output is not None:
        schema = known.outputs[operation.name]
        success["content"] = {JSON: {"schema": schema}}
        properties = known.resolved(schema).get("properties", ())
        tagged = operation.method == "GET" and "revision" in properties
    if operation.media_type != JSON:
        content = success.setdefault("content", {})
        content[operation.media_type] = {"schema": {"type": "string"}}
    budget = () if operation.probe else (429,)
    statuses = {*operation.refusals, *budget, 503, *_implied(operation), *([304] if tagged else [])}
    refusal = {"content": {JSON: {"schema": {"$ref": "#/components/schemas/Refusal"}}}}
    bodies = {HTTPStatus.OK: success, HTTPStatus.NO_CONTENT: {}, HTTPStatus.NOT_MODIFIED: {}}
    refused = {
        str(status): {**bodies.get(HTTPStatus(status), refusal), "description": _REASONS[status]}
        for status in sorted(statuses)
    }
    return {str(operation.status): success, **refused}


def _implied(operation: Operation) -> set[int]:
    """The statuses that the pipeline itself may answer for this operation."""
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


def _security(operation: Operation, schemes: dict[str, Any]) -> list[dict[str, list[str]]]:
    """Each scheme with the scopes that the operation needs; an empty entry stands for no credential."""
    if operation.access == "open":
        return []
    scopes = ordered(operation.scopes)
    needs = [{name: scopes if "flows" in scheme else []} for name, scheme in schemes.items()]
    return needs if operation.access == "bearer" else [{}, *needs]
