"""Builds public answers from stored documents: lists of tools, categories with counts, ETags and cache headers."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import fields
from email.utils import formatdate
from functools import cache
from typing import Any, Final
from urllib.parse import urlencode

import orjson

from negotiator.base import values
from negotiator.base.caller import Caller
from negotiator.base.search_terms import fold_text
from negotiator.directory.catalogue_index import CategoryCounts
from negotiator.directory.schemas_listing import FILTERS, CategoryList, CategoryView, ListTools, QueryView
from negotiator.directory.search.request import PinnedQuery, SearchPage, SearchRequest
from negotiator.directory.taxonomy import TAXONOMY
from negotiator.http.cursors import Cursors
from negotiator.http.endpoint import is_not_modified
from negotiator.http.operation import Answer, Call

_PUBLIC: Final = "public, max-age=60, stale-while-revalidate=300"
_PRIVATE: Final = "private, max-age=0, must-revalidate"


def cache_headers(caller: Caller, tag: str, *, modified: int | None = None) -> dict[str, str]:
    """ETag and cache headers of a public answer; with a credential it is private."""
    headers = {
        "etag": tag,
        "cache-control": _PUBLIC if caller.kind == "nobody" else _PRIVATE,
        "vary": "Accept, Accept-Encoding, Authorization",
    }
    if modified is not None:
        headers["last-modified"] = formatdate(modified // 1000, usegmt=True)
    return headers


def weak_tag(*parts: object) -> str:
    """A weak ETag over the inputs of a list."""
    return f'W/"{hashlib.blake2b(orjson.dumps([str(part) for part in parts]), digest_size=12).hexdigest()}"'


def not_modified(call: Call[Any], headers: Mapping[str, str]) -> Answer | None:
    """A 304 answer when the client has the current version; else None."""
    if is_not_modified(call.headers, headers["etag"], headers.get("last-modified")):
        return Answer(None, 304, headers)
    return None


def json_array(documents: Iterable[bytes]) -> bytes:
    """A JSON array of documents, without parsing them."""
    return b"[" + b",".join(documents) + b"]"


def extend_object(document: bytes, members: Mapping[str, Any]) -> bytes:
    """A JSON object with more members at its end."""
    return document[:-1] + b"," + orjson.dumps(members)[1:]


def items_object(items: bytes, rest: Mapping[str, Any]) -> bytes:
    """`{"items": …, …rest}`."""
    return b'{"items":' + items + b"," + orjson.dumps(rest)[1:]


def categories_with_counts(counts: CategoryCounts) -> CategoryList:
    """The categories in their order with the number of tools (docs/contract 9.5), under both member names."""
    listed: list[CategoryView] = [
        {
            "slug": slug,
            "name": category.name,
            "description": category.description,
            "position": category.position,
            "tool_count": counts.tools.get(slug, 0),
            "subcategories": [
                {"slug": part, "name": name, "tool_count": counts.parts.get(part, 0)}
                for part, name in category.subcategories.items()
            ],
            "updated_at": values.timestamp_or_none(counts.updated.get(slug) or None),
        }
        for slug, category in TAXONOMY.items()
    ]
    return {"categories": listed, "items": listed, "total": len(listed), "next_cursor": None}


def search_request(query: ListTools, cursors: Cursors) -> SearchRequest:
    """The request for this list. 400 `invalid_cursor` for a cursor of another list."""
    position = frozen = None
    if query.cursor:
        value, key, pinned = cursors.open(query.cursor, *cursor_binding(query))
        position = (value, key)
        if pinned:
            step, corrected, weights, *rest = pinned
            frozen = PinnedQuery(step, tuple((a, b) for a, b in corrected), tuple(weights), *rest)
    since = query.updated_since
    sort = query.sort or ("relevance" if query.text else "popularity")
    return SearchRequest(
        query=query.text,
        filters=_filters(query),
        updated_since=None if since is None else values.parse_timestamp(since),
        sort=sort,
        facets=query.facets,
        limit=query.limit,
        now=values.now(),
        after=position,
        frozen=frozen,
        translated=frozen.translated if frozen else None,
    )


def cursor_binding(query: ListTools) -> tuple[str, str]:
    """The values that a cursor of this list is bound to."""
    return "tools", orjson.dumps(query.identity, option=orjson.OPT_SORT_KEYS).decode()


def next_cursor(query: ListTools, page: SearchPage, cursors: Cursors) -> str | None:
    """The cursor of the next page; None on the last."""
    if page.last is None:
        return None
    frozen = page.frozen
    pinned = frozen and [getattr(frozen, each.name) for each in fields(frozen)]
    if pinned and frozen and frozen.translated:
        pinned[-1] = [*frozen.translated]  # a named tuple is no JSON
    return cursors.seal([*page.last, pinned], *cursor_binding(query))


def next_link(path: str, query: ListTools, cursor: str) -> str:
    """The `Link` header of the next page (RFC 8288)."""
    headers = query.model_dump(exclude={"cursor"}, exclude_defaults=True)
    plain = {name: str(value).lower() if isinstance(value, bool) else value for name, value in headers.items()}
    return f'<{path}?{urlencode({**plain, "cursor": cursor}, doseq=True)}>; rel="next"'


def list_body(page: SearchPage, documents: Mapping[str, bytes], cursor: str | None, *, text: str) -> bytes:
    """The body of a list of tools; `score` is relevance only."""
    hits = [hit for hit in page.hits if hit.id in documents]
    if page.frozen is None:
        items = json_array(documents[hit.id] for hit in hits)
    else:
        items = json_array(
            b'%b,"score":%a,"matched_on":%b}' % (documents[hit.id][:-1], hit.score, _json_names(hit.matched_on))
            for hit in hits
        )
    facets = {
        name: [{"value": value, "count": count} for value, count in counted] for name, counted in page.facets.items()
    }
    rest = {
        "count": len(hits),
        "total": page.total,
        "next_cursor": cursor,
        "query": _read(page) if text else None,
        "facets": facets,
    }
    return items_object(items, rest)


@cache
def _json_names(names: tuple[str, ...]) -> bytes:
    return orjson.dumps(names)


def _read(page: SearchPage) -> QueryView:
    """How the query was interpreted: its words, corrections, and the search step that found the tools."""
    frozen = page.frozen
    assert frozen is not None  # noqa: S101  set when there is a query
    return {
        "normalized": page.normalized,
        "corrected": [{"from": wrong, "to": right} for wrong, right in frozen.corrected],
        "step": frozen.step if page.total else "none",
        "translated_from": frozen.translated[0] if frozen.translated else None,
    }


def _filters(query: ListTools) -> dict[str, list[str]]:
    filters: dict[str, list[str]] = {}
    for name in FILTERS:
        value: Any = getattr(query, name)
        if isinstance(value, bool):
            filters[name] = ["true" if value else "false"]
        elif value:
            filters[name] = [fold_text(each) if name == "publisher" else each for each in value]
    if query.include_deleted:
        filters["status"] = [*filters.get("status", ("active", "deprecated")), "deleted"]
    return filters
