"""Serves operations over HTTP: `OperationRouter` finds the operation of a request, `Endpoint` answers it.

The router needs one dictionary look-up for a path without parameters, since Starlette's own routing is linear
(docs/decisions/0003-edge.md). An endpoint renders its own refusals and needs none of Starlette's layers around a
route. `stream_body` sends answers that are streams.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any, cast

import orjson
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from negotiator.caller import Caller, anonymous_caller
from negotiator.errors import (
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
from negotiator.http.connections import CONNECTION_KEY
from negotiator.http.limits import too_many_requests
from negotiator.http.middleware import API_PREFIX
from negotiator.http.operation import Answer, Operation
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


Headers = list[tuple[bytes, bytes]]
_UNSTORED = (b"cache-control", b"no-store")


class Endpoint:
    """One operation as an ASGI application: runs the pipeline and adds ETags and 304 to its answer."""

    def __init__(self, operation: Operation, pipeline: Pipeline) -> None:
        self.operation = operation
        self.pipeline = pipeline
        self.inputless = not operation.path_parameters and not operation.input.model_fields
        self.blank = operation.input() if self.inputless else None
        self.lists = reading.list_fields(operation.input)
        lenient = operation.input.model_config.get("extra") == "ignore"
        self.invalid_input_error = InvalidRequest if lenient else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        context = ResponseContext()
        scope["operation"] = self.operation.name
        headers = read_headers(scope)
        pipeline = self.pipeline
        try:
            address = pipeline.guard.address(scope, headers)
            incoming = _IncomingHttpCall(self, scope, receive, headers, address)
            answer = await run(self.operation, pipeline, incoming, context)
            await _count_stream(scope, answer)
        except RequestAborted:
            return
        except Refusal as refusal:
            answer = await pipeline.refused(refusal)
        except Exception as fault:
            answer = pipeline.refusals.crash(fault)
        await respond(send, self._conditional(answer, headers), context.headers(), receive=receive)

    def _conditional(self, answer: Answer, headers: Mapping[str, str]) -> Answer:
        """Give a body with a revision its strong ETag; answer 304 when the client has it already."""
        if (answer.status or HTTPStatus.OK) >= HTTPStatus.MULTIPLE_CHOICES:
            return answer
        tag = answer.headers.get("etag") or _revision_tag(answer)
        if tag is None:
            return answer
        tagged = {**answer.headers, "etag": tag}
        if self.operation.method == "GET" and is_not_modified(
            headers, tag, tagged.get("last-modified")
        ):
            return Answer(None, HTTPStatus.NOT_MODIFIED, tagged)
        return Answer(answer.body, answer.status, tagged, answer.media_type)


@dataclass(frozen=True, slots=True)
class _IncomingHttpCall:
    """A call as an HTTP request: the input is in path, query and body, everything else in headers."""

    endpoint: Endpoint
    scope: Scope
    receive: Receive
    headers: dict[str, str]
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
        if operation.reads_query:
            if endpoint.blank is not None and not scope["query_string"]:
                return ParsedInput(endpoint.blank)
            members: dict[str, Any] = reading.parse_query(scope["query_string"], endpoint.lists)
        else:
            body = await reading.read_body(
                self.receive, operation.body_limit, self.headers.get("content-length")
            )
            members = self._members(body)
        path: dict[str, str] = scope.get("path_params", {})
        if path and "\0" in scope["path"]:
            raise NotFound("There is nothing at this path.")
        if twice := path.keys() & members.keys():
            raise ValidationFailed(
                [FieldError(f"/{name}", "Belongs in the path only.") for name in sorted(twice)]
            )
        whole = {**members, **path}
        # The path is part of a repeated request: the same offer in two negotiations is two requests.
        request = scope["path"].encode() + b"\n" + body if path else body
        return ParsedInput(
            reading.validate(operation.input, whole, refusal=endpoint.invalid_input_error), request
        )

    def _members(self, body: bytes) -> dict[str, Any]:
        if not body and self.endpoint.inputless:
            return {}
        operation, declared = self.endpoint.operation, self.headers.get("content-type")
        if not body and declared is None and operation.encoding != "form":
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


async def _count_stream(scope: Scope, answer: Answer) -> None:
    """Count the connection as a stream if the answer is one; 503 when too many are open."""
    body: Any = answer.body
    if not isinstance(body, AsyncGenerator):
        return
    connection = scope.get("state", {}).get(CONNECTION_KEY)
    if connection is not None and not connection.open_stream():
        await cast("BodyChunks", body).aclose()
        raise Unavailable("Too many streams are open; try again soon.")


def read_headers(scope: Scope) -> dict[str, str]:
    """The request's headers by lower-case name; a repeated one is joined with commas (RFC 9110 §5.3).

    Blanks around a value are removed (§5.5), since not every HTTP parser does so.
    """
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
    return headers


async def respond(
    send: Send,
    answer: Answer,
    extra: Iterable[tuple[bytes, bytes]] = (),
    *,
    receive: Receive | None = None,
) -> None:
    """Send an answer as an ASGI response; a stream needs `receive` to notice the client's disconnect."""
    status = answer.status or HTTPStatus.OK
    whole: Any = answer.body
    if isinstance(whole, AsyncGenerator) and receive is not None:
        head = [(name.encode(), value.encode()) for name, value in answer.headers.items()]
        head += [*extra, (b"content-type", answer.media_type.encode()), _UNSTORED]
        await send({"type": "http.response.start", "status": int(status), "headers": head})
        await stream_body(cast("BodyChunks", whole), receive, send)
        return
    if whole is None:
        body = b""
    else:
        body = whole if isinstance(whole, bytes) else orjson.dumps(whole)
    headers: Headers = [(b"content-length", b"%d" % len(body)), *extra]
    if answer.body is not None:
        headers.append((b"content-type", answer.media_type.encode()))
    if "cache-control" not in answer.headers:
        headers.append(_UNSTORED)
    headers.extend((name.encode(), value.encode()) for name, value in answer.headers.items())
    if status in {HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED}:
        headers = headers[1:]
    await send({"type": "http.response.start", "status": int(status), "headers": headers})
    await send({"type": "http.response.body", "body": body})


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
        self._sockets = [(path.split("/"), socket) for path, socket in (sockets or {}).items()]
        self._mounts = mounts or {}
        self._pipeline = pipeline
        self._literal: dict[str, EndpointsByMethod] = {}
        self._templates: dict[int, list[tuple[list[str], EndpointsByMethod]]] = {}
        for endpoint in endpoints:
            for path in (endpoint.operation.path, *endpoint.operation.aliases):
                self._add(endpoint, path)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._upgrade(scope, receive, send)
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path: str = scope["path"]
        methods = self._literal.get(path)
        if methods is None:
            methods, scope["path_params"] = self._find(path.split("/"))
        if methods is not None:
            await self._choose(methods, scope["method"])(scope, receive, send)
        elif path in self._mounts:
            await self._mounts[path](scope, receive, send)
        elif path.startswith(API_PREFIX):
            await self._refuse(self._pipeline.refusals.not_found())(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _upgrade(self, scope: Scope, receive: Receive, send: Send) -> None:
        parts = scope["path"].split("/")
        for template, socket in self._sockets:
            parameters = _match(template, parts)
            if parameters is not None:
                scope["path_params"] = parameters
                await socket(scope, receive, send)
                return
        denial = deny_upgrade(scope, send)
        await self._refuse(self._pipeline.refusals.not_found())(scope, receive, denial)

    def _add(self, endpoint: Endpoint, path: str) -> None:
        operation = endpoint.operation
        if not operation.path_parameters:
            self._literal.setdefault(path, {})[operation.method] = endpoint
            return
        parts = path.split("/")
        templates = self._templates.setdefault(len(parts), [])
        methods: EndpointsByMethod | None = next(
            (found for other, found in templates if other == parts), None
        )
        if methods is None:
            methods = {}
            templates.append((parts, methods))
            templates.sort(key=lambda entry: [part.startswith("{") for part in entry[0]])
        methods[operation.method] = endpoint

    def _find(self, parts: list[str]) -> tuple[EndpointsByMethod | None, dict[str, str]]:
        for template, methods in self._templates.get(len(parts), ()):
            parameters = _match(template, parts)
            if parameters is not None:
                return methods, parameters
        return None, {}

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
            headers = read_headers(scope)
            address = pipeline.guard.address(scope, headers)
            sent = (scope.get("method", "GET"), scope["path"])
            try:
                caller = await pipeline.guard.identify(headers, address, sent=sent)
            except Refusal:
                caller = anonymous_caller(address)
            taken = await pipeline.limits.charge(caller, public=True)
            limited = answer if taken.taken else pipeline.refusals.answer(too_many_requests(taken))
            await respond(send, limited, taken.headers())

        return refuse


def _match(template: Sequence[str], parts: Sequence[str]) -> dict[str, str] | None:
    """The parameters of a path that matches the template, else None."""
    if len(template) != len(parts):
        return None
    parameters: dict[str, str] = {}
    for expected, part in zip(template, parts, strict=True):
        if expected.startswith("{") and part:
            parameters[expected[1:-1]] = part
        elif expected != part:
            return None
    return parameters
