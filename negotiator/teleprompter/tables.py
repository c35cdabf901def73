"""A call that is listened to, and its numbered events."""

from sqlalchemy import BigInteger, Index, LargeBinary
from sqlmodel import Field

from negotiator.store.model import TableModel, table_options


class TeleprompterSession(TableModel, table=True):
    """One session. `given` is what it was opened with, as JSON; `screen` what stands on it, as the policy left it.

    `seq` is the number of its last event, `producer` names the connection that may speak (empty: any). It ends by
    itself at `ends_at` and is forgotten with all that was said at `forget_at`.
    """

    __tablename__ = "teleprompter_sessions"
    __table_args__ = (
        Index("ix_teleprompter_sessions_owner_id", "owner", "id"),
        Index("ix_teleprompter_sessions_ends_at", "ends_at"),
        Index("ix_teleprompter_sessions_forget_at", "forget_at"),
        table_options(
            owner="owner", origin="origin", expires={"forget_at": 0}, batch=200, scrub=True
        ),
    )

    id: str = Field(primary_key=True)
    owner: str
    origin: str | None
    negotiation: str | None
    state: str
    given: bytes = Field(sa_type=LargeBinary)
    screen: bytes = Field(sa_type=LargeBinary)
    seq: int
    producer: str
    heard_ms: int = Field(sa_type=BigInteger)
    created_at: int = Field(sa_type=BigInteger)
    active_at: int = Field(sa_type=BigInteger)
    ended_at: int | None = Field(sa_type=BigInteger)
    ends_at: int | None = Field(sa_type=BigInteger)
    forget_at: int | None = Field(sa_type=BigInteger)


class TeleprompterEvent(TableModel, table=True):
    """One numbered event. `body` is its JSON without the number; `utterance` says which utterance it is about."""

    __tablename__ = "teleprompter_events"
    __table_args__ = (
        Index("ix_teleprompter_events_utterance", "session", "utterance"),
        table_options(sqlite_with_rowid=False, part_of={"session": "teleprompter_sessions"}),
    )

    session: str = Field(primary_key=True)
    seq: int = Field(primary_key=True)
    type: str
    utterance: str | None
    body: bytes = Field(sa_type=LargeBinary)


class TeleprompterTicket(TableModel, table=True):
    """A ticket that was not used yet. `caller` is who asked for it, as JSON; `origin` where his page came from."""

    __tablename__ = "teleprompter_tickets"
    __table_args__ = table_options(
        sqlite_with_rowid=False, owner="owner", on_claim="leave", expires={"expires_at": 0}
    )

    digest: str = Field(primary_key=True)
    session: str
    owner: str
    caller: bytes = Field(sa_type=LargeBinary)
    origin: str
    expires_at: int = Field(sa_type=BigInteger, index=True)


class CueExample(TableModel, table=True):
    """A sentence of an owner's as a vector: float32 of `model`, standing for `cue`, or for ordinary talk (empty).

    `against` is the cue that was shown for it and refused. The words themselves are not kept.
    """

    __tablename__ = "cue_examples"
    __table_args__ = (
        Index("ix_cue_examples_owner_id", "owner", "id"),
        table_options(owner="owner", origin="origin"),
    )

    id: str = Field(primary_key=True)
    owner: str
    origin: str | None
    cue: str
    against: str
    weight: float
    model: str
    vector: bytes = Field(sa_type=LargeBinary)
    created_at: int = Field(sa_type=BigInteger)
