"""Retrieval holds its floors, and both lists together are better than either alone."""

import asyncio
from pathlib import Path

import pytest

from negotiator.memory.embedding.minilm_embedder import find_minilm_files
from tests.conftest import MODELS
from tests.helpers.neighbours import MODEL, missing
from tests.quality.memory.corpus import Part, memories, questions
from tests.quality.memory.measure_questions import Bench, corpus_of, every, half, own_corpus

FLOORS: dict[Part, tuple[float, float]] = {"tune": (0.53, 0.43), "held": (0.50, 0.43)}
"""Recall at five and mean reciprocal rank. Without VNNI the model's 8-bit products saturate: .51 then."""


@pytest.fixture(scope="module")
def memory_corpus() -> Bench:
    """The corpus as it is indexed, with the vectors of the embedded model."""
    if find_minilm_files() is None:
        missing(MODEL)
    return asyncio.run(own_corpus(MODELS))


def test_the_corpus_is_large_varied_and_mostly_asked_in_other_words() -> None:
    noted, asked = memories(), questions()
    assert len({one.text for one in noted}) == len(noted) >= 1000
    assert len({one.text for one in asked}) >= 220
    assert sum(not one.shares for one in asked) >= len(asked) / 2
    assert {one.answer for one in asked} <= {one.id for one in noted}


@pytest.mark.parametrize("part", ["tune", "held"])
def test_both_together_beat_meaning_alone_and_words_alone(memory_corpus: Bench, part: Part) -> None:
    scores = {name: memory_corpus.score(order, half(part)) for name, order in memory_corpus.orders().items()}
    hybrid = scores.pop("hybrid")
    for name, other in scores.items():
        assert hybrid.recall > other.recall, name
        assert hybrid.mrr > other.mrr, name
    recall, mrr = FLOORS[part]
    assert hybrid.recall >= recall
    assert hybrid.mrr >= mrr


def test_on_notes_and_questions_of_another_writer_too() -> None:
    if find_minilm_files() is None:
        missing(MODEL)
    bench = asyncio.run(corpus_of(Path(__file__).with_name("notes"), MODELS))
    scores = {name: bench.score(order, every) for name, order in bench.orders().items()}
    hybrid = scores.pop("hybrid")
    assert hybrid.recall >= 0.77
    assert all(hybrid.recall > other.recall and hybrid.mrr > other.mrr for other in scores.values())
