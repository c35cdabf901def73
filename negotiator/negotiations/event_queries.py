"""What happened to a negotiation and who did it: append-only events, numbered from 1 without gaps."""

from dataclasses import dataclass
from typing import Any, Final

import orjson
from sqlalchemy import bindparam, select
from sqlmodel import col

from negotiator.base import values
from negotiator.base.caller import Caller
from negotiator.negotiations.offer_queries import OfferRow
from negotiator.negotiations.schemas_negotiations import EventView
from negotiator.negotiations.tables import NegotiationEvent
from negotiator.store.statement import Query, RowInsertion, Transaction


@dataclass(frozen=True, slots=True)
class Actor:
    """What caused an event: an agent, a client, a user, or the clock."""

    kind: str
    id: str


CLOCK_ACTOR: Final = Actor("clock", "")


def acts_for_user(actor: Actor, owner: str) -> bool:
    """Whether an agent or a client acts on a negotiation that a user owns."""
    return actor.kind != "user" and actor.id != owner


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEvent:
    """One event: `kind` is opened, edited, baseline_changed, state, offer, override, approval_requested, approval or
    claimed.
    """

    kind: str
    reason: str | None = None
    from_state: str | None = None
    to_state: str | None = None
    detail: dict[str, Any] | None = None


_HISTORY: Final = Query(
    select(col(NegotiationEvent.document))
    .where(col(NegotiationEvent.negotiation) == bindparam("negotiation"))
    .order_by(col(NegotiationEvent.seq)),
    lambda row: orjson.loads(row[0]),
)
_APPEND = RowInsertion(NegotiationEvent)
_PAGE = Query(
    select(col(NegotiationEvent.seq), col(NegotiationEvent.document))
    .where(
        col(NegotiationEvent.negotiation) == bindparam("negotiation"), col(NegotiationEvent.seq) < bindparam("before")
    )
    .order_by(col(NegotiationEvent.seq).desc())
    .limit(bindparam("limit")),
    tuple,
)


def actor_of_caller(caller: Caller) -> Actor:
    """The caller as the history names it."""
    return Actor(caller.kind, caller.client_id or caller.principal)


def users_set_limits(tx: Transaction, negotiation: str) -> bool:
    """Whether a user opened the negotiation at the pages, or changed a limit of it there.

    Limits that only agents wrote are what an agent understood, and an agent may correct them.
    """
    return any(
        event["actor"]["kind"] == "user" and (event["kind"] == "opened" or bool(event["detail"].get("limits")))
        for event in tx.all(_HISTORY, negotiation=negotiation)
    )


def keeps_override(tx: Transaction, negotiation: str, offer: OfferRow) -> bool:
    """Whether an offer was allowed to pass limits, and neither a change of limits nor a claim came after that."""
    if offer.content["override"] is None:
        return False
    for event in reversed(tx.all(_HISTORY, negotiation=negotiation)):
        if event["kind"] == "claimed" or event["detail"].get("limits"):
            return False
        if event["kind"] in {"override", "approval"} and event["detail"]["offer_id"] == offer.id:
            return True
    return False


def append(tx: Transaction, negotiation: str, seq: int, *, actor: Actor, event: HistoryEvent, revision: int) -> None:
    """Add one event at `seq`; `revision` is the one it led to."""
    at = values.now()
    view: EventView = {
        "id": values.new_id("evt"),
        "seq": seq,
        "at": values.timestamp(at),
        "kind": event.kind,
        "actor": {"kind": actor.kind, "id": actor.id},
        "from_state": event.from_state,
        "to_state": event.to_state,
        "reason": event.reason,
        "revision": revision,
        "detail": event.detail or {},
    }
    tx.run(_APPEND, negotiation=negotiation, seq=seq, at=at, document=orjson.dumps(view))


def page(tx: Transaction, negotiation: str, *, before: int | None, limit: int) -> list[tuple[Any, ...]]:
    """Up to `limit` events before a seq, newest first, as (seq, JSON)."""
    return tx.all(_PAGE, negotiation=negotiation, before=before or values.NEWEST, limit=limit)
