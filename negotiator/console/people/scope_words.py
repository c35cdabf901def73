"""Scopes in the words of a buyer, and the purposes by which a delegation code is chosen.

Every page that shows a scope takes its words from here; the wording of the API is in `negotiator.base.scopes`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from negotiator.base import scopes
from negotiator.base.scopes import ASSISTANT

WORDS: Final[Mapping[str, str]] = {
    scopes.OPENID: "Recognise you again",
    scopes.PROFILE: "See your name and e-mail address",
    scopes.NEGOTIATIONS_READ: "Read your negotiations, offers and plans",
    scopes.NEGOTIATIONS_WRITE: "Open negotiations, record offers and make plans",
    scopes.MEMORIES_READ: "Search what you know: memories, wins and benchmarks",
    scopes.MEMORIES_WRITE: "Remember things for you and record what was won",
    scopes.TELEPROMPTER_STREAM: "Listen to a call and prompt you while you talk",
    scopes.AI_TACTICS: "Work out who needs the deal more, and what to say next",
    scopes.TOOLS_READ: "Search the tools directory",
    scopes.TOOLS_WRITE: "Submit tools and corrections to the directory",
    scopes.CATEGORIES_READ: "See the categories of the directory",
    scopes.BOOKMARKS_READ: "See the tools that you saved",
    scopes.BOOKMARKS_WRITE: "Save tools for you",
}
OWN_CHOICE: Final = "own"
NOTHING_CHOSEN: Final = "Choose at least one thing that it may do."


@dataclass(frozen=True, slots=True)
class ScopeInWords:
    """A scope by its name and in words."""

    name: str
    words: str


@dataclass(frozen=True, slots=True)
class Purpose:
    """What an agent is for, and the scopes that it needs for that."""

    key: str
    title: str
    summary: str
    scopes: tuple[str, ...]


_ADVICE: Final = (scopes.NEGOTIATIONS_READ, scopes.MEMORIES_READ, scopes.AI_TACTICS)
PURPOSES: Final = (
    Purpose("advise", "Advise only", "Reads your negotiations and says what to do next. Changes nothing.", _ADVICE),
    Purpose(
        "negotiate",
        "Negotiate and remember",
        "Also opens negotiations, records offers, makes plans and remembers. It cannot loosen a limit "
        "that you set here, nor pass one without your yes.",
        (*_ADVICE, scopes.NEGOTIATIONS_WRITE, scopes.MEMORIES_WRITE),
    ),
    Purpose("everything", "Everything", "Also prompts you on calls, and may look up your name.", tuple(ASSISTANT)),
)
USUAL_PURPOSE: Final = "negotiate"


def describe_scopes(granted: Iterable[str]) -> tuple[ScopeInWords, ...]:
    """The known scopes among these in words, in the order of the catalogue."""
    return tuple(ScopeInWords(scope, WORDS[scope]) for scope in scopes.ordered(granted))


def purpose_scopes(key: str) -> tuple[str, ...]:
    """The scopes of a purpose; none for any other key."""
    return next((one.scopes for one in PURPOSES if one.key == key), ())


def chosen_scopes(form: Mapping[str, str]) -> tuple[str, ...]:
    """The scopes of the purpose that a form chose; those that are ticked count only for the user's own choice."""
    purpose = form.get("purpose", "")
    return ticked_scopes(form) if purpose == OWN_CHOICE else purpose_scopes(purpose)


def ticked_scopes(form: Mapping[str, str]) -> tuple[str, ...]:
    """The scopes of the assistant that are ticked in a form."""
    return tuple(scope for scope in ASSISTANT if form.get(f"scope:{scope}") == "on")


def purpose_title(granted: Iterable[str]) -> str:
    """The title of the purpose that these scopes serve exactly; `Own choice` for others, empty without any."""
    held = set(granted)
    if not held:
        return ""
    return next((one.title for one in PURPOSES if set(one.scopes) == held), "Own choice")
