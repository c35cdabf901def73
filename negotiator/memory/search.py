"""Search over an owner's memories: by a query, and by the vector of a new text to find one that is almost the same; and
the replacing of stored vectors, of one memory that changed, and of all when the model or what is embedded changes. The
indexes of this process are built on first use, updated by the owner's counter, and evicted by size.

Vectors of two models are never compared: until a memory has its new vector, it is found by its words. Vectors of the
same model and an older form are compared until they are made anew.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakValueDictionary

import orjson
from sqlalchemy import BigInteger, LargeBinary, String, bindparam, func, select, update
from sqlmodel import col

from negotiator.base import values
from negotiator.base.bounded_cache import BoundedCache
from negotiator.base.errors import Unavailable
from negotiator.memory import content_guard, memories_queries
from negotiator.memory.glossary import glossary
from negotiator.memory.memories_queries import StoredEmbedding
from negotiator.memory.schemas_memories import NewMemory, SearchMemories, SearchMode
from negotiator.memory.search_filters import compile_filters
from negotiator.memory.searchable_text import EmbeddedText, MemoryEmbedder, searchable_terms
from negotiator.memory.tables import Memory, MemoryOwner
from negotiator.runtime import thread_pools
from negotiator.runtime.fault_log import FaultLog
from negotiator.store.statement import Query, Statement, Transaction, table
from negotiator.store.store import Store

if TYPE_CHECKING:
    from negotiator.memory.index import MemoryIndex, RankedRow


IndexRow = tuple[Any, ...]
CACHE_BYTES: Final = 96 * 1024 * 1024
_FEW: Final = 32

_COUNTERS = Query(
    select(col(MemoryOwner.stamp), col(MemoryOwner.removed)).where(col(MemoryOwner.owner) == bindparam("owner")), tuple
)


_SINCE = Query(
    select(
        *(
            table(Memory).c[name]
            for name in ("id", "document", "model", "vector", "status", "trust", "expires_at", "created_at")
        )
    )
    .where(col(Memory.owner) == bindparam("owner"), col(Memory.stamp) > bindparam("stamp"))
    .order_by(col(Memory.stamp), col(Memory.id)),
    tuple,
)


class MemoryIndexCache:
    """Gives an owner's up-to-date index.

    Only vectors of these models are compared; those of others than the first are to be made anew.
    """

    def __init__(self, store: Store, models: Sequence[str], *, capacity: int = CACHE_BYTES) -> None:
        self._store = store
        self._models = models
        self._capacity = capacity
        self._indexes = BoundedCache[str, "MemoryIndex"](capacity)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @property
    def held_bytes(self) -> int:
        """The size of all indexes in memory, as `capacity` counts it."""
        return self._indexes.size

    async def of(self, owner: str) -> "MemoryIndex":
        """The owner's index with every change committed before the call."""
        stamp, removed = await self._store.read(lambda tx: _owner_stamps(tx, owner))
        index = self._indexes.get(owner)
        if index is None or index.stamp < stamp:
            lock = self._locks.setdefault(owner, asyncio.Lock())
            async with lock:
                index = self._indexes.get(owner)
                if index is None or index.stamp < stamp:
                    index = await self._caught_up(owner, index, removed)
        self._indexes.put(owner, index, min(index.cost, self._capacity))
        return index

    async def _caught_up(self, owner: str, index: "MemoryIndex | None", removed: int) -> "MemoryIndex":
        """The index with the changes it lacks; many changes build a new one on a thread."""
        if index is not None and index.stamp >= removed and not index.stale:
            since = index.stamp
            stamp, found = await self._store.scan(lambda tx: _since(tx, owner, since))
            if len(found) <= _FEW:
                return self._filled(index, stamp, found)
        stamp, found = await self._store.scan(lambda tx: _since(tx, owner, 0))
        return await thread_pools.SEARCH.run(self._filled, None, stamp, found)

    def _filled(self, index: "MemoryIndex | None", stamp: int, found: Sequence[IndexRow]) -> "MemoryIndex":
        """The index, or a new one, with these rows; a vector of another model is left out."""
        # numpy is imported on the first search, not by every process.
        from negotiator.memory.index import IndexedMemory, MemoryIndex

        indexed: list[IndexedMemory] = []
        for key, document, model, vector, status, trust, expires, created in found:
            facts: dict[str, Any] = orjson.loads(document)
            indexed.append(
                IndexedMemory(
                    id=key,
                    terms=searchable_terms(facts["text"], facts["counterparty"], facts["tags"]),
                    vector=vector if model in self._models else None,
                    document=document,
                    status=status,
                    trust=trust,
                    ageless=facts["pinned"] or facts["kind"] == "win",
                    created=created,
                    expires=expires,
                )
            )
        index = MemoryIndex(stamp) if index is None else index
        index.put(indexed)
        index.outdated |= any(model != self._models[0] for _, _, model, *_ in found)
        index.stamp = stamp
        return index

    def held(self, owner: str) -> "MemoryIndex | None":
        """The owner's index as it is, if there is one."""
        return self._indexes.get(owner)

    def forget(self, owner: str) -> None:
        """Drop the owner's index."""
        self._indexes.drop(owner)


