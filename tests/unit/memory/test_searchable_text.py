"""What of a memory is embedded and indexed, and what a call does while the model loads."""

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from negotiator.base.errors import Unavailable
from negotiator.memory import searchable_text
from negotiator.memory.embedding.embedder import EmbedderState, HashingEmbedder
from negotiator.memory.searchable_text import NOT_EMBEDDED, EmbeddedText, MemoryEmbedder, searchable_terms

TEXT = "They pay after 45 days."


class LoadingEmbedder(HashingEmbedder):
    """Loads when `loaded` is set; cannot load when `broken`."""

    def __init__(self) -> None:
        super().__init__()
        self.state: EmbedderState = "idle"
        self.loaded = asyncio.Event()
        self.broken = False

    async def prepare(self) -> None:
        if self.broken:
            raise Unavailable("No model.", detail="broken")
        self.state = "loading"
        await self.loaded.wait()
        self.state = "ready"

    async def embed(self, texts: Sequence[str]) -> Any:
        assert self.state == "ready"
        return await super().embed(texts)


class FailingEmbedder(HashingEmbedder):
    is_away = True

    async def embed(self, texts: Sequence[str]) -> Any:
        if self.is_away:
            raise Unavailable("It is away.")
        return await super().embed(texts)


async def vector(embedder: MemoryEmbedder, memory: EmbeddedText) -> Any:
    """The stored vector of a memory."""
    [stored] = await embedder.embed([memory])
    assert stored.model == embedder.models[0]
    return np.frombuffer(stored.vector, np.float32)


@pytest.mark.asyncio
async def test_counterparty_kind_and_tags_are_part_of_the_vector() -> None:
    embedder = MemoryEmbedder(HashingEmbedder())
    plain = await vector(embedder, EmbeddedText(TEXT, "fact", None, ()))
    [text] = await embedder.embed_texts([TEXT])
    assert (plain == text).all(), "without a head the text alone"
    for memory, query in (
        (EmbeddedText(TEXT, "fact", "Globex", ()), "Globex"),
        (EmbeddedText(TEXT, "fact", None, ("cashflow",)), "cashflow"),
        (EmbeddedText(TEXT, "warning", "Globex", ()), "warning"),
    ):
        found = await vector(embedder, memory)
        [asked] = await embedder.embed_texts([query])
        assert np.isclose(np.linalg.norm(found), 1, atol=1e-5)
        assert found @ asked > plain @ asked + 0.1, query


@pytest.mark.asyncio
async def test_memories_and_queries_of_other_languages_are_embedded_in_english() -> None:
    embedder = MemoryEmbedder(HashingEmbedder())
    german, english = await embedder.embed_texts(["Wie ist der Rabatt", "discount"])
    assert german @ english > 0.99
    name = await vector(embedder, EmbeddedText(TEXT, "fact", "Nord Verpackung", ()))
    [asked] = await embedder.embed_texts(["nord packaging"])
    assert name @ asked > 0.3


def test_words_of_the_counterparty_and_of_tags_count_twice() -> None:
    terms = searchable_terms("The invoice is late.", "Nord Verpackung", ["skonto"])
    assert [terms.count(term) for term in ("invoic", "nord", "packag", "skonto")] == [1, 2, 2, 2]


@pytest.mark.asyncio
async def test_a_call_waits_shortly_for_the_model_and_then_does_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searchable_text, "READY_SECONDS", 0.02)
    model = LoadingEmbedder()
    embedder = MemoryEmbedder(model)
    memory = EmbeddedText(TEXT, "fact", None, ())
    assert await embedder.embed([memory]) == [NOT_EMBEDDED]
    assert model.state == "loading"
    model.loaded.set()
    assert await embedder.is_ready()
    assert (await vector(embedder, memory)).any()


@pytest.mark.asyncio
async def test_a_model_that_cannot_be_loaded_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searchable_text, "READY_SECONDS", 0.02)
    model = LoadingEmbedder()
    model.broken = True
    embedder = MemoryEmbedder(model)
    assert not await embedder.is_ready()
    assert embedder.failure == "No model."
    model.broken = False
    model.loaded.set()
    assert await embedder.is_ready()
    assert embedder.failure == ""
    await embedder.close()


@pytest.mark.asyncio
async def test_a_memory_gets_its_vector_later_while_the_model_fails_and_a_trial_finds_it_back() -> None:
    model = FailingEmbedder()
    embedder = MemoryEmbedder(model)
    memory = EmbeddedText(TEXT, "fact", "Globex", ())
    assert await embedder.embed([memory, memory]) == [NOT_EMBEDDED] * 2
    assert embedder.failure == "It is away."
    await embedder.retry()
    assert embedder.failure == "It is away."
    model.is_away = False
    await embedder.retry()
    assert embedder.failure == ""
    assert (await vector(embedder, memory)).any()
