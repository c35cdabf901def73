"""Queries of wins, and counts of what each tactic did over the wins that name it.

Every statement names the owner. A win names its memory only while that memory exists.
"""

from dataclasses import dataclass, field
from typing import Any, Final

import orjson
from sqlalchemy import and_, bindparam, delete, select, update
from sqlmodel import col

from negotiator.base import values
from negotiator.base.errors import NotFound, PreconditionFailed
from negotiator.memory.schemas_wins import ListWins
from negotiator.memory.tables import Memory, Win, fits
from negotiator.store.statement import Query, RowInsertion, Statement, Transaction, table

WinDocument = dict[str, Any]
_LAST: Final = "win_" + "z" * values.ID_LENGTH


_theirs = col(Win.owner) == bindparam("holder")
_mine = (col(Win.id) == bindparam("win"), _theirs)
_with_memory = (
    select(col(Win.id), col(Win.document), col(Memory.id), col(Win.origin))
    .select_from(table(Win))
    .outerjoin(table(Memory), and_(col(Memory.id) == col(Win.memory), col(Memory.owner) == col(Win.owner)))
)
_ADD = RowInsertion(Win)
_FIND = Query(_with_memory.where(*_mine), tuple)
_OF_NEGOTIATION = Query(
    select(col(Win.id)).where(_theirs, col(Win.negotiation) == bindparam("subject")), lambda row: str(row[0])
)
_PAGE = Query(
    _with_memory.where(
        _theirs,
        col(Win.id) < bindparam("before"),
        *(fits(table(Win).c[name], name) for name in ("category", "kind", "counterparty")),
        fits(table(Win).c.negotiation, "subject"),
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
_ALL = Query(_with_memory.where(_theirs).order_by(col(Win.id)), tuple)


def find(tx: Transaction, owner: str, win: str) -> WinDocument:
    """The owner's win; 404 when the owner has none with this id."""
    found = tx.one(_FIND, win=win, holder=owner)
    if found is None:
        raise NotFound("There is no such win.")
    return _view(found)


def load(tx: Transaction, owner: str, win: str, *, expected: int | None) -> WinDocument:
    """The win for a change; 404, and 412 when `expected` is not the current revision."""
    view = find(tx, owner, win)
    if expected is not None and view["revision"] != expected:
        raise PreconditionFailed("The win has changed since that revision.", members={"revision": view["revision"]})
    return view


def find_by_negotiation(tx: Transaction, owner: str, negotiation: str) -> str | None:
    """The id of the win of this negotiation."""
    return tx.one(_OF_NEGOTIATION, holder=owner, subject=negotiation)


def page(tx: Transaction, owner: str, query: ListWins, before: str | None) -> list[WinDocument]:
    """Up to `limit` + 1 of the owner's wins older than `before`, newest first."""
    found = tx.all(
        _PAGE,
        holder=owner,
        before=before or _LAST,
        category=query.category,
        kind=query.kind,
        counterparty=query.counterparty,
        subject=query.negotiation_id,
        limit=query.limit + 1,
    )
    return [_view(row) for row in found]


def add(tx: Transaction, owner: str, view: WinDocument, columns: dict[str, Any]) -> None:
    at = values.now()
    named = {"id": view["id"], "owner": owner, "origin": None, "created_at": at, "updated_at": at}
    tx.run(_ADD, **named, **columns, document=orjson.dumps(view), revision=view["revision"])


def save(tx: Transaction, owner: str, view: WinDocument, columns: dict[str, Any]) -> None:
    new = {**columns, "document": orjson.dumps(view), "revision": view["revision"], "updated_at": values.now()}
    tx.run(_SAVE, win=view["id"], holder=owner, **{f"new_{name}": value for name, value in new.items()})


def list_all(tx: Transaction, owner: str) -> list[WinDocument]:
    """All of an owner's wins, oldest first."""
    return [_view(row) for row in tx.all(_ALL, holder=owner)]


def delete_win(tx: Transaction, owner: str, win: str) -> None:
    tx.run(_REMOVE, win=win, holder=owner)


def _view(row: Any) -> WinDocument:
    _, document, memory, origin = row
    win = orjson.loads(document)
    before = {"type": "agent", "client_id": origin, "at": win["created_at"]}
    return {"source": before, **win, "memory_id": memory, "origin": origin}


_NEWEST: Final = 1000
_USED = Query(
    select(col(Win.document), col(Win.memory))
    .where(col(Win.owner) == bindparam("holder"))
    .order_by(col(Win.id).desc())
    .limit(_NEWEST),
    lambda row: (orjson.loads(row[0]), row[1]),
)


@dataclass(slots=True)
class TacticRecord:
    """A tactic's record: times used, times with a known effect, times it helped, rates saved, memory ids."""

    used: int = 0
    known: int = 0
    helped: int = 0
    rates: list[float] = field(default_factory=list[float])
    memories: list[str] = field(default_factory=list[str])

    @property
    def mean_rate(self) -> float | None:
        """The mean fraction saved in the wins that used it."""
        return sum(self.rates) / len(self.rates) if self.rates else None


def tactic_records(tx: Transaction, owner: str) -> dict[str, TacticRecord]:
    """Records by tactic id, over the owner's newest thousand wins."""
    found: dict[str, TacticRecord] = {}
    for win, memory in tx.all(_USED, holder=owner):
        for used in win["tactics_used"]:
            result = found.setdefault(used["tactic_id"], TacticRecord())
            result.used += 1
            result.known += used["helped"] != 0
            result.helped += used["helped"] > 0
            result.rates.append(win["savings_rate"])
            if memory is not None and used["helped"] > 0:
                result.memories.append(memory)
    return found


def wins_with_tactic(tx: Transaction, owner: str, tactic: str) -> list[WinDocument]:
    """The wins that name this tactic, newest first, of the owner's newest thousand."""
    return [
        win
        for win, _ in tx.all(_USED, holder=owner)
        if any(used["tactic_id"] == tactic for used in win["tactics_used"])
    ]
