"""Queries of rehearsals; every statement filters by the owner, so another owner's id is not found (404)."""

from typing import Final

from sqlalchemy import BigInteger, Integer, LargeBinary, String, bindparam, delete, func, select, update
from sqlmodel import col

from negotiator.base import values
from negotiator.base.errors import Conflict, NotFound
from negotiator.rehearsals.stored import StoredRehearsal, all_columns_of, columns_of, stored_rehearsal
from negotiator.rehearsals.tables import Rehearsal
from negotiator.store.statement import Query, RowInsertion, Statement, Transaction, table

MAX_REHEARSALS: Final = 200
"""The number of rehearsals of one negotiation; beyond it one has to be deleted first."""
_LAST: Final = "reh_" + "z" * values.ID_LENGTH

_columns = [
    table(Rehearsal).c[name]
    for name in (
        *("id", "negotiation", "seed", "state", "terms", "person", "progress", "result"),
        *("revision", "created_at", "updated_at"),
    )
]
_of_negotiation = (col(Rehearsal.negotiation) == bindparam("negotiation"), col(Rehearsal.owner) == bindparam("owner"))
_mine = (*_of_negotiation, col(Rehearsal.id) == bindparam("rehearsal"))
_ADD = RowInsertion(Rehearsal)
_FIND = Query(select(*_columns).where(*_mine), stored_rehearsal)
_COUNT = Query(select(func.count()).select_from(table(Rehearsal)).where(*_of_negotiation), lambda row: int(row[0]))
_PAGE = Query(
    select(*_columns)
    .where(*_of_negotiation, col(Rehearsal.id) < bindparam("before"))
    .order_by(col(Rehearsal.id).desc())
    .limit(bindparam("limit")),
    stored_rehearsal,
)
_ATTEMPTS = Query(
    select(*_columns)
    .where(*_of_negotiation, col(Rehearsal.seed) == bindparam("seed", type_=BigInteger))
    .order_by(col(Rehearsal.id)),
    stored_rehearsal,
)
_SAVE = Statement(
    update(Rehearsal)
    .where(
        col(Rehearsal.id) == bindparam("rehearsal"),
        col(Rehearsal.owner) == bindparam("holder"),  # a column's own name is taken in an update
        col(Rehearsal.revision) == bindparam("seen", type_=Integer),
    )
    .values(
        state=bindparam("new_state", type_=String),
        progress=bindparam("new_progress", type_=LargeBinary),
        result=bindparam("new_result", type_=LargeBinary),
        updated_at=bindparam("new_updated_at", type_=BigInteger),
        revision=Rehearsal.revision + 1,
    )
)
_REMOVE = Statement(delete(Rehearsal).where(*_mine))


def add(tx: Transaction, owner: str, rehearsal: StoredRehearsal) -> None:
    """Store a new rehearsal; 409 where the negotiation has as many as it may have."""
    held = tx.one(_COUNT, negotiation=rehearsal.negotiation, owner=owner) or 0
    if held >= MAX_REHEARSALS:
        raise Conflict(
            f"This negotiation has {MAX_REHEARSALS} rehearsals; delete one first.", error="too_many_rehearsals"
        )
    tx.run(_ADD, owner=owner, **all_columns_of(rehearsal))


def find(tx: Transaction, owner: str, negotiation: str, rehearsal: str) -> StoredRehearsal:
    """One rehearsal; 404 for an unknown one, or one of another negotiation or owner."""
    found = tx.one(_FIND, negotiation=negotiation, owner=owner, rehearsal=rehearsal)
    if found is None:
        raise NotFound("There is no such rehearsal.")
    return found


def page(tx: Transaction, owner: str, negotiation: str, *, before: str | None, limit: int) -> list[StoredRehearsal]:
    """Rehearsals of a negotiation with ids below `before`, newest first."""
    before = _LAST if before is None else before
    return tx.all(_PAGE, negotiation=negotiation, owner=owner, before=before, limit=limit)


def attempts(tx: Transaction, owner: str, rehearsal: StoredRehearsal) -> list[StoredRehearsal]:
    """Every rehearsal of the same negotiation with the same person, oldest first."""
    return tx.all(_ATTEMPTS, negotiation=rehearsal.negotiation, owner=owner, seed=rehearsal.seed)


def save(tx: Transaction, owner: str, rehearsal: StoredRehearsal) -> None:
    """Store what a turn changed; 409 when another turn was played since `rehearsal.revision`."""
    saved = tx.run(
        _SAVE,
        rehearsal=rehearsal.id,
        holder=owner,
        seen=rehearsal.revision,
        **{f"new_{name}": value for name, value in columns_of(rehearsal).items()},
    )
    if not saved:
        raise Conflict("Another turn was played meanwhile; read the rehearsal and decide again.", error="turn_taken")


def remove(tx: Transaction, owner: str, negotiation: str, rehearsal: str) -> None:
    """Delete a rehearsal; 404 for an unknown one."""
    if not tx.run(_REMOVE, negotiation=negotiation, owner=owner, rehearsal=rehearsal):
        raise NotFound("There is no such rehearsal.")
