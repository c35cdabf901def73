"""Tactics are recognised in sentences that were no examples, and ordinary talk is left alone, as measured."""

import asyncio
from pathlib import Path

import pytest

from negotiator.memory.embedding.embedder_selection import choose_embedder
from negotiator.memory.embedding.minilm_embedder import find_minilm_files
from negotiator.negotiations.tactic_recogniser import TacticRecogniser
from negotiator.negotiations.tactics.examples import built_in_examples
from negotiator.negotiations.tactics.recognition import RecognisedTactic, recognise_tactics
from tests.conftest import MODELS
from tests.helpers.missing_tools import MODEL, missing
from tests.quality.tactics.measure_sentences import Figures, figures, read_sentences

SENTENCES = read_sentences(Path(__file__).with_name("held_out.json"))


@pytest.fixture(scope="module")
def heard() -> dict[str, tuple[RecognisedTactic, ...]]:
    """What the recogniser of both doors names for each sentence."""
    if find_minilm_files() is None:
        missing(MODEL)
    embedder = choose_embedder("", key="", model="", models=MODELS)

    async def listen() -> dict[str, tuple[RecognisedTactic, ...]]:
        recogniser = TacticRecogniser(embedder, MODELS, patience=None)
        found = {one.text: (await recogniser.recognise(one.text)).moves for one in SENTENCES}
        await embedder.close()
        return found

    return asyncio.run(listen())


def test_the_sentences_are_no_examples() -> None:
    assert len({one.text for one in SENTENCES}) == len(SENTENCES) >= 200
    assert not {one.text for one in SENTENCES} & {text for text, _ in built_in_examples()}


def test_meaning_recognises_many_times_what_phrases_alone_do(
    heard: dict[str, tuple[RecognisedTactic, ...]],
) -> None:
    found: Figures = figures(SENTENCES, lambda text: heard[text])
    alone = figures(SENTENCES, recognise_tactics)
    assert found.recall >= 0.45
    assert found.precision >= 0.88
    assert found.false <= 0.04
    assert found.recall >= 3 * alone.recall
    assert alone.false <= 0.05
