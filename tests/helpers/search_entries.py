"""Small tools for the directory's search index, and the ids of a page."""

from collections.abc import Sequence
from typing import Any, Final

import orjson

from negotiator.base import values
from negotiator.directory.catalogue_index import DocumentReader
from negotiator.directory.search.index import SearchIndex
from negotiator.directory.search.request import IndexEntry, SearchPage
from negotiator.directory.search.terms import Synonyms, joined

AT: Final = 1_800_000_000_000


def entry(name: str, summary: str, *, key: str = "", at: int = AT, **members: Any) -> IndexEntry:
    """A tool for the index."""
    document: dict[str, Any] = {
        "name": name, "slug": joined(name) or "x", "kind": "app", "category": "coding",
        "subcategories": [], "tags": [], "summary": summary, "description": None,
        "homepage_url": None, "docs_url": None, "repository": None, "interfaces": [],
        "packages": [], "auth": {"type": "none"}, "pricing": {"model": "free"}, "licence": None,
        "open_source": None, "publisher": None, "health": None, "status": "active", **members,
    }  # fmt: skip
    return IndexEntry(key or values.new_id("tool"), document, 0, at, at)


def indexed(*entries: IndexEntry, synonyms: Synonyms | None = None) -> SearchIndex:
    """An index of these tools."""
    index = SearchIndex(synonyms or Synonyms())
    index.put(entries)
    return index


def reader(*entries: IndexEntry) -> DocumentReader:
    """Gives the documents of these tools."""
    documents = {entry.id: orjson.dumps(entry.document) for entry in entries}

    async def read(ids: Sequence[str]) -> dict[str, bytes]:
        return {key: documents[key] for key in ids}

    return read


def ids(found: SearchPage) -> list[str]:
    """The ids of a page."""
    return [hit.id for hit in found.hits]
