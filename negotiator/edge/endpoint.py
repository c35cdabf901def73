"""One operation as an ASGI application: the steps that no operation can forget."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from email.utils import formatdate
from http import HTTPStatus
from typing import Any

import orjson
from starlette.types import Receive, Scope, Send

from negotiator.caller import Caller, Retiring, nobody
from negotiator.edge import input as reading
from negotiator.edge import operation as kinds
from negotiator.edge.guard import Guard
from negotiator.edge.idempotency import Once
from negotiator.edge.limits import Limits, Reading, refuse
from negotiator.edge.operation import Answer, Call, Operation
from negotiator.edge.refusals import Refusals
from negotiator.errors import (
    FieldError,
    InvalidRequest,
    NotFound,
    PreconditionFailed,
    Refusal,
    ValidationFailed,
)
from negotiator.store.store import Store

_KEY_LENGTH = 255

Headers = list[tuple[bytes, bytes]]


@dataclass(slots=True)
class Left:
    """What a call leaves for its answer's headers, whatever the answer is."""

    reading: Reading | None = None
    retiring: Retiring | None = None

    def headers(self) -> Headers:
        """The limit headers; for a credential that has a successor, RFC 9745's and RFC 8594's too."""
        told: Headers = self.reading.headers() if self.reading else []
        if self.retiring:
            until = formatdate(self.retiring.until / 1000, usegmt=True)
            told.append((b"deprecation", b"@%d" % (self.retiring.since // 1000)))
            told.append((b"sunset", until.encode()))
        return told


@dataclass(frozen=True, slots=True)
class Doorway:
    """What every endpoint shares."""

    guard: Guard
    limits: Limits
    refusals: Refusals
    store: Store


class Endpoint:
    """Guard, input, limit, run, render: in this order, for every operation."""

    def __init__(self, operation: Operation, doorway: Doorway) -> None:
        self.operation = operation
        self._doorway = doorway
        self._inputless = not operation.path_parameters and not operation.input.model_fields
        self._blank = operation.input() if self._inputless else None
        self._lenient = operation.input.model_config.get("extra") == "ignore"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        left = Left()
        scope["operation"] = self.operation.name
        headers = read_headers(scope)
        try:
            answer = await self._answer(scope, receive, headers, left)
        except reading.Disconnected:
            return
        except Refusal as refusal:
            answer = await self._refuse(refusal)
        except Exception as fault:
            answer = self._doorway.refusals.crash(fault)
        await respond(send, self._conditional(answer, headers), left.headers())

    async def _refuse(self, refusal: Refusal) -> Answer:
        """The refusal, once what it has to leave behind is kept; 503 while that cannot be."""
        door = self._doorway
        if refusal.remember is None:
            return door.refusals.answer(refusal)
        try:
            await door.store.write(refusal.remember)
        except Refusal as unkept:
            return door.refusals.answer(unkept)
        except Exception as fault:
            return door.refusals.crash(fault)
        return door.refusals.answer(refusal)

    async def _answer(
        self,
        scope: Scope,
        receive: Receive,
        headers: dict[str, str],
        left: Left,
    ) -> Answer:
        operation, door = self.operation, self._doorway
        address = door.guard.address(scope, headers)
        try:
            caller = await door.guard.admit(operation, headers, address)
        except Refusal:
            # A probe is charged to the address it came from, never to the owner of a credential.
            await self._charge(nobody(address), None, left)
            raise
        left.retiring = caller.retiring
        if operation.budget is None:
            await self._charge(caller, None, left)
            believed, body = await self._input(scope, receive, headers)
        else:
            believed, body = await self._budgeted_input(scope, receive, headers, caller, left)
        call = Call(
            caller,
            believed,
            headers,
            address,
            _expected(headers),
            self._once(caller, headers, body),
        )
        result = await operation.run(call)
        return result if isinstance(result, Answer) else Answer(result, operation.status)

    async def _budgeted_input(
        self,
        scope: Scope,
        receive: Receive,
        headers: dict[str, str],
        caller: Caller,
        left: Left,
    ) -> tuple[Any, bytes]:
        """Which budget is charged is in the input; an input that cannot be read is charged to the baseline."""
        try:
            believed, body = await self._input(scope, receive, headers)
        except Refusal:
            await self._charge(caller, None, left)
            raise
        assert self.operation.budget is not None  # noqa: S101  narrowed by the caller
        named = self.operation.budget(believed)
        for name in (named,) if isinstance(named, str) else named:
            await self._charge(caller, name, left)
        return believed, body

    async def _charge(self, caller: Caller, name: str | None, left: Left) -> None:
        """Charge one budget; of several, the headers tell of the one that binds first."""
        limits, baseline = self._doorway.limits, self.operation.baseline
        taken = await limits.charge(caller, name, baseline=baseline)
        if not left.reading or not taken.taken or taken.remaining < left.reading.remaining:
            left.reading = taken
        if not taken.taken:
            raise refuse(taken)

    async def _input(
        self, scope: Scope, receive: Receive, headers: dict[str, str]
    ) -> tuple[Any, bytes]:
        operation = self.operation
        body = b""
        if operation.reads_query:
            if self._blank is not None and not scope["query_string"]:
                return self._blank, body
            members: dict[str, Any] = dict(reading.parse_query(scope["query_string"]))
        else:
            body = await reading.read_body(
                receive, operation.body_limit, headers.get("content-length")
            )
            members = self._members(body, headers)
        path: dict[str, str] = scope.get("path_params", {})
        if path and "\0" in scope["path"]:
            raise NotFound("There is nothing at this path.")
        if twice := path.keys() & members.keys():
            raise ValidationFailed(
                [FieldError(f"/{name}", "Belongs in the path only.") for name in sorted(twice)]
            )
        refusal = InvalidRequest if self._lenient else None
        return reading.believe(operation.input, {**members, **path}, refusal=refusal), body

    def _members(self, body: bytes, headers: Mapping[str, str]) -> dict[str, Any]:
        if not body and self._inputless:
            return {}
        declared = headers.get("content-type")
        if not body and declared is None and self.operation.encoding != "form":
            return {}
        match reading.expect(declared, *self.operation.takes):
            case kinds.FORM:
                return dict(reading.parse_form(body))
            case kinds.LINES:
                return {"lines": reading.parse_lines(body)}
            case _:
                return reading.parse_json(body)

    def _once(self, caller: Caller, headers: Mapping[str, str], body: bytes) -> Once:
        key = headers.get("idempotency-key")
        if key is None or not self.operation.creates:
            return Once()
        if not 1 <= len(key) <= _KEY_LENGTH:
            raise InvalidRequest(f"Idempotency-Key has 1 to {_KEY_LENGTH} characters.")
        named = hashlib.sha256(f"{self.operation.name}\n".encode() + body).hexdigest()
        return Once(caller.principal, key, named)

    def _conditional(self, answer: Answer, headers: Mapping[str, str]) -> Answer:
        """Give a revisioned body its strong ETag; answer 304 when the client has it already."""
        revision = _revision(answer)
        if revision is None:
            return answer
        tag = f'"{revision}"'
        tagged = {**answer.headers, "etag": tag}
        if self.operation.method == "GET" and _named(headers.get("if-none-match"), tag):
            return Answer(None, HTTPStatus.NOT_MODIFIED, tagged)
        return Answer(answer.body, answer.status, tagged, answer.media_type)


def read_headers(scope: Scope) -> dict[str, str]:
    """The request's headers by lower-case name; a repeated one is joined with commas (RFC 9110 §5.3)."""
    headers: dict[str, str] = {}
    for name, value in scope["headers"]:
        key = name.decode("latin-1")
        text = value.decode("latin-1")
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    return headers


async def respond(send: Send, answer: Answer, extra: Iterable[tuple[bytes, bytes]] = ()) -> None:
    """Send an answer as an ASGI response."""
    status = answer.status or HTTPStatus.OK
    if answer.body is None:
        body = b""
    else:
        body = answer.body if isinstance(answer.body, bytes) else orjson.dumps(answer.body)
    headers: Headers = [(b"content-length", b"%d" % len(body)), *extra]
    if answer.body is not None:
        headers.append((b"content-type", answer.media_type.encode()))
    if "cache-control" not in answer.headers:
        headers.append((b"cache-control", b"no-store"))
    headers.extend((name.encode(), value.encode()) for name, value in answer.headers.items())
    if status in {HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED}:
        headers = headers[1:]
    await send({"type": "http.response.start", "status": int(status), "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _expected(headers: Mapping[str, str]) -> int | None:
    """The revision that `If-Match` names; a weak or foreign tag can match nothing (RFC 9110 §13.1.1)."""
    wanted = headers.get("if-match")
    if wanted is None or wanted.strip() == "*":
        return None
    tag = wanted.strip()
    if tag.startswith('"') and tag.endswith('"') and tag[1:-1].isascii() and tag[1:-1].isdigit():
        return int(tag[1:-1][:18])
    raise PreconditionFailed("If-Match names no revision of this resource.")


def _revision(answer: Answer) -> int | None:
    """The revision of the resource in a successful answer, if it is one that has revisions."""
    if (answer.status or HTTPStatus.OK) >= HTTPStatus.MULTIPLE_CHOICES:
        return None
    body: Any = answer.body
    return body.get("revision") if isinstance(body, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]


def _named(header: str | None, tag: str) -> bool:
    if header is None:
        return False
    tags = [part.strip().removeprefix("W/") for part in header.split(",")]
    return tag in tags or "*" in tags
