"""Search over an owner's memories: by a query, and by the vector of a new text to find one that is almost the same."""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from negotiator.base import values
from negotiator.base.errors import Unavailable
from negotiator.memory import content_guard
from negotiator.memory.glossary import glossary
from negotiator.memory.index_cache import MemoryIndexCache
from negotiator.memory.memories_queries import StoredEmbedding
from negotiator.memory.schemas_memories import NewMemory, SearchMemories, SearchMode
from negotiator.memory.search_filters import compile_filters
from negotiator.memory.searchable_text import MemoryEmbedder
from negotiator.memory.vector_queries import renew_vectors
from negotiator.runtime import thread_pools
from negotiator.runtime.fault_log import FaultLog
from negotiator.store.store import Store

if TYPE_CHECKING:
    from negotiator.memory.index import MemoryIndex
    from negotiator.memory.search_ranking import RankedRow

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
        self._vectors: OrderedDict[tuple[str, str], VectorArray] = OrderedDict()

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
        for key in [key for key in self._vectors if key[0] == owner]:
            del self._vectors[key]

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
        key = owner, text
        if key in self._vectors:
            self._vectors.move_to_end(key)
            return self._vectors[key]
        [vector] = await self._embedder.embed_texts([text])
        self._vectors[key] = vector
        if len(self._vectors) > _CACHED_VECTORS:
            self._vectors.popitem(last=False)
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
