"""How often a tool is saved: counted behind the writers' backs, one owner one save, proven owners only.

Anybody registers an agent in a second; a number that strangers could raise by doing so would rank nothing.
"""

from collections.abc import Iterable
from typing import Final

from sqlalchemy import bindparam, delete, func, select
from sqlmodel import col

from negotiator.directory.accounts.tables import Proof
from negotiator.directory.bookmarks.tables import Collection, CollectionItem, DueCount
from negotiator.directory.catalogue import tools
from negotiator.store.statement import Query, Statement, Transaction, insertion

_AT_ONCE: Final = 200

_DUE = Statement(insertion(DueCount).on_conflict_do_nothing())
_NEXT = Query(
    select(col(DueCount.tool)).order_by(col(DueCount.tool)).limit(_AT_ONCE),
    lambda row: str(row[0]),
)
_DONE = Statement(delete(DueCount).where(col(DueCount.tool) == bindparam("tool")))
_COUNT = Query(
    select(func.count(func.distinct(col(Collection.owner))))
    .join(CollectionItem, col(CollectionItem.collection) == col(Collection.id))
    .where(
        col(CollectionItem.tool) == bindparam("tool"),
        col(Collection.owner).like("usr\\_%", escape="\\")
        | col(Collection.owner).in_(select(col(Proof.agent_id))),
    ),
    lambda row: int(row[0]),
)


def due(tx: Transaction, changed: Iterable[str]) -> None:
    """Note that the saves of these tools have to be counted again."""
    for tool in changed:
        tx.run(_DUE, tool=tool)


def sweep(tx: Transaction, _now: int) -> None:
    """Count again what is due, some hundred tools at a time."""
    for tool in tx.all(_NEXT):
        tools.count_saves(tx, tool, tx.one(_COUNT, tool=tool) or 0)
        tx.run(_DONE, tool=tool)
