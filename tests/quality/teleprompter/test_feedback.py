"""A user's feedback on real sentences: gone in other words too, and the rest answers as before."""

import asyncio
from dataclasses import dataclass
from typing import Final

import pytest

from negotiator.memory.embedding.embedder import Embedder
from negotiator.memory.embedding.minilm_embedder import choose_embedder, find_minilm_files
from negotiator.teleprompter import classifier_training
from negotiator.teleprompter.classifier_training import ShippedClassifiers, UserClassifier
from negotiator.teleprompter.cues.catalogue import cue_catalogue
from negotiator.teleprompter.cues.matcher import build_matcher, text_pieces
from negotiator.teleprompter.cues.policy import PolicySettings
from negotiator.teleprompter.queries import LabelledVector, label_from_feedback
from tests.conftest import MODELS
from tests.helpers.neighbours import MODEL, missing
from tests.quality.teleprompter.measure_cues import Answer, figures, taught, wordings

SAID: Final = {
    "honestly your competitor quoted us a lot less": "to be honest your competitor has quoted us quite a bit less",
    "that is too expensive for us": "that is just too expensive for our team",
    "i need to run this past my director first": "i'd have to run that by my director first",
    "this is our final offer": "well this is really our final offer",
}


@dataclass(frozen=True, slots=True)
class Ground:
    """The embedder and the shipped lessons."""

    embedder: Embedder
    shipped: ShippedClassifiers


@pytest.fixture(scope="module")
def ground() -> Ground:
    """Learned from the vectors that the shipped heads are learned from; kept for the next run."""
    if find_minilm_files() is None:
        missing(MODEL)
    embedder, book = choose_embedder("", key="", model="", models=MODELS), cue_catalogue()
    file = classifier_training.shipped_file(MODELS, book, embedder.model)
    kept = classifier_training.read_shipped(file)
    if kept is None:

        async def run() -> ShippedClassifiers:
            them, me = [
                await embedder.embed([text for text, _ in book.examples(speaker)]) for speaker in ("them", "me")
            ]
            return classifier_training.train_shipped(book, {"them": them, "me": me})

        kept = asyncio.run(run())
        classifier_training.write_shipped(file, kept)
    return Ground(embedder, kept)


def answers(ground: Ground, them: UserClassifier) -> list[Answer]:
    """The held-out wordings of theirs, by a user's head."""
    matcher = build_matcher(cue_catalogue())

    async def run() -> list[Answer]:
        found: list[Answer] = []
        for one in wordings():
            if one.speaker == "them":
                vectors = await ground.embedder.embed(text_pieces(one.text))
                matches = matcher.match(one.text, "them", head=them.head, vectors=vectors)
                found.append(Answer(one, them.with_refusals(matches, vectors)))
        return found

    return asyncio.run(run())


def refusing(ground: Ground, *said: str, times: int = 3) -> tuple[UserClassifier, list[str]]:
    """A user's head after the surest card of each sentence was called wrong, and the cues of those cards."""
    matcher, shipped = build_matcher(cue_catalogue()), ground.shipped
    own: list[LabelledVector] = []
    cues: list[str] = []
    for text in said:
        vectors = asyncio.run(ground.embedder.embed([text]))
        head = shipped.taught["them"].head
        cues.append(matcher.match(text, "them", head=head, vectors=vectors)[0].cue_id)
        own += [LabelledVector(label_from_feedback("wrong", cues[-1]), vectors[0].tobytes())] * times
    return shipped.with_own("them", own), cues


@pytest.mark.parametrize(("said", "nearly"), SAID.items())
def test_after_three_refusals_the_card_is_gone_in_other_words_too(ground: Ground, said: str, nearly: str) -> None:
    mine, [cue] = refusing(ground, said)
    matcher = build_matcher(cue_catalogue())
    shown = PolicySettings().shown
    for text in (said, nearly):
        vectors = asyncio.run(ground.embedder.embed(text_pieces(text)))
        shipped = matcher.match(text, "them", head=ground.shipped.taught["them"].head, vectors=vectors)
        assert next(one.confidence for one in shipped if one.cue_id == cue) >= shown
        own = mine.with_refusals(matcher.match(text, "them", head=mine.head, vectors=vectors), vectors)
        assert all(one.confidence < shown for one in own if one.cue_id == cue)


def test_four_refused_sentences_cost_their_owner_little_else_and_others_nothing(ground: Ground) -> None:
    shipped = ground.shipped.taught["them"]
    before = figures(answers(ground, shipped), PolicySettings())
    mine, _ = refusing(ground, *SAID)
    own = figures(answers(ground, mine), PolicySettings())
    after = figures(answers(ground, ground.shipped.taught["them"]), PolicySettings())
    assert after == before
    assert own.shown >= before.shown - 0.05
    assert own.false <= before.false + 0.02


def test_the_kept_lessons_are_those_that_were_measured(ground: Ground) -> None:
    fresh = taught(ground.embedder)
    for speaker, head in fresh.items():
        kept = ground.shipped.taught[speaker].head
        assert kept.labels == head.labels
        assert abs(kept.weights - head.weights).max() < 1e-4  # the last bits depend on which kernels ran
