"""Tables of memories, their earlier versions, the change counter of each owner, and wins."""

from typing import Any, Final

from sqlalchemy import BigInteger, Column, ColumnElement, Index, LargeBinary, bindparam, or_, text
from sqlmodel import Field

from negotiator.store.model import TableModel, table_options
from negotiator.store.statement import table

IS_LIVE_SQL: Final = text("status in ('active', 'pending')")
WAITS_SQL: Final = text("(status in ('pending', 'quarantined') or (trust = 0 and status <> 'superseded'))")
"""Which memories wait for the user's review."""


def fits(column: Column[Any], name: str) -> ColumnElement[bool]:
    """The column equals the parameter of this name, or that parameter is NULL."""
    wanted = bindparam(name, type_=column.type)
    return or_(wanted.is_(None), column == wanted)


class Memory(TableModel, table=True):
    """One memory. `document` is its JSON view; everything that lists and searches filter by has a column.

    `stamp` is the owner's counter at the last change; `digest` the hash of the normalised text and of the counterparty;
    `origin` the agent that wrote it before its user claimed it. `vector` is float32, of unit length, made by `model`.
    """

    __tablename__ = "memories"
    __table_args__ = (
        Index("ix_memories_owner_id", "owner", "id"),
        Index("ix_memories_owner_stamp", "owner", "stamp"),
        table_options(
            owner="owner", origin="origin", kept="an expired memory is no longer recalled, but its owner still sees it"
        ),
    )

    id: str = Field(primary_key=True)
    owner: str
    origin: str | None
    stamp: int = Field(sa_type=BigInteger)
    kind: str
    status: str
    category: str | None
    counterparty: str | None
    negotiation: str | None
    trust: int
    pinned: bool
    digest: str
    expires_at: int | None = Field(sa_type=BigInteger)
    document: bytes = Field(sa_type=LargeBinary)
    model: str
    vector: bytes = Field(sa_type=LargeBinary)
    revision: int
    created_at: int = Field(sa_type=BigInteger)
    updated_at: int = Field(sa_type=BigInteger)


Index("ix_memories_owner_digest", table(Memory).c.owner, table(Memory).c.digest, unique=True, sqlite_where=IS_LIVE_SQL)


class MemoryVersion(TableModel, table=True):
    """A memory before a change. Erased together with the memory."""

    __tablename__ = "memory_versions"
    __table_args__ = (
        Index("ix_memory_versions_owner", "owner"),
        table_options(owner="owner", part_of={"memory": "memories"}),
    )

    memory: str = Field(primary_key=True)
    revision: int = Field(primary_key=True)
    owner: str
    at: int = Field(sa_type=BigInteger)
    actor: str
    change: str
    before: bytes = Field(sa_type=LargeBinary)


class MemoryOwner(TableModel, table=True):
    """An owner's counters: `stamp` rises with every change, `removed` is the stamp of the last erasure."""

    __tablename__ = "memory_owners"
    __table_args__ = table_options(kept="the counters tell other workers that rows have gone")

    owner: str = Field(primary_key=True)
    stamp: int = Field(sa_type=BigInteger)
    removed: int = Field(sa_type=BigInteger)


class Win(TableModel, table=True):
    """One win. `document` is its JSON view; everything that benchmarks are computed from has a column.

    `side` is buy or sell; `rate` the fraction saved, `weight` the baseline's value in the currency, both as decimal
    text. `contributed` says whether others' benchmarks may count it; they never learn whose it is.
    """

    __tablename__ = "wins"
    __table_args__ = (
        Index("ix_wins_owner_id", "owner", "id"),
        Index("ix_wins_contributed", "contributed", "category", "side", "currency"),
        table_options(owner="owner", origin="origin"),
    )

    id: str = Field(primary_key=True)
    owner: str
    origin: str | None
    negotiation: str | None
    counterparty: str | None
    category: str
    kind: str
    side: str
    currency: str
    closed_at: int = Field(sa_type=BigInteger)
    rate: str
    weight: str
    rounds: int | None
    days: int | None
    contributed: bool
    memory: str | None
    document: bytes = Field(sa_type=LargeBinary)
    revision: int
    created_at: int = Field(sa_type=BigInteger)
    updated_at: int = Field(sa_type=BigInteger)


Index("ix_wins_owner_negotiation", table(Win).c.owner, table(Win).c.negotiation, unique=True)
