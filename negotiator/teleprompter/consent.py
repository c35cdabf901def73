"""On which basis words may be heard, the notice for the people on the call, and when a transcript is deleted.

Not legal advice: the rules fit the strict cases, in which all parties have to agree.
"""

from dataclasses import dataclass
from typing import Final, Literal, get_args

from negotiator.base.values import DAY
from negotiator.teleprompter.cues.catalogue import Speaker

ConsentBasis = Literal["all_parties", "one_party", "own_side_only", "test"]
Retention = Literal["none", "session", "30_days", "until_deleted"]

CONSENT_BASES: Final[tuple[ConsentBasis, ...]] = get_args(ConsentBasis)
RETENTIONS: Final[tuple[Retention, ...]] = get_args(Retention)
AFTER_SESSION_MS: Final = DAY
THIRTY_DAYS_MS: Final = 30 * DAY


@dataclass(frozen=True, slots=True)
class SessionConsent:
    """On what grounds a session hears: the basis, who confirmed it and when (milliseconds), where it is to hold."""

    basis: ConsentBasis
    confirmed_by: str
    at: int
    jurisdiction: str = ""


def may_hear(consent: SessionConsent, speaker: Speaker) -> bool:
    """Whether this side's words may be taken at all: of my own side only, theirs are not."""
    return speaker == "me" or consent.basis != "own_side_only"


def notice_text(consent: SessionConsent, language: str, engine_place: str) -> str:
    """The sentence to say or to paste into the chat; empty where nobody else is heard.

    `language` is a BCP 47 tag, of which English, German, French and Spanish are worded, others get English.
    `engine_place` names the third party that hears the sound; empty when it is recognised here.
    """
    if consent.basis in {"own_side_only", "test"}:
        return ""
    notice = _NOTICES.get(language.lower().split("-")[0], _NOTICES["en"])
    place = notice.away.format(place=engine_place) if engine_place else notice.here
    ask = f" {notice.ask}" if consent.basis == "all_parties" else ""
    return f"{notice.told} {place}{ask}"


def transcript_expires_at(keep: Retention, *, created_at: int, ended_at: int | None) -> int | None:
    """When a transcript is to be gone, in milliseconds; None for never, or while the session still runs.

    A day after the end of the session, thirty days after it, at its end, or when its owner says so. An end before the
    beginning counts as the beginning.
    """
    if keep == "until_deleted" or ended_at is None:
        return None
    after: dict[Retention, int] = {"none": 0, "session": AFTER_SESSION_MS, "30_days": THIRTY_DAYS_MS}
    return max(created_at, ended_at) + after[keep]


@dataclass(frozen=True, slots=True)
class _Notice:
    """The parts of a notice in one language."""

    told: str
    here: str
    away: str
    ask: str


_NOTICES: Final = {
    "en": _Notice(
        "I am using an assistant that turns this conversation into text to help me take notes and respond.",
        "The sound is not recorded and stays on our own system.",
        "The sound is not recorded; {place} processes it to recognise the words.",
        "Is everybody fine with that?",
    ),
    "de": _Notice(
        "Ich nutze einen Assistenten, der dieses Gespräch in Text umsetzt, um mir bei Notizen und Antworten zu helfen.",
        "Der Ton wird nicht aufgezeichnet und bleibt auf unserem eigenen System.",
        "Der Ton wird nicht aufgezeichnet; {place} verarbeitet ihn, um die Worte zu erkennen.",
        "Sind alle damit einverstanden?",
    ),
    "fr": _Notice(
        "J'utilise un assistant qui transcrit cette conversation pour m'aider à prendre des notes et à répondre.",
        "Le son n'est pas enregistré et reste sur notre propre système.",
        "Le son n'est pas enregistré ; {place} le traite pour reconnaître les mots.",
        "Est-ce que cela convient à tout le monde ?",
    ),
    "es": _Notice(
        "Uso un asistente que convierte esta conversación en texto para ayudarme a tomar notas y a responder.",
        "El sonido no se graba y se queda en nuestro propio sistema.",
        "El sonido no se graba; {place} lo procesa para reconocer las palabras.",
        "¿Están todos de acuerdo?",
    ),
}
