"""Serves documents: GET and HEAD, a strong ETag and 304, CORS for everybody."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_MAX_AGE = 300


@dataclass(frozen=True, slots=True)
class Document:
    """A public document at a path; `body` is asked at every request, so that it may change while running."""

    path: str
    media_type: str
    body: Callable[[], bytes]
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


def fixed(
    path: str, media_type: str, body: bytes, headers: Mapping[str, str] | None = None
) -> Document:
    """A document that never changes while the process runs."""
    return Document(path, media_type, lambda: body, headers or {})


def route(document: Document) -> Route:
    """The route that serves the document."""

    async def serve(request: Request) -> Response:
        body = document.body()
        tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
        headers = {
            "etag": tag,
            "cache-control": f"public, max-age={_MAX_AGE}",
            **document.headers,
        }
        known = [
            part.strip().removeprefix("W/")
            for part in request.headers.get("if-none-match", "").split(",")
        ]
        if tag in known or "*" in known:
            return Response(status_code=304, headers=headers)
        # Starlette would add a charset to text; the media type is written out instead.
        return Response(body, headers={**headers, "content-type": document.media_type})

    return Route(document.path, serve, methods=["GET"])
