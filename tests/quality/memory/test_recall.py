"""Retrieval holds its floors, and both lists together are better than either alone."""

import asyncio

import pytest

from negotiator.memory.embedding.minilm_embedder import find_minilm_files
from tests.conftest import MODELS
from tests.helpers.missing_tools import MODEL, missing
from tests.quality.memory.corpus import memories, questions
from tests.quality.memory.measure_recall import ORDERS, Bench, Score, laid_out

FLOORS = {"tune": Score(0.50, 0.43), "held": Score(0.50, 0.43)}
"""On processors without VNNI the model's 8-bit products saturate: a recall of .507 there, .51 and more elsewhere."""


@pytest.fixture(scope="module")
def memory_corpus() -> Bench:
    """The corpus on a shelf, with the vectors of the embedded model."""
    if find_minilm_files() is None:
        missing(MODEL)
    return asyncio.run(laid_out(MODELS))


def test_the_corpus_is_large_varied_and_mostly_asked_in_other_words() -> None:
    noted, asked = memories(), questions()
    assert len({one.text for one in noted}) == len(noted) >= 1000
    assert len({one.text for one in asked}) >= 220
    assert sum(not one.shares for one in asked) >= len(asked) / 2
    assert {one.answer for one in asked} <= {one.id for one in noted}


@pytest.mark.parametrize("part", ["tune", "held"])
def test_both_together_beat_meaning_alone_and_words_alone(memory_corpus: Bench, part: str) -> None:
    scores = {name: memory_corpus.score(order, part) for name, order in ORDERS.items()}
    hybrid = scores.pop("hybrid")
    for name, other in scores.items():
        assert hybrid.recall > other.recall, name
        assert hybrid.mrr > other.mrr, name
    assert hybrid.recall >= FLOORS[part].recall
    assert hybrid.mrr >= FLOORS[part].mrr
