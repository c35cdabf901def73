"""Stored negotiations. Every statement filters by the owner, so another owner's id is not found (404).

A negotiation whose deadline has passed expires. `load_for_writing` ends it; reading functions raise `DeadlinePassed`,
and `read_current` ends it and reads again. `expire_overdue` ends those that are neither read nor written.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

import orjson
from sqlalchemy import BigInteger, String, and_, bindparam, func, or_, select, update
from sqlmodel import col

from negotiator.base import values
from negotiator.base.errors import Conflict, NotFound, PreconditionFailed
from negotiator.negotiations import event_queries, plan_queries, states
from negotiator.negotiations import offer_queries as ledger
from negotiator.negotiations.event_queries import CLOCK_ACTOR, Actor, HistoryEvent
from negotiator.negotiations.schemas_negotiations import ListNegotiations
from negotiator.negotiations.session import NegotiationSession, negotiation_view, search_text
from negotiator.negotiations.tables import Negotiation
from negotiator.store import ownership
from negotiator.store.statement import Query, RowInsertion, Statement, Transaction, table
from negotiator.store.store import Store
from negotiator.terms.terms import decode_terms, encode_terms

T = TypeVar("T")
_LAST: Final = "neg_" + "z" * values.ID_LENGTH
_NEVER: Final = 2**62
"""After every moment."""


class DeadlinePassed(Exception):
    """A reading unit found a negotiation whose deadline has passed."""


_mine = (col(Negotiation.id) == bindparam("negotiation"), col(Negotiation.owner) == bindparam("owner"))
_columns = [
    table(Negotiation).c[name]
    for name in (
        *("id", "owner", "request", "terms", "created_at", "state", "progress"),
        *("offers", "events", "revision", "due_at", "origin"),
    )
]
_window = (
    select(col(Negotiation.id), col(Negotiation.document), col(Negotiation.due_at))
    .where(col(Negotiation.owner) == bindparam("owner"), col(Negotiation.id) < bindparam("before"))
    .order_by(col(Negotiation.id).desc())
    .limit(bindparam("limit"))
)


def _absent_or(name: str, condition: Any) -> Any:
    return or_(bindparam(name, type_=String).is_(None), condition)


_ADD = RowInsertion(Negotiation)
_LOAD = Query(select(*_columns).where(*_mine), tuple)
_FIND = Query(
    select(col(Negotiation.document), col(Negotiation.due_at), col(Negotiation.revision)).where(*_mine), tuple
)
_PAGE = Query(_window, tuple)
_has_ended = or_(*(col(Negotiation.state) == state for state in sorted(states.CLOSED_STATES)))
_filters = (
    _absent_or("state", col(Negotiation.state) == bindparam("state", type_=String)),
    _absent_or("category", col(Negotiation.category) == bindparam("category", type_=String)),
    _absent_or("pattern", col(Negotiation.search).like(bindparam("pattern", type_=String), escape="\\")),
    or_(
        bindparam("phase", type_=String).is_(None),
        and_(bindparam("phase", type_=String) == "ended", _has_ended),
        and_(bindparam("phase", type_=String) == "running", ~_has_ended),
    ),
)
_FILTERED = Query(_window.where(*_filters), tuple)


def _in_order(key: Any, *, rising: bool) -> Query[tuple[Any, ...]]:
    """The filtered list by `key`, then by id; a row has the key as its last column."""
    id_, named = col(Negotiation.id), bindparam("before", type_=String)
    after = bindparam("after", type_=BigInteger)
    beyond = or_(key > after, and_(key == after, id_ > named))
    if not rising:
        beyond = or_(key < after, and_(key == after, id_ < named))
    order = (key, id_) if rising else (key.desc(), id_.desc())
    chosen = (id_, col(Negotiation.document), col(Negotiation.due_at), key)
    return Query(
        select(*chosen)
        .where(col(Negotiation.owner) == bindparam("owner"), beyond, *_filters)
        .order_by(*order)
        .limit(bindparam("limit")),
        tuple,
    )


_SORTED: Final = {
    "changed": _in_order(col(Negotiation.updated_at), rising=False),
    "deadline": _in_order(func.coalesce(col(Negotiation.due_at), _NEVER), rising=True),
}
_STARTS: Final = {"changed": (_NEVER, _LAST), "deadline": (0, "")}
"""The position before the first row of each order: its key and its id."""
_DUE_OF = Query(
    select(col(Negotiation.id)).where(
        col(Negotiation.owner) == bindparam("owner"), col(Negotiation.due_at) <= bindparam("now", type_=BigInteger)
    ),
    lambda row: str(row[0]),
)
_DUE = Query(
    select(col(Negotiation.id), col(Negotiation.owner))
    .where(col(Negotiation.due_at) <= bindparam("now", type_=BigInteger))
    .order_by(col(Negotiation.due_at))
    .limit(bindparam("limit")),
    tuple,
)
_SAVE = Statement(
    update(Negotiation)
    .where(
        col(Negotiation.id) == bindparam("negotiation"),
        col(Negotiation.owner) == bindparam("holder"),  # a column's own name is taken in an update
    )
    .values(
        {
            name: bindparam(f"new_{name}", type_=table(Negotiation).c[name].type)
            for name in (
                *("category", "state", "search", "request", "terms", "progress", "document"),
                *("offers", "events", "due_at", "revision", "updated_at"),
            )
        }
    )
)
_EXISTS = Query(select(col(Negotiation.id)).where(*_mine), lambda row: str(row[0]))
_OF_AGENT = Query(
    select(*(table(Negotiation).c[name] for name in ("id", "events", "revision", "document"))).where(
        col(Negotiation.owner) == bindparam("agent")
    ),
    tuple,
)
_MARK = Statement(
    update(Negotiation)
    .where(col(Negotiation.id) == bindparam("negotiation"))
    .values(document=bindparam("new_document"), events=bindparam("new_events"))
)


async def read_current(store: Store, owner: str, unit: Callable[[Transaction], T]) -> T:
    """Run a reading unit; when it finds a negotiation past its deadline, expire that one and run the unit again."""
    while True:
        try:
            return await store.read(unit)
        except DeadlinePassed:
            await store.write(lambda tx: expire(tx, owner))


def page(tx: Transaction, owner: str, asked: ListNegotiations, before: Any) -> list[tuple[Any, ...]]:
    """One more than `limit` of the principal's negotiations that come after the position `before`.

    Each row begins with id and JSON. `before` is a `position` or None for the first page.
    """
    now = values.now()
    window = {"owner": owner, "limit": asked.limit + 1}
    newest = asked.sort == "newest"
    if newest and asked.state is asked.category is asked.query is asked.phase is None:
        found = tx.all(_PAGE, before=before or _LAST, **window)
        if any(row[2] is not None and row[2] <= now for row in found):
            raise DeadlinePassed
        return found
    if tx.one(_DUE_OF, owner=owner, now=now) is not None:
        raise DeadlinePassed
    wanted = {
        "state": asked.state,
        "category": asked.category,
        "phase": asked.phase,
        "pattern": _pattern(asked.query) if asked.query else None,
    }
    if newest:
        return tx.all(_FILTERED, before=before or _LAST, **wanted, **window)
    after, named = before or _STARTS[asked.sort]
    return tx.all(_SORTED[asked.sort], after=after, before=named, **wanted, **window)


def position(row: tuple[Any, ...], sort: str) -> Any:
    """Where a row of `page` stands in its list, as JSON for a cursor."""
    return row[0] if sort == "newest" else [row[3], row[0]]


def add_latest(tx: Transaction, owner: str, found: Sequence[tuple[Any, ...]]) -> list[dict[str, Any]]:
    """The views of the rows of a page, each with `latest`: its last offers, its plan, what is unconfirmed."""
    if not found:
        return []
    ids = [row[0] for row in found]
    between = {"owner": owner, "first": min(ids), "last": max(ids)}
    last = ledger.last_offers(tx, **between)
    unconfirmed = ledger.unconfirmed_offers(tx, **between)
    plans = plan_queries.newest_plans(tx, **between)
    views: list[dict[str, Any]] = []
    for row in found:
        view: dict[str, Any] = orjson.loads(row[1])
        version, made_from = plans.get(row[0], (0, 0))
        plan = {"version": version, "stale": made_from != view["revision"]} if version else None
        view["latest"] = {
            "mine": last.get((row[0], "me")),
            "theirs": last.get((row[0], "them")),
            "plan": plan,
            "unconfirmed": unconfirmed.get(row[0], 0),
        }
        views.append(view)
    return views


def find(tx: Transaction, owner: str, negotiation: str) -> tuple[bytes, int]:
    """The JSON view of the principal's negotiation and its revision; 404 when it is not theirs."""
    found = tx.one(_FIND, negotiation=negotiation, owner=owner)
    if found is None:
        raise NotFound("There is no such negotiation.")
    if found[1] is not None and found[1] <= values.now():
        raise DeadlinePassed
    return found[0], found[2]


