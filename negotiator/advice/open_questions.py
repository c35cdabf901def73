"""What advice lacks in a negotiation: for each the question that finds it out, and what the answer would change."""

from collections.abc import Sequence
from typing import Final

from negotiator.advice.concession.aims import find_aims, with_assumed_ranges, with_fewer_options
from negotiator.advice.concession.move_text import MissingInput, missing_inputs
from negotiator.advice.words.sentences import table
from negotiator.terms.issues import Issue
from negotiator.terms.plain_text import noun_phrase, tidy
from negotiator.terms.terms import Terms
from negotiator.terms.wording import Wording

_ORDER: Final = ("direction", "target", "walk_away", "range", "their_estimate", "batna")
"""What advice needs most, first; the rest follows in the order of `missing_inputs`."""
_UNKNOWN: Final = {"ask": "What is {label}, and who would know?", "why": ""}


def gap_question(words: Wording, issues: Sequence[Issue], name: str) -> MissingInput:
    """What a name of `missing` stands for."""
    kind = name.rpartition("/")[2]
    place = name.split("/")[1] if name.startswith("issues/") else ""
    label = noun_phrase(words.label(issues[int(place)])) if place.isdigit() else tidy(kind)
    texts = table("questions")["of_the_terms"].get(kind, _UNKNOWN)
    return MissingInput(name, texts["ask"].format(label=label), texts["why"])


def open_questions(terms: Terms) -> list[MissingInput]:
    """What advice lacks, what it needs most first. Weights are asked for once, for all issues together."""
    words, of_all = Wording(terms), table("questions")["of_all_issues"]
    assumed, _ = with_assumed_ranges(with_fewer_options(terms))
    found = [] if assumed.unvalued else missing_inputs(find_aims(terms), words)
    named = {one.missing for one in found}
    for missing in terms.missing:
        one = gap_question(words, terms.issues, missing)
        if (all_together := of_all.get(missing.rpartition("/")[2])) is not None:
            one = MissingInput(**all_together, why=one.why)
        if one.missing not in named:
            named.add(one.missing)
            found.append(one)
    return sorted(found, key=lambda one: _rank(one.missing.rpartition("/")[2]))


def _rank(kind: str) -> int:
    return _ORDER.index(kind) if kind in _ORDER else len(_ORDER)
