"""Search over an owner's memories: by a query, and by the vector of a new text to find repetitions."""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from negotiator import values
from negotiator.memory import content_guard
from negotiator.memory.embedding.embedder import Embedder
from negotiator.memory.index_cache import MemoryIndexCache
from negotiator.memory.memories_lifecycle import SimilarMemories
from negotiator.memory.schemas_memories import NewMemory, SearchMemories, SearchMode
from negotiator.memory.search_filters import compile_filters

if TYPE_CHECKING:
    from negotiator.memory.search_ranking import RankedRow

DUPLICATE_SIMILARITY: Final = 0.95
_CACHED_VECTORS: Final = 512
_UNTRUSTED_SHARE: Final = 4
_MAX_READ_INLINE: Final = 500

VectorArray = Any


class MemorySearch:
    """Searches one owner's memories at a time."""

    def __init__(self, indexes: MemoryIndexCache, embedder: Embedder) -> None:
        self._indexes = indexes
        self._embedder = embedder
        self._vectors: OrderedDict[tuple[str, str], VectorArray] = OrderedDict()

    async def search(self, owner: str, request: SearchMemories) -> dict[str, Any]:
        """The best matches; 422 for an invalid filter, 503 when the embedder is unavailable."""
        from negotiator.memory.index import IndexQuery

        keep = compile_filters(request.filters) if request.filters else None
        vector = None if request.mode == "keyword" else await self._vector(owner, request.query)
        index = await self._indexes.of(owner)
        if keep is not None and len(index) > _MAX_READ_INLINE:
            await asyncio.to_thread(index.read)
        query = IndexQuery(
            text=request.query,
            vector=vector,
            mode=request.mode,
            now=values.now(),
            statuses=frozenset({"active", *request.include}),
            keep=keep,
        )
        items: list[dict[str, Any]] = []
        untrusted, share = 0, max(1, request.limit // _UNTRUSTED_SHARE)
        for memory, ranked in index.search(query):
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
                hit["why"] = _why(ranked, request.mode)
            items.append(hit)
            if len(items) == request.limit:
                break
        return {"items": items, "mode": request.mode, "model": self._embedder.model}

    async def nearest(self, owner: str, body: NewMemory, vector: VectorArray) -> SimilarMemories:
        """The memory that the text repeats or almost repeats, of the same kind, counterparty and category.

        Close vectors alone make no repetition: another number, name or negation makes another memory.
        """
        index = await self._indexes.of(owner)
        statuses = frozenset({"active", "pending"})
        similar: str | None = None
        for memory, similarity in index.nearest(vector, now=values.now(), statuses=statuses):
            facts = index.facts(memory)
            if similarity < DUPLICATE_SIMILARITY:
                break
            if body.supersedes is not None or not _same_subject(facts, body):
                continue
            if content_guard.is_repetition(facts["text"], body.text):
                return SimilarMemories(repeated=memory)
            if similar is None and content_guard.has_same_numbers_and_negations(
                facts["text"], body.text
            ):
                similar = memory
        return SimilarMemories(similar=similar)

    async def near(
        self, owner: str, vectors: Sequence[VectorArray], *, least: float
    ) -> list[tuple[Mapping[str, Any], float]]:
        """The active memories closest to any of these vectors, as (view, cosine), closest first, at least `least`
        alike.

        The vectors must come from the same embedder.
        """
        index = await self._indexes.of(owner)
        now, best = values.now(), dict[str, float]()
        for vector in vectors if len(index) else ():
            for memory, cosine in index.nearest(vector, now=now, statuses=frozenset({"active"})):
                if cosine >= max(least, best.get(memory, least)):
                    best[memory] = cosine
        ranked = sorted(best.items(), key=lambda one: (-one[1], one[0]))
        return [(index.facts(memory), cosine) for memory, cosine in ranked]

    def forget(self, owner: str) -> None:
        """Drop everything that this process caches for an owner."""
        self._indexes.forget(owner)
        for key in [key for key in self._vectors if key[0] == owner]:
            del self._vectors[key]

    async def _vector(self, owner: str, text: str) -> VectorArray:
        """The query's vector, cached for the same owner."""
        key = owner, text
        if key in self._vectors:
            self._vectors.move_to_end(key)
            return self._vectors[key]
        [vector] = await self._embedder.embed([text])
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
