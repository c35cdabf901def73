"""The JSON views of rehearsals. Nothing of the counterpart's person or memory is in them before the end."""

from collections.abc import Sequence
from typing import Any

from negotiator.base import values
from negotiator.rehearsals.debrief import make_debrief
from negotiator.rehearsals.debrief_words import DebriefWords
from negotiator.rehearsals.play import last_words, my_offer, outcome, their_offer
from negotiator.rehearsals.record import RehearsalTurn
from negotiator.rehearsals.schemas import AttemptView, DebriefView
from negotiator.rehearsals.stored import StoredRehearsal
from negotiator.terms.issues import Package
from negotiator.terms.terms import Terms
from negotiator.terms.terms_view import package_view
from negotiator.terms.wording import Wording


def rehearsal_head(rehearsal: StoredRehearsal) -> dict[str, Any]:
    """A rehearsal as lists show it."""
    return {
        "id": rehearsal.id,
        "negotiation_id": rehearsal.negotiation,
        "rehearsal": True,
        "kind": rehearsal.person.kind,
        "hardness": rehearsal.person.hardness,
        "seed": rehearsal.seed,
        "state": rehearsal.state,
        "rounds": sum(turn.by == "me" and turn.action == "offer" for turn in rehearsal.turns),
        "result": rehearsal.result or None,
        "created_at": values.timestamp(rehearsal.created_at),
        "updated_at": values.timestamp(rehearsal.updated_at),
    }


def rehearsal_view(rehearsal: StoredRehearsal) -> dict[str, Any]:
    """A rehearsal with its turns."""
    terms = rehearsal.terms
    return {
        **rehearsal_head(rehearsal),
        "turns": [_turn_view(terms, turn) for turn in rehearsal.turns],
        "says": last_words(rehearsal),
        "worded_by": rehearsal.worded_by,
        "their_offer": in_words(terms, their_offer(rehearsal)),
        "my_offer": in_words(terms, my_offer(rehearsal)),
        "outcome": in_words(terms, outcome(rehearsal)),
    }


def in_words(terms: Terms, package: Package | None) -> dict[str, Any] | None:
    """A package with how it is said."""
    if package is None:
        return None
    return {"package": package_view(terms, package), "words": Wording(terms).package(package)}


def result_of(rehearsal: StoredRehearsal) -> dict[str, Any]:
    """The head of the debrief, which lists show."""
    found = debrief_answer(rehearsal, [])
    left = found["left_on_table"]
    return {"score": found["score"], "deal": found["deal"], "left_on_table": left["words"], "money": left["money"]}


def debrief_answer(rehearsal: StoredRehearsal, attempts: Sequence[StoredRehearsal]) -> DebriefView:
    """The debrief of a rehearsal that is over, with the other rehearsals that met the same person."""
    person = rehearsal.person
    found = make_debrief(rehearsal.terms, person, rehearsal.turns, rehearsal.state)
    return DebriefWords(found).view(
        rehearsal_id=rehearsal.id,
        kind=person.kind,
        hardness=person.hardness,
        seed=rehearsal.seed,
        attempts=[_attempt(one) for one in attempts if one.id != rehearsal.id and one.state != "running"],
    )


def _attempt(rehearsal: StoredRehearsal) -> AttemptView:
    return {
        "id": rehearsal.id,
        "created_at": values.timestamp(rehearsal.created_at),
        "score": rehearsal.result["score"],
        "money": rehearsal.result["money"],
        "state": rehearsal.state,
    }


def _turn_view(terms: Terms, turn: RehearsalTurn) -> dict[str, Any]:
    shown = in_words(terms, turn.package)
    return {
        "number": turn.number,
        "at": values.timestamp(turn.at),
        "by": turn.by,
        "action": turn.action,
        "package": shown and shown["package"],
        "words": shown and shown["words"],
        "said": turn.said,
        "heard": list(turn.remarks),
        "final": turn.final,
        "withdraws": turn.withdraws,
    }
