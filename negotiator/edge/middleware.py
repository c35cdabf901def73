"""What wraps every response: the request's id and the security headers. Pure ASGI, a microsecond each."""

import re

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from negotiator.telemetry import request_id
from negotiator.values import new_id

_GIVEN = re.compile(rb"[A-Za-z0-9._-]{8,64}")
_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
]
_HTTPS = (b"strict-transport-security", b"max-age=31536000; includeSubDomains")


class Wrapping:
    """Names each request, by the client's own `X-Request-Id` when it is a sane one, and hardens each response."""

    def __init__(self, app: ASGIApp, *, https: bool) -> None:
        self._app = app
        self._headers = [*_HEADERS, _HTTPS] if https else _HEADERS

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = next((value for name, value in scope["headers"] if name == b"x-request-id"), b"")
        current = given.decode() if _GIVEN.fullmatch(given) else new_id("req")
        request_id.set(current)
        head = scope["method"] == "HEAD"

        async def wrapped(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [
                    *message["headers"],
                    *self._headers,
                    (b"x-request-id", current.encode()),
                ]
            elif head and message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        await self._app(scope, receive, wrapped)
