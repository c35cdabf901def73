"""Memories searched by PostgreSQL with pgvector: no worker reads or holds an owner's memories.

The database chooses candidates: the closest vectors, compared in half precision, and the best by words. Their cosines
and their order are computed here from the exact vectors, as of an index in memory.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast
from weakref import WeakValueDictionary

import orjson

from negotiator.memory import search_rows
from negotiator.memory.glossary import QueryTerm, glossary
from negotiator.memory.index_cache import MemoryIndexCache, WorkerIndexes
from negotiator.memory.owner_index import NEAREST, OwnerIndex, OwnerIndexes, View
from negotiator.memory.search_rows import (
    EQUAL_FIELDS,
    NO_MATCHES,
    FoundRow,
    OwnerState,
    Scope,
    SearchedText,
    WordMatches,
)
from negotiator.memory.searchable_text import EmbeddedText, MemoryEmbedder, searched_text
from negotiator.runtime import thread_pools
from negotiator.store.statement import Transaction
from negotiator.store.store import Store

if TYPE_CHECKING:
    from negotiator.memory.index import IndexQuery
    from negotiator.memory.search_ranking import RankedRow

_MARGIN: Final = 14
"""Candidates more than are wanted: half precision may change the order of close vectors."""
_VOCABULARIES: Final = 256
_Vocabularies = OrderedDict[tuple[str, str], tuple[int, Sequence[str]]]


class DatabaseIndexes:
    """The index of an owner, brought up to date when it is asked for.

    Only vectors of these models are compared; those of others than the first are to be made anew.
    """

    def __init__(self, store: Store, models: Sequence[str]) -> None:
        self._store = store
        self._models = models
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._vocabularies: _Vocabularies = OrderedDict()

    @property
    def held_bytes(self) -> int:
        return 0

    async def of(self, owner: str) -> "DatabaseIndex":
        state = await self._state(owner)
        if state.reached < state.stamp:
            lock = self._locks.setdefault(owner, asyncio.Lock())
            async with lock:
                await catch_up(self._store, owner)
            state = await self._state(owner)
        return DatabaseIndex(self._store, owner, state, self._models, self._vocabularies)

    def renewing(self, owner: str) -> None:
        """Nothing: `of` asks the database each time."""

    def not_renewed(self, owner: str) -> None:
        """Nothing: `of` asks the database each time."""

    def forget(self, owner: str) -> None:
        for key in [key for key in self._vocabularies if key[0] == owner]:
            del self._vocabularies[key]

    async def _state(self, owner: str) -> OwnerState:
        model = self._models[0]
        return await self._store.read(lambda tx: search_rows.owner_state(tx, owner, model=model))


class PreferredIndexes:
    """The database's index where it has search rows, else this worker's."""

    def __init__(self, store: Store, embedder: MemoryEmbedder) -> None:
        self._store = store
        self._embedder = embedder
        self._is_known = False
        self._indexes: OwnerIndexes = WorkerIndexes(MemoryIndexCache(store, embedder.models))

    @property
    def held_bytes(self) -> int:
        return self._indexes.held_bytes

    @property
    def state(self) -> str:
        """Where memories are searched, for the health check."""
        if self._embedder.makes_rows:
            return "ok: in the database"
        return "ok: in each worker; PostgreSQL has no search rows"

    async def choose(self) -> None:
        """Find out whether the database has search rows; they may be made while the service runs."""
        if self._embedder.makes_rows:
            return
        if await self._store.read(search_rows.are_kept):
            self._indexes = DatabaseIndexes(self._store, self._embedder.models)
            self._embedder.makes_rows = True
        self._is_known = True

    async def of(self, owner: str) -> OwnerIndex:
        if not self._is_known:
            await self.choose()
        return await self._indexes.of(owner)

    def renewing(self, owner: str) -> None:
        self._indexes.renewing(owner)

    def not_renewed(self, owner: str) -> None:
        self._indexes.not_renewed(owner)

    def forget(self, owner: str) -> None:
        self._indexes.forget(owner)


async def catch_up(store: Store, owner: str) -> int:
    """Put the rows of the owner's memories that changed; returns how many."""
    done = 0
    while True:
        stamp, reached, found = await store.scan(lambda tx: search_rows.changed(tx, owner))
        if reached >= stamp:
            return done
        rows = await thread_pools.SEARCH.run(_rows, found)
        # The last part reaches the counter itself, which erasures raise too.
        last = stamp if len(found) < search_rows.BATCH else found[-1][1]
        await store.write(lambda tx, rows=rows, last=last: search_rows.put(tx, owner, rows, reached=last))
        done += len(rows)


