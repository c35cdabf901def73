"""What next moves, assessments and debriefs say in fifteen cases, sentence by sentence as it is stored.

`python -m tests.unit.advice.test_stored_sentences` writes the stored sentences anew.
"""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Final

from negotiator.advice.concession import move_text
from negotiator.advice.concession.move import person_move
from negotiator.advice.leverage.assessment import assess_leverage
from negotiator.advice.leverage.concessions import LedgerOffer
from negotiator.advice.leverage_summary import summarise_leverage
from negotiator.advice.plans.brief import PlanBrief
from negotiator.rehearsals.counterpart.latent import draw_counterpart
from negotiator.rehearsals.debrief import Debrief
from negotiator.rehearsals.debrief_words import DebriefWords
from negotiator.terms.issues import Package
from negotiator.terms.plain_text import split_sentences
from negotiator.terms.terms import Terms
from negotiator.terms.wording import Wording
from tests.helpers.generated_rehearsals import made_up_turns
from tests.unit.advice.plans.plan_cases import CASES, FOLDER, PAGES, STORED, case

FILE: Final = Path(__file__).parent / "sentences.toml"
EVERY: Final = {**dict.fromkeys(CASES, FOLDER), **dict.fromkeys(STORED, PAGES)}
_FIGURE: Final = re.compile(r"[0-9][0-9.,]*")
HEARD: Final = (None, "Let us meet in the middle", "This is our final offer", "What is your bottom line?", "It is sold")


def sentences() -> dict[str, list[str]]:
    """What is said in each case, without what differs from a sentence before it in figures alone."""
    shapes: set[str] = set()
    found: dict[str, list[str]] = {}
    for name, folder in EVERY.items():
        brief = case(name, folder).brief
        texts = (*_moves(brief), *_assessment(brief), *_rehearsal(brief.terms))
        for sentence in (one for text in texts for one in split_sentences(text)):
            shape = _FIGURE.sub("#", sentence)
            if shape not in shapes:
                shapes.add(shape)
                found.setdefault(name, []).append(sentence)
    return found


def _moves(brief: PlanBrief) -> Iterator[str]:
    """The words of the next move at each point of a talk in which both sides come nearer, then stand still."""
    if brief.terms.unvalued or (brief.terms.walk_away is None and brief.terms.certain is None):
        return
    for ledger in _ledgers(brief.terms):
        for heard in HEARD:
            move = person_move(brief.terms, ledger, now=brief.now, words=heard, answer=heard, on_table=_last(ledger))
            words = Wording(move.path.aims.terms)
            yield from (move_text.summary(move, words), move_text.say(move, words), move_text.cost(move, words))
            yield from move_text.reasons(move, words)
            yield from move_text.assumptions(move.path.aims, words, move.package, move.reading)
            for one in move_text.missing_inputs(move.path.aims, words, opened=bool(ledger)):
                yield from (one.ask, one.why)


def _last(ledger: tuple[LedgerOffer, ...]) -> Package | None:
    return next((dict(row.package) for row in reversed(ledger) if row.by == "them"), None)


def _ledgers(terms: Terms) -> Iterator[tuple[LedgerOffer, ...]]:
    """Nothing; then their packages, each the answer to the next move of the user."""
    ledger: tuple[LedgerOffer, ...] = ()
    yield ledger
    person = draw_counterpart(terms, "fair", "sentences")
    if person is None:
        return
    theirs = (person.interests.ask, person.interests.floor, person.interests.floor, person.interests.ask)
    for package in theirs:
        ledger = (*ledger, LedgerOffer(seq=len(ledger) + 1, by="them", package=dict(package)))
        yield ledger
        move = person_move(terms, ledger, now=0, on_table=dict(package))
        if move.action == "counter" and move.package is not None:
            ledger = (*ledger, LedgerOffer(seq=len(ledger) + 1, by="me", package=dict(move.package)))
            yield ledger


def _assessment(brief: PlanBrief) -> Iterator[str]:
    if not brief.terms.unvalued:
        words = Wording(brief.terms)
        leverage = assess_leverage(brief.terms, brief.ledger, now=brief.now)
        summary = summarise_leverage(words, leverage, brief.expected, now=brief.now)
        yield summary.text
        for one in summary.find_out_next:
            yield from (one.question, one.why, one.effect)


def _rehearsal(terms: Terms) -> Iterator[str]:
    """The debriefs of rehearsals that end in each way."""
    person = draw_counterpart(terms, "fair", "sentences")
    if person is None:
        return
    for seed, state in enumerate(("agreed", "agreed", "left_by_me", "left_by_them")):
        turns = made_up_turns(Random(f"sentences {seed}"), person, state)  # noqa: S311
        found = Debrief(terms, person, turns, state)
        words = DebriefWords(found)
        yield from (*words.sentences(), words.try_next(), words.lesson(), words.left()["words"])
        yield from (words.move(one)["words"] for one in found.moves)
        yield from (part["words"] for part in words.left()["parts"])
        yield from (words.passed(one)["words"] for one in (*found.passed, *found.deal_passes))
        yield from (words.unanswered(one)["words"] for one in found.unanswered)
        same_terms, opening = words.same_terms(), words.opening()
        beside = opening and opening["against_target"]
        yield from (one["words"] for one in (same_terms, beside) if one is not None)


def test_what_is_said_is_what_is_stored() -> None:
    assert sentences() == tomllib.loads(FILE.read_text("utf-8"))


if __name__ == "__main__":
    rows = {
        name: "".join(f"  {json.dumps(one, ensure_ascii=False)},\n" for one in listed)
        for name, listed in sentences().items()
    }
    FILE.write_text("\n".join(f"{name} = [\n{listed}]\n" for name, listed in rows.items()), "utf-8")
