"""Collections and what is in them, at rest."""
# pyright: reportAssignmentType=false
# SQLModel types __tablename__ as a declared attribute; a plain string is what it reads.

from sqlalchemy import BigInteger, Index
from sqlmodel import Field, SQLModel


class Collection(SQLModel, table=True):
    """A saved collection. `origin` is the agent that made it before its user claimed it.

    `share` is the token of its link, in clear: whoever reads this table reads what the token opens.
    """

    __tablename__ = "collections"
    __table_args__ = (
        Index("ix_collections_owner_id", "owner", "id"),
        Index("ix_collections_share", "share", unique=True),
    )

    id: str = Field(primary_key=True)
    owner: str
    origin: str | None
    name: str
    description: str
    visibility: str
    share: str | None
    size: int
    revision: int
    created_at: int = Field(sa_type=BigInteger)
    updated_at: int = Field(sa_type=BigInteger)


class CollectionItem(SQLModel, table=True):
    """One tool of a collection; `position` counts from 0 without a gap."""

    __tablename__ = "collection_items"
    __table_args__ = (
        Index("ix_collection_items_tool", "tool"),
        {"sqlite_with_rowid": False},
    )

    collection: str = Field(primary_key=True)
    tool: str = Field(primary_key=True)
    position: int
    note: str
    added_at: int = Field(sa_type=BigInteger)


class DueCount(SQLModel, table=True):
    """A tool that came into a collection or went out of one since its saves were counted."""

    __tablename__ = "collection_counts_due"

    tool: str = Field(primary_key=True)
