"""Serves documents: GET and HEAD, a strong ETag and 304, markdown for clients that prefer it, CORS for every origin."""

import hashlib
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.runtime.thread_pools import BuiltOnce

_MAX_LENGTH: Final = 2048
"""The greatest length of an `Accept` header that is read; a longer one is ignored, as RFC 9110 §12.5.1 allows."""
_PARTS = re.compile(r'"(?:[^"\\]|\\.)*"?|[^",]+|,', re.DOTALL)
"""Each alternative consumes the character it begins with, so a scan takes linear time."""
_RANGE = re.compile(r"([!#$%&'*+.^_`|~\w-]+/[!#$%&'*+.^_`|~\w-]+)\s*(?:;(.*))?", re.DOTALL)
_WEIGHT = re.compile(r"(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)")


def media_ranges(accept: str) -> list[tuple[str, float]]:
    """The media ranges of the header in their order, each with its weight from 0 (not acceptable) to 1.

    Elements that are not media ranges are left out.
    """
    found: list[tuple[str, float]] = []
    for part in _split(accept[: _MAX_LENGTH + 1]):
        matched = _RANGE.fullmatch(part.strip())
        weight = _weight(matched[2] or "") if matched else None
        if matched and weight is not None:
            found.append((matched[1].lower(), weight))
    return found


def _split(accept: str) -> Iterator[str]:
    """The elements between commas outside of quoted strings; none for a header that is too long."""
    if len(accept) > _MAX_LENGTH:
        return
    element: list[str] = []
    for part in _PARTS.findall(accept):
        if part == ",":
            yield "".join(element)
            element.clear()
        else:
            element.append(part)
    yield "".join(element)


def preferred_media_type(accept: str, offered: Sequence[str]) -> str:
    """The offered media type that the header prefers; the first one when it accepts none or is empty.

    For each media type the most specific range decides. Of equal weights, a type that is named precedes one that a
    wildcard covers; then the order of the header counts, since a program that writes `text/markdown, text/html, */*`
    prefers markdown.
    """
    asked = media_ranges(accept)
    best, best_rank = offered[0], (0.0, False, 0)
    for media_type in offered:
        covering = ("*/*", f"{media_type.partition('/')[0]}/*", media_type)
        matching = [(covering.index(each), -n, weight) for n, (each, weight) in enumerate(asked) if each in covering]
        specific, place, weight = max(matching, default=(0, 0, 0.0))
        if weight and (weight, specific == 2, place) > best_rank:
            best, best_rank = media_type, (weight, specific == 2, place)
    return best


def _weight(parameters: str) -> float | None:
    """The weight `q` among a range's parameters; 1 without one, None for a malformed one."""
    for parameter in parameters.split(";"):
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "q":
            return float(value) if _WEIGHT.fullmatch(value.strip()) else None
    return 1.0


HTML: Final = "text/html; charset=utf-8"
MARKDOWN: Final = "text/markdown; charset=utf-8"
JSON: Final = "application/json"
TEXT: Final = "text/plain; charset=utf-8"
_MAX_AGE = 300
_LETTERS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class PublicDocument:
    """A public document at a path; `body` is called for every request, since the document may change while the process
    runs. `prepare` is awaited before, if there is something to make first.

    `markdown` makes a second form, for requests whose `Accept` prefers it.
    """

    path: str
    media_type: str
    body: Callable[[], bytes]
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    markdown: bytes | None = None
    prepare: Callable[[], Awaitable[object]] | None = None


def static_document(
    path: str, media_type: str, body: bytes, headers: Mapping[str, str] | None = None
) -> PublicDocument:
    """A document that never changes while the process runs."""
    return PublicDocument(path, media_type, lambda: body, headers or {})


def lazy_document(
    path: str, media_type: str, make: Callable[[], bytes], headers: Mapping[str, str] | None = None
) -> PublicDocument:
    """A document that is made at the first request, on a thread, since making it may take half a second."""
    made = BuiltOnce(make)
    return PublicDocument(path, media_type, made.now, headers or {}, prepare=made.get)


def document_route(document: PublicDocument) -> Route:

    async def serve(request: Request) -> Response:
        if document.prepare is not None:
            await document.prepare()
        return serve_document(document, request)

    return Route(document.path, serve, methods=["GET"])


def serve_document(document: PublicDocument, request: Request) -> Response:
    """The document, in the form that the request prefers."""
    if document.markdown is None:
        return document_response(request, document.media_type, document.body(), document.headers)
    return negotiated_response(request, document.body(), document.markdown, document.headers)


def negotiated_response(request: Request, html: bytes, markdown: bytes, headers: Mapping[str, str]) -> Response:
    """The page as HTML or as markdown, whichever `Accept` prefers; HTML when it prefers neither."""
    varied = {"vary": "Accept", **headers}
    accept = ", ".join(request.headers.getlist("accept"))
    if preferred_media_type(accept, ("text/html", "text/markdown")) == "text/html":
        return document_response(request, HTML, html, varied)
    # The approximate size in a model's tokens, by which a reader decides whether to read the whole page.
    tokens = -(-len(markdown.decode()) // _LETTERS_PER_TOKEN)
    return document_response(request, MARKDOWN, markdown, {**varied, "x-markdown-tokens": str(tokens)})


def document_response(request: Request, media_type: str, body: bytes, headers: Mapping[str, str]) -> Response:
    """The body with a strong ETag; 304 when the client has it already."""
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    told = {"etag": tag, "cache-control": f"public, max-age={_MAX_AGE}", **headers}
    given = request.headers.get("if-none-match", "").split(",")
    known = [part.strip().removeprefix("W/") for part in given]
    if tag in known or "*" in known:
        return Response(status_code=304, headers=told)
    # Starlette would add a charset to text; the media type is written out instead.
    return Response(body, headers={**told, "content-type": media_type})
