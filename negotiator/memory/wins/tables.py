"""Wins at rest."""
# pyright: reportAssignmentType=false
# SQLModel types __tablename__ as a declared attribute; a plain string is what it reads.

from sqlalchemy import BigInteger, Index, LargeBinary
from sqlmodel import Field, SQLModel

from negotiator.store.statement import table


class Win(SQLModel, table=True):
    """One win of a principal's. `document` is its ready JSON view; what benchmarks are computed from has a column.

    `side` is buy or sell; `rate` the fraction saved, `weight` the baseline's value in the currency, both as decimal
    text; `contributed` whether others' benchmarks may count it, never whose it is.
    """

    __tablename__ = "wins"
    __table_args__ = (
        Index("ix_wins_owner_id", "owner", "id"),
        Index("ix_wins_contributed", "contributed", "category", "side", "currency"),
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
