"""The audit trail of identity events: append-only and without secrets.

`record` runs in the same unit as the change that it records. Triggers in the database refuse every change of a row but
that of `redact`, and to delete one that is younger than 30 days or tells of an erasure.
"""

from dataclasses import dataclass
from typing import Any, Final

import orjson
from sqlalchemy import BigInteger, Integer, String, bindparam, case, delete, or_, update
from sqlmodel import Field, col, select

from negotiator.base import values
from negotiator.store.model import TableModel, table_options
from negotiator.store.statement import Query, RowInsertion, Statement, Transaction, entity

USER_ERASED: Final = "user.erased"
AGENT_ERASED: Final = "agent.erased"
EVENTS: Final = (
    *("agent.registered", "agent.claimed", "agent.revoked", "agent.expired", AGENT_ERASED, "agent.vetted"),
    *("agent.unvetted", "identity.challenged", "identity.proven", "identity.refused", "identity.dropped"),
    *("key.rotated", "signing_key.rotated", "signing_key.removed", "key.revoked", "key.expired", "assertion.refused"),
    *("token.issued", "token.revoked", "delegation.created", "delegation.revoked", "delegation.refused"),
    *("approval.requested", "approval.granted", "approval.refused"),
    *("user.created", "user.linked", "user.disabled", "user.enabled", USER_ERASED, "user.signed_in"),
    *("user.sign_in_refused", "user.password_changed", "user.reset_requested", "user.invited", "user.admin_changed"),
    *("passkey.added", "passkey.removed", "issuer.added", "issuer.removed", "issuer.subject_revoked"),
    *("signal.received", "signal.refused", "authorization.granted", "authorization.ended", "consent.withdrawn"),
    *("submission.made", "submission.changed", "submission.withdrawn", "submission.appealed", "submission.approved"),
    *("submission.rejected", "submission.changes_requested", "submission.expired"),
    *("tool.listed", "tool.changed", "tool.taken_down", "tool.quarantined", "tool.released", "tool.deleted"),
    "report.made",
    *("client.added", "client.allowed", "client.registered", "client.removed", "client.secret_changed"),
)


class AuditEvent(TableModel, table=True):
    """One identity event: its subject, its actor and its public detail (JSON)."""

    __tablename__ = "audit_events"
    __table_args__ = table_options(
        sqlite_with_rowid=False, kept="`delete_old` deletes what is older than the retention"
    )

    id: str = Field(primary_key=True)
    at: int = Field(sa_type=BigInteger)
    event: str
    subject: str
    actor: str
    detail: str


_LAST: Final = "evt_" + "z" * values.ID_LENGTH
_RECORD = RowInsertion(AuditEvent)
_SEARCH = Query(
    select(AuditEvent)
    .where(
        col(AuditEvent.id) < bindparam("before"),
        col(AuditEvent.id) >= bindparam("since"),
        or_(bindparam("kind", type_=String) == "", col(AuditEvent.event) == bindparam("kind")),
        or_(
            bindparam("party", type_=String) == "",
            col(AuditEvent.subject) == bindparam("party"),
            col(AuditEvent.actor) == bindparam("party"),
        ),
    )
    .order_by(col(AuditEvent.id).desc())
    .limit(bindparam("limit")),
    entity(AuditEvent),
)


_DELETE_OLD = Statement(
    delete(AuditEvent).where(
        col(AuditEvent.id).in_(
            select(col(AuditEvent.id))
            .where(
                col(AuditEvent.id) < bindparam("first_kept"),
                col(AuditEvent.at) < bindparam("before", type_=BigInteger),
                col(AuditEvent.event) != USER_ERASED,
                col(AuditEvent.event) != AGENT_ERASED,
            )
            .order_by(col(AuditEvent.id))
            .limit(bindparam("limit", type_=Integer))
        )
    )
)


_mentioned = bindparam("principal", type_=String)
_actor = col(AuditEvent.actor)
_REDACT = Statement(
    update(AuditEvent)
    .where(
        or_(col(AuditEvent.subject) == _mentioned, _actor == _mentioned, col(AuditEvent.detail).contains(_mentioned)),
        col(AuditEvent.event) != USER_ERASED,
        col(AuditEvent.event) != AGENT_ERASED,
    )
    .values(
        # Addresses of the network and of mail have a dot or a colon, ids and the names of actors have none.
        actor=case((or_(_actor.contains("."), _actor.contains(":")), ""), else_=_actor),
        detail="{}",
    )
)


def redact(tx: Transaction, principal: str) -> None:
    """Take addresses and details out of every event that names a user or agent; what happened when stays."""
    tx.run(_REDACT, principal=principal)


def record(tx: Transaction, event: str, subject: str, *, actor: str = "", **detail: Any) -> None:
    """Append one event. `subject` is the id that it is about, `actor` the id or address that caused it."""
    tx.run(
        _RECORD,
        id=values.new_id("evt"),
        at=values.now(),
        event=event,
        subject=subject,
        actor=actor,
        detail=orjson.dumps(detail).decode(),
    )


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which events to read: about or by `party` (an id or an address), of one kind, from `since` until before `until`.

    Times in milliseconds; an empty text and None leave a condition out.
    """

    party: str = ""
    event: str = ""
    since: int | None = None
    until: int | None = None


def delete_old(tx: Transaction, before: int, limit: int) -> int:
    """Delete up to `limit` events from before a moment (milliseconds), oldest first; returns their number.

    Erasures stay: a restore of an older backup repeats them.
    """
    first_kept = values.first_id("evt", before)
    return tx.run(_DELETE_OLD, first_kept=first_kept, before=before, limit=limit)


def search(tx: Transaction, wanted: AuditFilter, *, before: str, limit: int) -> list[AuditEvent]:
    """Up to `limit` events that the filter lets through, newest first, older than the event `before` (empty: all)."""
    last = _LAST if wanted.until is None else values.first_id("evt", wanted.until)
    return tx.all(
        _SEARCH,
        before=min(before or _LAST, last),
        since=values.first_id("evt", wanted.since or 0),
        kind=wanted.event,
        party=wanted.party,
        limit=limit,
    )


def latest_events(tx: Transaction, limit: int) -> list[AuditEvent]:
    """The newest events, newest first."""
    return search(tx, AuditFilter(), before="", limit=limit)
