"""Sessions and events at rest: every statement carries the owner or a session that was found by one."""

from dataclasses import dataclass, replace
from typing import Any, Final

import orjson
from sqlalchemy import BigInteger, String, bindparam, or_, select, update
from sqlmodel import col

from negotiator.base import values
from negotiator.base.errors import NotFound
from negotiator.store import ownership
from negotiator.store.statement import Query, RowInsertion, Statement, Transaction, table
from negotiator.teleprompter.tables import TeleprompterEvent, TeleprompterSession

NEWEST_SESSION_ID: Final = "live_" + "z" * values.ID_LENGTH
_CHANGING: Final = (
    *("state", "screen", "seq", "producer", "heard_ms", "active_at"),
    *("ended_at", "ends_at", "forget_at"),
)


@dataclass(frozen=True, slots=True)
class LiveSession:
    """A session as a unit works with it; `given` and `screen` are JSON values."""

    id: str
    owner: str
    negotiation: str | None
    state: str
    given: dict[str, Any]
    screen: dict[str, Any]
    seq: int
    producer: str
    heard_ms: int
    created_at: int
    active_at: int
    ended_at: int | None
    ends_at: int | None
    forget_at: int | None
    origin: str | None = None

    @property
    def is_practice(self) -> bool:
        """Whether it is a rehearsal: nobody else is on the call, and nothing of it counts."""
        return bool(self.given.get("practice", False))

    @property
    def raises_cards(self) -> bool:
        """Whether what is said raises cards."""
        return bool(self.given.get("cues", True))


@dataclass(frozen=True, slots=True)
class NumberedEvent:
    """A numbered event; `body` is JSON without `seq`."""

    seq: int
    type: str
    body: bytes

    @property
    def shown(self) -> dict[str, Any]:
        """The event on the wire."""
        return {"seq": self.seq, **orjson.loads(self.body)}

    @property
    def line(self) -> bytes:
        """The same as JSON text."""
        return b'{"seq":%d,%b' % (self.seq, self.body[1:])


_mine = (col(TeleprompterSession.id) == bindparam("session"), col(TeleprompterSession.owner) == bindparam("holder"))
_columns = [table(TeleprompterSession).c[name] for name in LiveSession.__dataclass_fields__]
_theirs = col(TeleprompterSession.owner) == bindparam("principal")
_of_session = col(TeleprompterEvent.session) == bindparam("session")
_event = (col(TeleprompterEvent.seq), col(TeleprompterEvent.type), col(TeleprompterEvent.body))


def _session(row: Any) -> LiveSession:
    found = LiveSession(*row)
    given, screen = orjson.loads(row[4]), orjson.loads(row[5])
    return replace(found, given=given, screen=screen)


def _read_event(row: Any) -> NumberedEvent:
    return NumberedEvent(row[0], row[1], bytes(row[2]))


_ADD = RowInsertion(TeleprompterSession)
_FIND = Query(select(*_columns).where(*_mine), _session)
_PAGE = Query(
    select(*_columns)
    .where(
        _theirs,
        col(TeleprompterSession.id) < bindparam("before"),
        or_(
            bindparam("state", type_=String).is_(None),
            col(TeleprompterSession.state) == bindparam("state", type_=String),
        ),
    )
    .order_by(col(TeleprompterSession.id).desc())
    .limit(bindparam("limit")),
    _session,
)
_OPEN = Query(
    select(col(TeleprompterSession.id)).where(_theirs, col(TeleprompterSession.state) != "ended"),
    lambda row: str(row[0]),
)
_SAVE = Statement(
    update(TeleprompterSession)
    .where(*_mine)
    .values({name: bindparam(f"new_{name}", type_=table(TeleprompterSession).c[name].type) for name in _CHANGING})
)
_DUE = Query(
    select(*_columns)
    .where(col(TeleprompterSession.ends_at) <= bindparam("now", type_=BigInteger))
    .order_by(col(TeleprompterSession.ends_at))
    .limit(bindparam("limit")),
    _session,
)
_APPEND = RowInsertion(TeleprompterEvent)
_AFTER = Query(
    select(*_event)
    .where(_of_session, col(TeleprompterEvent.seq) > bindparam("after"))
    .order_by(col(TeleprompterEvent.seq))
    .limit(bindparam("limit")),
    _read_event,
)
_ABOUT = Query(
    select(*_event)
    .where(_of_session, col(TeleprompterEvent.utterance) == bindparam("utterance"))
    .order_by(col(TeleprompterEvent.seq)),
    _read_event,
)
_AT = Query(select(*_event).where(_of_session, col(TeleprompterEvent.seq) == bindparam("seq")), _read_event)
_SPOKEN = Query(
    select(*_event)
    .where(_of_session, or_(col(TeleprompterEvent.type) == "transcript.final", col(TeleprompterEvent.type) == "notice"))
    .order_by(col(TeleprompterEvent.seq)),
    _read_event,
)


