"""A list of tools: from the parameters to what the index is asked for, and from its page to the answer's bytes."""

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import orjson

from negotiator import values
from negotiator.cursors import Cursors
from negotiator.directory.listing import answers
from negotiator.directory.listing.schemas import FILTERS, ListTools
from negotiator.words import folded

if TYPE_CHECKING:
    from negotiator.directory.search.asking import Page, Wanted


def wanted(asked: ListTools, cursors: Cursors) -> "Wanted":
    """What the index is asked for; 400 `invalid_cursor` for a cursor of another list."""
    from negotiator.directory.search.asking import Wanted
    from negotiator.directory.search.text.plan import Frozen

    position = frozen = None
    if asked.cursor:
        value, key, kept = cursors.open(asked.cursor, *bound(asked))
        position = (value, key)
        if kept:
            step, corrected, weights, least, day = kept
            frozen = Frozen(step, tuple((a, b) for a, b in corrected), tuple(weights), least, day)
    since = asked.updated_since
    return Wanted(
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


def bound(asked: ListTools) -> tuple[str, str]:
    """What a cursor of this list is bound to."""
    return "tools", orjson.dumps(asked.identity, option=orjson.OPT_SORT_KEYS).decode()


def sealed(asked: ListTools, page: "Page", cursors: Cursors) -> str | None:
    """The cursor to the next page; None on the last."""
    if page.last is None:
        return None
    frozen = page.frozen
    kept = frozen and [frozen.step, frozen.corrected, frozen.weights, frozen.least, frozen.day]
    return cursors.seal([*page.last, kept], *bound(asked))


def next_link(path: str, asked: ListTools, cursor: str) -> str:
    """The `Link` header to the next page (RFC 8288)."""
    said = asked.model_dump(exclude={"cursor"}, exclude_defaults=True)
    plain = {name: _spelled(value) for name, value in said.items()}
    return f'<{path}?{urlencode({**plain, "cursor": cursor}, doseq=True)}>; rel="next"'


def body(page: "Page", documents: Mapping[str, bytes], cursor: str | None, *, text: str) -> bytes:
    """The answer; `score` is relevance, and says nothing of whether a tool is good or safe."""
    shown = [hit for hit in page.hits if hit.id in documents]
    if page.frozen is None:
        items = answers.array(documents[hit.id] for hit in shown)
    else:
        items = answers.array(
            answers.extended(documents[hit.id], {"score": hit.score, "matched_on": hit.matched_on})
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
    return answers.wrapped(items, rest)


def _read(page: "Page") -> dict[str, Any]:
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
            chosen[name] = [folded(each) if name == "publisher" else each for each in value]
    if asked.include_deleted:
        chosen["status"] = [*chosen.get("status", ("active", "deprecated")), "deleted"]
    return chosen


def _spelled(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


def _milliseconds(moment: str) -> int:
    return int(datetime.fromisoformat(moment).timestamp() * 1000)
