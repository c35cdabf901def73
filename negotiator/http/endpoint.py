"""Serves operations over HTTP: `OperationRouter` finds the operation of a request, `Endpoint` answers it.

The router needs one dictionary look-up for a path without parameters, since Starlette's own routing is linear
(docs/decisions/0003-edge.md). An endpoint renders its own refusals and needs none of Starlette's layers around a
route. `stream_body` sends answers that are streams.
"""

import asyncio
import contextlib
import re
from collections.abc import AsyncGenerator, Iterable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import cache, lru_cache
from http import HTTPStatus
from typing import Any, Final, cast

import orjson
from pydantic import ValidationError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from negotiator.base.caller import Caller, anonymous_caller
from negotiator.base.errors import (
    FieldError,
    InvalidRequest,
    NotFound,
    PreconditionFailed,
    Refusal,
    RequestAborted,
    Unavailable,
    ValidationFailed,
)
from negotiator.http import input as reading
from negotiator.http import operation as kinds
from negotiator.http.connections import CONNECTION_KEY, WHOLE
from negotiator.http.limits import too_many_requests
from negotiator.http.middleware import API_PREFIX
from negotiator.http.operation import Answer, Operation, path_pattern
from negotiator.http.pipeline import ParsedInput, Pipeline, ResponseContext, run

BodyChunks = AsyncGenerator[bytes, None]


