"""Every scope and its meaning (docs/contract 1.14)."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

OPENID: Final = "openid"
PROFILE: Final = "profile"
NEGOTIATIONS_READ: Final = "negotiations:read"
NEGOTIATIONS_WRITE: Final = "negotiations:write"
MEMORIES_READ: Final = "memories:read"
MEMORIES_WRITE: Final = "memories:write"
TELEPROMPTER_STREAM: Final = "teleprompter:stream"
AI_TACTICS: Final = "ai:tactics"
TOOLS_READ: Final = "tools:read"
TOOLS_WRITE: Final = "tools:write"
CATEGORIES_READ: Final = "categories:read"
BOOKMARKS_READ: Final = "bookmarks:read"
BOOKMARKS_WRITE: Final = "bookmarks:write"

ASSISTANT: Final[dict[str, str]] = {
    OPENID: "Basic OpenID Connect identity",
    PROFILE: "User and profile metadata",
    NEGOTIATIONS_READ: "Read past negotiation sessions, tactics and battle plans",
    NEGOTIATIONS_WRITE: "Generate new battle plans and update session states",
    MEMORIES_READ: "Query the user's vector memory and win benchmarks",
    MEMORIES_WRITE: "Record new tactics, savings and win records",
    TELEPROMPTER_STREAM: "Access live transcription and real-time counter-objection cues",
    AI_TACTICS: "Run leverage calculations and tactic suggestions",
}
DIRECTORY: Final[dict[str, str]] = {
    TOOLS_READ: "Search, retrieve and filter tools",
    TOOLS_WRITE: "Submit new tools or request data updates",
    CATEGORIES_READ: "List categories and the tool taxonomy",
    BOOKMARKS_READ: "Retrieve saved tool collections",
    BOOKMARKS_WRITE: "Save or update tool collections",
}
ANONYMOUS: Final = (NEGOTIATIONS_READ, NEGOTIATIONS_WRITE, MEMORIES_READ, AI_TACTICS)

_WORD: Final = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+")
_LONGEST: Final = 300
_ORDER: Final = {scope: place for place, scope in enumerate([*ASSISTANT, *DIRECTORY])}

READING: Final = (TOOLS_READ, CATEGORIES_READ, BOOKMARKS_READ)
SERVICES: Final[Mapping[str, Mapping[str, str]]] = {"assistant": ASSISTANT, "directory": DIRECTORY}


def of_services(services: Iterable[str]) -> dict[str, str]:
    """The scopes of the services that run, with their meaning, in the order in which they are listed above."""
    running = set(services)
    return {scope: meaning for name, known in SERVICES.items() if name in running for scope, meaning in known.items()}


def default_scopes(services: Iterable[str]) -> tuple[str, ...]:
    """The scopes of a registration that names none: `ANONYMOUS`, or `READING` where only the directory runs."""
    return ANONYMOUS if "assistant" in services else READING


def ordered(scopes: Iterable[str]) -> list[str]:
    """The known scopes among these, once each, in the order above; unknown ones are dropped."""
    return sorted({scope for scope in scopes if scope in _ORDER}, key=_ORDER.__getitem__)


def parse(text: str) -> list[str]:
    """A space-delimited scope string (RFC 6749 §3.3) as an ordered list of known scopes."""
    return ordered(text.split(" "))


def nothing_left(asked: str, allowed: Iterable[str]) -> str:
    """Why no scope can be granted: what was asked for, and what could be granted instead."""
    named, possible = " ".join(_WORD.findall(asked))[:_LONGEST], " ".join(ordered(allowed))
    first = f"None of these scopes can be granted to this client: {named}." if named else "No scope can be granted."
    rest = (
        f"It may have: {possible}." if possible else "An administrator of this server decides which ones it may have."
    )
    return f"{first} {rest}"