def require_negotiation(tx: Transaction, owner: str, negotiation: str) -> None:
    """404 unless the principal has this negotiation."""
    if tx.one(_EXISTS, negotiation=negotiation, owner=owner) is None:
        raise NotFound("negotiation_id: there is no such negotiation.")


def require_real(tx: Transaction, owner: str, negotiation: str) -> None:
    """404 unless the principal has this negotiation, 409 `example_negotiation` for one made to be looked at."""
    found = tx.one(_FIND, negotiation=negotiation, owner=owner)
    if found is None:
        raise NotFound("negotiation_id: there is no such negotiation.")
    if orjson.loads(found[0]).get("example"):
        raise Conflict("That negotiation is an example, so nothing was won in it.", error="example_negotiation")


def load_for_reading(tx: Transaction, owner: str, negotiation: str) -> NegotiationSession:
    """The principal's negotiation for a reading unit; raises `DeadlinePassed` when it has to expire first."""
    session, due_at = _load(tx, owner, negotiation)
    if due_at is not None and due_at <= values.now():
        raise DeadlinePassed
    return session


def load_with_offers(tx: Transaction, owner: str, negotiation: str) -> tuple[NegotiationSession, list[ledger.OfferRow]]:
    """`load_for_reading`, and the offers of both sides, oldest first."""
    return load_for_reading(tx, owner, negotiation), ledger.list_offers(tx, negotiation)


