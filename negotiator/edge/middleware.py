"""What wraps every response: the request's id, the security headers, CORS for browsers. Pure ASGI."""

import re
import time
from typing import Any, Final

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from negotiator.metrics.meters import PAGE, Traffic
from negotiator.telemetry import request_id
from negotiator.values import new_id

_GIVEN = re.compile(rb"[A-Za-z0-9._-]{8,64}")
_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
]
_CORS: Final[dict[str, Any]] = {
    "allow_origins": ["*"],
    "allow_methods": ["GET", "HEAD"],
    "allow_headers": ["Authorization", "DPoP", "If-None-Match", "X-Request-Id"],
    "expose_headers": [
        *("ETag", "Last-Modified", "Content-Location", "Link", "Retry-After"),
        *("WWW-Authenticate", "DPoP-Nonce", "X-Request-Id"),
        *("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"),
        *("RateLimit", "RateLimit-Policy"),
    ],
}
_HEADS: Final = {"http.response.start", "websocket.http.response.start", "websocket.accept"}
_UPGRADED: Final = 101
_HTTPS = (b"strict-transport-security", b"max-age=31536000; includeSubDomains")


class Wrapping:
    """Names each request, by the client's own `X-Request-Id` when it is a sane one, and hardens each response.

    `readable` are the paths that pages of any origin may read: the public ones (contract §0, Headers); a part in
    braces stands for any. `traffic` counts every answer; the time is that until the head of the answer, since a
    stream has no end to speak of.
    """

    def __init__(
        self, app: ASGIApp, *, https: bool, readable: frozenset[str], traffic: Traffic
    ) -> None:
        self._traffic = traffic
        self._app = app
        self._readable = frozenset(path for path in readable if "{" not in path)
        templates = (path for path in readable if "{" in path)
        self._templates = re.compile("|".join(map(_pattern, templates)) or "(?!)")
        self._for_browsers = CORSMiddleware(app, **_CORS)
        self._headers = [*_HEADERS, _HTTPS] if https else _HEADERS

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        began = time.perf_counter_ns()
        given, app = b"", self._app
        for name, value in scope["headers"]:
            if name == b"x-request-id":
                given = value
            elif name == b"origin" and self._is_readable(scope["path"]):
                app = self._for_browsers
        current = given.decode() if _GIVEN.fullmatch(given) else new_id("req")
        request_id.set(current)
        head = scope.get("method") == "HEAD"

        async def wrapped(message: Message) -> None:
            if message["type"] in _HEADS:
                took, status = time.perf_counter_ns() - began, message.get("status", _UPGRADED)
                self._traffic.saw(scope.get("operation", PAGE), status, took)
                message["headers"] = [
                    *message.get("headers", ()),
                    *self._headers,
                    (b"x-request-id", current.encode()),
                ]
            elif head and message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        await app(scope, receive, wrapped)

    def _is_readable(self, path: str) -> bool:
        return path in self._readable or self._templates.fullmatch(path) is not None


def _pattern(template: str) -> str:
    """A regular expression of a path whose parts in braces are any."""
    parts = template.split("/")
    return "/".join("[^/]+" if part.startswith("{") else re.escape(part) for part in parts)
