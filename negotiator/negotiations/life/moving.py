"""State moves that are asked for: pausing, closing, reopening, agreeing, approving (contract §3, States)."""

from dataclasses import replace
from typing import Any

from negotiator import values
from negotiator.errors import Conflict, FieldError, ValidationFailed
from negotiator.negotiations import sessions
from negotiator.negotiations.ledger import rows as ledger
from negotiator.negotiations.ledger import standing
from negotiator.negotiations.ledger.recording import agree, enter
from negotiator.negotiations.ledger.refusals import guarded, not_live
from negotiator.negotiations.ledger.rows import Row
from negotiator.negotiations.life import states
from negotiator.negotiations.life.history import Actor, Event
from negotiator.negotiations.schemas.session import MoveNegotiation
from negotiator.negotiations.session import Session
from negotiator.negotiations.terms.view import shown_worth
from negotiator.store.statement import Transaction


def move(
    tx: Transaction,
    owner: str,
    asked: MoveNegotiation,
    *,
    actor: Actor,
    expected: int | None,
) -> dict[str, Any]:
    """Move a negotiation to another state; answers its view.

    404 · 409 `illegal_transition` with `allowed`, `offer_not_live`, `below_walk_away`, `constraint_violated`,
    `approval_mismatch` · 412 · 422 for a reason or digest that is missing.
    """
    session = sessions.load(tx, owner, asked.id, expected=expected)
    states.check_move(session.state, asked.to, asked.reason)
    if session.state == states.AWAITING:
        session = _decide(tx, session, asked, actor)
    elif asked.to == states.AGREED:
        session = _agree(tx, session, asked, actor)
    elif asked.to == states.ACTIVE:
        session = replace(session, outcome=None)
        session = enter(tx, session, asked.to, actor=actor, reason=asked.reason)
    elif asked.to == states.WON:
        ended = {**(session.outcome or {}), "result": states.WON, "closed_at": _now()}
        session = replace(session, outcome=ended)
        session = enter(tx, session, asked.to, actor=actor, reason=asked.reason)
    elif asked.to in states.CLOSED:
        session = _close(tx, session, asked, actor)
    else:
        session = enter(tx, session, asked.to, actor=actor, reason=asked.reason)
    return sessions.save(tx, session)


def _close(tx: Transaction, session: Session, asked: MoveNegotiation, actor: Actor) -> Session:
    """Lost, walked away, cancelled: nothing agreed. Walking away leaves the alternative as the result."""
    outcome: dict[str, Any] = {
        "result": asked.to,
        "offer_id": None,
        "package": None,
        "closed_at": _now(),
        "reason": asked.reason,
    }
    if asked.to == states.WALKED_AWAY:
        outcome["batna"] = shown_worth(session.terms, session.terms.batna)
    session = replace(session, outcome=outcome, pending=None)
    return enter(tx, session, asked.to, actor=actor, reason=asked.reason)


def _agree(tx: Transaction, session: Session, asked: MoveNegotiation, actor: Actor) -> Session:
    """Agreed outside the ledger: on the live offer named, or the latest one; held to the walk-away like any other."""
    now = values.now()
    rows = ledger.every(tx, session.id)
    live = standing.live(rows, now)
    row = live[-1] if live else None
    if asked.offer_id is not None:
        row = next((one for one in live if one.id == asked.offer_id), None)
        if row is None:
            raise not_live(rows, asked.offer_id, now)
    if row is not None and row.content["override"] is None:
        session = _hold_to(tx, session, row, asked, actor)
    return agree(tx, session, row, actor=actor, reason=asked.reason)


def _hold_to(
    tx: Transaction, session: Session, row: Row, asked: MoveNegotiation, actor: Actor
) -> Session:
    against = guarded(
        session.terms,
        row.package or {},
        binding=True,
        override=asked.override,
        reason=asked.reason,
    )
    if not against:
        return session
    detail = {"offer_id": row.id, "against": against}
    event = Event(kind="override", reason=asked.reason, detail=detail)
    return sessions.note(tx, session, actor, event)


def _decide(tx: Transaction, session: Session, asked: MoveNegotiation, actor: Actor) -> Session:
    """Leave `awaiting_approval`: approved by the digest of exactly what was held, refused with a reason, or closed."""
    held = session.pending or {}
    if asked.approved:
        if asked.to != states.ACTIVE:
            raise ValidationFailed([FieldError("/approved", "Approve with a move to active.")])
        return _approve(tx, session, asked, actor)
    if asked.to == states.ACTIVE and asked.reason is None:
        text = "Say why the package is refused, or send approved with its package_sha256."
        raise ValidationFailed([FieldError("/reason", text)])
    ledger.decide(tx, held["offer_id"], "refused")
    event = Event(
        kind="approval",
        reason=asked.reason,
        detail={"approved": False, "offer_id": held["offer_id"]},
    )
    session = sessions.note(tx, replace(session, pending=None), actor, event)
    if asked.to in states.CLOSED:
        return _close(tx, session, asked, actor)
    return enter(tx, session, asked.to, actor=actor, reason=asked.reason)


def _approve(tx: Transaction, session: Session, asked: MoveNegotiation, actor: Actor) -> Session:
    held = session.pending or {}
    if asked.package_sha256 is None:
        text = "Name the digest of the package that is approved."
        raise ValidationFailed([FieldError("/package_sha256", text)])
    if asked.package_sha256 != held["package_sha256"]:
        raise Conflict(
            "Another package was held than the one approved.",
            error="approval_mismatch",
            members={"package_sha256": held["package_sha256"]},
        )
    rows = ledger.every(tx, session.id)
    row = next(row for row in rows if row.id == held["offer_id"])
    acceptance = row.kind == "acceptance"
    if acceptance and row.answers not in {one.id for one in standing.live(rows, values.now())}:
        raise not_live(rows, row.answers, values.now())
    if row.content["override"] is None:
        guarded(session.terms, row.package or {}, binding=acceptance, override=False, reason=None)
    ledger.decide(tx, row.id, "approved")
    detail = {"approved": True, "offer_id": row.id, "package_sha256": asked.package_sha256}
    event = Event(kind="approval", reason=asked.reason, detail=detail)
    session = sessions.note(tx, replace(session, pending=None), actor, event)
    session = enter(tx, session, states.ACTIVE, actor=actor, reason=asked.reason)
    return agree(tx, session, row, actor=actor) if acceptance else session


def _now() -> str:
    return values.timestamp(values.now())
