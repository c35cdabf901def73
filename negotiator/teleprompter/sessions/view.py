"""A session as its owner sees it."""

from dataclasses import dataclass
from typing import Final

from negotiator import values
from negotiator.teleprompter.privacy import consent
from negotiator.teleprompter.sessions import moving
from negotiator.teleprompter.sessions.rows import Session
from negotiator.teleprompter.sessions.schemas import (
    MOST_EVENTS,
    EngineView,
    LimitsView,
    SessionView,
)

PATH: Final = "/api/teleprompter/sessions"
DEAF: Final = "text"
"""The id of an engine that hears nothing."""
FRAME_BYTES: Final = 64 * 1024
UTTERANCE: Final = 2000
VIEWERS: Final = 8
LIMITS: Final[LimitsView] = {
    "frame_bytes": FRAME_BYTES,
    "utterance_characters": UTTERANCE,
    "session_seconds": moving.LONGEST // 1000,
    "idle_seconds": moving.IDLE // 1000,
    "viewers": VIEWERS,
    "events": MOST_EVENTS,
}
TEXT_ENGINE: Final[EngineView] = {
    "id": "none",
    "interim": True,
    "processor": None,
    "quality_note": "You send the words; nothing is heard.",
}


@dataclass(frozen=True, slots=True)
class Views:
    """Shows sessions; `engine` is what hears those of sound."""

    base: str
    engine: EngineView

    def of(self, session: Session) -> SessionView:
        """The view of one."""
        given = session.given
        engine = self.engine if given["source"] == "audio" else TEXT_ENGINE
        where = f"{PATH}/{session.id}"
        socket = self.base.replace("http", "ws", 1)
        return {
            "id": session.id,
            "state": session.state,  # pyright: ignore[reportReturnType]
            "source": given["source"],
            "language": given["language"],
            "negotiation_id": session.negotiation,
            "role": given["role"],
            "consent": given["consent"],
            "keep": given["keep"],
            "origin": session.origin,
            "last_seq": session.seq,
            "created_at": values.timestamp(session.created_at),
            "ended_at": values.timestamp_or_none(session.ended_at),
            "ends_at": values.timestamp_or_none(session.ends_at),
            "forget_at": values.timestamp_or_none(session.forget_at),
            "stream_url": f"{socket}{where}/stream",
            "events_url": f"{self.base}{where}/events",
            "notice_text": consent.notice_text(
                moving.consent_of(session), given["language"], engine["processor"] or ""
            ),
            "limits": LIMITS,
            "engine": engine,
        }
