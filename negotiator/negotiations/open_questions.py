"""What advice lacks in a negotiation: for each the question that finds it out, and what the answer would change."""

from collections.abc import Sequence
from typing import Final

from negotiator.negotiations.concession.aims import (
    find_aims,
    with_assumed_ranges,
    with_fewer_options,
)
from negotiator.negotiations.concession.move_text import MissingInput, missing_inputs
from negotiator.negotiations.issues import Issue
from negotiator.negotiations.terms import Terms
from negotiator.negotiations.wording import Wording

GAP_QUESTIONS: Final[dict[str, str]] = {
    "walk_away": "What is the least you would still agree to, before you would rather have no deal?",
    "target": "What result would you call a success, and why is it realistic?",
    "batna": "What exactly happens if there is no deal, and what is that worth?",
    "their_estimate": "Who has dealt with them before, and where did they give in?",
    "deadline": "By when does it have to be decided, on your side and on theirs?",
    "currency": "In which currency is it settled?",
}
_EFFECTS: Final[dict[str, str]] = {
    "walk_away": "No advice goes below it, and it says when to leave.",
    "target": "The opening and every step start from it.",
    "batna": "It decides when leaving is better, and gives you a sentence to say.",
    "their_estimate": "It says whether there is room for a deal.",
    "deadline": "It sets the pace of your steps.",
    "currency": "Amounts are then said as money.",
    "range": "Without it, offers cannot be compared.",
    "direction": "Without it, offers cannot be compared.",
    "weight": "It decides what you give first and what you hold.",
    "their_weight": "It finds trades that cost you little and bring them much.",
}
_ORDER: Final = ("target", "walk_away", "range", "direction", "their_estimate", "batna")
"""What advice needs most, first; the rest follows in the order of `missing_inputs`."""
_JOINED: Final = {
    "weight": ("weights", "Which of the points matters most to you, and by how much?"),
    "their_weight": ("their_weights", "Which of the points matters most to the other side?"),
}
"""What is asked once for all issues."""


def gap_question(words: Wording, issues: Sequence[Issue], name: str) -> str:
    """The question that finds out what a name of `missing` stands for."""
    if (ask := GAP_QUESTIONS.get(name)) is not None:
        return ask
    kind = name.rpartition("/")[2]
    place = name.split("/")[1] if name.startswith("issues/") else ""
    label = words.label(issues[int(place)]) if place.isdigit() else "it"
    return {
        "their_weight": f"How much does {label} matter to them, compared with the rest?",
        "weight": f"How much does {label} matter to you, compared with the rest?",
        "range": f"What are the best and the worst value anybody could imagine for {label}?",
        "direction": f"Is more or less better for you on {label}?",
    }.get(kind, "What is it, and who would know?")


def open_questions(terms: Terms) -> list[MissingInput]:
    """What advice lacks, what it needs most first. Weights are asked for once, for all issues together."""
    words = Wording(terms)
    assumed, _ = with_assumed_ranges(with_fewer_options(terms))
    found = [] if assumed.unvalued else missing_inputs(find_aims(terms), words)
    named = {one.missing for one in found}
    for missing in terms.missing:
        kind = missing.rpartition("/")[2]
        name, ask = _JOINED.get(kind) or (missing, gap_question(words, terms.issues, missing))
        if name not in named:
            named.add(name)
            found.append(MissingInput(name, ask, _EFFECTS.get(kind, "")))
    return sorted(found, key=lambda one: _rank(one.missing.rpartition("/")[2]))


def _rank(kind: str) -> int:
    return _ORDER.index(kind) if kind in _ORDER else len(_ORDER)
