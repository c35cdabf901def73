"""Negotiations: what lists filter by in columns of its own, the rest as one JSON document."""
# pyright: reportAssignmentType=false
# SQLModel types __tablename__ as a declared attribute; a plain string is what it reads.

from sqlalchemy import BigInteger, Index
from sqlmodel import Field, SQLModel


class Negotiation(SQLModel, table=True):
    """One session. `owner` is the principal; `origin` the agent that opened it before its user claimed it."""

    __tablename__ = "negotiations"
    __table_args__ = (Index("ix_negotiations_owner_id", "owner", "id"),)

    id: str = Field(primary_key=True)
    owner: str
    origin: str | None
    title: str
    category: str
    kind: str
    role: str
    state: str
    document: str
    revision: int
    created_at: int = Field(sa_type=BigInteger)
    updated_at: int = Field(sa_type=BigInteger)
