"""The classifier tells its examples apart, is kept in a file, and decides together with the phrases."""

from pathlib import Path

import numpy as np
import pytest

from negotiator.advice.tactics.catalogue import built_in_catalogue
from negotiator.advice.tactics.recognition import ORDINARY, built_in_examples, recognise_tactics
from negotiator.advice.tactics.sentence_classifier import (
    TacticClassifier,
    Vectors,
    classifier_arrays,
    read_classifier,
    train_classifier,
    word_sequences,
)
from negotiator.memory.embedding.trained_file import write_arrays

BLUFF, DEADLINE = "tac_final_offer_bluff", "tac_deadline"
EXAMPLES = (
    *((f"not a cent more than {n}", BLUFF) for n in ("ten", "twenty", "thirty", "forty")),
    *((f"tell me before {day}", DEADLINE) for day in ("monday", "tuesday", "friday", "sunday")),
    *((f"the {thing} is blue", ORDINARY) for thing in ("house", "car", "boat", "door")),
)


def axis(place: int) -> Vectors:
    """A unit vector that points along one axis, for one piece."""
    found = np.zeros((1, 3), np.float32)
    found[0, place] = 1.0
    return found


@pytest.fixture
def classifier() -> TacticClassifier:
    """One that learned twelve sentences, each label on an axis of its own."""
    return train_classifier(EXAMPLES, np.repeat(np.eye(3, dtype=np.float32), 4, axis=0))


def test_every_example_names_a_tactic_once_and_ordinary_talk_is_a_quarter() -> None:
    examples = built_in_examples()
    labels = [label for _, label in examples]
    assert len({text for text, _ in examples}) == len(examples) >= 2000
    assert set(labels) <= {*built_in_catalogue().by_id, ORDINARY}
    assert labels.count(ORDINARY) >= len(labels) / 5
    assert len(set(labels)) >= 90


def test_a_sentence_near_to_examples_has_their_label(classifier: TacticClassifier) -> None:
    [scores] = classifier.scores(["not a cent more"], axis(0))
    assert max(scores, key=lambda label: scores[label]) == BLUFF
    assert scores[BLUFF] > 0.8


def test_wording_decides_where_meaning_does_not(classifier: TacticClassifier) -> None:
    even = np.full((1, 3), 3**-0.5, np.float32)
    [bluff] = classifier.scores(["not a cent more than fifty"], even)
    [deadline] = classifier.scores(["tell me before noon"], even)
    assert bluff[BLUFF] > bluff[DEADLINE]
    assert deadline[DEADLINE] > deadline[BLUFF]


def test_word_sequences_mark_numbers_and_the_ends() -> None:
    assert {"#", "^ i", "pay # $", "i will pay"} <= set(word_sequences("I'll pay 1,200."))


def test_what_was_learned_is_read_back_and_a_broken_file_is_not(classifier: TacticClassifier, tmp_path: Path) -> None:
    file = tmp_path / "tactics-model-digest.npz"
    assert read_classifier(file) is None
    old = tmp_path / "tactics-model-older.npz"
    old.write_bytes(b"")
    write_arrays(file, classifier_arrays(classifier))
    assert not old.exists()
    again = read_classifier(file)
    assert again is not None
    assert again.scores(["tell me"], axis(1)) == classifier.scores(["tell me"], axis(1))
    file.write_bytes(file.read_bytes()[:200])
    assert read_classifier(file) is None


def test_meaning_is_recognised_and_quoted_without_any_phrase(classifier: TacticClassifier) -> None:
    [move] = recognise_tactics("Before   noon, please.", axis(1), classifier)
    assert (move.tactic_id, move.quote) == (DEADLINE, "Before noon, please.")
    assert move.confidence >= 0.6


def test_a_phrase_raises_the_confidence_and_gives_the_quote(classifier: TacticClassifier) -> None:
    between = (axis(0) + axis(2)) / np.sqrt(2.0, dtype=np.float32)
    text = "Listen, this is our final offer."
    plain = recognise_tactics("Listen, so it goes here.", between, classifier)
    [move] = recognise_tactics(text, between, classifier)
    assert move.tactic_id == BLUFF
    assert move.quote == "our final offer"
    assert move.confidence > max((one.confidence for one in plain), default=0.0)


def test_ordinary_talk_outweighs_a_weak_likeness(classifier: TacticClassifier) -> None:
    assert recognise_tactics("The car is blue.", axis(2), classifier) == ()


def test_a_negated_phrase_lowers_what_meaning_says(classifier: TacticClassifier) -> None:
    near = np.array([[0.8, 0.0, 0.6]], np.float32)
    said = "We are not saying this is our final offer."
    denied = {one.tactic_id: one.confidence for one in recognise_tactics(said, near, classifier)}
    plain = "We are saying this is our last word."
    bluff = {one.tactic_id: one.confidence for one in recognise_tactics(plain, near, classifier)}
    assert denied.get(BLUFF, 0.0) < bluff[BLUFF]


def test_there_must_be_a_vector_for_each_piece(classifier: TacticClassifier) -> None:
    with pytest.raises(ValueError, match="one vector"):
        recognise_tactics("word " * 50, axis(0), classifier)
