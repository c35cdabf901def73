"""Tactics and suggestions as they are answered."""

from collections.abc import Mapping
from typing import Any, Final

from negotiator import values
from negotiator.negotiations.advice.wire import wire
from negotiator.negotiations.suggestions.own import Owned
from negotiator.negotiations.suggestions.schemas import ListTactics
from negotiator.negotiations.tactics.recognise import Recognition
from negotiator.negotiations.tactics.shelf import Shelf, built_in_shelf
from negotiator.negotiations.tactics.situation import TacticSituation
from negotiator.negotiations.tactics.suggest import OwnResult, heard, suggest
from negotiator.negotiations.tactics.tactic import Clause, Condition, Tactic

PURPOSE: Final = "a line to say next in a negotiation"


def suggestions(
    situation: TacticSituation,
    own: tuple[Tactic, ...],
    limit: int,
    *,
    results: Mapping[str, OwnResult],
) -> dict[str, Any]:
    """The contract's Suggestions, and the moves that were heard with what they were heard in."""
    shelf = built_in_shelf()
    items = suggest(situation, shelf=shelf, own=own, results=results, limit=limit)
    whole = shelf.with_own(own)
    return {
        "items": [wire(item) for item in items],
        "recognised": [_heard(move, whole) for move in heard(situation)],
        "worded_by": "engine",
    }


def shown(tactic: Tactic, row: Owned | None = None) -> dict[str, Any]:
    """A tactic in the schema it is written in, and what its row adds."""
    view: dict[str, Any] = wire(tactic)
    for member in ("use_when", "avoid_when"):
        view[member] = [_clause(clause) for clause in getattr(tactic, member)]
    view["preconditions"] = [_condition(test) for test in tactic.preconditions]
    return {
        **view,
        "origin": row.origin if row else None,
        "revision": row.revision if row else None,
        "created_at": values.timestamp(row.created_at) if row else None,
        "updated_at": values.timestamp(row.updated_at) if row else None,
    }


def selected(own: list[Owned], asked: ListTactics) -> list[dict[str, Any]]:
    """Every tactic that is asked for: the user's own first, then the shelf."""
    rows = {one.tactic.id: one for one in own}
    whole = built_in_shelf().with_own(one.tactic for one in own).by_id
    order = [*rows, *(tactic.id for tactic in built_in_shelf().tactics)]
    chosen = [whole[key] for key in order if _wanted(whole[key], asked)]
    return [shown(tactic, rows.get(tactic.id)) for tactic in chosen]


def _wanted(tactic: Tactic, asked: ListTactics) -> bool:
    words = "\n".join((tactic.name, *tactic.aliases, tactic.summary)).lower()
    return (
        asked.family in (None, tactic.family)
        and asked.owner in (None, tactic.owner)
        and (asked.role is None or tactic.suits(asked.role))
        and (asked.phase is None or asked.phase in tactic.phases)
        and (asked.query is None or asked.query.lower() in words)
    )


def _heard(move: Recognition, shelf: Shelf) -> dict[str, Any]:
    tactic = shelf.get(move.tactic_id)
    return {
        "tactic": {"id": move.tactic_id, "name": tactic.name if tactic else move.tactic_id},
        "quote": move.quote,
        "confidence": move.confidence,
        "deceptive": tactic is not None and tactic.ethics == "deceptive",
    }


def _clause(clause: Clause) -> dict[str, Any]:
    test = _condition(clause.condition) if clause.condition else {}
    return {"text": clause.text, **test}


def _condition(test: Condition) -> dict[str, Any]:
    value = list(test.value) if isinstance(test.value, tuple) else test.value
    return {"fact": test.fact, test.operator: value}