def _owner_stamps(tx: Transaction, owner: str) -> tuple[int, int]:
    """The owner's stamp and the stamp of the last erasure; zeros for an owner without memories."""
    return tx.one(_COUNTERS, owner=owner) or (0, 0)


def _since(tx: Transaction, owner: str, stamp: int) -> tuple[int, list[IndexRow]]:
    return _owner_stamps(tx, owner)[0], tx.all(_SINCE, owner=owner, stamp=stamp)


_BY_WORDS: Final = "These were found by their words alone."
_WORDS_ONLY: Final = (
    "The sentence model is being loaded, so these were found by their words alone. "
    "A search in some seconds finds by meaning too."
)
ALMOST_THE_SAME: Final = 0.95
"""The cosine of two texts from which they may say the same."""
_SUSPECTED_SIMILARITY: Final = 0.7
"""The cosine of two memories, with their heads, from which their texts are compared."""
_NOT_LOADED: Final = "The sentence model is being loaded."
_CACHED_VECTORS: Final = 512
_UNTRUSTED_SHARE: Final = 4
_MAX_READ_INLINE: Final = 500

VectorArray = Any


class MemorySearch:
    """Searches one owner's memories at a time."""

    def __init__(self, store: Store, embedder: MemoryEmbedder) -> None:
        self._store = store
        self._indexes = MemoryIndexCache(store, embedder.models)
        self._embedder = embedder
        self._renewing: dict[str, asyncio.Task[None]] = {}
        self._faults = FaultLog("vectors are not made anew")
        self._turn = asyncio.Lock()
        self._vectors = BoundedCache[tuple[str, str], VectorArray](_CACHED_VECTORS)

    @property
    def index_bytes(self) -> int:
        """The size of the indexes in memory."""
        return self._indexes.held_bytes

    async def search(self, owner: str, request: SearchMemories) -> dict[str, Any]:
        """The best matches; 422 for an invalid filter, 503 for a semantic search while the embedder is unavailable.

        While the model loads or fails, a hybrid search finds by words alone and says so.
        """
        keep = compile_filters(request.filters) if request.filters else None
        mode, notice = request.mode, None
        if mode != "keyword" and not await self._embedder.is_ready():
            if mode == "semantic":
                raise Unavailable(self._embedder.failure or _NOT_LOADED)
            mode, notice = "keyword", self._embedder.failure or _WORDS_ONLY
        vector = None
        if mode != "keyword":
            try:
                vector = await self._vector(owner, request.query)
            except Unavailable as away:
                if mode == "semantic":
                    raise
                mode, notice = "keyword", f"{away.description} {_BY_WORDS}"
        index = await self._index(owner)
        terms = () if mode == "semantic" else glossary().query_terms(request.query)
        statuses = frozenset({"active", *request.include})
        if keep is not None and len(index) > _MAX_READ_INLINE:
            await thread_pools.SEARCH.run(index.read)
        items: list[dict[str, Any]] = []
        untrusted, share = 0, max(1, request.limit // _UNTRUSTED_SHARE)
        for memory, ranked in index.search(terms, vector, mode, now=values.now(), statuses=statuses, keep=keep):
            facts = index.facts(memory)
            if request.min_score is not None and ranked.semantic < request.min_score:
                continue
            # Untrusted memories take at most a quarter of the results.
            if facts["trust"] < content_guard.TRUST_BOUND_AGENT:
                untrusted += 1
                if untrusted > share:
                    continue
            hit: dict[str, Any] = {"memory": facts, "score": ranked.score}
            if request.explain:
                hit["why"] = _why(ranked, mode)
            items.append(hit)
            if len(items) == request.limit:
                break
        model = self._embedder.embedder.model
        return {"items": items, "mode": mode, "model": model, "notice": notice}

    async def similar(self, owner: str, body: NewMemory, embedded: StoredEmbedding) -> str | None:
        """The memory that says almost the same, of the same kind, counterparty and category.

        Close vectors alone do not tell: another number or denial makes another memory.
        """
        if body.supersedes is not None or not embedded.vector:
            return None
        index = await self._index(owner)
        found = index.nearest(embedded.vector, now=values.now(), statuses=frozenset({"active", "pending"}))
        suspected = {
            facts["id"]: facts["text"]
            for facts, similarity in found
            if similarity >= _SUSPECTED_SIMILARITY
            and _same_subject(facts, body)
            and content_guard.has_same_numbers_and_negations(facts["text"], body.text)
        }
        if not suspected:
            return None
        try:
            mine, *theirs = await self._embedder.embed_texts([body.text, *suspected.values()])
        except Unavailable:
            return None
        pairs = zip(suspected, theirs, strict=True)
        return next((memory for memory, text in pairs if float(text @ mine) >= ALMOST_THE_SAME), None)

    async def near(
        self, owner: str, vectors: Sequence[VectorArray], *, least: float
    ) -> list[tuple[Mapping[str, Any], float]]:
        """The active memories closest to any of these vectors, as (view, cosine), closest first, at least `least`
        alike.

        The vectors must come from the same embedder.
        """
        index = await self._index(owner)
        best = dict[str, tuple[Mapping[str, Any], float]]()
        for vector in vectors:
            for facts, cosine in index.nearest(vector, now=values.now()):
                known = best.get(facts["id"])
                if cosine >= (least if known is None else known[1]):
                    best[facts["id"]] = facts, cosine
        return sorted(best.values(), key=lambda one: (-one[1], one[0]["id"]))

    def forget(self, owner: str) -> None:
        """Drop everything that this process caches for an owner."""
        self._indexes.forget(owner)
        self._vectors.clear()

    async def close(self) -> None:
        """Stop making vectors anew."""
        for task in self._renewing.values():
            task.cancel()
        if self._renewing:
            await asyncio.wait(self._renewing.values())

    async def _index(self, owner: str) -> "MemoryIndex":
        """The owner's index. Vectors that are missing or of an older form are made anew in the background."""
        index = await self._indexes.of(owner)
        if index.outdated and owner not in self._renewing:
            if self._embedder.embedder.state == "ready":
                index.outdated = False
                self._renewing[owner] = asyncio.create_task(self._renew(owner))
            else:
                self._embedder.prepare()
        return index

    async def _renew(self, owner: str) -> None:
        """Make the owner's outdated vectors anew, of one owner at a time."""
        try:
            async with self._turn:
                await renew_vectors(self._store, self._embedder, owner=owner)
        except Unavailable as fault:
            self._faults.failed(fault.detail or fault.description)
            if index := self._indexes.held(owner):
                index.outdated = True
        else:
            self._faults.worked()
        finally:
            del self._renewing[owner]

    async def _vector(self, owner: str, text: str) -> VectorArray:
        """The query's vector, cached for the same owner."""
        vector = self._vectors.get((owner, text))
        if vector is None:
            [vector] = await self._embedder.embed_texts([text])
            self._vectors.put((owner, text), vector, 1)
        return vector


def _same_subject(facts: Mapping[str, Any], body: NewMemory) -> bool:
    about = facts["kind"], facts["counterparty"], facts["category"]
    return about == (body.kind, body.counterparty, body.category)


def _why(ranked: "RankedRow", mode: SearchMode) -> dict[str, Any]:
    return {
        "semantic_rank": ranked.semantic_rank,
        "keyword_rank": ranked.keyword_rank,
        "similarity": None if mode == "keyword" else round(ranked.semantic, 4),
        "words": None if mode == "semantic" else round(ranked.keyword, 4),
        "recency": round(ranked.recency, 4),
        "trust": ranked.trust,
    }


REEMBED_BATCH: Final = 32

_REVECTOR = Statement(
    update(Memory)
    .where(
        col(Memory.id) == bindparam("memory"),
        col(Memory.owner) == bindparam("holder"),
        col(Memory.revision) == bindparam("seen", type_=BigInteger),
    )
    .values(
        stamp=bindparam("new_stamp", type_=BigInteger),
        model=bindparam("new_model", type_=String),
        vector=bindparam("new_vector", type_=LargeBinary),
    )
)
_foreign = col(Memory.model) != bindparam("current")
_OUTDATED = Query(
    select(col(Memory.id), col(Memory.owner), col(Memory.revision), col(Memory.document))
    .where(_foreign, col(Memory.id) > bindparam("after"))
    .order_by(col(Memory.id))
    .limit(REEMBED_BATCH),
    tuple,
)
_OUTDATED_OF_OWNER = Query(
    select(col(Memory.id), col(Memory.owner), col(Memory.revision), col(Memory.document))
    .where(_foreign, col(Memory.owner) == bindparam("holder"), col(Memory.id) > bindparam("after"))
    .order_by(col(Memory.id))
    .limit(REEMBED_BATCH),
    tuple,
)
_ANY = Query(select(col(Memory.model)).limit(1), lambda row: str(row[0]))
_COUNT = Query(select(func.count()).select_from(Memory).where(_foreign), lambda row: int(row[0]))


def is_any_stored(tx: Transaction) -> bool:
    """Whether there is any memory, of whichever owner."""
    return tx.one(_ANY) is not None


def update_vector(tx: Transaction, owner: str, memory: str, embedded: StoredEmbedding, *, revision: int) -> bool:
    """Store another vector for a memory, unless it has changed since `revision`; returns whether it did."""
    stamp = memories_queries.next_stamp(tx, owner)
    changed = tx.run(
        _REVECTOR,
        memory=memory,
        holder=owner,
        seen=revision,
        new_stamp=stamp,
        new_model=embedded.model,
        new_vector=embedded.vector,
    )
    return changed == 1


async def reembed_all(store: Store, embedder: MemoryEmbedder, report: Callable[[int, int], None]) -> int:
    """Embed every memory again whose vector another model or an older form made; returns how many.

    `report` is called after each batch with the number done and the total. 503.
    """
    total = await store.scan(lambda tx: tx.one(_COUNT, current=embedder.models[0])) or 0
    report(0, total)
    return await renew_vectors(store, embedder, report=lambda done: report(done, total))


async def renew_vectors(
    store: Store, embedder: MemoryEmbedder, *, owner: str | None = None, report: Callable[[int], None] = lambda _: None
) -> int:
    """Make the outdated vectors of one owner or of all anew; returns how many.

    Works in small batches next to a running server and can be interrupted and started again. `report` is called after
    each batch with the number done. A memory that changes meanwhile keeps the vector of that change. 503.
    """
    await embedder.embedder.prepare()
    done, last = 0, ""
    while found := await store.scan(partial(_outdated, model=embedder.models[0], owner=owner, after=last)):
        vectors = await embedder.embed_now(
            [EmbeddedText.of_view(orjson.loads(document)) for _, _, _, document in found]
        )

        def unit(tx: Transaction, found: Any = found, vectors: Any = vectors) -> int:
            return sum(
                update_vector(tx, holder, memory, vector, revision=revision)
                for (memory, holder, revision, _), vector in zip(found, vectors, strict=True)
            )

        done += await store.write(unit)
        last = found[-1][0]
        report(done)
    return done


def _outdated(tx: Transaction, *, model: str, owner: str | None, after: str) -> list[tuple[Any, ...]]:
    """The next batch of memories whose vector is not of this model, as (id, owner, revision, JSON)."""
    if owner is None:
        return tx.all(_OUTDATED, current=model, after=after)
    return tx.all(_OUTDATED_OF_OWNER, current=model, holder=owner, after=after)
