"""Wins at rest: every statement carries the owner. A win's memory is named as long as that memory is there."""

from typing import Any, Final

import orjson
from sqlalchemy import String, and_, bindparam, delete, or_, select, update
from sqlmodel import col

from negotiator import values
from negotiator.errors import NotFound, PreconditionFailed
from negotiator.memory.memories.tables import Memory
from negotiator.memory.wins.schemas import ListWins
from negotiator.memory.wins.tables import Win
from negotiator.store.statement import Query, Statement, Transaction, insertion, table

View = dict[str, Any]
_LAST: Final = "win_" + "z" * values.ID_LENGTH


def _absent_or(name: str, condition: Any) -> Any:
    return or_(bindparam(name, type_=String).is_(None), condition)


_theirs = col(Win.owner) == bindparam("holder")
_mine = (col(Win.id) == bindparam("win"), _theirs)
_shown = (
    select(col(Win.id), col(Win.document), col(Memory.id), col(Win.origin))
    .select_from(table(Win))
    .outerjoin(
        table(Memory),
        and_(col(Memory.id) == col(Win.memory), col(Memory.owner) == col(Win.owner)),
    )
)
_ADD = Statement(insertion(Win))
_FIND = Query(_shown.where(*_mine), tuple)
_OF_NEGOTIATION = Query(
    select(col(Win.id)).where(_theirs, col(Win.negotiation) == bindparam("subject")),
    lambda row: str(row[0]),
)
_PAGE = Query(
    _shown.where(
        _theirs,
        col(Win.id) < bindparam("before"),
        _absent_or("category", col(Win.category) == bindparam("category", type_=String)),
        _absent_or("kind", col(Win.kind) == bindparam("kind", type_=String)),
        _absent_or(
            "counterparty", col(Win.counterparty) == bindparam("counterparty", type_=String)
        ),
    )
    .order_by(col(Win.id).desc())
    .limit(bindparam("limit")),
    tuple,
)
_SAVE = Statement(
    update(Win)
    .where(*_mine)
    .values(
        {
            name: bindparam(f"new_{name}", type_=table(Win).c[name].type)
            for name in (
                *("negotiation", "counterparty", "category", "kind", "side", "currency"),
                *("closed_at", "rate", "weight", "rounds", "days", "contributed", "memory"),
                *("document", "revision", "updated_at"),
            )
        }
    )
)
_REMOVE = Statement(delete(Win).where(*_mine))
_MOVE = Statement(
    update(Win)
    .where(col(Win.owner) == bindparam("agent"))
    .values(owner=bindparam("user"), origin=bindparam("agent"))
)
_ERASE = Statement(delete(Win).where(_theirs))
_ALL = Query(_shown.where(_theirs).order_by(col(Win.id)), tuple)


def find(tx: Transaction, owner: str, win: str) -> View:
    """The owner's win; 404 for everybody else's."""
    found = tx.one(_FIND, win=win, holder=owner)
    if found is None:
        raise NotFound("There is no such win.")
    return _view(found)


def load(tx: Transaction, owner: str, win: str, *, expected: int | None) -> View:
    """The same for a change; 412 when `expected` is not the current revision."""
    view = find(tx, owner, win)
    if expected is not None and view["revision"] != expected:
        raise PreconditionFailed(
            "The win has changed since that revision.", members={"revision": view["revision"]}
        )
    return view


def of_negotiation(tx: Transaction, owner: str, negotiation: str) -> str | None:
    """The id of the win that belongs to this negotiation."""
    return tx.one(_OF_NEGOTIATION, holder=owner, subject=negotiation)


def page(tx: Transaction, owner: str, asked: ListWins, before: str | None) -> list[View]:
    """One more than `limit` of the owner's wins older than `before`, newest first."""
    found = tx.all(
        _PAGE,
        holder=owner,
        before=before or _LAST,
        category=asked.category,
        kind=asked.kind,
        counterparty=asked.counterparty,
        limit=asked.limit + 1,
    )
    return [_view(row) for row in found]


def add(tx: Transaction, owner: str, view: View, columns: dict[str, Any]) -> None:
    """Keep a new win."""
    at = values.now()
    named = {"id": view["id"], "owner": owner, "origin": None, "created_at": at, "updated_at": at}
    tx.run(_ADD, **named, **columns, document=orjson.dumps(view), revision=view["revision"])


def save(tx: Transaction, owner: str, view: View, columns: dict[str, Any]) -> None:
    """Keep what became of a win."""
    new = {
        **columns,
        "document": orjson.dumps(view),
        "revision": view["revision"],
        "updated_at": values.now(),
    }
    tx.run(
        _SAVE,
        win=view["id"],
        holder=owner,
        **{f"new_{name}": value for name, value in new.items()},
    )


def everything(tx: Transaction, owner: str) -> list[View]:
    """All of an owner's wins, oldest first, as an export carries them."""
    return [{"type": "win", **_view(row)} for row in tx.all(_ALL, holder=owner)]


def remove(tx: Transaction, owner: str, win: str) -> None:
    """Erase one win."""
    tx.run(_REMOVE, win=win, holder=owner)


def move(tx: Transaction, agent_id: str, user_id: str) -> None:
    """Give an agent's wins to the user who claims it, marked with their origin."""
    tx.run(_MOVE, agent=agent_id, user=user_id)


def erase(tx: Transaction, principal: str) -> None:
    """Erase all of a principal's wins."""
    tx.run(_ERASE, holder=principal)


def _view(row: Any) -> View:
    _, document, memory, origin = row
    return {**orjson.loads(document), "memory_id": memory, "origin": origin}
