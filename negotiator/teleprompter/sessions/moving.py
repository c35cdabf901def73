"""What happens to a session: opened, heard, paused, ended. Units, each one transaction."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from negotiator import values
from negotiator.errors import Conflict
from negotiator.store.statement import Transaction
from negotiator.teleprompter.cues import policy, screen
from negotiator.teleprompter.cues.cue import Catalogue, Speaker
from negotiator.teleprompter.cues.matcher import LULL_SECONDS, Match, lull, monologue
from negotiator.teleprompter.cues.policy import Card, Heard
from negotiator.teleprompter.privacy import consent
from negotiator.teleprompter.privacy.consent import Consent
from negotiator.teleprompter.sessions import rows
from negotiator.teleprompter.sessions.rows import Session
from negotiator.teleprompter.sessions.schemas import MOST_EVENTS
from negotiator.teleprompter.sessions.telling import Telling, Told, shown

MOST_OPEN: Final = 10
"""Sessions of one owner that have not ended."""
LONGEST: Final = 4 * 3600 * 1000
IDLE: Final = 15 * 60 * 1000
_REMEMBERED_IDS: Final = 64


@dataclass(frozen=True, slots=True)
class Piece:
    """One utterance, or a part of it, ready to be taken in: redacted, and with what it may mean."""

    heard: Heard
    matches: Sequence[Match] = ()
    cards: Sequence[Card] = ()
    start_ms: int | None = None
    end_ms: int | None = None
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a change left: the session, what to tell those who follow, and what to answer."""

    session: Session
    told: Sequence[Told] = ()
    answer: Any = None


def consent_of(session: Session) -> Consent:
    """The consent that a session was opened under."""
    given = session.given["consent"]
    at, where = values.moment(given["at"]), given["jurisdiction"] or ""
    return Consent(given["basis"], given["confirmed_by"], at, where)


def opened(tx: Transaction, session: Session) -> Session:
    """Keep a new session; 409 beyond what one owner may have open."""
    if len(rows.open_ones(tx, session.owner)) >= MOST_OPEN:
        raise Conflict(f"{MOST_OPEN} sessions are open; end one first.", error="too_many_sessions")
    rows.add(tx, session)
    return session


def hear(
    tx: Transaction,
    session: Session,
    piece: Piece,
    *,
    catalogue: Catalogue,
    note: Callable[[Transaction], str | None] = lambda _tx: None,
) -> Outcome:
    """Take a piece in and decide what is shown. A final counts once; what comes after it changes nothing.

    `note` enters what a final said about money or terms into the ledger; answers the row's id.
    409 `session_ended`, `session_paused`, `not_consented`, `transcript_full`.
    """
    heard = piece.heard
    check(session, heard.speaker)
    known = rows.about(tx, session.id, heard.utterance_id)
    if any(event.type == "transcript.final" for event in known):
        return Outcome(session, answer=_again(known))
    telling = Telling(session.seq, int(heard.at * 1000), session.given["keep"] == "none")
    if heard.final:
        telling.tell("transcript.final", _said(piece), utterance=heard.utterance_id)
        if (offer := note(tx)) is not None:
            body = {"offer_id": offer, "utterance_id": heard.utterance_id}
            telling.tell("offer", body, utterance=heard.utterance_id)
    session, news = _step(session, piece, telling, catalogue)
    session = tell(tx, replace(session, state="live"), telling)
    maybe = [shown(card) for each in news if each.news == "maybe" for card in each.cards]
    answer = _answer([told.live for told in telling.told], session.seq, maybe=maybe)
    return Outcome(session, telling.told, answer)


def fall_silent(tx: Transaction, session: Session, *, since: int, catalogue: Catalogue) -> Outcome:
    """Tell that they are silent after a figure of mine; nothing, if anybody spoke after `since` (milliseconds)."""
    if session.state != "live" or session.active_at != since:
        return Outcome(session)
    now = values.now()
    heard = Heard(f"lull.{session.seq}", "them", "", final=True, at=now / 1000)
    telling = Telling(session.seq, now, silent=False)
    found = lull(LULL_SECONDS, after_my_figure=True)
    session, _ = _step(session, Piece(heard, matches=found), telling, catalogue)
    return Outcome(tell(tx, session, telling), telling.told) if telling.told else Outcome(session)


def check(session: Session, speaker: Speaker) -> None:
    """Refuse what this session may not hear, or not now: 409, as in `hear`."""
    _check_open(session)
    if session.state == "paused":
        raise Conflict("The session is paused.", error="session_paused")
    if not consent.may_hear(consent_of(session), speaker):
        raise Conflict(
            "The consent covers your own side only; they may not be heard.", error="not_consented"
        )
    if session.seq >= MOST_EVENTS:
        raise Conflict(f"A session holds {MOST_EVENTS} events.", error="transcript_full")


