"""The JSON of tactics and suggestions."""

from collections.abc import Mapping
from typing import Any, Final

from negotiator.advice.tactics.catalogue import TacticCatalogue, built_in_catalogue
from negotiator.advice.tactics.facts import PublicWords, TacticSituation
from negotiator.advice.tactics.ranking import (
    TacticResult,
    fill_line,
    rank_tactics,
    recognised_moves,
    suggestions_summary,
)
from negotiator.advice.tactics.recognition import RecognisedTactic
from negotiator.advice.tactics.tactic import Tactic, TacticClause, TacticCondition
from negotiator.base import values
from negotiator.negotiations.engine_input import engine_result_json
from negotiator.negotiations.schemas_tactics import (
    ListTactics,
    RecognisedBy,
    RecognisedTacticView,
    SuggestionsView,
    TacticView,
)
from negotiator.negotiations.tactic_queries import StoredTactic

LINE_PURPOSE: Final = "a line to say next in a negotiation"


def suggestions_view(
    situation: TacticSituation,
    own: tuple[Tactic, ...],
    limit: int,
    *,
    results: Mapping[str, TacticResult],
    recognised_by: RecognisedBy | None = None,
) -> SuggestionsView:
    """The suggestions for a situation, and the recognised moves with the words quoted from the utterance.

    `own` are the user's tactics, `results` the user's record by tactic id; `recognised_by` says what heard the moves.
    """
    catalogue = built_in_catalogue()
    items = rank_tactics(situation, catalogue=catalogue, own=own, results=results, limit=limit)
    whole = catalogue.with_own(own)
    moves = recognised_moves(situation)
    return {
        "items": [engine_result_json(item) for item in items],
        "recognised": [recognised_view(move, whole) for move in moves],
        "recognised_by": recognised_by,
        "summary": suggestions_summary(
            moves,
            whole.by_id[items[0].tactic.id] if items else None,
            items[0].say if items else "",
            is_answer=situation.utterance is not None,
        ),
        "worded_by": "engine",
    }


def with_words(found: SuggestionsView, texts: Mapping[str, str], by: str) -> SuggestionsView:
    """The suggestions with the lines that `texts` has by place, also where the summary says the first one."""
    items = [{**item, "say": texts.get(str(n), item["say"])} for n, item in enumerate(found["items"])]
    summary = found["summary"]
    if items and found["items"][0]["say"]:
        summary = summary.replace(found["items"][0]["say"], items[0]["say"])
    return {**found, "items": items, "summary": summary, "worded_by": by}


def tactic_view(tactic: Tactic, row: StoredTactic | None = None) -> TacticView:
    """A tactic in the schema of a request, with origin, revision and times when it is the user's own (`row`).

    The lines of a built-in tactic are as a private person would say them when nothing is known of the negotiation.
    """
    view: Any = engine_result_json(tactic)
    if row is None:
        view["lines"] = [{"role": line.role, "text": fill_line(line.text, PublicWords())} for line in tactic.lines]
    for member in ("use_when", "avoid_when"):
        view[member] = [_clause(clause) for clause in getattr(tactic, member)]
    view["preconditions"] = [_condition(test) for test in tactic.preconditions]
    view |= {
        "origin": row.origin if row else None,
        "revision": row.revision if row else None,
        "created_at": values.timestamp(row.created_at) if row else None,
        "updated_at": values.timestamp(row.updated_at) if row else None,
    }
    return view


def selected_tactics(own: list[StoredTactic], request: ListTactics) -> list[TacticView]:
    """The tactics that match the filters of a request: the user's own first, then the built-in ones."""
    rows = {one.tactic.id: one for one in own}
    whole = built_in_catalogue().with_own(one.tactic for one in own).by_id
    order = [*rows, *(tactic.id for tactic in built_in_catalogue().tactics)]
    chosen = [whole[key] for key in order if _wanted(whole[key], request)]
    return [tactic_view(tactic, rows.get(tactic.id)) for tactic in chosen]


def _wanted(tactic: Tactic, request: ListTactics) -> bool:
    words = "\n".join((tactic.name, *tactic.aliases, tactic.summary)).lower()
    return (
        request.family in (None, tactic.family)
        and request.owner in (None, tactic.owner)
        and (request.role is None or tactic.suits(request.role))
        and (request.phase is None or request.phase in tactic.phases)
        and (request.query is None or request.query.lower() in words)
    )


def recognised_view(move: RecognisedTactic, catalogue: TacticCatalogue | None = None) -> RecognisedTacticView:
    """A recognised tactic on the wire; of the built-in catalogue, or of this one."""
    tactic = (catalogue or built_in_catalogue()).get(move.tactic_id)
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
