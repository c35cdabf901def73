"""The table of rehearsals."""

from sqlalchemy import BigInteger, Index, LargeBinary
from sqlmodel import Field

from negotiator.store.model import TableModel, table_options


class Rehearsal(TableModel, table=True):
    """One rehearsal of a negotiation; gone with the negotiation.

    `terms` are the terms it is played by, `person` the simulated counterpart, `progress` what that counterpart
    remembers and the turns, `result` the head of the debrief once it is over: all as JSON.
    """

    __tablename__ = "rehearsals"
    __table_args__ = (
        Index("ix_rehearsals_negotiation_id", "negotiation", "id"),
        Index("ix_rehearsals_owner", "owner"),
        table_options(owner="owner", part_of={"negotiation": "negotiations"}),
    )

    id: str = Field(primary_key=True)
    negotiation: str
    owner: str
    seed: int = Field(sa_type=BigInteger)
    state: str
    terms: bytes = Field(sa_type=LargeBinary)
    person: bytes = Field(sa_type=LargeBinary)
    progress: bytes = Field(sa_type=LargeBinary)
    result: bytes = Field(sa_type=LargeBinary)
    revision: int
    created_at: int = Field(sa_type=BigInteger)
    updated_at: int = Field(sa_type=BigInteger)
