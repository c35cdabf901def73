"""The feed of changes: numbered without gaps and append-only, with an entry for every deletion."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import bindparam, func, select
from sqlmodel import col

from negotiator.base import values
from negotiator.directory.tables import ToolChange, ToolRow
from negotiator.directory.tool_record import ToolView
from negotiator.store.statement import Query, RowInsertion, Transaction, entity

ChangeKind = Literal["created", "updated", "restored", "deprecated", "quarantined", "deleted", "counted"]


@dataclass(frozen=True, slots=True)
class ChangedTool:
    """The newest state of a changed tool."""

    seq: int
    id: str
    status: str
    saves: int
    document: bytes
    created_at: int
    updated_at: int


def _changed(row: Sequence[Any]) -> ChangedTool:
    return ChangedTool(*row)


_ADD = RowInsertion(ToolChange)
_LATEST = Query(select(func.coalesce(func.max(col(ToolChange.seq)), 0)), lambda row: int(row[0]))
_MADE = Query(
    select(col(ToolChange.tool), col(ToolChange.at)).where(col(ToolChange.seq) == bindparam("seq")),
    lambda row: (str(row[0]), int(row[1])),
)
_PAGE = Query(
    select(ToolChange)
    .where(col(ToolChange.seq) > bindparam("since"))
    .order_by(col(ToolChange.seq))
    .limit(bindparam("limit")),
    entity(ToolChange),
)
_SINCE = Query(
    select(
        *(col(ToolRow.seq), col(ToolRow.id), col(ToolRow.status), col(ToolRow.saves)),
        *(col(ToolRow.document), col(ToolRow.created_at), col(ToolRow.updated_at)),
    )
    .where(col(ToolRow.seq) > bindparam("since"))
    .order_by(col(ToolRow.seq))
    .limit(bindparam("limit")),
    _changed,
)


def latest(tx: Transaction) -> int:
    """The number of the last change, 0 before the first."""
    return tx.one(_LATEST) or 0


def made(tx: Transaction, seq: int) -> tuple[str, int] | None:
    """The tool and the moment of a change."""
    return tx.one(_MADE, seq=seq)


def append(tx: Transaction, view: ToolView, *, kind: ChangeKind, actor: str, at: int) -> int:
    """Add the next change and return its number; writes are serial."""
    seq = latest(tx) + 1
    columns = {"tool": view.id, "slug": view.slug, "status": view.status, "revision": view.revision}
    tx.run(_ADD, seq=seq, kind=kind, actor=actor, at=at, **columns)
    return seq


def page(tx: Transaction, since: int, *, limit: int) -> list[dict[str, Any]]:
    """Up to `limit` changes after number `since`, oldest first, as the API shows them."""
    return [
        {
            "seq": change.seq,
            "change": change.kind,
            "tool_id": change.tool,
            "slug": change.slug,
            "status": change.status,
            "revision": change.revision,
            "at": values.timestamp(change.at),
        }
        for change in tx.all(_PAGE, since=since, limit=limit)
    ]


def tools_since(tx: Transaction, since: int, *, limit: int) -> list[ChangedTool]:
    """Every tool whose last change is after number `since`, in the order of those changes."""
    return tx.all(_SINCE, since=since, limit=limit)
