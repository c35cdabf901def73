"""A call that is listened to, and its numbered events."""
# pyright: reportAssignmentType=false
# SQLModel types __tablename__ as a declared attribute; a plain string is what it reads.

from sqlalchemy import BigInteger, Index, LargeBinary
from sqlmodel import Field, SQLModel


class TeleprompterSession(SQLModel, table=True):
    """One session. `given` is what it was opened with, as JSON; `screen` what stands on it, as the policy left it.

    `seq` is the number of its last event, `producer` names the connection that may speak (empty: any). It ends by
    itself at `ends_at` and is forgotten with all that was said at `forget_at`.
    """

    __tablename__ = "teleprompter_sessions"
    __table_args__ = (
        Index("ix_teleprompter_sessions_owner_id", "owner", "id"),
        Index("ix_teleprompter_sessions_ends_at", "ends_at"),
        Index("ix_teleprompter_sessions_forget_at", "forget_at"),
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


class TeleprompterEvent(SQLModel, table=True):
    """One numbered event. `body` is its JSON without the number; `utterance` says which utterance it is about."""

    __tablename__ = "teleprompter_events"
    __table_args__ = (
        Index("ix_teleprompter_events_utterance", "session", "utterance"),
        {"sqlite_with_rowid": False},
    )

    session: str = Field(primary_key=True)
    seq: int = Field(primary_key=True)
    type: str
    utterance: str | None
    body: bytes = Field(sa_type=LargeBinary)
