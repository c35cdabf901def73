"""What a call's events lead to: its lines and cards, the figures that were named, and what may be kept of it; pure."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from negotiator.console.negotiation_words import day_text, object_member, table
from negotiator.negotiations.schemas_negotiations import NegotiationView
from negotiator.negotiations.schemas_offers import OfferView
from negotiator.teleprompter.schemas import CallEventView, CueView, SessionView

GAPS: Final = table("call_notices")
"""The notices of a session that a reader of its transcript needs."""
MAX_LESSONS: Final = 8
_LONGEST: Final = 300
_LETTERS_A_SIZE: Final = 45
_SMALLEST: Final = 4


@dataclass(frozen=True, slots=True)
class CallCard:
    """A card, the milliseconds for which it is still shown, and what the user said of it."""

    cue: CueView
    left_ms: int
    verdict: str = ""

    @property
    def size(self) -> int:
        """The size of its type without script, the largest 0; a script fits the card to the window."""
        return min(len(self.cue["say"]) // _LETTERS_A_SIZE, _SMALLEST)


@dataclass(frozen=True, slots=True)
class CallEvents:
    """What a call's events lead to: its lines, its cards, the newest first, and the ids of figures.

    `passed` are the ids of cards that were raised before one that was judged.
    """

    lines: Sequence[CallEventView]
    cards: Sequence[CallCard]
    passed: Collection[str]
    offers: Sequence[str]

    @property
    def standing(self) -> list[CallCard]:
        """The cards to show now: those of limits first, then the newest, two at most."""
        shown = [one for one in self.cards if one.left_ms > 0 and not one.verdict and one.cue["id"] not in self.passed]
        return sorted(shown, key=lambda one: not one.cue["family"].startswith("figure:"))[:2]


def call_events(events: Sequence[CallEventView], now: datetime) -> CallEvents:
    """The state of a call after all its events, oldest first."""
    lines: list[CallEventView] = []
    cards: dict[str, CallCard] = {}
    verdicts: dict[str, str] = {}
    offers: list[str] = []
    passed: set[str] = set()
    for event in events:
        named = event.get("id", "")
        match event["type"]:
            case "transcript.final":
                lines.append(event)
            case "notice" if event.get("code") in GAPS:
                lines.append(event)
            case "cue" | "cue.update" if cue := event.get("cue"):
                shown = (now - datetime.fromisoformat(event["at"])).total_seconds() * 1000
                named = cue["id"] or ""
                cards[named] = CallCard(cue, int(cue["ttl_ms"] - shown))
                passed.discard(named)
            case "cue.retract":
                cards.pop(named, None)
            case "cue.feedback":
                verdicts[named] = event.get("action", "")
                raised = list(cards)
                passed.update(raised[: raised.index(named)] if named in cards else ())
            case "offer":
                offers.append(event.get("offer_id", ""))
            case _:
                """Marks and the end are not shown."""
    judged = [replace(card, verdict=verdicts.get(name, "")) for name, card in cards.items()]
    return CallEvents(lines, judged[::-1], passed, offers)


def heard_figures(offers: Sequence[OfferView], *, since: str) -> list[OfferView]:
    """The offers of a negotiation that wait to be confirmed, and those heard `since` and confirmed, oldest first.

    `offers` are newest first.
    """
    began = datetime.fromisoformat(since)

    def is_shown(offer: OfferView) -> bool:
        is_recent = datetime.fromisoformat(offer["at"]) >= began
        return offer["status"] == "unconfirmed" or (offer["status"] == "confirmed" and is_recent)

    return [one for one in reversed(offers) if one["package"] and is_shown(one)]


def last_named(events: CallEvents, offers: Sequence[OfferView]) -> list[OfferView]:
    """The last figure of each side that was named on the call; `offers` are the negotiation's, newest first."""
    heard = [one for one in offers if one["id"] in events.offers and one["status"] != "dismissed"]
    return [one for side in ("them", "me") if (one := next((one for one in heard if one["by"] == side), None))]


def call_minutes(call: SessionView, now: datetime) -> int:
    """How long a call took."""
    ended = datetime.fromisoformat(call["ended_at"]) if call["ended_at"] else now
    return round((ended - datetime.fromisoformat(call["created_at"])).total_seconds() / 60)


def tactics(events: Sequence[CallEventView]) -> list[tuple[str, str]]:
    """The tactics of the other side, each once, with the words that showed it first."""
    found: dict[str, str] = {}
    for event in events:
        for one in event.get("tactics") or ():
            found.setdefault(one["tactic"]["name"], one["quote"])
    return list(found.items())


@dataclass(frozen=True, slots=True)
class Lesson:
    """A sentence that the user may keep; `name` is stable for the same call, `about` the other side it concerns."""

    name: str
    text: str
    about: str = ""


def lessons(events: Sequence[CallEventView], negotiation: NegotiationView | None, call: SessionView) -> list[Lesson]:
    """Sentences that may be worth keeping: the words that raised cards or showed a tactic. None is kept unasked.

    Practice has none: nobody on the other side said anything.
    """
    if call["practice"]:
        return []
    about = str(object_member(negotiation or {}, "counterparty").get("name") or "")
    who, day = about or "The other side", day_text(call["created_at"])
    tried = tactics(events)
    quotes: dict[str, tuple[int, str]] = {}
    for event in events:
        cue = event.get("cue")
        if cue and event["type"] == "cue" and _is_lesson(cue, tried):
            quotes.setdefault(cue["evidence"]["quote"], (event["seq"], cue["title"]))
    found = [
        Lesson(f"card{seq}", f"{who} said on a call on {day}: “{quote}” ({title}).", about)
        for quote, (seq, title) in quotes.items()
    ]
    for place, (name, quote) in enumerate(tried):
        said = f": “{quote}”." if quote else "."
        found.append(Lesson(f"tactic{place}", f"{who} may have used “{name}” on a call on {day}{said}", about))
    return [one for one in found if len(one.text) <= _LONGEST][:MAX_LESSONS]


def _is_lesson(cue: CueView, tried: Sequence[tuple[str, str]]) -> bool:
    """Whether a card's words say more than a figure, which the ledger has, or a tactic, which is named by itself."""
    quote = cue["evidence"]["quote"]
    is_theirs = cue["kind"] != "coaching" and not cue["family"].startswith("figure:")
    return bool(quote) and is_theirs and not any(quote in said or said in quote for _, said in tried if said)
