"""Public answers: bytes put together from documents as they lie, tags, who may keep them how long.

The taxonomy as it goes out: every category with how many tools it has.

A list of tools: from the parameters to what the index is asked for, and from its page to the answer's bytes.
"""

import hashlib
from collections.abc import Iterable, Mapping
from datetime import datetime
from email.utils import formatdate
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

import orjson

from negotiator import values
from negotiator.caller import Caller
from negotiator.directory.schemas_listing import FILTERS, ListTools
from negotiator.directory.taxonomy import TAXONOMY
from negotiator.http.cursors import Cursors
from negotiator.http.endpoint import is_not_modified
from negotiator.http.operation import Answer, Call
from negotiator.search_terms import fold_text

if TYPE_CHECKING:
    from negotiator.directory.search.index import SearchIndex
    from negotiator.directory.search.search import SearchPage, SearchRequest

_PUBLIC: Final = "public, max-age=60, stale-while-revalidate=300"
_PRIVATE: Final = "private, max-age=0, must-revalidate"


def cache_headers(caller: Caller, tag: str, *, modified: int | None = None) -> dict[str, str]:
    """Tag and cache rules of a public answer; what came with a credential is not for shared caches."""
    said = {
        "etag": tag,
        "cache-control": _PUBLIC if caller.kind == "nobody" else _PRIVATE,
        "vary": "Accept, Accept-Encoding, Authorization",
    }
    if modified is not None:
        said["last-modified"] = formatdate(modified // 1000, usegmt=True)
    return said


def weak_tag(*parts: object) -> str:
    """A weak tag of a list: it names what the list is made from, not its bytes."""
    return f'W/"{hashlib.blake2b(orjson.dumps([str(part) for part in parts]), digest_size=12).hexdigest()}"'


def not_modified(call: Call[Any], said: Mapping[str, str]) -> Answer | None:
    """304 before any work is done, when the client has what the tag names."""
    if is_not_modified(call.headers, said["etag"], said.get("last-modified")):
        return Answer(None, 304, said)
    return None


def json_array(documents: Iterable[bytes]) -> bytes:
    """A JSON array of documents, none of them parsed."""
    return b"[" + b",".join(documents) + b"]"


def extend_object(document: bytes, members: Mapping[str, Any]) -> bytes:
    """A JSON object with more members at its end."""
    return document[:-1] + b"," + orjson.dumps(members)[1:]


def items_object(items: bytes, rest: Mapping[str, Any]) -> bytes:
    """`{"items": …, …rest}`."""
    return b'{"items":' + items + b"," + orjson.dumps(rest)[1:]


def categories_with_counts(index: "SearchIndex") -> dict[str, Any]:
    """The categories in their order (docs/contract 9.5), under both names that lists have."""
    tools, parts = index.counts("category"), index.counts("subcategory")
    listed = [
        {
            "slug": slug,
            "name": category.name,
            "description": category.description,
            "position": category.position,
            "tool_count": tools.get(slug, 0),
            "subcategories": [
                {"slug": part, "name": name, "tool_count": parts.get(part, 0)}
                for part, name in category.subcategories.items()
            ],
            "updated_at": values.timestamp_or_none(index.newest("category", slug) or None),
        }
        for slug, category in TAXONOMY.items()
    ]
    return {"categories": listed, "items": listed, "total": len(listed), "next_cursor": None}


def search_request(asked: ListTools, cursors: Cursors) -> "SearchRequest":
    """What the index is asked for; 400 `invalid_cursor` for a cursor of another list."""
    from negotiator.directory.search.query import PinnedQuery
    from negotiator.directory.search.search import SearchRequest

    position = frozen = None
    if asked.cursor:
        value, key, kept = cursors.open(asked.cursor, *cursor_binding(asked))
        position = (value, key)
        if kept:
            step, corrected, weights, least, day = kept
            frozen = PinnedQuery(
                step, tuple((a, b) for a, b in corrected), tuple(weights), least, day
            )
    since = asked.updated_since
    return SearchRequest(
        query=asked.text,
        filters=_filters(asked),
        updated_since=None if since is None else _milliseconds(since),
        sort=asked.sort or ("relevance" if asked.text else "popularity"),
        facets=asked.facets,
        limit=asked.limit,
        now=values.now(),
        after=position,
        frozen=frozen,
    )


def cursor_binding(asked: ListTools) -> tuple[str, str]:
    """What a cursor of this list is bound to."""
    return "tools", orjson.dumps(asked.identity, option=orjson.OPT_SORT_KEYS).decode()


def next_cursor(asked: ListTools, page: "SearchPage", cursors: Cursors) -> str | None:
    """The cursor to the next page; None on the last."""
    if page.last is None:
        return None
    frozen = page.frozen
    kept = frozen and [frozen.step, frozen.corrected, frozen.weights, frozen.least, frozen.day]
    return cursors.seal([*page.last, kept], *cursor_binding(asked))


def next_link(path: str, asked: ListTools, cursor: str) -> str:
    """The `Link` header to the next page (RFC 8288)."""
    said = asked.model_dump(exclude={"cursor"}, exclude_defaults=True)
    plain = {name: _spelled(value) for name, value in said.items()}
    return f'<{path}?{urlencode({**plain, "cursor": cursor}, doseq=True)}>; rel="next"'


def list_body(
    page: "SearchPage", documents: Mapping[str, bytes], cursor: str | None, *, text: str
) -> bytes:
    """The answer; `score` is relevance, and says nothing of whether a tool is good or safe."""
    shown = [hit for hit in page.hits if hit.id in documents]
    if page.frozen is None:
        items = json_array(documents[hit.id] for hit in shown)
    else:
        items = json_array(
            extend_object(documents[hit.id], {"score": hit.score, "matched_on": hit.matched_on})
            for hit in shown
        )
    facets = {
        name: [{"value": value, "count": count} for value, count in counted]
        for name, counted in page.facets.items()
    }
    rest = {
        "count": len(shown),
        "total": page.total,
        "next_cursor": cursor,
        "query": _read(page) if text else None,
        "facets": facets,
    }
    return items_object(items, rest)


def _read(page: "SearchPage") -> dict[str, Any]:
    """How the query was read: its words, what was mended, which step found the tools."""
    frozen = page.frozen
    assert frozen is not None  # noqa: S101  there was a query
    return {
        "normalized": page.normalized,
        "corrected": [{"from": wrong, "to": right} for wrong, right in frozen.corrected],
        "step": frozen.step if page.total else "none",
    }


def _filters(asked: ListTools) -> dict[str, list[str]]:
    chosen: dict[str, list[str]] = {}
    for name in FILTERS:
        value: Any = getattr(asked, name)
        if isinstance(value, bool):
            chosen[name] = ["true" if value else "false"]
        elif value:
            chosen[name] = [fold_text(each) if name == "publisher" else each for each in value]
    if asked.include_deleted:
        chosen["status"] = [*chosen.get("status", ("active", "deprecated")), "deleted"]
    return chosen


def _spelled(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


def _milliseconds(moment: str) -> int:
    return int(datetime.fromisoformat(moment).timestamp() * 1000)
