"""Opening a negotiation and editing it.

State moves that are asked for: pausing, closing, reopening, agreeing, approving (docs/contract 6.4).
"""

from dataclasses import replace
from typing import Any

import orjson

from negotiator import values
from negotiator.errors import Conflict, FieldError, ValidationFailed
from negotiator.http.input import validate
from negotiator.negotiations import offer_history, queries, states
from negotiator.negotiations import offer_queries as ledger
from negotiator.negotiations.event_queries import Actor, HistoryEvent
from negotiator.negotiations.offer_queries import OfferRow
from negotiator.negotiations.offers import (
    agree_on_package,
    enter_state,
    not_live_conflict,
    overridden_limits,
)
from negotiator.negotiations.schemas_negotiations import (
    EditNegotiation,
    MoveNegotiation,
    NegotiationBody,
)
from negotiator.negotiations.session import NegotiationSession
from negotiator.negotiations.terms import Terms
from negotiator.negotiations.terms_parsing import parse_terms
from negotiator.negotiations.terms_view import terms_view, worth_view
from negotiator.schema import apply_merge_patch
from negotiator.store.statement import Transaction


def open_negotiation(
    tx: Transaction, owner: str, body: NegotiationBody, *, terms: Terms, actor: Actor
) -> dict[str, Any]:
    """Keep a new negotiation of this principal's; it starts as a draft. Answers its view; 422 for a past deadline."""
    check_deadline(terms)
    session = NegotiationSession(
        values.new_id("neg"), owner, request_json(body), terms, values.now()
    )
    session = queries.add_event(
        tx, session, actor, HistoryEvent(kind="opened", to_state=states.DRAFT)
    )
    return queries.save(tx, session, new=True)


def request_json(body: NegotiationBody) -> bytes:
    """The members that were sent, as JSON: what a later edit is merged into."""
    return orjson.dumps(body.model_dump(mode="json", exclude_unset=True))


def check_deadline(terms: Terms) -> None:
    """Refuse a deadline that has passed already (422)."""
    if terms.deadline is not None and terms.deadline <= values.now():
        raise ValidationFailed([FieldError("/deadline", "Must lie in the future.")])


def edit_negotiation(
    tx: Transaction,
    owner: str,
    change: EditNegotiation,
    *,
    actor: Actor,
    expected: int | None,
) -> dict[str, Any]:
    """Apply a merge patch and check the result as a whole; a change of baseline keeps the old one."""
    session = queries.load_for_writing(tx, owner, change.id, expected=expected)
    if session.state in {states.WON, states.CANCELLED}:
        raise Conflict(
            f"A {session.state} negotiation is not edited any more.",
            error="closed",
            members={"state": session.state, "allowed": states.allowed_moves(session.state)},
        )
    merged = apply_merge_patch(orjson.loads(session.request), change.patch)
    body: NegotiationBody = validate(NegotiationBody, merged)
    terms = parse_terms(body)
    if terms.deadline != session.terms.deadline:
        check_deadline(terms)
    before, after = terms_view(session.terms), terms_view(terms)
    changed = sorted(name for name in after if before[name] != after[name])
    edited = replace(session, request=request_json(body), terms=terms)
    edited = queries.add_event(
        tx, edited, actor, HistoryEvent(kind="edited", detail={"changed": changed})
    )
    if "baseline" in changed and before["baseline"] is not None:
        edited = _keep_baseline(tx, edited, actor, before["baseline"])
    return queries.save(tx, edited)


def _keep_baseline(
    tx: Transaction, session: NegotiationSession, actor: Actor, old: dict[str, Any]
) -> NegotiationSession:
    replaced = {**old, "replaced_at": values.timestamp(values.now())}
    detail = {"was": old, "after_offers": session.offers > 0}
    session = queries.add_event(
        tx, session, actor, HistoryEvent(kind="baseline_changed", detail=detail)
    )
    return replace(session, baselines=(*session.baselines, replaced))


