"""Battle plans at rest."""
# pyright: reportAssignmentType=false
# SQLModel types __tablename__ as a declared attribute; a plain string is what it reads.

from sqlalchemy import BigInteger, Index, LargeBinary
from sqlmodel import Field, SQLModel


class BattlePlan(SQLModel, table=True):
    """One version of a negotiation's plan; never changed, gone with the negotiation.

    `made_from` is the revision of the negotiation it was made from; `document` holds the sections.
    """

    __tablename__ = "battle_plans"
    __table_args__ = (
        Index("ix_battle_plans_negotiation_version", "negotiation", "version", unique=True),
        Index("ix_battle_plans_owner", "owner"),
    )

    id: str = Field(primary_key=True)
    negotiation: str
    owner: str
    version: int
    made_from: int
    worded_by: str
    document: bytes = Field(sa_type=LargeBinary)
    created_at: int = Field(sa_type=BigInteger)
