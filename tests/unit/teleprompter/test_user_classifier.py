"""A store, a small catalogue, and heads over it.

Feedback turns its owner's head and nobody else's; the shipped lessons are learned once.
"""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from negotiator.compose import ownership
from negotiator.memory.embedding.embedder import Embedder, HashingEmbedder
from negotiator.runtime.thread_pools import BuiltOnce
from negotiator.store.sqlite import SqliteStore
from negotiator.teleprompter import queries
from negotiator.teleprompter.classifier_training import UserClassifier
from negotiator.teleprompter.cues.catalogue import NEUTRAL, CueCatalogue
from negotiator.teleprompter.cues.classifier import Vectors
from negotiator.teleprompter.cues.matcher import CueMatch, build_matcher, text_pieces
from negotiator.teleprompter.queries import MAX_EXAMPLES, ExampleLabel, label_from_feedback
from negotiator.teleprompter.schemas import FeedbackAction
from negotiator.teleprompter.user_classifiers import UserClassifiers
from tests.unit.teleprompter.conftest import AskedEmbedder

NewClassifier = Callable[..., UserClassifiers]


@pytest.fixture
def new_classifier(store: SqliteStore, small: CueCatalogue, tmp_path: Path) -> NewClassifier:
    """Makes heads as a process of its own would have them."""

    def make(embedder: Embedder | None = None, **options: int) -> UserClassifiers:
        asked = embedder or AskedEmbedder()
        catalogue = BuiltOnce(lambda: small)
        return UserClassifiers(store, asked, catalogue=catalogue, folder=tmp_path / "lessons", **options)

    return make


SAID = "that is too expensive for us right now"
NEARLY = "that is too expensive for us at the moment"


async def feedback(
    heads: UserClassifiers, store: SqliteStore, owner: str, *, action: FeedbackAction, said: str = SAID
) -> None:
    """Let an owner say something about the card of a sentence."""
    vector = await heads.vector(said)
    lesson = label_from_feedback(action, "price_too_high")
    await store.write(lambda tx: heads.teach(tx, owner, lesson, vector=vector))


async def sure(heads: UserClassifiers, owner: str, said: str, small: CueCatalogue) -> float:
    """How sure the owner's head is that the price is called too high."""
    taught = await heads.of(owner, "them")
    assert taught is not None
    vectors = await HashingEmbedder().embed(text_pieces(said))
    found = build_matcher(small).match(said, "them", head=taught.head, vectors=vectors)
    cooled = taught.with_refusals(found, vectors)
    return next((one.confidence for one in cooled if one.cue_id == "price_too_high"), 0.0)


@pytest.mark.asyncio
async def test_what_was_wrong_three_times_is_shown_no_more_not_even_in_other_words(
    new_classifier: NewClassifier, store: SqliteStore, small: CueCatalogue
) -> None:
    heads = new_classifier()
    before = [await sure(heads, "usr_a", said, small) for said in (SAID, NEARLY)]
    assert min(before) >= 0.5
    seen = [before[0]]
    for _ in range(3):
        await feedback(heads, store, "usr_a", action="wrong")
        seen.append(await sure(heads, "usr_a", SAID, small))
    assert seen == sorted(seen, reverse=True)
    assert [await sure(heads, "usr_a", said, small) for said in (SAID, NEARLY)] == [0.0, 0.0]
    assert await sure(heads, "usr_a", "your price is way too high for our budget", small) > 0.2


@pytest.mark.asyncio
async def test_another_owner_s_head_is_the_shipped_one(new_classifier: NewClassifier, store: SqliteStore) -> None:
    heads = new_classifier()
    shipped = await heads.of("usr_b", "them")
    for _ in range(3):
        await feedback(heads, store, "usr_a", action="wrong")
    assert await heads.of("usr_b", "them") is shipped
    assert await heads.of("usr_a", "them") is not shipped
    assert await heads.of("usr_a", "me") is not None


@pytest.mark.asyncio
async def test_a_dismissed_card_counts_half_and_a_used_one_for_it(
    new_classifier: NewClassifier, store: SqliteStore, small: CueCatalogue
) -> None:
    heads = new_classifier()
    plain = await sure(heads, "usr_none", SAID, small)
    for owner, action in (("usr_w", "wrong"), ("usr_d", "dismissed"), ("usr_u", "used")):
        await feedback(heads, store, owner, action=action)  # pyright: ignore[reportArgumentType]
    wrong, dismissed, used = [await sure(heads, owner, SAID, small) for owner in ("usr_w", "usr_d", "usr_u")]
    assert wrong < dismissed < plain <= used <= 1.0
    assert label_from_feedback("dismissed", "x") == ExampleLabel(NEUTRAL, "x", 0.5)


@pytest.mark.asyncio
async def test_a_lesson_of_another_process_counts_at_the_next_call(
    new_classifier: NewClassifier, store: SqliteStore, small: CueCatalogue
) -> None:
    here, there = new_classifier(), new_classifier()
    before = await sure(here, "usr_a", SAID, small)
    await feedback(there, store, "usr_a", action="wrong")
    assert await sure(here, "usr_a", SAID, small) < before
    await store.write(lambda tx: ownership.erase(tx, "usr_a"))
    assert await sure(here, "usr_a", SAID, small) == before


