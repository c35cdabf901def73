"""What of a memory is searched: its terms for BM25, and its vector, of the text and of its head.

The head names the counterparty, the kind and the tags. Questions often name only these, and the text often does not.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from negotiator.base.errors import Unavailable
from negotiator.base.search_terms import stemmed_terms
from negotiator.memory.embedding.embedder import Embedder
from negotiator.memory.glossary import glossary
from negotiator.memory.memories_queries import StoredEmbedding
from negotiator.memory.schemas_memories import MemoryBody
from negotiator.runtime.fault_log import FaultLog

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

FORM: Final = "text-head-1"
"""The version of what is embedded; part of the model's name that is stored with a vector."""
HEAD_WEIGHT: Final = 0.7
"""How much the head's vector counts beside the text's."""
READY_SECONDS: Final = 1.0
"""How long a call waits for a model that loads, before it does without."""
_TRIAL: Final = "Is the model back?"
_FIELD_WEIGHT: Final = 2
"""How often a word of the counterparty or of a tag counts."""


def searchable_terms(text: str, counterparty: str | None, tags: Sequence[str]) -> list[str]:
    """The terms of a memory for BM25, those of the counterparty and the tags twice, with translations."""
    known = glossary()
    fields = [counterparty] if counterparty else []
    if tags:
        fields.append(" ".join(tags))
    terms = stemmed_terms(text)
    terms += known.translated_terms(text)
    for field in fields:
        terms += (stemmed_terms(field) + known.translated_terms(field)) * _FIELD_WEIGHT
    return terms


@dataclass(frozen=True, slots=True)
class EmbeddedText:
    """The parts of a memory that are embedded."""

    text: str
    kind: str
    counterparty: str | None
    tags: tuple[str, ...]

    @classmethod
    def of_body(cls, body: MemoryBody) -> "EmbeddedText":
        return cls(body.text, body.kind, body.counterparty, tuple(sorted(set(body.tags))))

    @classmethod
    def of_view(cls, view: Mapping[str, Any]) -> "EmbeddedText":
        return cls(view["text"], view["kind"], view["counterparty"], tuple(view["tags"]))


class MemoryEmbedder:
    """Embeds memories and queries by an embedder that may still have to be loaded."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self.failure = ""
        """Why the model could not be loaded or used at the last attempt."""
        self._faults = FaultLog("the embedding model cannot be loaded")
        self._preparing: asyncio.Task[None] | None = None
        self._building: asyncio.Task[None] | None = None

    @property
    def models(self) -> tuple[str, ...]:
        """The names under which comparable vectors are stored: of this form, and of the model's plain texts."""
        return f"{self.embedder.model}/{FORM}", self.embedder.model

    def prepare(self) -> "asyncio.Task[None]":
        """Load the model in the background; the task never fails."""
        if self._preparing is None or self._preparing.done():
            self._preparing = asyncio.create_task(self._attempt(self.embedder.prepare))
        return self._preparing

    def build(self) -> None:
        """Make the model's file in the background, once in the life of the process."""
        if self._building is None:
            self._building = asyncio.create_task(self._attempt(self.embedder.build))

    async def is_ready(self) -> bool:
        """Whether embedding takes no more than its time; loads the model and waits up to `READY_SECONDS` for it."""
        if self.embedder.state != "ready":
            await asyncio.wait([self.prepare()], timeout=READY_SECONDS)
        return self.embedder.state == "ready"

    async def embed(self, memories: Sequence[EmbeddedText]) -> list[StoredEmbedding]:
        """The vectors to store. A memory gets an empty one, made later, while the model loads or fails."""
        try:
            if await self.is_ready():
                return await self.embed_now(memories)
        except Unavailable:
            pass  # `failure` has the reason, and the embedder logs it
        return [NOT_EMBEDDED] * len(memories)

    async def embed_now(self, memories: Sequence[EmbeddedText]) -> list[StoredEmbedding]:
        """The vectors to store; 503 while the model fails."""
        return [StoredEmbedding(self.models[0], vector.tobytes()) for vector in await self._vectors(memories)]

    async def embed_texts(self, texts: Sequence[str]) -> "NDArray[float32]":
        """The vectors of texts alone, one row each; 503."""
        english = self.embedder.english_only
        try:
            found = await self.embedder.embed([glossary().translate(text) for text in texts] if english else texts)
        except Unavailable as away:
            self.failure = away.description
            raise
        self.failure = ""
        return found

    async def retry(self) -> None:
        """Try a model that failed, so that `failure` is true though nobody uses it."""
        if self.failure and await self.is_ready():
            with contextlib.suppress(Unavailable):
                await self.embed_texts([_TRIAL])

    async def close(self) -> None:
        for task in (self._preparing, self._building):
            if task is not None and not task.done():
                task.cancel()
        await self.embedder.close()

    async def _vectors(self, memories: Sequence[EmbeddedText]) -> "NDArray[float32]":
        """Unit vectors of text and head together; of the text alone for a memory of no counterparty and no tags."""
        import numpy as np

        heads = [self._head(memory) for memory in memories]
        found = await self.embed_texts([*(memory.text for memory in memories), *(head for head in heads if head)])
        vectors = np.array(found[: len(memories)])
        with_head = [place for place, head in enumerate(heads) if head]
        joined = vectors[with_head] + HEAD_WEIGHT * found[len(memories) :]
        vectors[with_head] = joined / np.linalg.norm(joined, axis=1, keepdims=True)
        return vectors

    def _head(self, memory: EmbeddedText) -> str:
        if not memory.counterparty and not memory.tags:
            return ""
        english = self.embedder.english_only
        name = memory.counterparty or ""
        name = glossary().translate(name) if english else name
        return ", ".join(part for part in (name, memory.kind, *memory.tags) if part)

    async def _attempt(self, step: Callable[[], Awaitable[None]]) -> None:
        try:
            await step()
            self.failure = ""
            self._faults.worked()
        except Unavailable as fault:
            self._faults.failed(fault.detail or fault.description)
            self.failure = fault.description
        except OSError as fault:
            self._faults.failed(str(fault))
            self.failure = "The embedding model cannot be stored."


NOT_EMBEDDED: Final = StoredEmbedding("", b"")
"""What is stored for a memory whose vector is still to be made."""
