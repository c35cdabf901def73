"""Negotiations at rest: every statement carries the owner, so somebody else's id is simply not there."""

from collections.abc import Sequence
from typing import Any, Final

import orjson
from sqlalchemy import BigInteger, String, bindparam, delete, func, or_, select, update
from sqlmodel import col

from negotiator import values
from negotiator.errors import NotFound, PreconditionFailed
from negotiator.negotiations.schemas import (
    EditNegotiation,
    ListNegotiations,
    NegotiationView,
    OpenNegotiation,
)
from negotiator.negotiations.tables import Negotiation
from negotiator.store.statement import Query, Statement, Transaction, insertion, table

_LAST: Final = "neg_" + "z" * values.ID_LENGTH


def _view(row: Sequence[Any]) -> NegotiationView:
    (
        negotiation_id,
        title,
        category,
        kind,
        role,
        state,
        document,
        revision,
        created_at,
        updated_at,
    ) = row
    view: Any = {
        "id": negotiation_id,
        "title": title,
        "category": category,
        "kind": kind,
        "role": role,
        **orjson.loads(document),
        "state": state,
        "revision": revision,
        "created_at": values.timestamp(created_at),
        "updated_at": values.timestamp(updated_at),
    }
    return view


_columns = [
    table(Negotiation).c[name]
    for name in (
        *("id", "title", "category", "kind", "role"),
        *("state", "document", "revision", "created_at", "updated_at"),
    )
]
_mine = (
    col(Negotiation.id) == bindparam("negotiation"),
    col(Negotiation.owner) == bindparam("owner"),
)


def _absent_or(name: str, condition: Any) -> Any:
    return or_(bindparam(name, type_=String).is_(None), condition)


_ADD = Statement(insertion(Negotiation))
_FIND = Query(select(*_columns).where(*_mine), _view)
_page = (
    select(*_columns)
    .where(
        col(Negotiation.owner) == bindparam("owner"),
        col(Negotiation.id) < bindparam("before"),
    )
    .order_by(col(Negotiation.id).desc())
    .limit(bindparam("limit"))
)
_PAGE = Query(_page, _view)
_FILTERED = Query(
    _page.where(
        _absent_or("state", col(Negotiation.state) == bindparam("state", type_=String)),
        _absent_or("category", col(Negotiation.category) == bindparam("category", type_=String)),
        _absent_or(
            "pattern",
            func.lower(col(Negotiation.title)).like(
                bindparam("pattern", type_=String), escape="\\"
            ),
        ),
    ),
    _view,
)
_EDIT = Statement(
    update(Negotiation)
    .where(*_mine)
    .values(
        title=func.coalesce(bindparam("title", type_=String), col(Negotiation.title)),
        category=func.coalesce(bindparam("category", type_=String), col(Negotiation.category)),
        revision=Negotiation.revision + 1,
        updated_at=bindparam("now", type_=BigInteger),
    )
)
_REMOVE = Statement(delete(Negotiation).where(*_mine))
_MOVE = Statement(
    update(Negotiation)
    .where(col(Negotiation.owner) == bindparam("agent"))
    .values(owner=bindparam("user"), origin=bindparam("agent"))
)
_ERASE = Statement(delete(Negotiation).where(col(Negotiation.owner) == bindparam("principal")))


def add(tx: Transaction, owner: str, new: OpenNegotiation) -> NegotiationView:
    """Keep a new negotiation of this principal's; it starts as a draft."""
    negotiation_id, now = values.new_id("neg"), values.now()
    tx.run(
        _ADD,
        id=negotiation_id,
        owner=owner,
        origin=None,
        title=new.title,
        category=new.category,
        kind=new.kind,
        role=new.role,
        state="draft",
        document=orjson.dumps({"issues": new.issues}).decode(),
        revision=1,
        created_at=now,
        updated_at=now,
    )
    return find(tx, owner, negotiation_id)


def find(tx: Transaction, owner: str, negotiation_id: str) -> NegotiationView:
    """The principal's negotiation of this id; 404 for everybody else's."""
    found = tx.one(_FIND, negotiation=negotiation_id, owner=owner)
    if found is None:
        raise NotFound("There is no such negotiation.")
    return found


def page(
    tx: Transaction, owner: str, asked: ListNegotiations, before: str | None
) -> list[NegotiationView]:
    """One more than `limit` of the principal's negotiations older than `before`, newest first."""
    window: dict[str, Any] = {
        "owner": owner,
        "before": before or _LAST,
        "limit": asked.limit + 1,
    }
    if asked.state is asked.category is asked.query is None:
        return tx.all(_PAGE, **window)
    pattern = _pattern(asked.query) if asked.query else None
    return tx.all(_FILTERED, state=asked.state, category=asked.category, pattern=pattern, **window)


def edit(
    tx: Transaction, owner: str, change: EditNegotiation, *, expected: int | None
) -> NegotiationView:
    """Apply a merge patch; 412 when `expected` is not the current revision."""
    current = find(tx, owner, change.id)
    if expected is not None and current["revision"] != expected:
        raise PreconditionFailed(
            "The negotiation has changed since that revision.",
            members={"revision": current["revision"]},
        )
    tx.run(
        _EDIT,
        negotiation=change.id,
        owner=owner,
        title=change.title,
        category=change.category,
        now=values.now(),
    )
    return find(tx, owner, change.id)


def remove(tx: Transaction, owner: str, negotiation_id: str, *, expected: int | None) -> None:
    """Erase a negotiation; 412 when `expected` is not the current revision."""
    current = find(tx, owner, negotiation_id)
    if expected is not None and current["revision"] != expected:
        raise PreconditionFailed(
            "The negotiation has changed since that revision.",
            members={"revision": current["revision"]},
        )
    tx.run(_REMOVE, negotiation=negotiation_id, owner=owner)


def move(tx: Transaction, agent_id: str, user_id: str) -> None:
    """Give an agent's negotiations to the user who claimed it, marked with their origin."""
    tx.run(_MOVE, agent=agent_id, user=user_id)


def erase(tx: Transaction, principal: str) -> None:
    """Delete all of a principal's negotiations."""
    tx.run(_ERASE, principal=principal)


def _pattern(text: str) -> str:
    escaped = text.lower().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"
