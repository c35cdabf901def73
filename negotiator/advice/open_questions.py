"""What advice lacks in a negotiation: for each the question that finds it out, and what the answer would change."""

from collections.abc import Sequence
from typing import Final

from negotiator.advice.concession.aims import find_aims, with_assumed_ranges, with_fewer_options
from negotiator.advice.concession.move_text import MissingInput, missing_inputs
from negotiator.terms.issues import Issue
from negotiator.terms.plain_text import noun_phrase, tidy
from negotiator.terms.terms import Terms
from negotiator.terms.wording import Wording

GAP_QUESTIONS: Final[dict[str, str]] = {
    "walk_away": "What is the least you would still agree to, before you would rather have no deal?",
    "target": "What result would you call a success, and why is it realistic?",
    "batna": "What exactly happens if there is no deal, and what is that worth?",
    "their_estimate": "Who has dealt with them before, and how far did they go?",
    "deadline": "By when does it have to be decided, on your side and on theirs?",
    "currency": "In which currency do you pay or get paid?",
}
_EFFECTS: Final[dict[str, str]] = {
    "walk_away": "No advice goes below it, and it shows when to leave.",
    "target": "The opening and every step are planned from it.",
    "batna": "It decides when leaving is better, and it gives you something to say.",
    "their_estimate": "It shows whether there is room for a deal.",
    "deadline": "It sets the pace of your steps.",
    "currency": "Amounts can then be shown as money.",
    "range": "Without it, offers cannot be compared.",
    "direction": "Without it, offers cannot be compared.",
    "weight": "It decides what you give first and what you keep.",
    "their_weight": "It shows trades that cost you little and are worth a lot to them.",
}
_ORDER: Final = ("direction", "target", "walk_away", "range", "their_estimate", "batna")
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
    label = noun_phrase(words.label(issues[int(place)])) if place.isdigit() else tidy(kind)
    return {
        "their_weight": f"How much do they care about {label}, compared with the rest?",
        "weight": f"How much do you care about {label}, compared with the rest?",
        "range": f"What are the best and the worst values that anybody could imagine for {label}?",
        "direction": f"For {label}, is a higher or a lower value better for you?",
    }.get(kind, f"What is {label}, and who would know?")


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
