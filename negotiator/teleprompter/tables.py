"""The tables of teleprompter sessions: sessions, their numbered events, tickets, and the users' own cue examples."""

from sqlalchemy import BigInteger, Index, LargeBinary
from sqlmodel import Field

from negotiator.base.values import DAY
from negotiator.store.model import TableModel, table_options


class TeleprompterSession(TableModel, table=True):
    """A session on one call.

    `given` is the body that opened it, as JSON; `screen` is the display policy's state. `seq` is the number of its last
    event, `producer` the id of the only connection that may send speech (empty: any may). The session ends at `ends_at`
    and is deleted with all its text at `forget_at`. Times are in milliseconds.
    """

    __tablename__ = "teleprompter_sessions"
    __table_args__ = (
        Index("ix_teleprompter_sessions_owner_id", "owner", "id"),
        Index("ix_teleprompter_sessions_ends_at", "ends_at"),
        Index("ix_teleprompter_sessions_forget_at", "forget_at"),
        table_options(owner="owner", origin="origin", expires={"forget_at": 0}, scrub=True),
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
    """An event of a session. `body` is its JSON without the number; `utterance` is the id of the utterance it belongs
    to.
    """

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
    """An unused ticket. `caller` is the caller that made it, as JSON; `origin` is the origin of the caller's page, if
    any.
    """

    __tablename__ = "teleprompter_tickets"
    __table_args__ = table_options(
        sqlite_with_rowid=False, owner="owner", on_claim="leave", expires={"expires_at": DAY}
    )

    digest: str = Field(primary_key=True)
    session: str
    owner: str = Field(index=True)
    caller: bytes = Field(sa_type=LargeBinary)
    origin: str
    expires_at: int = Field(sa_type=BigInteger, index=True)


class CueExample(TableModel, table=True):
    """A user's sentence as a training example: its float32 vector by `model`, labelled `cue` (empty: ordinary talk).

    `against` is the cue that was shown for the sentence and rejected. The text of the sentence is not stored.
    """

    __tablename__ = "cue_examples"
    __table_args__ = (Index("ix_cue_examples_owner_id", "owner", "id"), table_options(owner="owner", origin="origin"))

    id: str = Field(primary_key=True)
    owner: str
    origin: str | None
    cue: str
    against: str
    weight: float
    model: str
    vector: bytes = Field(sa_type=LargeBinary)
    created_at: int = Field(sa_type=BigInteger)