def move_state(
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
    session = queries.load_for_writing(tx, owner, asked.id, expected=expected)
    states.check_move(session.state, asked.to, asked.reason)
    if session.state == states.AWAITING:
        session = _decide(tx, session, asked, actor)
    elif asked.to == states.AGREED:
        session = _agree(tx, session, asked, actor)
    elif asked.to == states.ACTIVE:
        session = replace(session, outcome=None)
        session = enter_state(tx, session, asked.to, actor=actor, reason=asked.reason)
    elif asked.to == states.WON:
        ended = {**(session.outcome or {}), "result": states.WON, "closed_at": _now()}
        session = replace(session, outcome=ended)
        session = enter_state(tx, session, asked.to, actor=actor, reason=asked.reason)
    elif asked.to in states.CLOSED_STATES:
        session = _close(tx, session, asked, actor)
    else:
        session = enter_state(tx, session, asked.to, actor=actor, reason=asked.reason)
    return queries.save(tx, session)


def _close(
    tx: Transaction, session: NegotiationSession, asked: MoveNegotiation, actor: Actor
) -> NegotiationSession:
    """Lost, walked away, cancelled: nothing agreed. Walking away leaves the alternative as the result."""
    outcome: dict[str, Any] = {
        "result": asked.to,
        "offer_id": None,
        "package": None,
        "closed_at": _now(),
        "reason": asked.reason,
    }
    if asked.to == states.WALKED_AWAY:
        outcome["batna"] = worth_view(session.terms, session.terms.batna)
    session = replace(session, outcome=outcome, pending=None)
    return enter_state(tx, session, asked.to, actor=actor, reason=asked.reason)


def _agree(
    tx: Transaction, session: NegotiationSession, asked: MoveNegotiation, actor: Actor
) -> NegotiationSession:
    """Agreed outside the ledger: on the live offer named, or the latest one; held to the walk-away like any other."""
    now = values.now()
    rows = ledger.list_offers(tx, session.id)
    live = offer_history.live_offers(rows, now)
    row = live[-1] if live else None
    if asked.offer_id is not None:
        row = next((one for one in live if one.id == asked.offer_id), None)
        if row is None:
            raise not_live_conflict(rows, asked.offer_id, now)
    if row is not None and row.content["override"] is None:
        session = _hold_to(tx, session, row, asked, actor)
    return agree_on_package(tx, session, row, actor=actor, reason=asked.reason)


def _hold_to(
    tx: Transaction,
    session: NegotiationSession,
    row: OfferRow,
    asked: MoveNegotiation,
    actor: Actor,
) -> NegotiationSession:
    against = overridden_limits(
        session.terms,
        row.package or {},
        binding=True,
        override=asked.override,
        reason=asked.reason,
    )
    if not against:
        return session
    detail = {"offer_id": row.id, "against": against}
    event = HistoryEvent(kind="override", reason=asked.reason, detail=detail)
    return queries.add_event(tx, session, actor, event)


def _decide(
    tx: Transaction, session: NegotiationSession, asked: MoveNegotiation, actor: Actor
) -> NegotiationSession:
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
    event = HistoryEvent(
        kind="approval",
        reason=asked.reason,
        detail={"approved": False, "offer_id": held["offer_id"]},
    )
    session = queries.add_event(tx, replace(session, pending=None), actor, event)
    if asked.to in states.CLOSED_STATES:
        return _close(tx, session, asked, actor)
    return enter_state(tx, session, asked.to, actor=actor, reason=asked.reason)


def _approve(
    tx: Transaction, session: NegotiationSession, asked: MoveNegotiation, actor: Actor
) -> NegotiationSession:
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
    rows = ledger.list_offers(tx, session.id)
    row = next(row for row in rows if row.id == held["offer_id"])
    acceptance = row.kind == "acceptance"
    if acceptance and row.answers not in {
        one.id for one in offer_history.live_offers(rows, values.now())
    }:
        raise not_live_conflict(rows, row.answers, values.now())
    if row.content["override"] is None:
        overridden_limits(
            session.terms, row.package or {}, binding=acceptance, override=False, reason=None
        )
    ledger.decide(tx, row.id, "approved")
    detail = {"approved": True, "offer_id": row.id, "package_sha256": asked.package_sha256}
    event = HistoryEvent(kind="approval", reason=asked.reason, detail=detail)
    session = queries.add_event(tx, replace(session, pending=None), actor, event)
    session = enter_state(tx, session, states.ACTIVE, actor=actor, reason=asked.reason)
    return agree_on_package(tx, session, row, actor=actor) if acceptance else session


def _now() -> str:
    return values.timestamp(values.now())