async def stream_body(chunks: BodyChunks, receive: Receive, send: Send) -> None:
    """Send the chunks as the body of a response that has begun; stop at once when the client disconnects.

    An ASGI server drops what is sent after a disconnect without an error, so the disconnect message is awaited.
    """

    async def send_all() -> None:
        async for chunk in chunks:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    async def wait_for_disconnect() -> None:
        while (await receive())["type"] != "http.disconnect":
            continue

    sending = asyncio.create_task(send_all())
    disconnect = asyncio.create_task(wait_for_disconnect())
    try:
        await asyncio.wait({sending, disconnect}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (sending, disconnect):
            if not task.done():
                task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await disconnect
        with contextlib.suppress(asyncio.CancelledError):
            await sending
        await chunks.aclose()


_UNSTORED: Final = b"cache-control: no-store\r\n"
_EMPTY: Final = b"content-length: 0\r\n"
_FIRST_REDIRECTION: Final = 300
_WITHOUT_LENGTH: Final = (204, 304)
_UNSAFE: Final = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
_OCTETS: Final = "application/octet-stream"
"""The media type that some HTTP libraries name where they send no body."""


class Endpoint:
    """One operation as an ASGI application: runs the pipeline and adds ETags and 304 to its answer."""

    def __init__(self, operation: Operation, pipeline: Pipeline) -> None:
        self.operation = operation
        self.pipeline = pipeline
        self.reads_query = operation.reads_query
        self.inputless = not operation.path_parameters and not operation.input.model_fields
        self.blank = _blank(operation)
        self.lists = reading.list_fields(operation.input)
        lenient = operation.input.model_config.get("extra") == "ignore"
        self.invalid_input_error = InvalidRequest if lenient else None
        self.makes_readable = False
        """Whether what it makes is read at its own path with the new id behind it."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["operation"] = self.operation.name
        headers, context, pipeline = reading.read_headers(scope), ResponseContext(), self.pipeline
        try:
            address = pipeline.guard.address(scope, headers)
            incoming = _IncomingHttpCall(self, scope, receive, headers, address)
            answer = await run(self.operation, pipeline, incoming, context)
            body: Any = answer.body
            if answer.status == HTTPStatus.CREATED and self.makes_readable and isinstance(body, dict):
                place = f"{pipeline.refusals.base}{scope['path']}/{body['id']}"
                answer = Answer(body, answer.status, {**answer.headers, "location": place}, answer.media_type)
            if isinstance(body, AsyncGenerator):
                await _count_stream(scope, cast("BodyChunks", body))
        except RequestAborted:
            return
        except Refusal as refusal:
            answer = await pipeline.refused(refusal)
        except Exception as fault:
            answer = pipeline.refusals.crash(fault)
        await respond(scope, send, self._conditional(answer, headers), context.header_lines(), receive=receive)

    def _conditional(self, answer: Answer, headers: Mapping[str, str]) -> Answer:
        """Give a body with a revision its strong ETag; answer 304 when the client has it already."""
        if (answer.status or 200) >= _FIRST_REDIRECTION:
            return answer
        tag = answer.headers.get("etag")
        if tag is None:
            tag = _revision_tag(answer)
            if tag is None:
                return answer
            tagged = {**answer.headers, "etag": tag}
            answer = Answer(answer.body, answer.status, tagged, answer.media_type)
        if self.operation.method == "GET" and is_not_modified(headers, tag, answer.headers.get("last-modified")):
            return Answer(None, HTTPStatus.NOT_MODIFIED, answer.headers)
        return answer


def _blank(operation: Operation) -> Any:
    """The input that an empty query gives; None if it gives none, or the path has parameters."""
    if operation.path_parameters or not operation.reads_query:
        return None
    try:
        return operation.input.model_validate({})
    except ValidationError:
        return None


@dataclass(slots=True)
class _IncomingHttpCall:
    """A call as an HTTP request: the input is in path, query and body, everything else in headers."""

    endpoint: Endpoint
    scope: Scope
    receive: Receive
    headers: Mapping[str, str]
    address: str

    async def identify(self, operation: Operation) -> Caller:
        if operation.access == "open":
            return anonymous_caller(self.address)
        sent = (self.scope["method"], self.scope["path"])
        return await self.endpoint.pipeline.guard.identify(self.headers, self.address, sent=sent)

    def expected(self) -> int | None:
        return _expected(self.headers)

    def key(self) -> str | None:
        return self.headers.get("idempotency-key")

    async def read(self) -> ParsedInput:
        endpoint, scope = self.endpoint, self.scope
        operation = endpoint.operation
        body = b""
        if endpoint.reads_query:
            query: bytes = scope["query_string"]
            if not query and endpoint.blank is not None:
                return ParsedInput(endpoint.blank)
            members: dict[str, Any] = reading.parse_query(query, endpoint.lists) if query else {}
        else:
            body = await reading.read_body(self.receive, operation.body_limit, self.headers.get("content-length"))
            members = self._members(body)
        path: dict[str, str] = scope.get("path_params", {})
        if path and "\0" in scope["path"]:
            raise NotFound("There is nothing at this path.")
        if members and (twice := path.keys() & members.keys()):
            raise ValidationFailed([FieldError(f"/{name}", "Belongs in the path only.") for name in sorted(twice)])
        whole = {**members, **path}
        # The path is part of a repeated request: the same offer in two negotiations is two requests.
        request = scope["path"].encode() + b"\n" + body if path else body
        return ParsedInput(reading.validate(operation.input, whole, refusal=endpoint.invalid_input_error), request)

    def _members(self, body: bytes) -> dict[str, Any]:
        if not body and self.endpoint.inputless:
            return {}
        operation, declared = self.endpoint.operation, self.headers.get("content-type")
        if not body and declared in {None, _OCTETS} and operation.encoding != "form":
            return {}
        match reading.match_media_type(declared, *operation.takes):
            case kinds.FORM:
                return dict(reading.parse_form(body))
            case kinds.LINES:
                return {"lines": reading.parse_lines(body)}
            case kinds.EVENT:
                return {"token": reading.parse_text(body)}
            case _:
                return reading.parse_json(body)


async def _count_stream(scope: Scope, chunks: BodyChunks) -> None:
    """Count the connection as a stream; 503 when too many are open."""
    connection = scope.get("state", {}).get(CONNECTION_KEY)
    if connection is not None and not connection.open_stream():
        await chunks.aclose()
        raise Unavailable("Too many streams are open; try again soon.")


async def respond(
    scope: Scope, send: Send, answer: Answer, lines: bytes = b"", *, receive: Receive | None = None
) -> None:
    """Send an answer as an ASGI response, with further header lines.

    A stream needs `receive` to notice the client's disconnect.
    """
    head, body = render(answer)
    status = int(answer.status or 200)
    if body is not None and WHOLE in scope.get("extensions", ()):
        await send({"type": WHOLE, "status": status, "lines": head + lines, "body": body})
        return
    await send({"type": "http.response.start", "status": status, "headers": header_pairs(head + lines)})
    if body is None and receive is not None:
        await stream_body(cast("BodyChunks", answer.body), receive, send)
    else:
        await send({"type": "http.response.body", "body": body or b""})


def render(answer: Answer) -> tuple[bytes, bytes | None]:
    """The header lines and the body of an answer; a stream has None as its body and no `Content-Length`."""
    whole: Any = answer.body
    headers = answer.headers
    if whole is None:
        status = answer.status
        body = b""
        lines = b"" if status in _WITHOUT_LENGTH else _EMPTY
    elif isinstance(whole, AsyncGenerator):
        body, lines = None, _content_type(answer.media_type)
    else:
        body = whole if isinstance(whole, bytes) else orjson.dumps(whole)
        lines = b"content-length: %d\r\n%s" % (len(body), _content_type(answer.media_type))
    if "cache-control" not in headers:
        lines += _UNSTORED
    for name, value in headers.items():
        line = f"{name}: {value}".encode()
        if _UNSAFE.search(line):
            raise ValueError(f"the header {name} cannot be sent")
        lines += line + b"\r\n"
    return lines, body


@lru_cache(64)
def _content_type(media_type: str) -> bytes:
    return b"content-type: %s\r\n" % media_type.encode()


def header_pairs(lines: bytes) -> list[tuple[bytes, bytes]]:
    """Header lines as ASGI has them."""
    pairs = (line.partition(b": ") for line in lines.split(b"\r\n") if line)
    return [(name, value) for name, _, value in pairs]


def deny_upgrade(scope: Scope, send: Send) -> Send:
    """A `send` that answers a WebSocket handshake by plain HTTP (ASGI extension Websocket Denial Response).

    Without the extension the handshake is closed, which the client sees as 403 without a body.
    """
    able = "websocket.http.response" in scope.get("extensions", {})

    async def sending(message: Message) -> None:
        if able:
            await send({**message, "type": f"websocket.{message['type']}"})
        elif message["type"] == "http.response.start":
            await send({"type": "websocket.close"})

    return sending


def _expected(headers: Mapping[str, str]) -> int | None:
    """The revision that `If-Match` names; 412 for a weak or foreign tag, which cannot match (RFC 9110 §13.1.1)."""
    condition = headers.get("if-match")
    if condition is None or condition.strip() == "*":
        return None
    tag = condition.strip()
    if tag.startswith('"') and tag.endswith('"') and tag[1:-1].isascii() and tag[1:-1].isdigit():
        return int(tag[1:-1][:18])
    if tag.isascii() and tag.isdigit():
        raise PreconditionFailed(f'A revision is sent in quotes: If-Match: "{tag[:18]}".')
    raise PreconditionFailed("If-Match names no revision of this resource.")


def _revision_tag(answer: Answer) -> str | None:
    """The strong entity tag of an answer whose body has a revision."""
    body: Any = answer.body
    revision = body.get("revision") if isinstance(body, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return None if revision is None else f'"{revision}"'


def is_not_modified(headers: Mapping[str, str], tag: str, modified: str | None = None) -> bool:
    """Whether the client's copy is current, by `If-None-Match`, else `If-Modified-Since` (RFC 9110 §13.2.2)."""
    named = headers.get("if-none-match")
    if named is not None:
        tags = [part.strip().removeprefix("W/") for part in named.split(",")]
        return tag.removeprefix("W/") in tags or "*" in tags
    since = headers.get("if-modified-since")
    if since is None or modified is None:
        return False
    try:
        return parsedate_to_datetime(modified) <= parsedate_to_datetime(since)
    except (TypeError, ValueError, OverflowError):
        return False


EndpointsByMethod = dict[str, Endpoint]


class EndpointPaths:
    """Finds the endpoints at a path: one dictionary look-up unless the path has parameters."""

    def __init__(self, endpoints: Iterable[Endpoint]) -> None:
        self._literal: dict[str, EndpointsByMethod] = {}
        self._templates: dict[int, list[tuple[str, EndpointsByMethod]]] = {}
        """By the number of slashes; a literal part comes before a parameter at the same place."""
        known = tuple(endpoints)
        for endpoint in known:
            for path in (endpoint.operation.path, *endpoint.operation.aliases):
                self._methods(path)[endpoint.operation.method] = endpoint
        for endpoint in known:
            if endpoint.operation.status == HTTPStatus.CREATED:
                readers, _ = self.find(f"{endpoint.operation.path}/id")
                endpoint.makes_readable = "GET" in (readers or {})

    def find(self, path: str) -> tuple[EndpointsByMethod | None, dict[str, str]]:
        """The endpoints by method, None when no operation is here, and the parameters of the path."""
        methods = self._literal.get(path)
        if methods is not None:
            return methods, {}
        for template, methods in self._templates.get(path.count("/"), ()):
            if found := _pattern(template).fullmatch(path):
                return methods, found.groupdict()
        return None, {}

    def _methods(self, path: str) -> EndpointsByMethod:
        if "{" not in path:
            return self._literal.setdefault(path, {})
        templates = self._templates.setdefault(path.count("/"), [])
        for known, methods in templates:
            if known == path:
                return methods
        added: EndpointsByMethod = {}
        templates.append((path, added))
        templates.sort(key=lambda entry: [part.startswith("{") for part in entry[0].split("/")])
        return added


@cache
def _pattern(template: str) -> re.Pattern[str]:
    return re.compile(path_pattern(template))


class OperationRouter:
    """Routes requests to operations, and all others to the application behind it.

    `mounts` are further ASGI applications by path; `sockets` are the WebSocket endpoints by the path of their
    operation.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        endpoints: Iterable[Endpoint],
        pipeline: Pipeline,
        mounts: Mapping[str, ASGIApp] | None = None,
        sockets: Mapping[str, ASGIApp] | None = None,
    ) -> None:
        self._app = app
        self._sockets = sockets or {}
        self._mounts = mounts or {}
        self._pipeline = pipeline
        self._paths = EndpointPaths(endpoints)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._upgrade(scope, receive, send)
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path: str = scope["path"]
        methods, parameters = self._paths.find(path)
        if methods is not None:
            scope["path_params"] = parameters
            await self._choose(methods, scope["method"])(scope, receive, send)
        elif path in self._mounts:
            await self._mounts[path](scope, receive, send)
        elif path.startswith(API_PREFIX):
            await self._refuse(self._pipeline.refusals.not_found())(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _upgrade(self, scope: Scope, receive: Receive, send: Send) -> None:
        for template, socket in self._sockets.items():
            if found := _pattern(template).fullmatch(scope["path"]):
                scope["path_params"] = found.groupdict()
                await socket(scope, receive, send)
                return
        denial = deny_upgrade(scope, send)
        await self._refuse(self._pipeline.refusals.not_found())(scope, receive, denial)

    def _choose(self, methods: EndpointsByMethod, method: str) -> ASGIApp:
        endpoint = methods.get("GET" if method == "HEAD" else method)
        if endpoint is not None:
            return endpoint
        allowed = sorted(methods) + (["HEAD"] if "GET" in methods else [])
        return self._refuse(self._pipeline.refusals.method_not_allowed(allowed))

    def _refuse(self, answer: Answer) -> ASGIApp:
        """Answers a request that no operation takes; it is charged to a valid credential, else to the address."""
        pipeline = self._pipeline

        async def refuse(scope: Scope, _receive: Receive, send: Send) -> None:
            headers = reading.read_headers(scope)
            address = pipeline.guard.address(scope, headers)
            sent = (scope.get("method", "GET"), scope["path"])
            try:
                caller = await pipeline.guard.identify(headers, address, sent=sent)
            except Refusal:
                caller = anonymous_caller(address)
            taken = await pipeline.limits.charge(caller, public=True)
            limited = answer if taken.taken else pipeline.refusals.answer(too_many_requests(taken))
            await respond(scope, send, limited, taken.header_lines())

        return refuse
