"""Memories, what they were before, and the counter that tells every worker that an owner's have changed."""
# pyright: reportAssignmentType=false
# SQLModel types __tablename__ as a declared attribute; a plain string is what it reads.

from typing import Final

from sqlalchemy import BigInteger, Index, LargeBinary, text
from sqlmodel import Field, SQLModel

from negotiator.store.statement import table

LIVE: Final = text("status in ('active', 'pending')")


class Memory(SQLModel, table=True):
    """One memory. `document` is its ready JSON view; what lists and recall choose by has a column.

    `stamp` is the owner's counter at the last change; `digest` the hash of the normalised text and of whom it is about;
    `origin` the agent that wrote it before its user claimed it. `vector` is float32, of unit length, by `model`.
    """

    __tablename__ = "memories"
    __table_args__ = (
        Index("ix_memories_owner_id", "owner", "id"),
        Index("ix_memories_owner_stamp", "owner", "stamp"),
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


Index(
    "ix_memories_owner_digest",
    table(Memory).c.owner,
    table(Memory).c.digest,
    unique=True,
    sqlite_where=LIVE,
    postgresql_where=LIVE,
)


class MemoryVersion(SQLModel, table=True):
    """What a memory was before a change. Erased with it."""

    __tablename__ = "memory_versions"
    __table_args__ = (Index("ix_memory_versions_owner", "owner"),)

    memory: str = Field(primary_key=True)
    revision: int = Field(primary_key=True)
    owner: str
    at: int = Field(sa_type=BigInteger)
    actor: str
    change: str
    before: bytes = Field(sa_type=LargeBinary)


class MemoryOwner(SQLModel, table=True):
    """An owner's counters: `stamp` rises with every change, `removed` is the stamp of the last one that erased rows."""

    __tablename__ = "memory_owners"

    owner: str = Field(primary_key=True)
    stamp: int = Field(sa_type=BigInteger)
    removed: int = Field(sa_type=BigInteger)
