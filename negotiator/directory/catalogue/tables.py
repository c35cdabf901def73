"""The catalogue at rest: the record as a ready JSON document, and what it is looked up by."""
# pyright: reportAssignmentType=false
# SQLModel types __tablename__ as a declared attribute; a plain string is what it reads.

from sqlalchemy import BigInteger, Index, LargeBinary
from sqlmodel import Field, SQLModel


class ToolRow(SQLModel, table=True):
    """One tool. `document` is the record as it goes out; `seq` the change that made it so."""

    __tablename__ = "tools"
    __table_args__ = (
        Index("ix_tools_external_id", "external_id", unique=True),
        Index("ix_tools_seq", "seq", unique=True),
    )

    id: str = Field(primary_key=True)
    slug: str = Field(unique=True)
    external_id: str | None
    status: str
    saves: int
    seq: int = Field(sa_type=BigInteger)
    revision: int
    document: bytes = Field(sa_type=LargeBinary)
    created_at: int = Field(sa_type=BigInteger)
    updated_at: int = Field(sa_type=BigInteger)


class ToolSlug(SQLModel, table=True):
    """Every slug that was ever a tool's, the current one too: none is given to another tool."""

    __tablename__ = "tool_slugs"
    __table_args__ = {"sqlite_with_rowid": False}

    slug: str = Field(primary_key=True)
    tool: str


class ToolKey(SQLModel, table=True):
    """An exact coordinate of a tool: canonical URL, repository, package, endpoint. Kept when the tool goes."""

    __tablename__ = "tool_keys"
    __table_args__ = (Index("ix_tool_keys_tool", "tool"), {"sqlite_with_rowid": False})

    kind: str = Field(primary_key=True)
    value: str = Field(primary_key=True)
    tool: str = Field(primary_key=True)


class ToolChange(SQLModel, table=True):
    """One change, numbered without gaps from 1 in the order they became durable; rows are only ever added."""

    __tablename__ = "tool_changes"
    __table_args__ = (Index("ix_tool_changes_tool", "tool"), {"sqlite_with_rowid": False})

    seq: int = Field(sa_type=BigInteger, primary_key=True)
    tool: str
    kind: str
    slug: str
    status: str
    revision: int
    actor: str
    at: int = Field(sa_type=BigInteger)
