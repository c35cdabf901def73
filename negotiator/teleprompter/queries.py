"""Sessions, events and owners' examples at rest: every statement carries the owner, or a session found by one."""

from dataclasses import dataclass, field
from typing import Any, Final

import orjson
from sqlalchemy import BigInteger, String, bindparam, delete, func, or_, select, update
from sqlmodel import col

from negotiator.base import values
from negotiator.base.errors import NotFound
from negotiator.store import ownership
from negotiator.store.statement import Query, RowInsertion, Statement, Transaction, table
from negotiator.teleprompter.cues.catalogue import NEUTRAL
from negotiator.teleprompter.schemas import FeedbackAction
from negotiator.teleprompter.tables import CueExample, TeleprompterEvent, TeleprompterSession

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
    created_at: int
    active_at: int
    ends_at: int | None
    ended_at: int | None = None
    forget_at: int | None = None
    screen: dict[str, Any] = field(default_factory=dict[str, Any])
    seq: int = 0
    producer: str = ""
    heard_ms: int = 0
    origin: str | None = None

    @property
    def is_practice(self) -> bool:
        """Whether it is a rehearsal: nobody else is on the call, and nothing of it counts."""
        return bool(self.given.get("practice", False))

    @property
    def raises_cards(self) -> bool:
        return bool(self.given.get("cues", True))


@dataclass(frozen=True, slots=True)
class NumberedEvent:
    """A numbered event; `body` is JSON without `seq`."""

    seq: int
    type: str
    body: bytes

    @property
    def shown(self) -> dict[str, Any]:
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
    named = dict(zip(LiveSession.__dataclass_fields__, row, strict=True))
    return LiveSession(**named | {name: orjson.loads(named[name]) for name in ("given", "screen")})


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
    row = {f"new_{name}": getattr(session, name) for name in _CHANGING}
    tx.run(_SAVE, session=session.id, holder=session.owner, **{**row, "new_screen": orjson.dumps(session.screen)})
    return session


def page(tx: Transaction, owner: str, *, state: str | None, before: str | None, limit: int) -> list[LiveSession]:
    """Up to `limit` of the owner's sessions older than `before`, newest first."""
    return tx.all(_PAGE, principal=owner, state=state, before=before or NEWEST_SESSION_ID, limit=limit)


def open_session_ids(tx: Transaction, owner: str) -> list[str]:
    return tx.all(_OPEN, principal=owner)


def add_event(tx: Transaction, session: str, event: NumberedEvent, *, utterance: str | None = None) -> None:
    """Keep an event under its number."""
    tx.run(_APPEND, session=session, seq=event.seq, type=event.type, utterance=utterance, body=event.body)


def events_after(tx: Transaction, session: str, seq: int, limit: int) -> list[NumberedEvent]:
    return tx.all(_AFTER, session=session, after=seq, limit=limit)


def events_of_utterance(tx: Transaction, session: str, utterance: str) -> list[NumberedEvent]:
    """The events that an utterance led to, its final among them."""
    return tx.all(_ABOUT, session=session, utterance=utterance)


def event_at(tx: Transaction, session: str, seq: int) -> NumberedEvent | None:
    return tx.one(_AT, session=session, seq=seq)


def transcript_events(tx: Transaction, session: str) -> list[NumberedEvent]:
    return tx.all(_SPOKEN, session=session)


def remove(tx: Transaction, owner: str, session: str) -> None:
    """Erase a session with all that was said in it; 404 when it is not there."""
    find(tx, owner, session)
    ownership.delete_row(tx, TeleprompterSession, session)


def due_sessions(tx: Transaction, now: int, limit: int) -> list[LiveSession]:
    return tx.all(_DUE, now=now, limit=limit)


MAX_EXAMPLES: Final = 200
"""Examples an owner has at most; the oldest goes."""
ACTION_WEIGHTS: Final[dict[FeedbackAction, float]] = {"used": 1.0, "wrong": 1.0, "dismissed": 0.5}


@dataclass(frozen=True, slots=True)
class ExampleLabel:
    """What a sentence stands for from now on: a cue, or ordinary talk and the cue it was mistaken for."""

    cue: str
    against: str = ""
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class LabelledVector:
    """A lesson with its sentence, float32 as bytes."""

    lesson: ExampleLabel
    vector: bytes


ExamplesVersion = tuple[int, str, str]
"""How many examples an owner has, the oldest and the newest: another set has another version."""

_taught = col(CueExample.owner) == bindparam("holder")
_TEACH = RowInsertion(CueExample)
_ALL = Query(
    select(col(CueExample.cue), col(CueExample.against), col(CueExample.weight), col(CueExample.vector))
    .where(_taught, col(CueExample.model) == bindparam("model"))
    .order_by(col(CueExample.id)),
    lambda row: LabelledVector(ExampleLabel(row[0], row[1], float(row[2])), bytes(row[3])),
)
_VERSION = Query(
    select(func.count(), func.min(col(CueExample.id)), func.max(col(CueExample.id))).where(_taught),
    lambda row: (int(row[0]), str(row[1] or ""), str(row[2] or "")),
)
_OLDEST_KEPT = Query(
    select(col(CueExample.id)).where(_taught).order_by(col(CueExample.id).desc()).offset(MAX_EXAMPLES - 1).limit(1),
    lambda row: str(row[0]),
)
_TRIM = Statement(delete(CueExample).where(_taught, col(CueExample.id) < bindparam("oldest")))


def label_from_feedback(action: FeedbackAction, cue: str) -> ExampleLabel:
    """What feedback on a cue's card teaches about the sentence that raised it.

    A card that was used makes it an example of the cue; a wrong one makes it ordinary talk, a dismissed one half so.
    """
    weight = ACTION_WEIGHTS[action]
    return ExampleLabel(cue, weight=weight) if action == "used" else ExampleLabel(NEUTRAL, cue, weight)


def add_example(tx: Transaction, owner: str, lesson: ExampleLabel, *, vector: bytes, model: str) -> str:
    """Keep an example, and no more than 200 of them; answers its id."""
    name = values.new_id("exa")
    tx.run(
        _TEACH,
        id=name,
        owner=owner,
        origin=None,
        cue=lesson.cue,
        against=lesson.against,
        weight=lesson.weight,
        model=model,
        vector=vector,
        created_at=values.now(),
    )
    trim_examples(tx, owner)
    return name


def examples_version(tx: Transaction, owner: str) -> ExamplesVersion:
    return tx.one(_VERSION, holder=owner) or (0, "", "")


def examples_of(tx: Transaction, owner: str, model: str) -> tuple[ExamplesVersion, list[LabelledVector]]:
    """An owner's examples by this model, oldest first, with the version they are of."""
    return examples_version(tx, owner), tx.all(_ALL, holder=owner, model=model)


def trim_examples(tx: Transaction, owner: str) -> None:
    oldest = tx.one(_OLDEST_KEPT, holder=owner)
    if oldest is not None:
        tx.run(_TRIM, holder=owner, oldest=oldest)
