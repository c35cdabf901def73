"""ASGI middleware for every response: request id, security headers, CORS and request metrics."""

import re
import time
from collections.abc import Callable
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from negotiator.base.values import new_id
from negotiator.http.connections import CONNECTION_KEY
from negotiator.runtime import thread_pools
from negotiator.runtime.metrics import PAGE_OPERATION, RequestMetrics
from negotiator.runtime.telemetry import request_id
from negotiator.runtime.tracing import end_request_span
from negotiator.store.waiting import Priority, request_priority

API_PREFIX: Final = "/api/"
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{8,64}")
_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
]
_ALONE: Final = (b"cross-origin-opener-policy", b"same-origin")
_NOT_ALONE: Final = (API_PREFIX, "/oauth/", "/sign-in")
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
_HEADS: Final = {"http.response.start", "websocket.http.response.start", "websocket.accept"}
_UPGRADED: Final = 101
_HTML: Final = b"text/html"
_HTTPS = (b"strict-transport-security", b"max-age=31536000; includeSubDomains")


def security_headers(*, https: bool) -> list[tuple[bytes, bytes]]:
    """The headers that harden every response; HSTS only where the service is reached by https."""
    return [*_HEADERS, _HTTPS] if https else _HEADERS


def begin_request(scope: Scope, sent_id: bytes) -> str:
    """Give the current task the id, the priority and the client of a request; the id is `sent_id` if well-formed."""
    current = sent_id.decode() if _REQUEST_ID.fullmatch(sent_id) else new_id("req")
    request_id.set(current)
    request_priority.set(scope.get("priority", Priority.CHANGE))
    if connection := scope.get("state", {}).get(CONNECTION_KEY):
        thread_pools.answer_for(connection.presence)
    return current


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
        self._templates = re.compile("|".join(map(_pattern, templates)) or "(?!)")
        self._headers = security_headers(https=https)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        began = time.perf_counter_ns()
        sent_id, preflight, app = b"", False, self._app
        for name, value in scope["headers"]:
            if name == b"x-request-id":
                sent_id = value
            elif name == b"access-control-request-method":
                preflight = True
            elif name == b"accept" and _HTML in value:
                app = self._for_browsers
        current = begin_request(scope, sent_id)
        method = scope.get("method")
        head = method == "HEAD"
        added = [*self._headers, (b"x-request-id", current.encode())]
        if shared := method is not None and self._is_shared(scope["path"]):
            added += SHARED_HEADERS
        if not scope["path"].startswith(_NOT_ALONE):
            added.append(_ALONE)

        async def wrapped(message: Message) -> None:
            if message["type"] in _HEADS:
                took, status = time.perf_counter_ns() - began, message.get("status", _UPGRADED)
                operation = scope.get("operation", PAGE_OPERATION)
                self._traffic.observe(operation, status, took)
                end_request_span(operation, status)
                message["headers"] = [*message.get("headers", ()), *added]
            elif head and message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        if shared and preflight and method == "OPTIONS":
            await wrapped({"type": "http.response.start", "status": 204, "headers": _PREFLIGHT})
            await wrapped({"type": "http.response.body", "body": b""})
            return
        await app(scope, receive, wrapped)

    def _is_shared(self, path: str) -> bool:
        return path.startswith(API_PREFIX) or path in self._shared or self._templates.fullmatch(path) is not None


def _pattern(template: str) -> str:
    """A regular expression for the paths of a template; a part in braces matches any part."""
    parts = template.split("/")
    return "/".join("[^/]+" if part.startswith("{") else re.escape(part) for part in parts)
