"""Suggestions in a few sentences: what the other side seems to be doing, what to do first, and what to say first."""

from collections.abc import Sequence

from negotiator.advice.tactics.phrases import built_in_descriptions
from negotiator.advice.tactics.recognition import RecognisedTactic
from negotiator.advice.tactics.tactic import Tactic
from negotiator.terms.plain_text import join_words, sentence, tidy

MAX_MOVES = 2
"""Moves of the other side that are named, the surest first."""


def suggestions_summary(moves: Sequence[RecognisedTactic], first: Tactic | None, say: str, *, is_answer: bool) -> str:
    """Two or three sentences for the user.

    `moves` are the recognised ones, the surest first; `first` is the tactic that fits best and `say` its line.
    `is_answer` tells whether there are words of the other side to answer.
    """
    parts: list[str] = []
    if moves:
        told = built_in_descriptions()
        seen = [f"{told.get(move.tactic_id, 'making a move')} (“{tidy(move.quote)}”)" for move in moves[:MAX_MOVES]]
        parts.append(f"They seem to be {join_words(seen)}")
    elif is_answer:
        parts.append("Nothing in what they said is pressure or a trick")
    if first is None:
        parts.append("Nothing known so far speaks for one tactic: listen, and ask what matters most to them")
        return " ".join(map(sentence, parts))
    step = first.steps[0] if first.steps else f"try “{tidy(first.name)}”"
    parts.append(f"First, {_lowered(step)}")
    if say:
        parts.append(f"Then say: “{say}”")
    return " ".join(map(sentence, parts))


def _lowered(step: str) -> str:
    """A step as it goes on after a comma."""
    word = step.split(" ")[0]
    return step if word.isupper() else step[:1].lower() + step[1:]
