"""Suggestions in a few sentences that a person understands."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from negotiator.advice.tactics.catalogue import built_in_catalogue
from negotiator.advice.tactics.ranking import suggestions_summary
from negotiator.advice.tactics.recognition import RecognisedTactic

CATALOGUE = built_in_catalogue()
MOVES = [tactic.id for tactic in CATALOGUE.tactics if tactic.is_opponent_move]


def test_what_they_do_is_quoted_and_followed_by_what_to_do_and_to_say() -> None:
    move = RecognisedTactic("tac_deadline", "by Friday at the latest", 0.8)
    tactic = CATALOGUE.by_id["tac_test_deadline"]
    assert suggestions_summary([move], tactic, "What is behind that date?", is_answer=True) == (
        "They seem to be setting a deadline (“by Friday at the latest”). First, ask what drives the date. "
        "Then say: “What is behind that date?”"
    )


def test_two_moves_are_named_and_a_third_is_not() -> None:
    moves = [
        RecognisedTactic("tac_phantom_bidder", "another buyer", 0.9),
        RecognisedTactic("tac_final_offer_bluff", "my final price", 0.8),
        RecognisedTactic("tac_deadline", "Friday", 0.7),
    ]
    said = suggestions_summary(moves, None, "", is_answer=True)
    assert said.startswith(
        "They seem to be pointing to a bidder you cannot check (“another buyer”) and calling this final "
        "(“my final price”). "
    )
    assert "Friday" not in said


def test_words_without_a_recognised_move_are_said_to_be_harmless() -> None:
    said = suggestions_summary([], CATALOGUE.by_id["tac_meso"], "Which is best?", is_answer=True)
    assert said.startswith("Nothing in what they said is pressure or a trick. First, build three")
    assert suggestions_summary([], CATALOGUE.by_id["tac_meso"], "Yes?", is_answer=False).startswith("First, ")


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from(MOVES), max_size=3, unique=True),
    st.none() | st.sampled_from(CATALOGUE.tactics),
    st.sampled_from(["Shall we?", "I hear you. Let us see.", ""]),
    st.booleans(),
)
def test_a_summary_is_one_to_three_whole_sentences(moves: list[str], first: object, say: str, is_answer: bool) -> None:
    heard = [RecognisedTactic(move, "their words", 0.8) for move in moves]
    tactic = next((one for one in CATALOGUE.tactics if one is first), None)
    said = suggestions_summary(heard, tactic, say, is_answer=is_answer)
    assert said[0].isupper()
    assert said == " ".join(said.split())
    assert re.search(r"[.?!]”?$", said)
    assert not re.search(r"[{}_]|\.\.|\b(\w+) \1\b", said), said