def load_for_writing(
    tx: Transaction, owner: str, negotiation: str, *, expected: int | None = None
) -> NegotiationSession:
    """The principal's negotiation for a writing unit, expired first where its deadline has passed; 404, 412."""
    session, due_at = _load(tx, owner, negotiation)
    if due_at is not None and due_at <= values.now():
        session = _end(tx, session)
    if expected is not None and session.revision != expected:
        raise PreconditionFailed(
            "The negotiation has changed since that revision.", members={"revision": session.revision}
        )
    return session


def add_event(tx: Transaction, session: NegotiationSession, actor: Actor, event: HistoryEvent) -> NegotiationSession:
    """Add an event to the history; the session has to be saved afterwards."""
    seq = session.events + 1
    event_queries.append(tx, session.id, seq, actor=actor, event=event, revision=session.revision + 1)
    return replace(session, events=seq)


def save(tx: Transaction, session: NegotiationSession, *, new: bool = False) -> dict[str, Any]:
    """Store a session under its next revision; returns its view."""
    now = session.created_at if new else values.now()
    session = replace(session, revision=session.revision + 1)
    seen = negotiation_view(session, now)
    deadline = session.terms.deadline
    ahead = session.state in states.LIVE_STATES and deadline is not None and deadline > now
    row: dict[str, Any] = {
        "category": session.terms.category,
        "state": session.state,
        "search": search_text(session),
        "request": session.request,
        "terms": encode_terms(session.terms),
        "progress": orjson.dumps([session.state_reason, session.outcome, session.pending, list(session.baselines)]),
        "document": orjson.dumps(seen),
        "offers": session.offers,
        "events": session.events,
        "due_at": deadline if ahead else None,
        "revision": session.revision,
        "updated_at": now,
    }
    if new:
        named = {"id": session.id, "owner": session.owner, "origin": None}
        tx.run(_ADD, **named, **row, created_at=session.created_at)
    else:
        values_ = {f"new_{name}": value for name, value in row.items()}
        tx.run(_SAVE, negotiation=session.id, holder=session.owner, **values_)
    return seen


