"""What a socket changes about a session beside what is said: who sends sound, how much came, a moment to remember."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from negotiator.errors import Conflict
from negotiator.store.statement import Transaction
from negotiator.teleprompter.cues.cue import Speaker
from negotiator.teleprompter.privacy import consent
from negotiator.teleprompter.sessions import moving, rows
from negotiator.teleprompter.sessions.moving import Outcome
from negotiator.teleprompter.sessions.rows import Session
from negotiator.teleprompter.sessions.schemas import MOST_EVENTS


def check_sound(session: Session, channels: Iterable[Speaker]) -> None:
    """409 unless sound of these sides may be sent: `session_ended`, `text_session`, `not_consented`."""
    _check_open(session)
    if session.given["source"] != "audio":
        raise Conflict("The session was opened for text, not for sound.", error="text_session")
    given = moving.consent_of(session)
    if not all(consent.may_hear(given, each) for each in channels):
        raise Conflict(
            "The consent covers your own side only; they may not be heard.", error="not_consented"
        )


def take_over(
    tx: Transaction, session: Session, *, producer: str, channels: Iterable[Speaker]
) -> Outcome:
    """Have this connection, and no other, send sound."""
    check_sound(session, channels)
    return Outcome(rows.save(tx, replace(session, producer=producer)))


def received(tx: Transaction, session: Session, *, until_ms: int) -> Outcome:
    """Remember how far the sound came, for whoever goes on after a lost connection."""
    if session.state == "ended" or session.heard_ms >= until_ms:
        return Outcome(session)
    return Outcome(rows.save(tx, replace(session, heard_ms=until_ms)))


def noticed(tx: Transaction, session: Session, *, code: str, detail: dict[str, Any]) -> Outcome:
    """Tell under a number what a recogniser has to say; nothing in a session that takes no more."""
    if session.state == "ended" or session.seq >= MOST_EVENTS:
        return Outcome(session)
    return moving.notice(tx, session, code, detail)


def marked(tx: Transaction, session: Session, *, ref: str) -> Outcome:
    """Remember this moment under the client's own name; 409 `session_ended`, `transcript_full`."""
    _check_open(session)
    if session.seq >= MOST_EVENTS:
        raise Conflict(f"A session holds {MOST_EVENTS} events.", error="transcript_full")
    return moving.notice(tx, session, "mark", {"ref": ref})


def _check_open(session: Session) -> None:
    if session.state == "ended":
        raise Conflict("The session has ended.", error="session_ended")