async def catch_up_all(store: Store) -> int:
    """Put the rows that any owner lacks; returns how many."""
    done, last = 0, ""
    while owners := await store.scan(partial(search_rows.owners_behind, after=last)):
        for owner in owners:
            done += await catch_up(store, owner)
        last = owners[-1]
    return done


def _rows(found: Sequence[tuple[Any, ...]]) -> list[tuple[str, int, SearchedText]]:
    return [
        (memory, stamp, searched_text(EmbeddedText.of_view(orjson.loads(document)), vector))
        for memory, stamp, vector, document in found
    ]


@dataclass(frozen=True, slots=True)
class _Candidates:
    """The ids closest in half precision, what the words found, and the rows of both."""

    nearest: Sequence[str]
    words: WordMatches
    rows: Sequence[FoundRow]


class DatabaseIndex:
    """One owner's rows of `memory_search`."""

    def __init__(
        self, store: Store, owner: str, state: OwnerState, models: Sequence[str], vocabularies: _Vocabularies
    ) -> None:
        self._store = store
        self._owner = owner
        self._state = state
        self._models = models
        self._vocabularies = vocabularies

    @property
    def outdated(self) -> bool:
        return self._state.outdated

    async def search(self, query: "IndexQuery") -> "Iterable[tuple[View, RankedRow]]":
        if not self._state.stamp:
            return ()
        allowed = None if query.keep is None else await self._allowed(query)
        scope = Scope(self._owner, sorted(query.statuses), query.now, allowed)
        found = await self._store.scan(lambda tx: self._candidates(tx, scope, query))
        return self._ranked(found, query)

    async def nearest(
        self, vectors: Sequence[Any], *, now: int, statuses: frozenset[str]
    ) -> list[list[tuple[View, float]]]:
        if not self._state.stamp or not len(vectors):
            return [[] for _ in vectors]
        scope = Scope(self._owner, sorted(statuses), now)

        def unit(tx: Transaction) -> list[list[FoundRow]]:
            return [search_rows.read(tx, scope, self._nearest(tx, scope, vector, NEAREST)) for vector in vectors]

        found = await self._store.scan(unit)
        return [self._closest(rows, vector) for rows, vector in zip(found, vectors, strict=True)]

    async def _allowed(self, query: "IndexQuery") -> list[str]:
        """The ids of the memories that the filters let through."""
        keep = query.keep
        equal, is_whole = _equalities(query.filters)
        found = await self._store.scan(lambda tx: search_rows.matching(tx, self._owner, equal, documents=not is_whole))
        if is_whole or keep is None:
            return [memory for memory, _ in found]
        return await thread_pools.SEARCH.run(
            lambda: [memory for memory, document in found if keep(orjson.loads(document))]
        )

    def _candidates(self, tx: Transaction, scope: Scope, query: "IndexQuery") -> _Candidates:
        from negotiator.memory.search_ranking import MAX_CANDIDATES

        nearest: Sequence[str] = ()
        if query.vector is not None:
            nearest = self._nearest(tx, scope, query.vector, MAX_CANDIDATES)
        words = self._matches(tx, scope, query, nearest, MAX_CANDIDATES)
        ids = list({*nearest, *words.best})
        return _Candidates(nearest, words, search_rows.read(tx, scope, ids))

    def _nearest(self, tx: Transaction, scope: Scope, vector: Any, wanted: int) -> list[str]:
        return search_rows.nearest(tx, scope, vector.tolist(), models=self._models, limit=wanted + _MARGIN)

    def _matches(
        self, tx: Transaction, scope: Scope, query: "IndexQuery", nearest: Sequence[str], limit: int
    ) -> WordMatches:
        """What the words find; a word that no memory has is answered by those that are spelled like it."""
        if query.mode == "semantic":
            return NO_MATCHES
        given = query.query_terms
        words = list(glossary().query_terms(query.text) if given is None else given)
        if not words:
            return NO_MATCHES
        found = search_rows.match_words(tx, scope, words, also=nearest, limit=limit)
        mended = [word if place in found.answered else self._spelled(tx, word) for place, word in enumerate(words)]
        if mended == words:
            return found
        return search_rows.match_words(tx, scope, mended, also=nearest, limit=limit)

    def _spelled(self, tx: Transaction, alternatives: QueryTerm) -> QueryTerm:
        from negotiator.memory.index import SHORTEST_MISSPELLED, spelled_alike

        word = next(iter(alternatives))
        if len(word) < SHORTEST_MISSPELLED:
            return alternatives
        return spelled_alike(word, self._vocabulary(tx, word[0]))

    def _vocabulary(self, tx: Transaction, initial: str) -> Sequence[str]:
        """The owner's terms with an initial, read again when any of their memories has changed."""
        key, stamp = (self._owner, initial), self._state.stamp
        held = self._vocabularies.get(key)
        if held is None or held[0] != stamp:
            held = stamp, search_rows.vocabulary(tx, self._owner, initial)
        self._vocabularies[key] = held
        self._vocabularies.move_to_end(key)
        if len(self._vocabularies) > _VOCABULARIES:
            self._vocabularies.popitem(last=False)
        return held[1]

    def _ranked(self, found: _Candidates, query: "IndexQuery") -> "Iterable[tuple[View, RankedRow]]":
        """The candidates by their exact cosines, in the order of an index in memory."""
        import numpy as np

        from negotiator.memory.search_ranking import HybridRanking, RankingCandidates, top_rows

        rows = sorted(found.rows, key=lambda row: (row.stamp, row.id))
        views = [cast("Mapping[str, Any]", orjson.loads(row.document)) for row in rows]
        cosines, is_comparable = self._cosines(rows, query.vector)
        scores = np.array([found.words.scores.get(row.id, 0) for row in rows], np.float32)
        kept = np.array([query.keep is None or query.keep(view) for view in views], bool)
        near, best = set(found.nearest), set(found.words.best)
        is_near = np.array([row.id in near for row in rows], bool) & is_comparable & kept
        is_best = np.array([row.id in best for row in rows], bool) & kept
        nearest = top_rows(cosines, np.flatnonzero(is_near))
        matching = top_rows(scores, np.flatnonzero(is_best))
        places = np.unique(np.concatenate([nearest, matching]))
        candidates = RankingCandidates(
            rows=places,
            semantic=cosines[places],
            keyword=scores[places],
            nearest=nearest,
            matching=matching,
            created_at=np.array([row.created_at for row in rows], np.int64)[places],
            trust=np.array([row.trust for row in rows], np.int8)[places],
            ageless=np.array([row.pinned or row.kind == "win" for row in rows], bool)[places],
        )
        ranking = HybridRanking(candidates, query.mode, now=query.now)
        return [(views[one.row], one) for one in ranking]

    def _closest(self, rows: Sequence[FoundRow], vector: Any) -> list[tuple[View, float]]:
        cosines, is_comparable = self._cosines(rows, vector)
        found = [
            (-float(cosine), row.stamp, row)
            for row, cosine, compared in zip(rows, cosines, is_comparable, strict=True)
            if compared
        ]
        return [(orjson.loads(row.document), -cosine) for cosine, _, row in sorted(found)[:NEAREST]]

    def _cosines(self, rows: Sequence[FoundRow], vector: Any) -> tuple[Any, Any]:
        """The exact cosine of each row, zero where it has no comparable vector; and whether it has one."""
        import numpy as np

        cosines = np.zeros(len(rows), np.float32)
        is_comparable = np.zeros(len(rows), bool)
        if vector is not None:
            size = 4 * len(vector)
            is_comparable[:] = [row.model in self._models and len(row.vector) == size for row in rows]
            stored = b"".join(row.vector for row, fits in zip(rows, is_comparable, strict=True) if fits)
            cosines[is_comparable] = np.frombuffer(stored, np.float32).reshape(-1, len(vector)) @ vector
        return cosines, is_comparable


def _equalities(filters: Mapping[str, Any]) -> tuple[dict[str, str], bool]:
    """The columns that a filter wants to equal a text, and whether that is all that it wants."""
    equal: dict[str, str] = {}
    for name, value in filters.items():
        if name in EQUAL_FIELDS and isinstance(value, str) and _is_storable(value):
            equal[EQUAL_FIELDS[name]] = value
    return equal, len(equal) == len(filters)


def _is_storable(text: str) -> bool:
    """Whether PostgreSQL takes the text; no memory has another."""
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)
