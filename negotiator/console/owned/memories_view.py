"""What the pages of memories show, from the API's answers; pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from negotiator.console.form_fields import FormField, FormTable
from negotiator.console.negotiation_words import day_text, time_text

KINDS: Final = {
    "counterparty": "About the other side",
    "fact": "Fact",
    "lesson": "Lesson",
    "preference": "Preference",
    "tactic": "What works",
    "win": "Result",
}
_SUSPICIONS: Final = {
    "addresses_a_model": "it speaks to an assistant instead of stating a fact",
    "gives_orders": "it gives orders instead of stating a fact",
    "imitates_markup": "it imitates the messages of a program",
    "encoded": "it contains encoded text",
    "secret": "it contains a key or password",
    "card": "it contains a card number",
    "command": "it contains a link or a command",
    "author_revoked": "you ended the access of its author",
}
_CHANGES: Final = {
    "edited": "Changed",
    "said again": "Said again",
    "superseded": "Replaced",
    "confirmed": "Confirmed",
    "claimed": "Taken over from an agent",
    "quarantined": "Held back",
}
KEPT_FROM_CALL: Final = {"kept_from": "call"}
"""The attribute of a sentence that was offered after a call and that the user kept."""
KEPT_FROM_PRACTICE: Final = {"kept_from": "practice"}
"""The attribute of a lesson that the user kept after a rehearsal."""
_TRUSTED: Final = 2
_CONFIRMED: Final = 3


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """One memory in words: what it says, where it came from, and how far it is believed."""

    id: str
    text: str
    kind: str
    about: str
    source: str
    belief: str
    is_believed: bool
    is_waiting: bool
    is_old: bool
    pinned: bool

    @property
    def short(self) -> str:
        """The beginning of the text, for titles and for the names of buttons."""
        return self.text if len(self.text) <= 60 else f"{self.text[:59].rstrip()}…"


def memory_row(view: Mapping[str, Any], names: Mapping[str, str]) -> MemoryRow:
    """A memory as the page shows it; `names` are those of the user's agents by id."""
    waiting = is_waiting(view)
    return MemoryRow(
        view["id"],
        view["text"],
        KINDS[view["kind"]],
        " · ".join(part for part in (view["counterparty"], view["category"]) if part),
        source_text(view, names),
        belief_text(view),
        not waiting and view["trust"] >= _TRUSTED and view["status"] == "active",
        waiting,
        view["status"] == "superseded",
        view["pinned"],
    )


def is_waiting(view: Mapping[str, Any]) -> bool:
    """Whether the memory waits for the user's review."""
    if view["status"] == "superseded":
        return False
    return view["status"] != "active" or view["trust"] == 0


def source_text(view: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """Who or what it came from, and when: `scout, 3 December 2026, 14:05 UTC`."""
    source = view["source"]
    author = author_text(source["client_id"] or view["origin"], names)
    told = {"user": "You", "agent": author, "transcript": "Heard on a call", "import": "Imported"}[source["type"]]
    return f"{told}, {time_text(source['at'])}"


def author_text(client: str | None, names: Mapping[str, str]) -> str:
    """An agent by its name."""
    return names.get(client or "", "An agent that is no longer here")


def belief_text(view: Mapping[str, Any]) -> str:
    """How far it is believed."""
    if view["status"] == "superseded":
        return "No longer used: a newer one replaced it"
    if view["status"] == "quarantined":
        reason = _SUSPICIONS.get(view["status_reason"] or "", "it looks unsafe")
        return f"Held back, because {reason}"
    if is_waiting(view):
        return "Not used until you keep it"
    if view["trust"] >= _CONFIRMED:
        own = view["source"]["type"] == "user"
        if own and view["kind"] == "win":
            return "Used: from your result"
        if own and KEPT_FROM_CALL.items() <= view["attributes"].items():
            return "Used: you kept it from a call"
        if own and KEPT_FROM_PRACTICE.items() <= view["attributes"].items():
            return "Used: you kept it after practice"
        return "Used: you wrote it" if own else "Used: you confirmed it"
    return "Used: your agent wrote it" if view["trust"] == _TRUSTED else "Used little: not confirmed"


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """One entry of a memory's history: when, who, what, and how it read before."""

    at: str
    what: str
    before: str
    details: Sequence[str]


def memory_history(
    versions: Sequence[Mapping[str, Any]], current: Mapping[str, Any], names: Mapping[str, str], user: str
) -> list[MemoryChange]:
    """The changes, newest first; `versions` are the states before each of them, newest first."""
    found: list[MemoryChange] = []
    after = current
    for version in versions:
        before, actor = version["before"], version["actor"]
        who = "You" if actor in {"user", user} else names.get(actor, "An agent")
        what = _CHANGES.get(version["change"], version["change"].capitalize())
        found.append(
            MemoryChange(
                time_text(version["at"]),
                f"{what} by {who.lower() if who == 'You' else who}",
                before["text"] if before["text"] != after["text"] else "",
                _differences(before, after),
            )
        )
        after = before
    return found


_MEMBERS: Final[dict[str, tuple[str, Callable[[Any], str]]]] = {
    "kind": ("Kind", lambda value: KINDS[value]),
    "counterparty": ("Other side", lambda value: value or "none"),
    "category": ("About", lambda value: value or "none"),
    "tags": ("Tags", lambda value: ", ".join(value) or "none"),
    "pinned": ("Pinned", lambda value: "yes" if value else "no"),
    "expires_at": ("Until", lambda value: day_text(value) if value else "no end"),
}


def _differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    return [
        f"{label}: {words(before[name])} → {words(after[name])}"
        for name, (label, words) in _MEMBERS.items()
        if before[name] != after[name]
    ]


FIELDS: Final[FormTable] = {
    "text": FormField("text", blank=""),
    "kind": FormField("kind", blank="fact"),
    "counterparty": FormField("counterparty"),
    "category": FormField("category"),
    "tags": FormField("tags", "tags"),
    "pinned": FormField("pinned", "tick"),
}


def import_lines(text: str) -> list[Any]:
    """The lines of an import: JSON objects stay as they are, any other line is the text of a memory."""
    lines = (line.strip() for line in text.splitlines())
    return [line if _is_object(line) else {"text": line} for line in lines if line]


def _is_object(line: str) -> bool:
    if not line.startswith("{"):
        return False
    try:
        orjson.loads(line)
    except ValueError:
        return False
    return True


def import_result(counts: Mapping[str, int]) -> str:
    """What became of the lines of an import, in one sentence."""
    told = {
        "kept": "stored",
        "pending": "stored",
        "known": "known already",
        "quarantined": "held back",
        "skipped": "left out",
        "refused": "not understood",
    }
    sums: dict[str, int] = {}
    for result, words in told.items():
        if counts.get(result):
            sums[words] = sums.get(words, 0) + counts[result]
    return ", ".join(f"{number} {words}" for words, number in sums.items()) or "Nothing to import"