@pytest.mark.asyncio
async def test_the_lessons_are_learned_once_and_learned_again_when_their_file_is_broken(
    new_classifier: NewClassifier, tmp_path: Path
) -> None:
    first, second, third = AskedEmbedder(), AskedEmbedder(), AskedEmbedder()
    learned = await new_classifier(first).of("usr_a", "them")
    kept = await new_classifier(second).of("usr_a", "them")
    assert learned is not None
    assert kept is not None
    assert (len(first.asked) > 100, second.asked) == (True, [])
    assert np.array_equal(learned.head.weights, kept.head.weights)
    assert learned.head.labels == kept.head.labels
    [file] = (tmp_path / "lessons").glob("*.npz")
    file.write_bytes(file.read_bytes()[:5000])
    again = await new_classifier(third).of("usr_a", "them")
    assert again is not None
    assert len(third.asked) == len(first.asked)
    assert np.array_equal(learned.head.weights, again.head.weights)


@pytest.mark.asyncio
async def test_who_has_no_patience_is_told_that_it_is_still_being_learned(new_classifier: NewClassifier) -> None:
    class Slow(AskedEmbedder):
        async def embed(self, texts: Sequence[str]) -> Vectors:
            await go_on.wait()
            return await super().embed(texts)

    go_on = asyncio.Event()
    heads = new_classifier(Slow())
    assert await heads.of("usr_a", "them", patience=0.0) is None
    go_on.set()
    assert await heads.of("usr_a", "them") is not None


@pytest.mark.asyncio
async def test_an_embedder_that_is_away_is_asked_again_later(new_classifier: NewClassifier) -> None:
    embedder = AskedEmbedder()
    embedder.away = True
    heads = new_classifier(embedder)
    assert await heads.of("usr_a", "them") is None
    embedder.away = False
    assert await heads.of("usr_a", "them") is not None


@pytest.mark.asyncio
async def test_an_owner_keeps_two_hundred_examples_and_claiming_keeps_the_newest(
    new_classifier: NewClassifier, store: SqliteStore
) -> None:
    heads, vector = new_classifier(), bytes(1536)
    lesson = ExampleLabel(NEUTRAL, "final_offer")
    for owner, count in (("agt_a", MAX_EXAMPLES + 3), ("usr_b", 5)):
        for _ in range(count):
            await store.write(lambda tx, owner=owner: heads.teach(tx, owner, lesson, vector=vector))
    before = await store.read(lambda tx: queries.examples_version(tx, "agt_a"))
    assert before[0] == MAX_EXAMPLES
    newest = (await store.read(lambda tx: queries.examples_version(tx, "usr_b")))[2]
    await store.write(lambda tx: ownership.claim(tx, "agt_a", "usr_b"))
    count, oldest, last = await store.read(lambda tx: queries.examples_version(tx, "usr_b"))
    assert (count, last) == (MAX_EXAMPLES, newest)
    assert oldest > before[1]
    assert (await store.read(lambda tx: queries.examples_version(tx, "agt_a")))[0] == 0
    await store.write(lambda tx: ownership.erase(tx, "usr_b"))
    assert (await store.read(lambda tx: queries.examples_version(tx, "usr_b")))[0] == 0


@pytest.mark.asyncio
async def test_examples_of_cues_that_are_no_more_or_of_another_size_teach_nothing(
    new_classifier: NewClassifier, store: SqliteStore
) -> None:
    heads = new_classifier()
    shipped = await heads.of("usr_a", "them")
    vector = await heads.vector(SAID)
    for lesson, kept in ((ExampleLabel("gone"), vector), (ExampleLabel("final_offer"), vector[:40])):
        await store.write(lambda tx, lesson=lesson, kept=kept: heads.teach(tx, "usr_a", lesson, vector=kept))
    assert await heads.of("usr_a", "them") is shipped


@pytest.mark.asyncio
async def test_few_heads_are_kept(new_classifier: NewClassifier, store: SqliteStore) -> None:
    heads = new_classifier(room=1)
    for owner in ("usr_a", "usr_b"):
        await feedback(heads, store, owner, action="wrong")
    first = await heads.of("usr_a", "them")
    assert await heads.of("usr_a", "them") is first
    await heads.of("usr_b", "them")
    assert await heads.of("usr_a", "them") is not first
    await heads.close()


def test_a_card_that_was_used_as_often_as_refused_stays_as_sure_as_it_was() -> None:
    vectors = np.array([[1.0, 0.0], [1.0, 0.0]], np.float32)
    taught = UserClassifier(None, vectors, ("a", "a"), (1.0, -1.0))  # pyright: ignore[reportArgumentType]
    match = CueMatch("a", 0.6, "rule", "x")
    assert taught.with_refusals([match], vectors[:1]) == (match,)
