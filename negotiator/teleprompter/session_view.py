"""A session as its owner sees it."""

from typing import Final

from negotiator.base import values
from negotiator.teleprompter import consent, session_transitions
from negotiator.teleprompter.cards import CARD_LANGUAGES
from negotiator.teleprompter.figure_kinds import FIGURE_LANGUAGES
from negotiator.teleprompter.redaction import REDACTION_LANGUAGES
from negotiator.teleprompter.schemas import MAX_EVENTS, EngineView, LanguagesView, LimitsView, SessionView
from negotiator.teleprompter.session_queries import LiveSession

SESSIONS_PATH: Final = "/api/teleprompter/sessions"
TEXT_SOURCE: Final = "text"
"""The id of an engine that hears nothing."""
TELEPROMPTER_BUDGET: Final = "teleprompter"
"""The rate budget of everything that is sent to sessions."""
MAX_FRAME_BYTES: Final = 64 * 1024
MAX_UTTERANCE_CHARACTERS: Final = 2000
MAX_VIEWERS: Final = 8
SESSION_LIMITS: Final[LimitsView] = {
    "frame_bytes": MAX_FRAME_BYTES,
    "utterance_characters": MAX_UTTERANCE_CHARACTERS,
    "session_seconds": session_transitions.MAX_SESSION_MS // 1000,
    "idle_seconds": session_transitions.IDLE_MS // 1000,
    "viewers": MAX_VIEWERS,
    "events": MAX_EVENTS,
}
TEXT_ENGINE: Final[EngineView] = {
    "id": "none",
    "interim": True,
    "languages": [],
    "processor": None,
    "quality_note": "You send the words; nothing is heard.",
}
UNDERSTOOD: Final[LanguagesView] = {
    "cards": list(CARD_LANGUAGES),
    "figures": list(FIGURE_LANGUAGES),
    "redaction": list(REDACTION_LANGUAGES),
}


def session_view(session: LiveSession, *, base: str, engine: EngineView) -> SessionView:
    """The view of a session of the service at the URL `base`; `engine` hears its audio, if audio is what it takes."""
    given = session.given
    heard_by = engine if given["source"] == "audio" else TEXT_ENGINE
    where = f"{SESSIONS_PATH}/{session.id}"
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
        "stream_url": f"{base.replace('http', 'ws', 1)}{where}/stream",
        "events_url": f"{base}{where}/events",
        "notice_text": consent.notice_text(given["consent"]["basis"], given["language"], heard_by["processor"] or ""),
        "limits": SESSION_LIMITS,
        "engine": heard_by,
        "languages": UNDERSTOOD,
        "practice": session.is_practice,
        "cues": session.raises_cards,
    }
