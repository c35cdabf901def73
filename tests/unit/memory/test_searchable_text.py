"""What of a memory is embedded and indexed, and what a call does while the model loads."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.memory import searchable_text
from negotiator.memory.embedding.embedder import HashingEmbedder
from negotiator.memory.glossary import glossary
from negotiator.memory.searchable_text import NOT_EMBEDDED, EmbeddedText, MemoryEmbedder, searchable_terms
from tests.helpers.loading_embedder import LoadingEmbedder

TEXT = "They pay after 45 days."


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
    model.is_broken = True
    embedder = MemoryEmbedder(model)
    assert not await embedder.is_ready()
    assert embedder.failure == "No model."
    model.is_broken = False
    model.loaded.set()
    assert await embedder.is_ready()
    assert embedder.failure == ""
    await embedder.close()


@pytest.mark.asyncio
async def test_a_memory_gets_its_vector_later_while_the_model_fails_and_a_trial_finds_it_back() -> None:
    model = LoadingEmbedder("ready")
    model.is_away = True
    embedder = MemoryEmbedder(model)
    memory = EmbeddedText(TEXT, "fact", "Globex", ())
    assert await embedder.embed([memory, memory]) == [NOT_EMBEDDED] * 2
    assert embedder.failure == "The sentence model cannot be used now."
    await embedder.retry()
    assert embedder.failure == "The sentence model cannot be used now."
    model.is_away = False
    await embedder.retry()
    assert embedder.failure == ""
    assert (await vector(embedder, memory)).any()


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("Wie hoch ist der Rabatt für die Lieferung?", "high discount delivery"),
        ("Kündigungsfrist", "notice period"),
        ("Kuendigungsfrist", "notice period"),
        ("Preiserhöhung", "price increase"),
        ("Vertragsverlängerung", "contract renewal"),
        ("quel est le prix de la livraison", "price delivery"),
        ("¿cuál es el plazo de la entrega?", "deadline delivery"),
    ],
)
def test_what_the_glossary_knows_is_translated(text: str, english: str) -> None:
    assert glossary().translate(text) == english


@pytest.mark.parametrize(
    "text",
    [
        "when must the rest of the gift be paid at the bank",
        "Rate for the firm's last order",
        "Acme",
        "Maya",
        "12,500 EUR",
        "",
    ],
)
def test_english_and_names_stay_as_they_are(text: str) -> None:
    assert glossary().translate(text) == text


def test_a_query_word_brings_its_translation_and_its_synonyms() -> None:
    [term] = glossary().query_terms("Rabatt")
    assert next(iter(term)) == "rabatt"
    assert term["rabatt"] == term["discount"] == 1
    assert 0 < term["rebat"] < 1
    [haulier] = glossary().query_terms("haulier")
    assert 0 < haulier["transport"] < 1


def test_function_words_are_asked_for_only_when_there_is_nothing_else() -> None:
    assert [next(iter(term)) for term in glossary().query_terms("wie ist der Rabatt")] == ["rabatt"]
    assert len(glossary().query_terms("what is it")) == 3
    assert glossary().query_terms("") == []


@given(st.text(max_size=80))
def test_any_text_has_a_translation_and_terms(text: str) -> None:
    known = glossary()
    assert isinstance(known.translate(text), str)
    assert all(term and max(term.values()) == 1 for term in known.query_terms(text))
    assert known.translated_terms(text) == known.translated_terms(text)
