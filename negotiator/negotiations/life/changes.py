"""Opening a negotiation and editing it."""

from dataclasses import replace
from typing import Any

from negotiator import values
from negotiator.edge.input import believe
from negotiator.errors import Conflict, FieldError, ValidationFailed
from negotiator.negotiations import sessions
from negotiator.negotiations.life import states
from negotiator.negotiations.life.history import Actor, Event
from negotiator.negotiations.schemas.session import EditNegotiation, NegotiationBody
from negotiator.negotiations.session import Session
from negotiator.negotiations.terms.reading import read_terms
from negotiator.negotiations.terms.terms import Terms
from negotiator.negotiations.terms.view import shown
from negotiator.patch import merged
from negotiator.store.statement import Transaction


def add(
    tx: Transaction, owner: str, body: NegotiationBody, *, terms: Terms, actor: Actor
) -> dict[str, Any]:
    """Keep a new negotiation of this principal's; it starts as a draft. Answers its view; 422 for a past deadline."""
    check_deadline(terms)
    session = Session(values.new_id("neg"), owner, body, terms, values.now())
    session = sessions.note(tx, session, actor, Event(kind="opened", to_state=states.DRAFT))
    return sessions.save(tx, session, new=True)


def check_deadline(terms: Terms) -> None:
    """Refuse a deadline that has passed already (422)."""
    if terms.deadline is not None and terms.deadline <= values.now():
        raise ValidationFailed([FieldError("/deadline", "Must lie in the future.")])


def edit(
    tx: Transaction,
    owner: str,
    change: EditNegotiation,
    *,
    actor: Actor,
    expected: int | None,
) -> dict[str, Any]:
    """Apply a merge patch and check the result as a whole; a change of baseline keeps the old one."""
    session = sessions.load(tx, owner, change.id, expected=expected)
    if session.state in {states.WON, states.CANCELLED}:
        raise Conflict(
            f"A {session.state} negotiation is not edited any more.",
            error="closed",
            members={"state": session.state, "allowed": states.allowed(session.state)},
        )
    given = session.body.model_dump(mode="json", exclude_unset=True)
    body: NegotiationBody = believe(NegotiationBody, merged(given, change.patch))
    terms = read_terms(body)
    if terms.deadline != session.terms.deadline:
        check_deadline(terms)
    before, after = shown(session.body, session.terms), shown(body, terms)
    changed = sorted(name for name in after if before[name] != after[name])
    edited = replace(session, body=body, terms=terms)
    edited = sessions.note(tx, edited, actor, Event(kind="edited", detail={"changed": changed}))
    if "baseline" in changed and before["baseline"] is not None:
        edited = _keep_baseline(tx, edited, actor, before["baseline"])
    return sessions.save(tx, edited)


def _keep_baseline(tx: Transaction, session: Session, actor: Actor, old: dict[str, Any]) -> Session:
    replaced = {**old, "replaced_at": values.timestamp(values.now())}
    detail = {"was": old, "after_offers": session.offers > 0}
    session = sessions.note(tx, session, actor, Event(kind="baseline_changed", detail=detail))
    return replace(session, baselines=(*session.baselines, replaced))