def add(tx: Transaction, session: LiveSession) -> None:
    """Keep a new session."""
    row = {name: getattr(session, name) for name in LiveSession.__dataclass_fields__}
    packed = {"given": orjson.dumps(session.given), "screen": orjson.dumps(session.screen)}
    tx.run(_ADD, **{**row, **packed})


def find(tx: Transaction, owner: str, session: str) -> LiveSession:
    """The owner's session; 404 for everybody else's."""
    found = tx.one(_FIND, session=session, holder=owner)
    if found is None:
        raise NotFound("There is no such teleprompter session.")
    return found


def save(tx: Transaction, session: LiveSession) -> LiveSession:
    """Keep what may change of a session."""
    row = {f"new_{name}": getattr(session, name) for name in _CHANGING}
    tx.run(_SAVE, session=session.id, holder=session.owner, **{**row, "new_screen": orjson.dumps(session.screen)})
    return session


def page(tx: Transaction, owner: str, *, state: str | None, before: str | None, limit: int) -> list[LiveSession]:
    """Up to `limit` of the owner's sessions older than `before`, newest first."""
    return tx.all(_PAGE, principal=owner, state=state, before=before or NEWEST_SESSION_ID, limit=limit)


def open_session_ids(tx: Transaction, owner: str) -> list[str]:
    """The ids of the owner's sessions that have not ended."""
    return tx.all(_OPEN, principal=owner)


def add_event(tx: Transaction, session: str, event: NumberedEvent, *, utterance: str | None = None) -> None:
    """Keep an event under its number."""
    tx.run(_APPEND, session=session, seq=event.seq, type=event.type, utterance=utterance, body=event.body)


def events_after(tx: Transaction, session: str, seq: int, limit: int) -> list[NumberedEvent]:
    """Up to `limit` events after this number, in their order."""
    return tx.all(_AFTER, session=session, after=seq, limit=limit)


def events_of_utterance(tx: Transaction, session: str, utterance: str) -> list[NumberedEvent]:
    """The events that an utterance led to, its final among them."""
    return tx.all(_ABOUT, session=session, utterance=utterance)


def event_at(tx: Transaction, session: str, seq: int) -> NumberedEvent | None:
    """The event of this number."""
    return tx.one(_AT, session=session, seq=seq)


def transcript_events(tx: Transaction, session: str) -> list[NumberedEvent]:
    """What was said, and the notices between."""
    return tx.all(_SPOKEN, session=session)


def remove(tx: Transaction, owner: str, session: str) -> None:
    """Erase a session with all that was said in it; 404 when it is not there."""
    find(tx, owner, session)
    ownership.delete_row(tx, TeleprompterSession, session)


def due_sessions(tx: Transaction, now: int, limit: int) -> list[LiveSession]:
    """Sessions that the clock ends, up to `limit`."""
    return tx.all(_DUE, now=now, limit=limit)
