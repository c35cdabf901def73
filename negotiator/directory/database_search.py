"""The catalogue searched by PostgreSQL: no worker reads or holds it.

A query is interpreted by the steps of `search.matching`, as for an index in memory; the database counts what matches
and chooses the best by the shares of the query that they have and by their standing. Their scores are computed here,
from the fields that have the words and from exact vectors, as an index in memory computes them.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import orjson

from negotiator.base import values
from negotiator.base.bounded_cache import BoundedCache
from negotiator.base.errors import Unavailable
from negotiator.directory import catalogue_queries, search_rows
from negotiator.directory.catalogue_search import CategoryCounts
from negotiator.directory.change_queries import ChangedTool
from negotiator.directory.taxonomy import SUBCATEGORIES, TAXONOMY
from negotiator.directory.tool_vectors import ToolVectors
from negotiator.runtime import thread_pools
from negotiator.runtime.fault_log import FaultLog
from negotiator.store import leases
from negotiator.store.statement import Transaction
from negotiator.store.store import Store

if TYPE_CHECKING:
    from negotiator.directory.database_matching import RememberedCount, SearchMeans
    from negotiator.directory.search.search import SearchPage, SearchRequest
    from negotiator.directory.search_rows import SearchRow

AWAITED: Final = 1_000
"""Changes for whose rows a search waits; of more, it answers with what is there, and they are put in the background."""
_LARGE: Final = 20_000
"""Tools from which numbers of tools may be a minute old."""
_STALE: Final = 60.0
_COUNTS: Final = 2**20
_VECTORS: Final = 8
"""Tools whose vectors are computed at once."""
_LEASE: Final = 60_000


class DatabaseSearch:
    """Searches by the rows of `search_rows`, which are brought up to date when they are asked for."""

    def __init__(self, store: Store) -> None:
        self.vectors: ToolVectors | None = None
        self._store = store
        self._lock = asyncio.Lock()
        self._holder = values.new_ulid()
        self._faults = FaultLog("the directory searches by words alone")
        self._counts: BoundedCache[str, RememberedCount] = BoundedCache(_COUNTS)
        self._categories: tuple[int, float, CategoryCounts] | None = None
        self._has_vectors: bool | None = None
        self._behind = self._waiting = 0
        self._covered = False

    @property
    def size(self) -> int:
        return 0

    @property
    def meaning(self) -> tuple[bool, int]:
        """Whether meaning counts, and how many tools waited for their vector when it was last looked up."""
        return self._covered, self._waiting

    def state(self) -> str:
        if self._behind > AWAITED:
            return f"lesser: in the database; {self._behind} changes are not in it yet"
        words = "; by words alone, PostgreSQL has no pgvector" if self._has_vectors is False else ""
        return f"ok: in the database{words}"

    async def snapshot(self) -> "DatabaseSnapshot":
        latest, reached = await self._store.read(search_rows.state)
        self._behind = latest - reached
        if 0 < self._behind <= AWAITED:
            while await self._put(_changed):
                pass
            self._behind, reached = 0, latest
        return DatabaseSnapshot(self, latest, reached)

    async def catch_up(self, done: Callable[[int], None] = lambda _done: None) -> None:
        """Put the rows that are missing, and those of a smaller form anew; `done` hears of each so many."""
        for unit in _UNITS:
            while rows := await self._put(unit):
                done(rows)

    async def warm(self) -> None:
        """Put the rows that are missing and compute vectors, unless another worker does."""
        _, self._has_vectors = await self._store.read(search_rows.exist)
        for unit in _UNITS:
            while await self._put(unit) == search_rows.BATCH and await self._leads("tool rows"):
                pass
        latest, reached = await self._store.read(search_rows.state)
        self._behind = latest - reached
        if self.vectors is None or not self._has_vectors:
            return
        try:
            await self.vectors.prepare()
            await self._note_waiting()
            await self._fill(self.vectors)
            self._faults.worked()
        except Unavailable as fault:
            self._faults.failed(fault.detail or fault.description)
        await self._note_waiting()

    async def documents(self, ids: Sequence[str]) -> list[bytes]:
        found = await self._store.read(lambda tx: catalogue_queries.read_documents(tx, ids))
        return [found[key] for key in ids if key in found]

    async def search(self, request: "SearchRequest", reached: int) -> "SearchPage":
        """A page of the rows, which have the changes up to this one."""
        from negotiator.directory.database_matching import search_rows_page

        means = self._means(reached)
        if request.query and not request.is_plain:
            request = await self._interpreted(request, means)
        return await self._store.scan(lambda tx: search_rows_page(tx, means, request))

    async def first_named(self, words: Sequence[str]) -> str | None:
        from negotiator.directory.database_matching import name_query
        from negotiator.directory.search.index import VISIBLE_STATUSES

        queries = [name_query(word) for word in words]
        return await self._store.scan(lambda tx: search_rows.first_named(tx, queries, VISIBLE_STATUSES))

    async def category_counts(self, seq: int) -> CategoryCounts:
        """The counts as of this change; of a large catalogue they may be a minute old."""
        from negotiator.directory.search.index import VISIBLE_STATUSES

        known = self._categories
        if known is not None and (known[0] == seq or time.monotonic() < known[1]):
            return known[2]
        categories = {search_rows.lexeme(f"=category:{slug}"): slug for slug in TAXONOMY}
        parts = {search_rows.lexeme(f"=subcategory:{slug}"): slug for slug in SUBCATEGORIES}

        def unit(tx: Transaction) -> dict[str, search_rows.TermUse]:
            search_rows.plan_each(tx)
            return search_rows.term_uses(tx, [*categories, *parts], VISIBLE_STATUSES)

        found = await self._store.scan(unit)
        counts = CategoryCounts(
            {slug: found[each].tools for each, slug in categories.items() if each in found},
            {slug: found[each].tools for each, slug in parts.items() if each in found},
            {slug: found[each].updated for each, slug in categories.items() if each in found},
        )
        is_large = sum(counts.tools.values()) > _LARGE
        self._categories = seq, time.monotonic() + _STALE * is_large, counts
        return counts

    def _means(self, reached: int) -> "SearchMeans":
        from negotiator.directory.database_matching import SearchMeans

        return SearchMeans(self._counts, self.vectors.model if self.vectors else "", reached)

    async def _interpreted(self, request: "SearchRequest", means: "SearchMeans") -> "SearchRequest":
        """The request with its query in English, and the query's vector if meaning counts: on later pages if it did on
        the first, whatever this process knows.
        """
        from negotiator.directory.database_matching import interpret

        follows = request.frozen is not None
        counts = request.frozen.near is not None if request.frozen else self._covered
        by_meaning = request.sort == "relevance" and self.vectors is not None and counts
        request, is_name = await self._store.scan(lambda tx: interpret(tx, means, request))
        if not by_meaning or (is_name and not follows) or self.vectors is None:
            return request
        text = request.translated[1] if request.translated else request.query
        vector = await self.vectors.of_query(text, waits=follows) if text else None
        return replace(request, vector=vector)

    async def _put(self, unit: Callable[[Transaction], list[tuple[Any, ...]]]) -> int:
        """Put rows of the tools that the unit reads; how many it read."""
        async with self._lock:
            found = await self._store.scan(unit)
            if found:
                rows = await thread_pools.SEARCH.run_unhurried(rows_of, found)
                await self._store.write(lambda tx: search_rows.put(tx, rows))
            return len(found)

    async def _leads(self, job: str) -> bool:
        """Whether this worker is the one that does the job now."""
        now = await self._store.clock()
        return await self._store.write(lambda tx: leases.take(tx, job, self._holder, now=now, life=_LEASE))

    async def _note_waiting(self) -> None:
        waiting, size = await self._store.scan(search_rows.count_waiting)
        self._waiting = waiting
        self._covered = waiting < size and waiting <= max(10, size // 100)

    async def _fill(self, vectors: ToolVectors) -> None:
        from negotiator.directory.search.vectors import digest_of, sentences_of

        after = ""
        while self._waiting:
            if not await self._leads("tool vectors"):
                return
            found = await self._store.read(lambda tx, after=after: search_rows.waiting(tx, after=after, limit=_VECTORS))
            if not found:
                return
            after = found[-1][0]
            documents = await self.documents([tool for tool, _ in found])
            texts = [sentences_of(orjson.loads(each)) for each in documents]
            # A tool that has changed meanwhile waits for its next row.
            same = [
                (tool, digest, each)
                for (tool, digest), each in zip(found, texts, strict=True)
                if digest_of(each) == digest
            ]
            if same:
                made = await vectors.compute([each for _, _, each in same])
                rows = [(tool, digest, vector.tolist()) for (tool, digest, _), vector in zip(same, made, strict=True)]
                await self._store.write(lambda tx, rows=rows: search_rows.put_vectors(tx, vectors.model, rows))


@dataclass(frozen=True, slots=True)
class DatabaseSnapshot:
    """The catalogue in the database, which may be newer by now."""

    catalogue: DatabaseSearch
    seq: int
    reached: int
    """The number of the last change that the rows have."""

    @property
    def meaning(self) -> tuple[bool, int]:
        return self.catalogue.meaning

    async def search(self, request: "SearchRequest") -> "SearchPage":
        return await self.catalogue.search(request, self.reached)

    async def first_named(self, words: Sequence[str]) -> str | None:
        return await self.catalogue.first_named(words)

    async def category_counts(self) -> CategoryCounts:
        return await self.catalogue.category_counts(self.seq)


def _changed(tx: Transaction) -> list[tuple[Any, ...]]:
    return search_rows.tools_after(tx, search_rows.state(tx)[1])


_UNITS: Final = (_changed, search_rows.outdated_tools)


def rows_of(found: Sequence[tuple[Any, ...]]) -> "list[SearchRow]":
    """The rows of changed tools."""
    from negotiator.directory.database_matching import row_of

    return [row_of(ChangedTool(*each)) for each in found]
