"""Recall: from a question to an owner's memories, and from a new text to those that say it already."""

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
_ASKED_LATELY: Final = 512
_UNTRUSTED_SHARE: Final = 4
_AT_ONCE: Final = 500

VectorArray = Any


class MemorySearch:
    """Searches every owner's shelf by itself."""

    def __init__(self, shelves: MemoryIndexCache, embedder: Embedder) -> None:
        self._shelves = shelves
        self._embedder = embedder
        self._asked: OrderedDict[tuple[str, str], VectorArray] = OrderedDict()

    async def search(self, owner: str, asked: SearchMemories) -> dict[str, Any]:
        """The best of the owner's memories; 422 for a filter that cannot be, 503 without the embedder."""
        from negotiator.memory.index import IndexQuery

        keep = compile_filters(asked.filters) if asked.filters else None
        vector = None if asked.mode == "keyword" else await self._vector(owner, asked.query)
        shelf = await self._shelves.of(owner)
        if keep is not None and len(shelf) > _AT_ONCE:
            await asyncio.to_thread(shelf.read)
        question = IndexQuery(
            text=asked.query,
            vector=vector,
            mode=asked.mode,
            now=values.now(),
            statuses=frozenset({"active", *asked.include}),
            keep=keep,
        )
        items: list[dict[str, Any]] = []
        untrusted, share = 0, max(1, asked.limit // _UNTRUSTED_SHARE)
        for memory, ranked in shelf.search(question):
            facts = shelf.facts(memory)
            if asked.min_score is not None and ranked.semantic < asked.min_score:
                continue
            # What nobody vouches for may inform an answer, never fill it.
            if facts["trust"] < content_guard.TRUST_BOUND_AGENT:
                untrusted += 1
                if untrusted > share:
                    continue
            hit: dict[str, Any] = {"memory": facts, "score": ranked.score}
            if asked.explain:
                hit["why"] = _why(ranked, asked.mode)
            items.append(hit)
            if len(items) == asked.limit:
                break
        return {"items": items, "mode": asked.mode, "model": self._embedder.model}

    async def nearest(self, owner: str, body: NewMemory, vector: VectorArray) -> SimilarMemories:
        """What of the owner's the text repeats, or says almost: of the same kind, about the same party and matter.

        Close vectors alone make no repetition: another number, name or denial makes another memory.
        """
        shelf = await self._shelves.of(owner)
        statuses = frozenset({"active", "pending"})
        similar: str | None = None
        for memory, similarity in shelf.nearest(vector, now=values.now(), statuses=statuses):
            facts = shelf.facts(memory)
            if similarity < DUPLICATE_SIMILARITY:
                break
            if body.supersedes is not None or not _same_matter(facts, body):
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
        """The few active memories of the owner's that are closest to any of these vectors: views with their cosine.

        Closest first, none farther than `least`. The vectors are the embedder's own.
        """
        shelf = await self._shelves.of(owner)
        now, best = values.now(), dict[str, float]()
        for vector in vectors if len(shelf) else ():
            for memory, cosine in shelf.nearest(vector, now=now, statuses=frozenset({"active"})):
                if cosine >= max(least, best.get(memory, least)):
                    best[memory] = cosine
        ranked = sorted(best.items(), key=lambda one: (-one[1], one[0]))
        return [(shelf.facts(memory), cosine) for memory, cosine in ranked]

    def forget(self, owner: str) -> None:
        """Let go of everything kept of an owner in this process."""
        self._shelves.forget(owner)
        for key in [key for key in self._asked if key[0] == owner]:
            del self._asked[key]

    async def _vector(self, owner: str, text: str) -> VectorArray:
        """The question's vector; one asked lately is at hand, for the same owner only."""
        key = owner, text
        if key in self._asked:
            self._asked.move_to_end(key)
            return self._asked[key]
        [vector] = await self._embedder.embed([text])
        self._asked[key] = vector
        if len(self._asked) > _ASKED_LATELY:
            self._asked.popitem(last=False)
        return vector


def _same_matter(facts: Mapping[str, Any], body: NewMemory) -> bool:
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
