"""The user's own tactics at rest."""
# pyright: reportAssignmentType=false
# SQLModel types __tablename__ as a declared attribute; a plain string is what it reads.

from sqlalchemy import BigInteger, Index, LargeBinary
from sqlmodel import Field, SQLModel


class OwnTactic(SQLModel, table=True):
    """A tactic of a principal's. `origin` is the agent that wrote it before its user claimed it."""

    __tablename__ = "tactics"
    __table_args__ = (Index("ix_tactics_owner_id", "owner", "id"),)

    id: str = Field(primary_key=True)
    owner: str
    origin: str | None
    document: bytes = Field(sa_type=LargeBinary)
    revision: int
    created_at: int = Field(sa_type=BigInteger)
    updated_at: int = Field(sa_type=BigInteger)
