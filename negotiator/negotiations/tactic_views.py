"""Tactics and suggestions as they are answered."""

from collections.abc import Mapping
from typing import Any, Final

from negotiator import values
from negotiator.negotiations.engine_input import engine_result_json
from negotiator.negotiations.schemas_tactics import ListTactics
from negotiator.negotiations.tactic_queries import StoredTactic
from negotiator.negotiations.tactics.catalogue import TacticCatalogue, built_in_catalogue
from negotiator.negotiations.tactics.facts import TacticSituation
from negotiator.negotiations.tactics.ranking import TacticResult, rank_tactics, recognised_moves
from negotiator.negotiations.tactics.recognition import RecognisedTactic
from negotiator.negotiations.tactics.tactic import Tactic, TacticClause, TacticCondition

LINE_PURPOSE: Final = "a line to say next in a negotiation"


def suggestions_view(
    situation: TacticSituation,
    own: tuple[Tactic, ...],
    limit: int,
    *,
    results: Mapping[str, TacticResult],
) -> dict[str, Any]:
    """The contract's Suggestions, and the moves that were heard with what they were heard in."""
    shelf = built_in_catalogue()
    items = rank_tactics(situation, shelf=shelf, own=own, results=results, limit=limit)
    whole = shelf.with_own(own)
    return {
        "items": [engine_result_json(item) for item in items],
        "recognised": [_heard(move, whole) for move in recognised_moves(situation)],
        "worded_by": "engine",
    }


def tactic_view(tactic: Tactic, row: StoredTactic | None = None) -> dict[str, Any]:
    """A tactic in the schema it is written in, and what its row adds."""
    view: dict[str, Any] = engine_result_json(tactic)
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


def selected_tactics(own: list[StoredTactic], asked: ListTactics) -> list[dict[str, Any]]:
    """Every tactic that is asked for: the user's own first, then the shelf."""
    rows = {one.tactic.id: one for one in own}
    whole = built_in_catalogue().with_own(one.tactic for one in own).by_id
    order = [*rows, *(tactic.id for tactic in built_in_catalogue().tactics)]
    chosen = [whole[key] for key in order if _wanted(whole[key], asked)]
    return [tactic_view(tactic, rows.get(tactic.id)) for tactic in chosen]


def _wanted(tactic: Tactic, asked: ListTactics) -> bool:
    words = "\n".join((tactic.name, *tactic.aliases, tactic.summary)).lower()
    return (
        asked.family in (None, tactic.family)
        and asked.owner in (None, tactic.owner)
        and (asked.role is None or tactic.suits(asked.role))
        and (asked.phase is None or asked.phase in tactic.phases)
        and (asked.query is None or asked.query.lower() in words)
    )


def _heard(move: RecognisedTactic, shelf: TacticCatalogue) -> dict[str, Any]:
    tactic = shelf.get(move.tactic_id)
    return {
        "tactic": {"id": move.tactic_id, "name": tactic.name if tactic else move.tactic_id},
        "quote": move.quote,
        "confidence": move.confidence,
        "deceptive": tactic is not None and tactic.ethics == "deceptive",
    }


def _clause(clause: TacticClause) -> dict[str, Any]:
    test = _condition(clause.condition) if clause.condition else {}
    return {"text": clause.text, **test}


def _condition(test: TacticCondition) -> dict[str, Any]:
    value = list(test.value) if isinstance(test.value, tuple) else test.value
    return {"fact": test.fact, test.operator: value}