def pause(tx: Transaction, session: Session) -> Outcome:
    """Stop listening; what is said until `resume` leaves a gap. Nothing, if it is paused already."""
    return _switch(tx, session, "paused", "paused")


def resume(tx: Transaction, session: Session) -> Outcome:
    """Listen again. Nothing, if it is not paused."""
    _check_open(session)
    if session.state != "paused":
        return Outcome(session)
    return _switch(tx, session, "live", "resumed")


def notice(tx: Transaction, session: Session, code: str, detail: dict[str, Any]) -> Outcome:
    """Tell those who follow, under a number, what they have to know: lag, a gap, another engine."""
    telling = Telling(session.seq, values.now(), silent=False)
    telling.tell("notice", {"code": code, "detail": detail})
    return Outcome(tell(tx, session, telling), telling.told)


def end(tx: Transaction, session: Session, reason: str) -> Outcome:
    """Nothing is heard any more; ended once, however often. What is not kept is erased at once."""
    if session.state == "ended":
        return Outcome(session)
    now = values.now()
    telling = Telling(session.seq, now, silent=False)
    telling.tell("ended", {"reason": reason})
    forget_at = consent.forget_at(
        session.given["keep"], created_at=session.created_at, ended_at=now
    )
    over = replace(
        session, state="ended", ended_at=now, ends_at=None, forget_at=forget_at, screen={}
    )
    return Outcome(tell(tx, over, telling), telling.told)


def sweep(tx: Transaction, now: int) -> bool:
    """End what nobody speaks in any more, forget what is kept no longer; whether something was erased."""
    for session in rows.due(tx, now):
        end(tx, session, "idle" if session.active_at + IDLE <= now else "limit")
    return rows.forget(tx, now)


def ends_at(session: Session, now: int) -> int:
    """When the clock ends it unless something is heard before: idle, or at its greatest length."""
    return min(now + IDLE, session.created_at + LONGEST)


def _step(
    session: Session, piece: Piece, telling: Telling, catalogue: Catalogue
) -> tuple[Session, Sequence[policy.Event]]:
    """What stands on the screen after a piece; its news are told."""
    heard, before = piece.heard, session.screen
    since: float | None = None
    matches = piece.matches
    if heard.speaker == "me":
        began: float = before.get("talking_since") or heard.at
        long = monologue(heard.at - began)
        matches, since = (*long, *matches), heard.at if long else began
    ids: dict[str, str] = dict(before.get("ids", {}))
    after, news = policy.step(
        screen.restore(before), heard, matches, catalogue=catalogue, outside=piece.cards
    )
    telling.news(news, ids)
    remembered = dict(list(ids.items())[-_REMEMBERED_IDS:])
    kept = {**screen.dump(after), "ids": remembered, "talking_since": since}
    return replace(session, screen=kept), news


def _check_open(session: Session) -> None:
    if session.state == "ended":
        raise Conflict("The session has ended.", error="session_ended")


def _switch(tx: Transaction, session: Session, state: str, code: str) -> Outcome:
    _check_open(session)
    if session.state == state:
        return Outcome(session)
    return notice(tx, replace(session, state=state), code, {})


def tell(tx: Transaction, session: Session, telling: Telling) -> Session:
    """Keep what was told and the session as it is after it."""
    for told in telling.told:
        rows.append(tx, session.id, told.kept, utterance=told.utterance)
    now = values.now()
    ends = None if session.state == "ended" else ends_at(session, now)
    return rows.save(tx, replace(session, seq=telling.seq, active_at=now, ends_at=ends))


def _said(piece: Piece) -> dict[str, Any]:
    return {
        "utterance_id": piece.heard.utterance_id,
        "speaker": piece.heard.speaker,
        "text": piece.heard.text,
        "start_ms": piece.start_ms,
        "end_ms": piece.end_ms,
        "confidence": piece.confidence,
    }


def _again(known: Sequence[rows.Event]) -> dict[str, Any]:
    """The answer to a final that was heard before, from its events."""
    number = next(event.seq for event in known if event.type == "transcript.final")
    return _answer(known, number, maybe=[])


def _answer(events: Sequence[rows.Event], seq: int, *, maybe: list[Any]) -> dict[str, Any]:
    views = [event.shown for event in events]
    number = next((view["seq"] for view in views if view["type"] == "transcript.final"), seq)
    return {
        "seq": number,
        "cues": [view["cue"] for view in views if view["type"] in {"cue", "cue.update"}],
        "maybe": maybe,
        "retracted": [view["id"] for view in views if view["type"] == "cue.retract"],
        "offer_id": next((view["offer_id"] for view in views if view["type"] == "offer"), None),
    }


Change = Callable[[Transaction, Session], Outcome]
