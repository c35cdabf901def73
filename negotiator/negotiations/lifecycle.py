"""Opens and edits a negotiation, and moves it between states at a caller's request (docs/contract 6.4)."""

from dataclasses import replace
from typing import Any

import orjson

from negotiator.advice.passed_limits import with_present_limits
from negotiator.base import values
from negotiator.base.errors import Conflict, FieldError, Forbidden, ValidationFailed
from negotiator.base.schema import apply_merge_patch
from negotiator.http.input import validate
from negotiator.negotiations import offer_history, queries, states
from negotiator.negotiations import offer_queries as ledger
from negotiator.negotiations.event_queries import Actor, HistoryEvent, acts_for_user, keeps_override, users_set_limits
from negotiator.negotiations.limit_changes import LimitChange, limit_changes
from negotiator.negotiations.offer_queries import OfferRow
from negotiator.negotiations.offers import agree_on_package, enter_state, not_live_conflict, overridden_limits
from negotiator.negotiations.schemas_negotiations import EditNegotiation, MoveNegotiation
from negotiator.negotiations.session import NegotiationSession
from negotiator.store.statement import Transaction
from negotiator.terms.issues import same_value
from negotiator.terms.negotiation_body import NegotiationBody
from negotiator.terms.short_forms import expand_patch
from negotiator.terms.terms import Terms
from negotiator.terms.terms_parsing import parse_terms
from negotiator.terms.terms_view import terms_view, worth_view


def open_negotiation(
    tx: Transaction, owner: str, body: NegotiationBody, *, terms: Terms, actor: Actor
) -> dict[str, Any]:
    """Store a new negotiation as a draft and return its view; 422 for a deadline in the past."""
    check_deadline(terms)
    session = NegotiationSession(values.new_id("neg"), owner, request_json(body), terms, values.now())
    session = queries.add_event(tx, session, actor, HistoryEvent(kind="opened", to_state=states.DRAFT))
    return queries.save(tx, session, new=True)


def request_json(body: NegotiationBody) -> bytes:
    """The members of the request that were sent, as JSON. A later edit is merged into them."""
    return orjson.dumps(body.model_dump(mode="json", exclude_unset=True))


def check_deadline(terms: Terms) -> None:
    """Raise 422 for a deadline in the past."""
    if terms.deadline is not None and terms.deadline <= values.now():
        raise ValidationFailed([FieldError("/deadline", "Must lie in the future.")])


def edit_negotiation(
    tx: Transaction, owner: str, change: EditNegotiation, *, actor: Actor, expected: int | None, page: str
) -> dict[str, Any]:
    """Apply a merge patch (RFC 7396), check the result as a whole, and return the view.

    A replaced baseline is kept in the history of baselines. `page` is where the user changes their limits. Raises 403
    `user_decides` where an agent would loosen a limit that its user set, 404, 409 `closed`, 412 and 422.
    """
    session = queries.load_for_writing(tx, owner, change.id, expected=expected)
    if session.state in {states.WON, states.CANCELLED}:
        raise Conflict(
            f"A {session.state} negotiation cannot be edited.",
            error="closed",
            members={"state": session.state, "allowed": states.allowed_moves(session.state)},
        )
    request = orjson.loads(session.request)
    merged = apply_merge_patch(request, expand_patch(request, change.patch))
    body: NegotiationBody = validate(NegotiationBody, merged)
    terms = parse_terms(body)
    limits = limit_changes(session.terms, terms)
    if acts_for_user(actor, owner):
        if users_set_limits(tx, session.id):
            _refuse_loosening(limits, page)
        body = _without_repeated_limits(body, request)
    if terms.deadline != session.terms.deadline:
        check_deadline(terms)
    before, after = terms_view(session.terms), terms_view(terms)
    changed = _changed_members(before, after)
    detail: dict[str, Any] = {"changed": changed}
    if limits:
        detail["limits"] = [one.view() for one in limits]
    held = session.pending and with_present_limits(session.id, terms, session.pending)
    edited = replace(session, request=request_json(body), terms=terms, pending=held)
    edited = queries.add_event(tx, edited, actor, HistoryEvent(kind="edited", detail=detail))
    if "baseline" in changed and before["baseline"] is not None:
        edited = _keep_baseline(tx, edited, actor, before["baseline"])
    return queries.save(tx, edited)


