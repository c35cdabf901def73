"""Parses and validates the input of a call: headers, bounded bodies, strict JSON and forms, a JSON Pointer a fault."""

import json
from collections.abc import Mapping
from typing import Any, get_origin
from urllib.parse import parse_qsl

from pydantic import BaseModel, ValidationError
from starlette.types import Receive, Scope

from negotiator.base.errors import (
    InvalidRequest,
    PayloadTooLarge,
    Refusal,
    RequestAborted,
    UnsupportedMediaType,
    ValidationFailed,
)
from negotiator.base.field_errors import field_errors
from negotiator.base.strict_json import NO_OBJECT, read_object
from negotiator.http.operation import FORM

FIELDS = 100
"""How many fields a form or query may have."""


_READ_HEADERS = "negotiator.headers"


def read_headers(scope: Scope) -> Mapping[str, str]:
    """The request's headers by lower-case name, read once; a repeated one is joined with commas (RFC 9110 §5.3).

    Blanks around a value are removed (§5.5), since not every HTTP parser does so.
    """
    if (known := scope.get(_READ_HEADERS)) is not None:
        return known
    headers: dict[str, str] = {}
    repeated: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        key = name.decode("latin-1")
        text = value.decode("latin-1").strip(" \t")
        if key in headers:
            repeated.setdefault(key, [headers[key]]).append(text)
        else:
            headers[key] = text
    if repeated:
        headers.update((key, ", ".join(texts)) for key, texts in repeated.items())
    scope[_READ_HEADERS] = headers
    return headers


async def read_body(receive: Receive, limit: int, declared: str | None) -> bytes:
    """The whole body; 413 as soon as more than `limit` bytes are declared or received."""
    if declared is not None and declared.isdecimal() and int(declared[:20]) > limit:
        raise PayloadTooLarge(f"The body may have at most {limit} bytes.")
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise RequestAborted
        chunk: bytes = message.get("body", b"")
        size += len(chunk)
        if size > limit:
            raise PayloadTooLarge(f"The body may have at most {limit} bytes.")
        chunks.append(chunk)
        if not message.get("more_body"):
            return b"".join(chunks) if len(chunks) > 1 else chunk


def match_media_type(media_type: str | None, *accepted: str) -> str:
    """The media type without parameters, if it is one of those accepted; 415 for any other."""
    declared = (media_type or "").partition(";")[0].strip().lower()
    if declared not in accepted:
        named = f"Send the body with the header Content-Type: {' or '.join(accepted)}."
        came = " It came as a form, which is what curl -d sends without that header."
        raise UnsupportedMediaType(named + (came if declared == FORM else ""))
    return declared


def parse_json(body: bytes) -> dict[str, Any]:
    """The JSON object in the body, read by `strict_json.read_object`; 400 for anything else."""
    try:
        return read_object(body)
    except ValueError as fault:
        raise InvalidRequest(f"The body is not a JSON object: {_json_fault(body, fault)}.", detail=str(fault)) from None


def _json_fault(body: bytes, fault: ValueError) -> str:
    """Where a body stops to be JSON, in words that repeat nothing of it."""
    if isinstance(fault, json.JSONDecodeError):
        if not body.strip():
            return "it is empty"
        return f"it breaks off or goes wrong at line {fault.lineno}, column {fault.colno}"
    if isinstance(fault, UnicodeError):
        return "it is not UTF-8"
    text = str(fault)
    return "it must be one object in curly brackets" if text == NO_OBJECT else text


def parse_text(body: bytes) -> str:
    """The body as ASCII text; 400 for anything else."""
    try:
        return body.decode("ascii")
    except UnicodeDecodeError:
        raise InvalidRequest("The body is not ASCII text.") from None


def parse_lines(body: bytes) -> list[str]:
    """The non-blank lines of an NDJSON body, not yet parsed; 400 unless the body is UTF-8."""
    try:
        return [line for line in body.decode().split("\n") if line.strip()]
    except UnicodeDecodeError as fault:
        raise InvalidRequest("The body is not UTF-8.", detail=str(fault)) from None


def parse_form(body: bytes, *, most: int = FIELDS) -> dict[str, str]:
    """The fields of a form, at most so many; 400 for a repeated one, an empty one counts as absent (RFC 6749 §3.2).

    Only `resource` may repeat (RFC 8707 §2); its values are joined by spaces.
    """
    try:
        pairs = parse_qsl(body.decode("utf-8"), keep_blank_values=True, errors="strict", max_num_fields=most)
    except ValueError as fault:
        raise InvalidRequest("The body is not a form.", detail=str(fault)) from None
    return _unrepeated(pairs, body)


def list_fields(model: type[BaseModel]) -> frozenset[str]:
    """The members of an input that are lists and so may repeat as query parameters."""
    return frozenset(
        name for name, field in model.model_fields.items() if get_origin(field.annotation) in {list, tuple}
    )


def parse_query(query: bytes, lists: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Query parameters, by the same rules as form fields; those in `lists` may repeat and become lists."""
    try:
        pairs = parse_qsl(query.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=FIELDS)
    except ValueError as fault:
        raise InvalidRequest("The query string is malformed.", detail=str(fault)) from None
    single = _unrepeated([pair for pair in pairs if pair[0] not in lists], query)
    repeated: dict[str, list[str]] = {}
    for name, value in pairs:
        if name in lists and value != "":
            repeated.setdefault(name, []).append(value)
    return {**single, **repeated}


def validate(model: type[BaseModel], members: Mapping[str, Any], *, refusal: type[Refusal] | None = None) -> Any:
    """The members as a validated model; 422 with one pointer per fault, or the given `refusal` class instead."""
    try:
        return model.model_validate(members)
    except ValidationError as invalid:
        errors = field_errors(model, members, invalid)
        if refusal is None:
            raise ValidationFailed(errors) from None
        first = errors[0]
        raise refusal(f"{first.pointer}: {first.description}", members={"errors": errors}) from None


def _unrepeated(pairs: list[tuple[str, str]], raw: bytes) -> dict[str, str]:
    if b"%00" in raw or b"\0" in raw:
        raise InvalidRequest("A parameter has a NUL in it.")
    members: dict[str, str] = {}
    for name, value in pairs:
        if name in members and name != "resource":
            raise InvalidRequest("A parameter is repeated.")
        members[name] = f"{members[name]} {value}" if name in members else value
    return {name: value for name, value in members.items() if value != ""}
