"""ASGI middleware that sends the text of pages compressed to clients that accept gzip."""

import gzip
import io
import secrets
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from negotiator.http.input import read_headers

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
