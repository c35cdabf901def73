"""Rules and the head: found, silenced, learned, and taught by a user."""

import time
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.teleprompter.cues.catalogue import NEUTRAL, cue_catalogue
from negotiator.teleprompter.cues.classifier import TrainingSums, Vectors, training_sums
from negotiator.teleprompter.cues.matcher import (
    PIECE_WORDS,
    PIECES,
    build_matcher,
    find_rules,
    makes_request,
    text_pieces,
)

SAID: Final[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("cues.toml").read_text("utf-8"))
MATCHER = build_matcher(cue_catalogue())


def embedded(*texts: str) -> Vectors:
    """Vectors of letter counts, each of length one: near for texts with the same letters."""
    rows = np.array([[1 + text.count(chr(97 + n)) for n in range(26)] for text in texts])
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def trained(ids: Sequence[str], *examples: tuple[str, str]) -> TrainingSums:
    return training_sums(ids, embedded(*(text for text, _ in examples)), [label for _, label in examples])


@pytest.mark.parametrize(("said", "cue_id"), SAID["heard"])
def test_a_pattern_is_heard_with_its_words(said: str, cue_id: str) -> None:
    hits = {match.cue_id: match for match in MATCHER.match_rules(said, "them")}
    assert hits[cue_id].quote in said
    assert hits[cue_id].source == "rule"


@pytest.mark.parametrize("said", SAID["not_heard"])
def test_murmurs_and_what_borrows_or_negates_the_words_are_not_heard(said: str) -> None:
    assert MATCHER.match_rules(said, "them") == ()


def test_a_bare_answer_is_marked_and_counts_at_the_beginning_only() -> None:
    (bare,) = MATCHER.match_rules("well, nope.", "them")
    assert (bare.cue_id, bare.reply) == ("refusal", True)
    assert MATCHER.match_rules("there is a nope on the list", "them") == ()
    (whole,) = MATCHER.match_rules("that is out of the question", "them")
    assert (whole.cue_id, whole.reply) == ("refusal", False)


def test_what_is_taken_back_makes_the_head_less_sure() -> None:
    ids = [cue.id for cue in MATCHER.catalogue.of("them")]
    said = "we never said this is our final offer"
    lessons = trained(ids, (said, "final_offer"), ("good day", NEUTRAL))
    head = lessons.head(1e-3)
    assert find_rules(said, MATCHER.rules["them"])[0].negated
    plain = MATCHER.match("we gladly say so", "them", head=head, vectors=embedded(said))
    taken_back = MATCHER.match(said, "them", head=head, vectors=embedded(said))
    assert taken_back[0].confidence < plain[0].confidence
    assert taken_back[0].source == "model"


def test_my_words_raise_no_objection_and_theirs_no_coaching() -> None:
    assert MATCHER.match_rules("that is too expensive", "me") == ()
    assert MATCHER.match_rules("the price is not set in stone", "them") == ()


@given(st.text(max_size=400))
def test_pieces_are_few_and_short_and_never_none(text: str) -> None:
    parts = text_pieces(text)
    assert 1 <= len(parts) <= PIECES
    assert all(len(part.split()) <= PIECE_WORDS for part in parts)


def test_every_word_of_a_long_sentence_is_in_a_piece() -> None:
    words = [f"w{number}" for number in range(60)]
    assert {word for part in text_pieces(" ".join(words)) for word in part.split()} == set(words)


def test_the_head_knows_its_examples_and_leaves_the_rest() -> None:
    lessons = trained(["a", "b"], ("aaaa", "a"), ("bbbb", "b"), ("zzzz", ""))
    head = lessons.head(1e-3)
    assert head.labels == ("a", "b", NEUTRAL)
    scores = head.scores(embedded("aaaa", "bbbb", "zzzz"))
    assert scores == pytest.approx(np.eye(3), abs=0.05)


def test_a_user_s_example_turns_the_head_in_milliseconds_and_leaves_the_shipped_one() -> None:
    shipped = trained(["a", "b"], ("aaaa", "a"), ("bbbb", "b"), ("zzzz", ""))
    before = shipped.head().scores(embedded("zzza"))[0]
    own = shipped.adding(embedded("zzza"), ["b"], weight=5.0)
    after = own.head().scores(embedded("zzza"))[0]
    assert after[1] > before[1] + 0.2
    assert shipped.head().scores(embedded("zzza"))[0] == pytest.approx(before)


def test_a_refit_of_the_full_size_is_quick() -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(1200, 64))
    vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    lessons = training_sums(["a"], vectors, ["a"] * 600 + [NEUTRAL] * 600)
    started = time.process_time()
    lessons.adding(vectors[:1], [NEUTRAL], weight=3.0).head()
    assert time.process_time() - started < 2.0


def test_nothing_is_learned_from_nothing_and_unknown_cues_are_named() -> None:
    with pytest.raises(ValueError, match="no examples"):
        training_sums(["a"], np.zeros((0, 26), np.float32), [])
    lessons = trained(["a"], ("aaaa", "a"))
    with pytest.raises(KeyError, match="c"):
        lessons.adding(embedded("x"), ["c"])


def test_rule_and_head_together_are_surer_than_either() -> None:
    ids = [cue.id for cue in MATCHER.catalogue.of("them")]
    said = "take it or leave it"
    lessons = trained(ids, (said, "take_it_or_leave_it"), ("good day", NEUTRAL))
    matches = MATCHER.match(said, "them", head=lessons.head(), vectors=embedded(said))
    alone = MATCHER.match_rules(said, "them")[0]
    assert matches[0].cue_id == "take_it_or_leave_it"
    assert matches[0].confidence > alone.confidence
    assert [m.confidence for m in matches] == sorted((m.confidence for m in matches), reverse=True)


def test_one_vector_for_each_piece_is_insisted_on() -> None:
    lessons = trained(["a"], ("aaaa", "a"))
    with pytest.raises(ValueError, match="one vector"):
        MATCHER.match("one. two.", "them", head=lessons.head(), vectors=embedded("one"))


@pytest.mark.parametrize(
    ("said", "is_one"), [*((text, True) for text in SAID["requests"]), *((text, False) for text in SAID["talk"])]
)
def test_a_request_or_an_offer_is_told_from_talk(said: str, is_one: bool) -> None:
    assert makes_request(said) is is_one


@given(st.text(max_size=300))
def test_any_text_is_a_request_or_none(text: str) -> None:
    assert makes_request(text) in {True, False}
