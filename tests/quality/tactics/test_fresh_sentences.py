"""Tactics are recognised in sentences that were no examples, and ordinary talk is left alone, as measured."""

import asyncio
from pathlib import Path

import pytest

from negotiator.advice.tactics.recognition import RecognisedTactic, built_in_examples, recognise_tactics
from negotiator.memory.embedding.minilm_embedder import choose_embedder, find_minilm_files
from negotiator.negotiations.tactic_recogniser import TacticRecogniser
from tests.conftest import MODELS
from tests.helpers.neighbours import MODEL, missing
from tests.quality.tactics.measure_sentences import Figures, figures, read_sentences

SENTENCES = read_sentences(Path(__file__).with_name("held_out.json"))
UNSEEN = read_sentences(Path(__file__).with_name("unseen.json"))
"""By a writer who saw neither phrases nor examples, and read by nobody who wrote them."""


@pytest.fixture(scope="module")
def heard() -> dict[str, tuple[RecognisedTactic, ...]]:
    """What the recogniser of both doors names for each sentence."""
    if find_minilm_files() is None:
        missing(MODEL)
    embedder = choose_embedder("", key="", model="", models=MODELS)

    async def listen() -> dict[str, tuple[RecognisedTactic, ...]]:
        recogniser = TacticRecogniser(embedder, MODELS, patience=None)
        found = {one.text: (await recogniser.recognise(one.text)).moves for one in (*SENTENCES, *UNSEEN)}
        await embedder.close()
        return found

    return asyncio.run(listen())


def test_the_sentences_are_no_examples() -> None:
    assert len({one.text for one in SENTENCES}) == len(SENTENCES) >= 200
    assert not {one.text for one in SENTENCES} & {text for text, _ in built_in_examples()}


def test_meaning_recognises_many_times_what_phrases_alone_do(heard: dict[str, tuple[RecognisedTactic, ...]]) -> None:
    found: Figures = figures(SENTENCES, lambda text: heard[text])
    alone = figures(SENTENCES, recognise_tactics)
    assert found.recall >= 0.45
    assert found.precision >= 0.88
    assert found.false <= 0.04
    assert found.recall >= 3 * alone.recall
    assert alone.false <= 0.05


def test_on_sentences_that_guided_nobody_meaning_finds_more_and_errs_less(
    heard: dict[str, tuple[RecognisedTactic, ...]],
) -> None:
    found: Figures = figures(UNSEEN, lambda text: heard[text])
    alone = figures(UNSEEN, recognise_tactics)
    assert found.recall >= 0.57
    assert found.precision >= 0.70
    assert found.recall >= 2 * alone.recall
    assert found.precision > alone.precision
