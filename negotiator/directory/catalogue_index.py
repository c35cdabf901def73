"""Keeps this process's search index in step with the feed of changes, whichever process made them.

Every request reads the number of the last change and applies newer changes first, so that all processes answer from the
same catalogue. numpy and tantivy are imported on first use.
"""

import asyncio
import gc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import orjson

from negotiator import thread_pools
from negotiator.bounded_cache import BoundedCache
from negotiator.directory import catalogue_queries, change_queries
from negotiator.directory.change_queries import ChangedTool
from negotiator.directory.tool_vectors import ToolVectors
from negotiator.store.statement import Transaction
from negotiator.store.store import Store

if TYPE_CHECKING:
    from negotiator.directory.search.index import IndexEntry, SearchIndex
    from negotiator.directory.search.vectors import SentenceVector

_CHUNK: Final = 32
_LOAD: Final = 5_000
_DOCUMENTS: Final = 16 * 2**20
SYNONYMS_FILE: Final = Path(__file__).parent / "content" / "synonyms.toml"
LANGUAGES_FILE: Final = SYNONYMS_FILE.with_name("languages.toml")


class CatalogueIndex:
    """The index, the number of the last change in it, and a cache of up to `most` bytes of recently read documents.

    Without `vectors`, words alone count.
    """

    def __init__(self, store: Store, *, most: int = _DOCUMENTS) -> None:
        self._store = store
        self.vectors: ToolVectors | None = None
        self._index: SearchIndex | None = None
        self._seq = 0
        self._lock = asyncio.Lock()
        self._documents = BoundedCache[str, bytes](most)

    async def current(self) -> tuple["SearchIndex", int]:
        """The index as of the newest change, and the number of that change."""
        newest = await self._store.read(change_queries.latest)
        if self._index is None or newest > self._seq:
            async with self._lock:
                await self._catch_up(newest)
        assert self._index is not None  # noqa: S101  set by `_catch_up`
        return self._index, self._seq

    async def warm(self) -> None:
        """Build the index before the first request, unless the catalogue is empty; later apply new changes.

        Sentence vectors are computed here; until then, and without a model, words alone count.
        """
        if await self._store.read(change_queries.latest):
            index, _ = await self.current()
            if self.vectors is not None:
                await self.vectors.fill(index)

    async def query_vector(self, text: str) -> "SentenceVector | None":
        """The query's sentence vector; None when it is a tool's name, or when tools have no vectors."""
        from negotiator.directory.search.terms import joined

        index = self._index
        if self.vectors is None or index is None or not index.vectors.present:
            return None
        return None if not text or index.named(joined(text)) else await self.vectors.of_query(text)

    async def documents(self, ids: Sequence[str]) -> list[bytes]:
        """The documents of these tools, in this order."""
        known = [(key, self._documents.get(key)) for key in ids]
        found = {key: document for key, document in known if document is not None}
        if missing := [key for key, document in known if document is None]:
            seq = self._seq
            read = await self._store.read(lambda tx: catalogue_queries.read_documents(tx, missing))
            found |= read
            if seq == self._seq:  # else it may be older than a change applied meanwhile
                for key, document in read.items():
                    self._documents.put(key, document, len(document))
        return [found[key] for key in ids]

    async def _catch_up(self, newest: int) -> None:
        if self._index is None:
            self._index = await self._load()
        while self._seq < newest:
            found = await self._store.read(_after(self._seq, _CHUNK))
            for each in found:
                if each.id in self._documents:
                    self._documents.put(each.id, each.document, len(each.document))
            staged = await thread_pools.SEARCH.run_unhurried(
                self._index.stage, [_entry(each) for each in found]
            )
            self._index.adopt(staged)
            self._seq = found[-1].seq if found else newest

    async def _load(self) -> "SearchIndex":
        """A new index of the whole catalogue, built off the event loop."""
        from negotiator.directory.search import languages, terms
        from negotiator.directory.search.index import SearchIndex

        translator = languages.load_translator(LANGUAGES_FILE)
        index, seq = SearchIndex(terms.load_synonyms(SYNONYMS_FILE), translator), 0
        while found := await self._store.scan(_after(seq, _LOAD)):
            await thread_pools.SEARCH.run_unhurried(_add, index, found)
            seq = found[-1].seq
        self._seq = seq
        # The index lives as long as the process: the collector must not scan it during a request.
        gc.collect()
        gc.freeze()
        return index


def _after(since: int, limit: int) -> Callable[[Transaction], list[ChangedTool]]:
    return lambda tx: change_queries.tools_since(tx, since, limit=limit)


def _add(index: "SearchIndex", found: Sequence[ChangedTool]) -> None:
    index.put([_entry(each) for each in found])


def _entry(changed: ChangedTool) -> "IndexEntry":
    from negotiator.directory.search.index import IndexEntry

    return IndexEntry(
        changed.id,
        orjson.loads(changed.document),
        changed.saves,
        changed.created_at,
        changed.updated_at,
    )
