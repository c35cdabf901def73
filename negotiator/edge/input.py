"""From bytes on the wire to a believed input: bounded reading, strict JSON and forms, one pointer per fault."""

import json
import math
from collections.abc import Mapping
from typing import Any, NoReturn
from urllib.parse import parse_qsl

from pydantic import BaseModel, ValidationError
from starlette.types import Receive

from negotiator.errors import (
    FieldError,
    InvalidRequest,
    PayloadTooLarge,
    Refusal,
    UnsupportedMediaType,
    ValidationFailed,
)

DEPTH = 20
_FIELDS = 100
_LEAST, _MOST = -(2**63), 2**64 - 1


class Disconnected(Exception):
    """The client went away before its request was whole."""


async def read_body(receive: Receive, limit: int, declared: str | None) -> bytes:
    """The whole body, or 413 as soon as more than `limit` bytes are declared or came."""
    if declared is not None and declared.isdecimal() and int(declared[:20]) > limit:
        raise PayloadTooLarge(f"The body may have at most {limit} bytes.")
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Disconnected
        chunk: bytes = message.get("body", b"")
        size += len(chunk)
        if size > limit:
            raise PayloadTooLarge(f"The body may have at most {limit} bytes.")
        chunks.append(chunk)
        if not message.get("more_body"):
            return b"".join(chunks) if len(chunks) > 1 else chunk


def expect(media_type: str | None, wanted: str) -> None:
    """Refuse with 415 a body that is not declared as what the operation reads."""
    if (media_type or "").partition(";")[0].strip().lower() != wanted:
        raise UnsupportedMediaType(f"Send the body as {wanted}.")


def parse_json(body: bytes) -> dict[str, Any]:
    """A JSON object in UTF-8; refuses duplicate members, depth over 20, and what could not be kept.

    That is NaN, Infinity, integers over 64 bits, half a surrogate pair, and NUL, which PostgreSQL has no text for.
    """
    try:
        value: Any = json.loads(
            body.decode(),
            object_pairs_hook=_without_duplicates,
            parse_constant=_no_constant,
            parse_int=_integer,
            parse_float=_finite,
        )
        if b"\\u" in body:
            _check_texts(value)
    except (ValueError, RecursionError) as fault:
        raise InvalidRequest("The body is not a JSON object.", detail=str(fault)) from None
    if not isinstance(value, dict):
        raise InvalidRequest("The body is not a JSON object.")
    if body.count(b"[") + body.count(b"{") > DEPTH and _depth(value) > DEPTH:
        raise InvalidRequest(f"The body nests deeper than {DEPTH} levels.")
    return value  # pyright: ignore[reportUnknownVariableType]


def parse_form(body: bytes) -> dict[str, str]:
    """Form fields; a repeated one is refused, an empty one counts as absent (RFC 6749 §3.2).

    Only `resource` may repeat (RFC 8707 §2): its values come joined by spaces.
    """
    try:
        pairs = parse_qsl(
            body.decode("utf-8"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=_FIELDS,
        )
    except ValueError as fault:
        raise InvalidRequest("The body is not a form.", detail=str(fault)) from None
    return _unrepeated(pairs, body)


def parse_query(query: bytes) -> dict[str, str]:
    """Query parameters, under the same rules as a form's fields."""
    try:
        pairs = parse_qsl(
            query.decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=_FIELDS,
        )
    except ValueError as fault:
        raise InvalidRequest("The query string is malformed.", detail=str(fault)) from None
    return _unrepeated(pairs, query)


def believe(
    model: type[BaseModel],
    members: Mapping[str, Any],
    *,
    refusal: type[Refusal] | None = None,
) -> Any:
    """The members as a validated model; 422 with a pointer per fault, or the `refusal` the operation prefers."""
    try:
        return model.model_validate(members)
    except ValidationError as invalid:
        errors = [
            FieldError(
                "/" + "/".join(_escape(part) for part in fault["loc"]),
                _sentence(fault["msg"]),
            )
            for fault in invalid.errors(
                include_url=False, include_context=False, include_input=False
            )
        ]
        if refusal is None:
            raise ValidationFailed(errors) from None
        first = errors[0]
        raise refusal(f"{first.pointer}: {first.description}", members={"errors": errors}) from None


def _escape(part: int | str) -> str:
    return str(part).replace("~", "~0").replace("/", "~1")


def _sentence(message: str) -> str:
    text = message.removeprefix("Value error, ")
    return text if text.endswith(".") else f"{text}."


def _unrepeated(pairs: list[tuple[str, str]], raw: bytes) -> dict[str, str]:
    if b"%00" in raw or b"\0" in raw:
        raise InvalidRequest("A parameter has a NUL in it.")
    members: dict[str, str] = {}
    for name, value in pairs:
        if name in members and name != "resource":
            raise InvalidRequest("A parameter is repeated.")
        members[name] = f"{members[name]} {value}" if name in members else value
    return {name: value for name, value in members.items() if value != ""}


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a member is repeated")
    return members


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _integer(digits: str) -> int:
    number = int(digits) if len(digits) <= 20 else _MOST + 1
    if not _LEAST <= number <= _MOST:
        raise ValueError("an integer has more than 64 bits")
    return number


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("a number is out of range")
    return number


def _check_texts(value: Any) -> None:
    """Only an escape can hide half a character or a NUL, so only bodies with one come here."""
    stack = [value]
    while stack:
        current: Any = stack.pop()
        if isinstance(current, str):
            current.encode()
            if "\0" in current:
                raise ValueError("a text has a NUL in it")
        elif isinstance(current, dict | list):
            stack.extend(current)  # pyright: ignore[reportUnknownArgumentType]
            if isinstance(current, dict):
                stack.extend(current.values())  # pyright: ignore[reportUnknownArgumentType]


def _depth(value: Any) -> int:
    deepest, stack = 0, [(value, 1)]
    while stack:
        current, depth = stack.pop()
        if not isinstance(current, dict | list):
            continue
        deepest = max(deepest, depth)
        children: Any = current.values() if isinstance(current, dict) else current  # pyright: ignore[reportUnknownVariableType]
        stack.extend((child, depth + 1) for child in children)
    return deepest
