"""Adding a row to the ledger, under every rule of contract §3."""

from dataclasses import dataclass, replace
from typing import Any, Final

from negotiator import values
from negotiator.errors import Conflict
from negotiator.negotiations import sessions
from negotiator.negotiations.ledger import rows as ledger
from negotiator.negotiations.ledger import standing, valuing
from negotiator.negotiations.ledger.refusals import check_lines, guarded, not_live
from negotiator.negotiations.ledger.rows import Row
from negotiator.negotiations.ledger.standing import DETECTED, OFFERS
from negotiator.negotiations.life import states
from negotiator.negotiations.life.history import Actor, Event
from negotiator.negotiations.preferences.issues import Package, Refusal
from negotiator.negotiations.preferences.utility import check_package
from negotiator.negotiations.schemas.offer import RecordOffer
from negotiator.negotiations.session import Session
from negotiator.negotiations.terms import guard
from negotiator.negotiations.terms.reading import failed
from negotiator.negotiations.terms.view import shown_package
from negotiator.scalars import milliseconds
from negotiator.store.statement import Transaction

MOST_ROWS: Final = 2_000


@dataclass(frozen=True, slots=True)
class Entry:
    """A row about to be written: what was sent, the session it belongs to, the ledger so far."""

    sent: RecordOffer
    session: Session
    rows: list[Row]
    at: int
    package: Package | None = None
    answers: Row | None = None
    override: dict[str, Any] | None = None
    approval: dict[str, Any] | None = None

    @property
    def binds_me(self) -> bool:
        """Whether the walk-away, constraints and authority have a say: my offers and my acceptances."""
        return self.sent.by == "me" and self.sent.kind in OFFERS | {"acceptance"}


def record(
    tx: Transaction,
    owner: str,
    sent: RecordOffer,
    *,
    actor: Actor,
    expected: int | None,
) -> dict[str, Any]:
    """Append a row to the ledger and let it move the state; answers the row's view.

    404 · 409 `not_active`, `approval_pending`, `offer_not_live`, `below_walk_away`, `constraint_violated`,
    `ledger_full` · 412 · 422 for every field that is wrong.
    """
    session = sessions.load(tx, owner, sent.id, expected=expected)
    states.check_offer(session.state, sent.by)
    entry = Entry(sent, session, ledger.every(tx, session.id), values.now())
    if len(entry.rows) >= MOST_ROWS:
        raise Conflict(f"A ledger holds {MOST_ROWS} rows at most.", error="ledger_full")
    entry = _answering(_packaged(entry))
    if entry.binds_me and entry.package is not None:
        against = guarded(
            session.terms,
            entry.package,
            binding=sent.kind == "acceptance",
            override=sent.override,
            reason=sent.reason,
        )
        if against:
            entry = replace(entry, override={"reason": sent.reason, "against": against})
        # What was only heard is confirmed by another row, and that one is held.
        heard = sent.source == DETECTED
        if not heard and guard.needs_approval(session.terms, entry.package or {}):
            entry = replace(entry, approval=_held(entry))
    row = _row(entry)
    ledger.add(tx, session.id, row)
    _follow(tx, entry, row, actor)
    status = standing.statuses(ledger.every(tx, session.id), entry.at)[row.id]
    return standing.shown(row, status)


def _packaged(entry: Entry) -> Entry:
    """Check every field of what was sent against the issues and the ledger; 422 with all that is wrong."""
    sent, found = entry.sent, check_lines(entry.sent, entry.rows, entry.at)
    if sent.kind in OFFERS and not sent.package:
        found.append(Refusal("/package", "Name a value for at least one issue."))
    if sent.package:
        found += check_package(entry.session.terms.issues, sent.package)
    if found:
        raise failed(found)
    package = sent.package or None
    if package is not None:
        package = _canonical(entry, package)
    return replace(entry, package=package)


def _canonical(entry: Entry, package: Package) -> Package:
    return shown_package(entry.session.terms, package)