def remove(tx: Transaction, owner: str, negotiation: str, *, expected: int | None) -> None:
    """Erase a negotiation with its ledger, history and plans; 412 when `expected` is not the current revision."""
    load_for_writing(tx, owner, negotiation, expected=expected)
    ownership.delete_row(tx, Negotiation, negotiation)


def expire(tx: Transaction, owner: str) -> None:
    """End the principal's negotiations whose deadline has passed."""
    for negotiation in tx.all(_DUE_OF, owner=owner, now=values.now()):
        load_for_writing(tx, owner, negotiation)


def expire_overdue(tx: Transaction, now: int, limit: int) -> int:
    """End up to `limit` negotiations whose deadline has passed; returns their number."""
    due = tx.all(_DUE, now=now, limit=limit)
    for negotiation, owner in due:
        load_for_writing(tx, owner, negotiation)
    return len(due)


def record_claim(tx: Transaction, agent_id: str, user_id: str) -> None:
    """Add the claim to the history of each of the agent's negotiations, and the agent as `origin` to its view.

    What comes before the event was written by the unclaimed agent. The revision stays, since the claim changes none of
    the terms.
    """
    actor = Actor("user", user_id)
    event = HistoryEvent(kind="claimed", detail={"agent_id": agent_id})
    for key, events, revision, document in tx.all(_OF_AGENT, agent=agent_id):
        seq = events + 1
        event_queries.append(tx, key, seq, actor=actor, event=event, revision=revision)
        marked = orjson.dumps({**orjson.loads(document), "origin": agent_id})
        tx.run(_MARK, negotiation=key, new_document=marked, new_events=seq)


def _load(tx: Transaction, owner: str, negotiation: str) -> tuple[NegotiationSession, int | None]:
    found = tx.one(_LOAD, negotiation=negotiation, owner=owner)
    if found is None:
        raise NotFound("There is no such negotiation.")
    (key, holder, request, terms, created_at, state, progress, *counts, due_at, origin) = found
    reason, outcome, pending, baselines = orjson.loads(progress)
    offers, events, revision = counts
    session = NegotiationSession(
        id=key,
        owner=holder,
        request=request,
        terms=decode_terms(terms),
        created_at=created_at,
        state=state,
        state_reason=reason,
        outcome=outcome,
        pending=pending,
        baselines=tuple(baselines),
        offers=offers,
        events=events,
        revision=revision,
        origin=origin,
    )
    return session, due_at


def _end(tx: Transaction, session: NegotiationSession) -> NegotiationSession:
    """Expire a negotiation; a package that waited for approval is refused."""
    if session.pending is not None:
        ledger.decide(tx, session.pending["offer_id"], "refused")
    event = HistoryEvent(
        kind="state", from_state=session.state, to_state=states.EXPIRED, reason="The deadline has passed."
    )
    ended = add_event(tx, session, CLOCK_ACTOR, event).moved(states.EXPIRED, reason=event.reason)
    outcome = {"result": states.EXPIRED, "closed_at": values.timestamp(values.now())}
    ended = replace(ended, outcome=outcome, pending=None)
    save(tx, ended)
    return replace(ended, revision=ended.revision + 1)


def _pattern(text: str) -> str:
    escaped = text.lower().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"
