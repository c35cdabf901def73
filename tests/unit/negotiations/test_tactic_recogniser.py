"""One recogniser hears by meaning where the sentence model is there, and by phrases where it is not."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from negotiator.advice.tactics.recognition import ORDINARY, recognise_tactics
from negotiator.advice.tactics.sentence_classifier import Vectors
from negotiator.base.errors import Unavailable
from negotiator.memory.embedding.embedder import Embedder, HashingEmbedder
from negotiator.negotiations import tactic_recogniser
from negotiator.negotiations.tactic_recogniser import TacticRecogniser, classifier_file

FINAL = "This is our final offer."
EXAMPLES = tuple(
    (f"{words} {n}", label)
    for words, label in (("no more than", "tac_final_offer_bluff"), ("the house has", ORDINARY))
    for n in range(8)
)


class Model:
    """A sentence model with two meanings; it counts what it is asked."""

    model = "two-axes"

    def __init__(self) -> None:
        self.asked = 0
        self.away = False

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """The first axis, or the second one for houses."""
        if self.away:
            raise Unavailable("not now")
        self.asked += len(texts)
        return np.array([[0.0, 1.0] if "house" in text else [1.0, 0.0] for text in texts], "f4")


def hearing(model: Model, folder: Path, *, patience: float | None = 10.0) -> TacticRecogniser:
    """A recogniser with this model, of which it asks vectors alone."""
    return TacticRecogniser(cast("Embedder", model), folder, patience=patience)


@pytest.fixture(autouse=True)
def few_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixteen sentences are learned in no time."""
    monkeypatch.setattr(tactic_recogniser, "built_in_examples", lambda: EXAMPLES)


@pytest.mark.asyncio
async def test_without_a_sentence_model_phrases_decide(tmp_path: Path) -> None:
    recogniser = TacticRecogniser(HashingEmbedder("not installed"), tmp_path)
    heard = await recogniser.recognise(FINAL)
    assert heard.moves == recognise_tactics(FINAL)
    assert not heard.by_meaning
    assert not list(tmp_path.iterdir())


@pytest.mark.asyncio
async def test_meaning_is_learned_once_and_kept_for_other_processes(tmp_path: Path) -> None:
    model = Model()
    heard = await hearing(model, tmp_path).recognise("Forty, tops of all tops.")
    assert [move.tactic_id for move in heard.moves] == ["tac_final_offer_bluff"]
    assert heard.by_meaning
    assert classifier_file(tmp_path, model.model).exists()
    other = Model()
    again = await hearing(other, tmp_path).recognise("Forty, tops of all tops.")
    assert again == heard
    assert other.asked == 1


@pytest.mark.asyncio
async def test_a_model_that_fails_leaves_the_phrases(tmp_path: Path) -> None:
    model = Model()
    recogniser = hearing(model, tmp_path)
    model.away = True
    assert not (await recogniser.recognise(FINAL)).by_meaning
    model.away = False
    assert (await recogniser.recognise(FINAL)).by_meaning
    model.away = True
    assert (await recogniser.recognise(FINAL)).moves == recognise_tactics(FINAL)
    await recogniser.close()


@pytest.mark.asyncio
async def test_an_utterance_does_not_wait_for_ever_for_the_learning(tmp_path: Path) -> None:
    recogniser = hearing(Model(), tmp_path, patience=0.0)
    assert not (await recogniser.recognise(FINAL)).by_meaning
    await recogniser.close()