def _answering(entry: Entry) -> Entry:
    """Find the row that an acceptance, withdrawal or rejection answers; 409 when it does not stand any more."""
    sent = entry.sent
    if sent.kind in OFFERS:
        return entry
    side = sent.by if sent.kind == "withdrawal" else ("them" if sent.by == "me" else "me")
    standing_now = standing.live(entry.rows, entry.at, side=side)
    answered = next((row for row in standing_now if row.id == sent.in_reply_to), None)
    if sent.in_reply_to is None and standing_now:
        answered = standing_now[-1]
    if answered is None and sent.kind == "rejection":
        return entry
    if answered is None:
        raise not_live(entry.rows, sent.in_reply_to, entry.at)
    package = answered.package
    if sent.kind == "acceptance" and entry.package not in (None, package):
        raise failed(
            [Refusal("/package", "An acceptance takes the package of the offer it names.")]
        )
    return replace(entry, package=package, answers=answered)


def _held(entry: Entry) -> dict[str, Any]:
    terms = entry.session.terms
    return {
        "package_sha256": guard.digest(terms, entry.package or {}),
        "approver": terms.authority.approver,
    }


def _row(entry: Entry) -> Row:
    sent, terms = entry.sent, entry.session.terms
    content: dict[str, Any] = {
        "package": entry.package,
        "conditions": sent.conditions,
        "claimed_final": sent.claimed_final or sent.kind == "final",
        "rationale": sent.rationale,
        "channel": sent.channel,
        "override": entry.override,
        "approval": entry.approval,
        **valuing.unvalued(),
    }
    row = Row(
        id=values.new_id("off"),
        seq=entry.session.offers + 1,
        at=entry.at,
        side=sent.by,
        kind=sent.kind,
        source=sent.source,
        answers=entry.answers.id if entry.answers else sent.in_reply_to,
        confirms=sent.confirms,
        valid_until=milliseconds(sent.valid_until),
        approval="pending" if entry.approval else "",
        content=content,
    )
    if entry.package is not None:
        content |= valuing.valued(terms, entry.package)
    if sent.kind in OFFERS:
        plain = replace(row, source="typed", approval="")
        last = standing.ledger_offers([plain])[0]
        content |= valuing.conceded(terms, standing.ledger_offers(entry.rows), last)
    return row


def _follow(tx: Transaction, entry: Entry, row: Row, actor: Actor) -> None:
    """What a row does to its negotiation: the first activates it, a held one pauses it, an acceptance agrees it."""
    session = replace(entry.session, offers=row.seq)
    detail = {"offer_id": row.id, "by": row.side, "kind": row.kind}
    session = sessions.note(tx, session, actor, Event(kind="offer", detail=detail))
    if entry.override is not None:
        told = {"offer_id": row.id, "against": entry.override["against"]}
        event = Event(kind="override", reason=entry.override["reason"], detail=told)
        session = sessions.note(tx, session, actor, event)
    if session.state in {states.DRAFT, states.PLANNED} and row.source != DETECTED:
        session = enter(tx, session, states.ACTIVE, actor=actor)
    if entry.approval is not None:
        held = {"offer_id": row.id, "kind": row.kind, "package": row.package, **entry.approval}
        session = replace(session, pending=held)
        session = enter(tx, session, states.AWAITING, actor=actor, detail=held)
    elif row.kind == "acceptance":
        session = agree(tx, session, row, actor=actor)
    sessions.save(tx, session)


def enter(
    tx: Transaction,
    session: Session,
    to: str,
    *,
    actor: Actor,
    reason: str | None = None,
    detail: dict[str, Any] | None = None,
) -> Session:
    """The session in another state, with the event that says so; to be saved by the caller."""
    event = Event(kind="state", from_state=session.state, to_state=to, reason=reason, detail=detail)
    return sessions.note(tx, session, actor, event).moved(to, reason=reason)


def agree(
    tx: Transaction,
    session: Session,
    row: Row | None,
    *,
    actor: Actor,
    reason: str | None = None,
) -> Session:
    """The session agreed on the package of a row (an acceptance, or an offer agreed on elsewhere)."""
    offer = row.answers if row is not None and row.kind == "acceptance" else row and row.id
    package = row.package if row else None
    outcome = {
        "result": states.AGREED,
        "offer_id": offer,
        "package": package,
        "utility_me": valuing.valued(session.terms, package)["utility_me"] if package else None,
        "agreed_at": values.timestamp(values.now()),
        "closed_at": None,
    }
    if session.pending is not None:
        ledger.decide(tx, session.pending["offer_id"], "refused")
    session = replace(session, outcome=outcome, pending=None)
    return enter(tx, session, states.AGREED, actor=actor, reason=reason, detail={"offer_id": offer})
