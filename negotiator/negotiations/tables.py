"""Tables of negotiations, their history and offers, of battle plans, and of tactics that users add.

A negotiation has a column for each member that lists filter by; the rest is JSON. `request` is the request body with
later edits merged, `terms` the parsed terms (`terms.encode_terms`), `progress` the state's reason, the outcome, the
package that waits for approval and earlier baselines, and `document` the ready view that lists and reads answer with.
"""

from sqlalchemy import BigInteger, Index, LargeBinary
from sqlmodel import Field

from negotiator.store.model import TableModel, table_options


class Negotiation(TableModel, table=True):
    """One session. `owner` is the principal; `origin` the agent that opened it before its user claimed it.

    `due_at` is the moment the clock ends it, None when there is none; `offers` and `events` are the last `seq`.
    """

    __tablename__ = "negotiations"
    __table_args__ = (
        Index("ix_negotiations_owner_id", "owner", "id"),
        Index("ix_negotiations_due_at", "due_at"),
        table_options(owner="owner", origin="origin"),
    )

    id: str = Field(primary_key=True)
    owner: str
    origin: str | None
    category: str
    state: str
    search: str
    request: bytes = Field(sa_type=LargeBinary)
    terms: bytes = Field(sa_type=LargeBinary)
    progress: bytes = Field(sa_type=LargeBinary)
    document: bytes = Field(sa_type=LargeBinary)
    offers: int
    events: int
    due_at: int | None = Field(sa_type=BigInteger)
    revision: int
    created_at: int = Field(sa_type=BigInteger)
    updated_at: int = Field(sa_type=BigInteger)


class NegotiationEvent(TableModel, table=True):
    """One event of a negotiation's history; rows are only ever added, and go with the negotiation."""

    __tablename__ = "negotiation_events"
    __table_args__ = table_options(sqlite_with_rowid=False, part_of={"negotiation": "negotiations"})

    negotiation: str = Field(primary_key=True)
    seq: int = Field(primary_key=True)
    at: int = Field(sa_type=BigInteger)
    document: bytes = Field(sa_type=LargeBinary)


class Offer(TableModel, table=True):
    """One row of a ledger; only ever added, and goes with the negotiation.

    `approval` alone may change: `pending`, then `approved` or `refused`; empty when none was needed.
    """

    __tablename__ = "offers"
    __table_args__ = (
        Index("ix_offers_negotiation_seq", "negotiation", "seq", unique=True),
        table_options(part_of={"negotiation": "negotiations"}),
    )

    id: str = Field(primary_key=True)
    negotiation: str
    seq: int
    at: int = Field(sa_type=BigInteger)
    side: str
    kind: str
    source: str
    answers: str | None
    confirms: str | None
    valid_until: int | None = Field(sa_type=BigInteger)
    approval: str
    document: bytes = Field(sa_type=LargeBinary)


class BattlePlan(TableModel, table=True):
    """One version of a negotiation's plan; never changed, gone with the negotiation.

    `made_from` is the revision of the negotiation it was made from; `document` holds the sections.
    """

    __tablename__ = "battle_plans"
    __table_args__ = (
        Index("ix_battle_plans_negotiation_version", "negotiation", "version", unique=True),
        Index("ix_battle_plans_owner", "owner"),
        table_options(owner="owner", part_of={"negotiation": "negotiations"}),
    )

    id: str = Field(primary_key=True)
    negotiation: str
    owner: str
    version: int
    made_from: int
    worded_by: str
    document: bytes = Field(sa_type=LargeBinary)
    created_at: int = Field(sa_type=BigInteger)


class OwnTactic(TableModel, table=True):
    """A tactic of a principal's. `origin` is the agent that wrote it before its user claimed it."""

    __tablename__ = "tactics"
    __table_args__ = (Index("ix_tactics_owner_id", "owner", "id"), table_options(owner="owner", origin="origin"))

    id: str = Field(primary_key=True)
    owner: str
    origin: str | None
    document: bytes = Field(sa_type=LargeBinary)
    revision: int
    created_at: int = Field(sa_type=BigInteger)
    updated_at: int = Field(sa_type=BigInteger)