def _changed_members(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """The members that an edit changes; limits that issues have by their walk-away or target alone do not count."""
    found = {name for name in after if before[name] != after[name]}
    if found & {"walk_away", "target"} and "issues" in found:
        bare = [[{**one, "limit": None} for one in view["issues"]] for view in (before, after)]
        found -= {"issues"} if bare[0] == bare[1] else set()
    return sorted(found)


def _refuse_loosening(changes: list[LimitChange], page: str) -> None:
    """Raise 403 `user_decides` for a limit of the user that an agent would loosen or remove."""
    loosened = [one for one in changes if one.loosens]
    if not loosened:
        return
    said = "; ".join(f"{one.name}, now {one.was or 'none'}, would become {one.now or 'none'}" for one in loosened)
    raise Forbidden(
        f"Only the user loosens or removes a limit of theirs: {said}. They change it on {page}.",
        error="user_decides",
        members={"limits": [one.view() for one in loosened], "page": page},
    )


def _without_repeated_limits(body: NegotiationBody, request: dict[str, Any]) -> NegotiationBody:
    """The body without limits of issues that only repeat the walk-away and were not sent before.

    An agent that sends the issues back as it read them would otherwise fix the limit, and the user's next change of
    their walk-away would leave it where it is.
    """
    least = (body.walk_away.package if body.walk_away else None) or {}
    stored: list[dict[str, Any]] = request["issues"]
    sent = {issue["name"] for issue in stored if issue.get("limit") is not None}
    issues = [
        issue.model_copy(update={"limit": None})
        if issue.limit is not None
        and issue.name not in sent
        and issue.name in least
        and same_value(issue.type, least[issue.name], issue.limit)
        else issue
        for issue in body.issues
    ]
    return body.model_copy(update={"issues": issues})


def _keep_baseline(
    tx: Transaction, session: NegotiationSession, actor: Actor, old: dict[str, Any]
) -> NegotiationSession:
    replaced = {**old, "replaced_at": values.timestamp(values.now())}
    detail = {"was": old, "after_offers": session.offers > 0}
    session = queries.add_event(tx, session, actor, HistoryEvent(kind="baseline_changed", detail=detail))
    return replace(session, baselines=(*session.baselines, replaced))


def move_state(
    tx: Transaction, owner: str, move: MoveNegotiation, *, actor: Actor, expected: int | None
) -> dict[str, Any]:
    """Move a negotiation to another state and return its view.

    Raises 403 `user_decides` where an agent approves or overrides in its user's place; 404; 409 `illegal_transition`
    with `allowed`, `offer_not_live`, `below_walk_away`, `constraint_violated` or `approval_mismatch`; 412; and 422 for
    a missing reason or digest.
    """
    session = queries.load_for_writing(tx, owner, move.id, expected=expected)
    _check_decision(session, move)
    states.check_move(session.state, move.to, move.reason)
    if acts_for_user(actor, owner) and (move.approved or move.override):
        raise Forbidden("Only the user decides this, on the page of the negotiation.", error="user_decides")
    if session.state == states.AWAITING:
        session = _decide(tx, session, move, actor)
    elif move.to == states.AGREED:
        session = _agree(tx, session, move, actor)
    elif move.to == states.ACTIVE:
        session = replace(session, outcome=None)
        session = enter_state(tx, session, move.to, actor=actor, reason=move.reason)
    elif move.to == states.WON:
        _check_recorded(session, actor, (session.outcome or {}).get("package"))
        ended = {**(session.outcome or {}), "result": states.WON, "closed_at": _now()}
        session = replace(session, outcome=ended)
        session = enter_state(tx, session, move.to, actor=actor, reason=move.reason)
    elif move.to in states.CLOSED_STATES:
        session = _close(tx, session, move, actor)
    else:
        session = enter_state(tx, session, move.to, actor=actor, reason=move.reason)
    return queries.save(tx, session)


def _check_decision(session: NegotiationSession, move: MoveNegotiation) -> None:
    """Raise 409 `approval_mismatch` where the user decides on something else than what waits for them now."""
    held = (session.pending or {}).get("package_sha256")
    if move.approved is None if held is None else move.package_sha256 in {None, held}:
        return
    text = (
        "Nothing waits for approval any more" if held is None else "What waits for approval is not what you were shown"
    )
    text += ", so nothing was done."
    raise Conflict(text, error="approval_mismatch", members={"package_sha256": held})


def _close(tx: Transaction, session: NegotiationSession, move: MoveNegotiation, actor: Actor) -> NegotiationSession:
    """Close without an agreement. The outcome of walking away holds the value of the alternative."""
    outcome: dict[str, Any] = {
        "result": move.to,
        "offer_id": None,
        "package": None,
        "closed_at": _now(),
        "reason": move.reason,
    }
    if move.to == states.WALKED_AWAY:
        outcome["batna"] = worth_view(session.terms, session.terms.batna)
    session = replace(session, outcome=outcome, pending=None)
    return enter_state(tx, session, move.to, actor=actor, reason=move.reason)


def _agree(tx: Transaction, session: NegotiationSession, move: MoveNegotiation, actor: Actor) -> NegotiationSession:
    """Agree outside the ledger on the named live offer, or on the latest one; the limits of the user apply."""
    now = values.now()
    rows = ledger.list_offers(tx, session.id)
    live = offer_history.live_offers(rows, now)
    row = live[-1] if live else None
    if move.offer_id is not None:
        row = next((one for one in live if one.id == move.offer_id), None)
        if row is None:
            raise not_live_conflict(rows, move.offer_id, now)
    _check_recorded(session, actor, row)
    if row is not None and not keeps_override(tx, session.id, row):
        session = _hold_to(tx, session, row, move, actor)
    return agree_on_package(tx, session, row, actor=actor, reason=move.reason)


def _check_recorded(session: NegotiationSession, actor: Actor, agreed: object) -> None:
    """Raise 409 `offer_not_live` where a caller that acts for a user agrees or wins without an agreed offer."""
    if agreed is None and acts_for_user(actor, session.owner):
        text = "No recorded offer was agreed on. Record it and its acceptance first; only the user does without."
        raise Conflict(text, error="offer_not_live", members={"status": None, "live": []})


def _hold_to(
    tx: Transaction, session: NegotiationSession, row: OfferRow, move: MoveNegotiation, actor: Actor
) -> NegotiationSession:
    against = overridden_limits(
        session.terms,
        row.package or {},
        binding=True,
        override=move.override,
        reason=move.reason,
        each_issue=acts_for_user(actor, session.owner) and users_set_limits(tx, session.id),
    )
    if not against:
        return session
    detail = {"offer_id": row.id, "against": against}
    event = HistoryEvent(kind="override", reason=move.reason, detail=detail)
    return queries.add_event(tx, session, actor, event)


def _decide(tx: Transaction, session: NegotiationSession, move: MoveNegotiation, actor: Actor) -> NegotiationSession:
    """Leave `awaiting_approval`: approved by the digest of what waits, refused with a reason, or closed."""
    held = session.pending or {}
    if move.approved:
        if move.to != states.ACTIVE:
            raise ValidationFailed([FieldError("/approved", "Approve with a move to active.")])
        return _approve(tx, session, move, actor)
    if move.to == states.ACTIVE and move.reason is None:
        text = "Give a reason for the refusal, or send approved with package_sha256."
        raise ValidationFailed([FieldError("/reason", text)])
    ledger.decide(tx, held["offer_id"], "refused")
    event = HistoryEvent(kind="approval", reason=move.reason, detail={"approved": False, "offer_id": held["offer_id"]})
    session = queries.add_event(tx, replace(session, pending=None), actor, event)
    if move.to in states.CLOSED_STATES:
        return _close(tx, session, move, actor)
    return enter_state(tx, session, move.to, actor=actor, reason=move.reason)


def _approve(tx: Transaction, session: NegotiationSession, move: MoveNegotiation, actor: Actor) -> NegotiationSession:
    held = session.pending or {}
    if move.package_sha256 is None:
        raise ValidationFailed([FieldError("/package_sha256", "Send the digest of what is approved.")])
    rows = ledger.list_offers(tx, session.id)
    row = next(row for row in rows if row.id == held["offer_id"])
    acceptance = row.kind == "acceptance"
    if acceptance and row.answers not in {one.id for one in offer_history.live_offers(rows, values.now())}:
        raise not_live_conflict(rows, row.answers, values.now())
    if row.content["override"] is None:
        overridden_limits(session.terms, row.package or {}, binding=acceptance, override=False, reason=None)
    ledger.decide(tx, row.id, "approved")
    detail = {"approved": True, "offer_id": row.id, "package_sha256": move.package_sha256}
    event = HistoryEvent(kind="approval", reason=move.reason, detail=detail)
    session = queries.add_event(tx, replace(session, pending=None), actor, event)
    session = enter_state(tx, session, states.ACTIVE, actor=actor, reason=move.reason)
    return agree_on_package(tx, session, row, actor=actor) if acceptance else session


def _now() -> str:
    return values.timestamp(values.now())
