"""Every scope and its meaning (docs/contract 1.14)."""

from collections.abc import Iterable, Mapping
from typing import Final

ASSISTANT: Final[dict[str, str]] = {
    "openid": "Basic OpenID Connect identity",
    "profile": "User and profile metadata",
    "negotiations:read": "Read past negotiation sessions, tactics and battle plans",
    "negotiations:write": "Generate new battle plans and update session states",
    "memories:read": "Query the user's vector memory and win benchmarks",
    "memories:write": "Record new tactics, savings and win records",
    "teleprompter:stream": "Access live transcription and real-time counter-objection cues",
    "ai:tactics": "Run leverage calculations and tactic suggestions",
}
DIRECTORY: Final[dict[str, str]] = {
    "tools:read": "Search, retrieve and filter tools",
    "tools:write": "Submit new tools or request data updates",
    "categories:read": "List categories and the tool taxonomy",
    "bookmarks:read": "Retrieve saved tool collections",
    "bookmarks:write": "Save or update tool collections",
}
ANONYMOUS: Final = (
    "negotiations:read",
    "negotiations:write",
    "memories:read",
    "ai:tactics",
)

_ORDER: Final = {scope: place for place, scope in enumerate([*ASSISTANT, *DIRECTORY])}

READING: Final = ("tools:read", "categories:read", "bookmarks:read")
SERVICES: Final[Mapping[str, Mapping[str, str]]] = {"assistant": ASSISTANT, "directory": DIRECTORY}


def of_services(services: Iterable[str]) -> dict[str, str]:
    """The scopes of the services that run, with their meaning, in the order of `SCOPES`."""
    running = set(services)
    return {
        scope: meaning
        for name, known in SERVICES.items()
        if name in running
        for scope, meaning in known.items()
    }


def default_scopes(services: Iterable[str]) -> tuple[str, ...]:
    """The scopes of whoever asks for none: the anonymous four, or reading where only the directory runs."""
    return ANONYMOUS if "assistant" in services else READING


def ordered(scopes: Iterable[str]) -> list[str]:
    """The known scopes among these, once each, in the order of `SCOPES`; unknown ones are dropped."""
    return sorted({scope for scope in scopes if scope in _ORDER}, key=_ORDER.__getitem__)


def parse(text: str) -> list[str]:
    """A space-delimited scope string (RFC 6749 §3.3) as an ordered list of known scopes."""
    return ordered(text.split(" "))
