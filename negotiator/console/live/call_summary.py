"""What came of a call: its length, what was named, the tactics that were heard, and lessons to offer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from negotiator.console.live.live_view import CallEvents, length_words
from negotiator.console.negotiation_words import NegotiationWords, day_text, time_text

MAX_LESSONS: Final = 8
_LONGEST: Final = 300


@dataclass(frozen=True, slots=True)
class CallSummary:
    """A call in a few lines."""

    at: str
    length: str
    facts: Sequence[str]
    tactics: Sequence[tuple[str, str]]
    kept: str


@dataclass(frozen=True, slots=True)
class Lesson:
    """A sentence that the user may keep; `name` is stable for the same call, `about` the other side it concerns."""

    name: str
    kind: str
    text: str
    about: str = ""


def call_summary(
    view: Mapping[str, Any],
    told: Sequence[Mapping[str, Any]],
    events: CallEvents,
    offers: Sequence[Mapping[str, Any]],
    words: NegotiationWords | None,
) -> CallSummary:
    """The summary; `told` are all events, `offers` the negotiation's, newest first."""
    mine = sum(line.who == "me" for line in events.lines)
    theirs = sum(line.who == "them" for line in events.lines)
    facts = [f"You spoke {_times(mine)}, they {_times(theirs)}."]
    if words is not None:
        facts += _named(events.offers, offers, words)
    if events.cards:
        used = sum(card.verdict == "used" for card in events.cards)
        count = len(events.cards)
        cards = "1 card was shown" if count == 1 else f"{count} cards were shown"
        facts.append(f"{cards}; you used {used or 'none'}.")
    return CallSummary(time_text(view["created_at"]), length_words(view), facts, _tactics(told), _kept(view))


def _times(count: int) -> str:
    return {0: "not at all", 1: "once", 2: "twice"}.get(count, f"{count} times")


def _named(heard: Sequence[str], offers: Sequence[Mapping[str, Any]], words: NegotiationWords) -> list[str]:
    """The last figure of each side that the call named, misheard ones left out."""
    found: list[str] = []
    for side, who in (("them", words.them), ("me", "You")):
        last = next(
            (one for one in offers if one["id"] in heard and one["by"] == side and one["status"] != "dismissed"), None
        )
        if last is not None:
            confirmed = "" if last["status"] == "confirmed" else " (not confirmed yet)"
            found.append(f"{who} named {words.package(last['package'])}{confirmed}.")
    return found


def _kept(view: Mapping[str, Any]) -> str:
    if view["keep"] == "none":
        return "The words of this call were not kept."
    if view["forget_at"]:
        return f"The words of this call are erased on {time_text(view['forget_at'])}."
    return "The words of this call stay until you erase them."


def _tactics(told: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """The tactics of the other side, each once, with the words that showed it first."""
    found: dict[str, str] = {}
    for event in told:
        for one in event.get("tactics") or ():
            found.setdefault(one["tactic"]["name"], one["quote"])
    return list(found.items())


def lessons(
    told: Sequence[Mapping[str, Any]], negotiation: Mapping[str, Any] | None, view: Mapping[str, Any]
) -> list[Lesson]:
    """Sentences that may be worth keeping: the words that raised cards or showed a tactic. None is kept unasked.

    Practice has none: nobody on the other side said anything.
    """
    if view["practice"]:
        return []
    them: Mapping[str, Any] = (negotiation["counterparty"] if negotiation else None) or {}
    about = str(them.get("name") or "")
    who, day = about or "The other side", day_text(view["created_at"])
    tactics = _tactics(told)
    quotes: dict[str, tuple[int, str]] = {}
    for event in told:
        cue = event.get("cue")
        if cue and event["type"] == "cue" and _is_lesson(cue, tactics):
            quotes.setdefault(cue["evidence"]["quote"], (event["seq"], cue["title"]))
    found = [
        Lesson(
            f"card{seq}",
            "counterparty" if about else "lesson",
            f"{who} said on a call on {day}: “{quote}” ({title}).",
            about,
        )
        for quote, (seq, title) in quotes.items()
    ]
    found += [
        Lesson(
            f"tactic{place}",
            "counterparty" if about else "lesson",
            f"{who} may have used “{name}” on a call on {day}" + (f": “{quote}”." if quote else "."),
            about,
        )
        for place, (name, quote) in enumerate(tactics)
    ]
    return [one for one in found if len(one.text) <= _LONGEST][:MAX_LESSONS]


def _is_lesson(cue: Mapping[str, Any], tactics: Sequence[tuple[str, str]]) -> bool:
    """Whether a card's words say more than a figure, which the ledger has, or a tactic, which is named by itself."""
    quote = str(cue["evidence"]["quote"])
    is_theirs = cue["kind"] != "coaching" and not cue["family"].startswith("figure:")
    named = any(quote in said or said in quote for _, said in tactics if said)
    return bool(quote) and is_theirs and not named
