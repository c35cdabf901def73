"""ASGI middleware: request id, security headers, CORS and metrics of every response; compression of pages; traces.

It is pure ASGI, and an answer that is sent whole passes it as lines of headers that are joined once: wrapping each
message and looking at each header costs more than reading a negotiation (docs/decisions/0003-edge.md).
"""

import gzip
import io
import re
import secrets
import time
from collections.abc import Callable
from typing import Final, NamedTuple, Self

from opentelemetry.trace import SpanKind, format_trace_id
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from negotiator.base.values import new_id
from negotiator.http.connections import CONNECTION_KEY, WHOLE
from negotiator.http.input import read_headers
from negotiator.http.operation import path_pattern
from negotiator.runtime import thread_pools, tracing
from negotiator.runtime.metrics import PAGE_OPERATION, RequestMetrics
from negotiator.runtime.telemetry import request_id, trace_id
from negotiator.store.waiting import Priority, request_priority

API_PREFIX: Final = "/api/"
_REQUEST_ID = re.compile("[A-Za-z0-9._-]{8,64}")
_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
]
_ALONE: Final = (b"cross-origin-opener-policy", b"same-origin")
_NOT_ALONE: Final = (API_PREFIX, "/oauth/", "/sign-in", "/v0")
"""What is no page, and where a web client sends the window that it opened for its user's consent and then waits for."""
_EXPOSED: Final = (
    *("ETag", "Last-Modified", "Content-Location", "Link", "Location", "Retry-After"),
    *("WWW-Authenticate", "DPoP-Nonce", "X-Request-Id", "Deprecation", "Sunset"),
    *("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"),
    *("RateLimit", "RateLimit-Policy"),
)
SHARED_HEADERS: Final = [
    # The same with and without an Origin header, so that no answer needs `Vary: Origin`.
    (b"access-control-allow-origin", b"*"),
    (b"access-control-expose-headers", ", ".join(_EXPOSED).encode()),
]
_READ: Final = (
    *("Authorization", "DPoP", "Content-Type", "Accept", "Idempotency-Key", "X-Request-Id"),
    *("If-Match", "If-None-Match", "If-Modified-Since", "Last-Event-ID"),
    *("MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "Mcp-Session-Id"),
)
_PREFLIGHT: Final = [
    (b"access-control-allow-methods", b"GET, HEAD, POST, PUT, PATCH, DELETE"),
    (b"access-control-allow-headers", ", ".join(_READ).encode()),
    (b"access-control-max-age", b"7200"),
]
_HEADS: Final = {WHOLE, "http.response.start", "websocket.http.response.start", "websocket.accept"}
_UPGRADED: Final = 101
_HTML: Final = "text/html"
_HTTPS = (b"strict-transport-security", b"max-age=31536000; includeSubDomains")


def security_headers(*, https: bool) -> list[tuple[bytes, bytes]]:
    """The headers that harden every response; HSTS only where the service is reached by https."""
    return [*_HEADERS, _HTTPS] if https else _HEADERS


class _AddedHeaders(NamedTuple):
    """Headers of every response, as ASGI has them and as lines; the lines end with the name of the request id."""

    pairs: list[tuple[bytes, bytes]]
    lines: bytes

    @classmethod
    def of(cls, pairs: list[tuple[bytes, bytes]]) -> Self:
        return cls(pairs, b"".join(b"%s: %s\r\n" % each for each in pairs) + b"x-request-id: ")


class ResponseMiddleware:
    """Gives each request an id, the client's own `X-Request-Id` if well-formed, and adds headers to each response.

    Pages of any origin may call the paths in `shared` (a part in braces matches any) and everything under `/api/`:
    these paths read no cookie, so a page can do no more there than any program, and CORS credentials are never
    allowed (Fetch, "CORS protocol"). `traffic` counts every answer, with the time until its head is sent, since a
    stream may be open for hours. `for_browsers` wraps the application for requests that ask for HTML.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        https: bool,
        shared: frozenset[str],
        traffic: RequestMetrics,
        for_browsers: Callable[[ASGIApp], ASGIApp] = lambda app: app,
    ) -> None:
        self._for_browsers = for_browsers(app)
        self._traffic = traffic
        self._app = app
        self._shared = frozenset(path for path in shared if "{" not in path)
        templates = (path for path in shared if "{" in path)
        self._templates = [re.compile(path_pattern(path)) for path in templates]
        headers = security_headers(https=https)
        self._added = {
            (is_shared, is_alone): _AddedHeaders.of(
                [*headers, *(SHARED_HEADERS if is_shared else ()), *([_ALONE] if is_alone else ())]
            )
            for is_shared in (False, True)
            for is_alone in (False, True)
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        began = time.perf_counter_ns()
        headers = read_headers(scope)
        app = self._for_browsers if _HTML in headers.get("accept", "") else self._app
        current = headers.get("x-request-id", "")
        if not _REQUEST_ID.fullmatch(current):
            current = new_id("req")
        request_id.set(current)
        request_priority.set(scope.get("priority", Priority.CHANGE))
        method, path = scope.get("method"), scope["path"]
        head = method == "HEAD"
        shared = method is not None and self._is_shared(path)
        added = self._added[shared, not path.startswith(_NOT_ALONE)]
        connection = scope.get("state", {}).get(CONNECTION_KEY)
        if connection is not None:
            thread_pools.answer_for(connection.presence)
            if app is self._app and not head:
                scope["extensions"] = {WHOLE: {}}

        async def wrapped(message: Message) -> None:
            kind = message["type"]
            if kind in _HEADS:
                took, status = time.perf_counter_ns() - began, message.get("status", _UPGRADED)
                operation = scope.get("operation", PAGE_OPERATION)
                self._traffic.observe(operation, status, took)
                tracing.end_request_span(operation, status)
                if kind == WHOLE:
                    lines = b"%s%s%s\r\n" % (message["lines"], added.lines, current.encode())
                    await scope["state"][CONNECTION_KEY].send_whole(scope, status, lines, message["body"])
                    return
                message["headers"] = [*message.get("headers", ()), *added.pairs, (b"x-request-id", current.encode())]
            elif head and kind == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        if shared and method == "OPTIONS" and "access-control-request-method" in headers:
            await wrapped({"type": "http.response.start", "status": 204, "headers": _PREFLIGHT})
            await wrapped({"type": "http.response.body", "body": b""})
            return
        await app(scope, receive, wrapped)

    def _is_shared(self, path: str) -> bool:
        return (
            path.startswith(API_PREFIX) or path in self._shared or any(each.fullmatch(path) for each in self._templates)
        )


_TRACEPARENT: Final = b"traceparent"
_LENGTH: Final = 55
"""Of a `traceparent` of version 00; a longer one is of a version that is not known here."""


class RequestTraces:
    """Begins a span for each request, inside the caller's if it sent a valid `traceparent`."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        sent = [value for name, value in scope["headers"] if name == _TRACEPARENT]
        parent = tracing.NEW_TRACE
        if len(sent) == 1 and len(sent[0]) == _LENGTH:
            parent = tracing.sent_context(sent[0].decode("latin-1"))
        method = {"http.request.method": scope.get("method", "WEBSOCKET")}
        with tracing.span("request", SpanKind.SERVER, method, parent=parent) as span:
            is_known = span.is_recording() or parent is not tracing.NEW_TRACE
            token = trace_id.set(format_trace_id(span.get_span_context().trace_id) if is_known else "")
            try:
                await self._app(scope, receive, send)
            finally:
                trace_id.reset(token)


_TYPES: Final = frozenset({"text/html", "text/css", "text/javascript", "image/svg+xml"})
_SMALLEST: Final = 800
"""Bytes below which a body fits one packet either way."""
_LEVEL: Final = 4
_MOST_PADDING: Final = 100
_DIGITS: Final = "0123456789abcdef"


class PageCompression:
    """Compresses whole bodies of HTML, CSS, scripts and SVG; answers of operations and streams stay as they are.

    A page can hold a secret and text of a request, so the length of its compressed form could give the secret away
    letter by letter. A random number of bytes in the gzip header hides the length ("Heal the BREACH", 2022).
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or "gzip" not in read_headers(scope).get("accept-encoding", ""):
            await self._app(scope, receive, send)
            return
        start: Message | None = None

        async def compressed(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start" and _is_text(message):
                start = message
                return
            if message["type"] != "http.response.body" or start is None:
                await send(message)
                return
            head, start = start, None
            body = message.get("body", b"")
            headers = MutableHeaders(raw=head["headers"])
            headers.add_vary_header("Accept-Encoding")
            if len(body) >= _SMALLEST and not message.get("more_body"):
                body = compress(body)
                headers["content-encoding"] = "gzip"
                headers["content-length"] = str(len(body))
                if headers.get("etag", "").startswith('"'):
                    headers["etag"] = f"W/{headers['etag']}"
                message = {**message, "body": body}
            await send(head)
            await send(message)

        await self._app(scope, receive, compressed)


def compress(body: bytes) -> bytes:
    """The body as gzip, with a file name of random length in its header."""
    name = "".join(secrets.choice(_DIGITS) for _ in range(secrets.randbelow(_MOST_PADDING)))
    packed = io.BytesIO()
    with gzip.GzipFile(name, "wb", _LEVEL, packed, mtime=0) as file:
        file.write(body)
    return packed.getvalue()


def _is_text(message: Message) -> bool:
    headers = Headers(raw=message["headers"])
    kind = headers.get("content-type", "").partition(";")[0]
    return kind in _TYPES and "content-encoding" not in headers
