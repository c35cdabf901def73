"""A session as its owner sees it."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final

from negotiator.base import values
from negotiator.numbers.words import NUMBER_LANGUAGES
from negotiator.teleprompter import session_transitions
from negotiator.teleprompter.cards import CARD_LANGUAGES
from negotiator.teleprompter.queries import LiveSession
from negotiator.teleprompter.redaction import REDACTION_LANGUAGES
from negotiator.teleprompter.schemas import MAX_EVENTS, ConsentBasis, EngineView, LanguagesView, LimitsView, SessionView

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
    "figures": list(NUMBER_LANGUAGES),
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
        "notice_text": notice_text(given["consent"]["basis"], given["language"], heard_by["processor"] or ""),
        "limits": SESSION_LIMITS,
        "engine": heard_by,
        "languages": UNDERSTOOD,
        "practice": session.is_practice,
        "cues": session.raises_cards,
    }


def notice_text(basis: ConsentBasis, language: str, engine_place: str) -> str:
    """The sentence to say or to paste into the chat; empty where nobody else is heard.

    `language` is a BCP 47 tag, of which English, German, French and Spanish are worded, others get English.
    `engine_place` names the third party that hears the sound; empty when it is recognised here.
    """
    if basis in {"own_side_only", "test"}:
        return ""
    notice = _notices().get(language.lower().split("-")[0]) or _notices()["en"]
    place = notice["away"].format(place=engine_place) if engine_place else notice["here"]
    ask = f" {notice['ask']}" if basis == "all_parties" else ""
    return f"{notice['told']} {place}{ask}"


@cache
def _notices() -> Mapping[str, Mapping[str, str]]:
    return tomllib.loads(files("negotiator.teleprompter").joinpath("consent_notices.toml").read_text("utf-8"))
