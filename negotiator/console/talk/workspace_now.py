"""The part "Now" of a negotiation's page: the one thing to do, from the API's next move; pure."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import orjson

from negotiator.console.negotiation_words import NegotiationWords, object_member

ACTIONS: Final[dict[str, str]] = {
    "counter": "Propose",
    "offer": "Propose",
    "accept": "Accept their offer",
    "walk_away": "Walk away",
    "wait": "Wait",
}
_CHANCE: Final = "The chance that they accept it"
"""How the reason begins that says the chance; the page shows it by itself."""
_HEARD: Final = frozenset({"unconfirmed", "confirmed", "dismissed"})
"""The statuses of a figure that was heard on a call; the row that confirms it is the offer."""
MAX_REASONS: Final = 3


@dataclass(frozen=True, slots=True)
class SayableOffer:
    """An offer that can be said: in words, with its total, and as the form sends it."""

    said: str
    total: str
    sent: str


@dataclass(frozen=True, slots=True)
class Advice:
    """The one thing to do now, in words. `answers` is the id of their offer that an acceptance names.

    Where `say` holds two offers to choose from, `said` is the one that the headline names and `second` the other one.
    """

    action: str
    headline: str
    total: str
    say: str
    reasons: Sequence[str]
    chance: str
    cost: str
    expected: str
    sent: str
    others: Sequence[SayableOffer]
    asks: Sequence[Mapping[str, str]]
    put_away: int
    answers: str
    said: str
    second: str


def advice(
    move: dict[str, Any], offers: Sequence[dict[str, Any]], words: NegotiationWords, put_away: Collection[str] = ()
) -> Advice:
    """The next move of the API as the page says it.

    `offers` are newest first; `put_away` has the names of the questions that the user asks later.
    """
    action: str = move["action"]
    offer: dict[str, Any] = move["offer"] or {}
    said = words.package(offer, with_total=False) if offer else ""
    headline, total = ACTIONS[action], words.total(offer) if offer else ""
    standing = _standing(offer, offers) if action == "counter" else ""
    if standing == "refused":
        action, headline = "ask", f"Ask what stands in the way of your offer: {said}"
    elif standing:
        action, headline = "wait", f"Wait for their answer to your offer: {said}"
    elif said and action != "walk_away":
        headline = f"{headline}: {said}"
    asks = [one for one in move["ask"] if one["missing"] not in put_away]
    theirs = live_offer(offers, "them")
    second = _second(move, offers, words) if action == "counter" else ""
    return Advice(
        action,
        headline,
        total,
        move["say"] or "",
        [one for one in move["reasons"] if not one.startswith(_CHANCE)][:MAX_REASONS],
        next((one for one in move["reasons"] if one.startswith(_CHANCE)), ""),
        move["cost"],
        move["expected"]["text"] if move["expected"] else "",
        _sent(offer) if action == "counter" else "",
        [
            SayableOffer(words.package(other, with_total=False), words.total(other), _sent(other))
            for other in move["alternatives"]
        ]
        if action == "counter"
        else [],
        asks[:MAX_REASONS],
        len(move["ask"]) - len(asks),
        theirs["id"] if theirs else "",
        said,
        second,
    )


def _second(move: Mapping[str, Any], offers: Sequence[dict[str, Any]], words: NegotiationWords) -> str:
    """The other offer that the words to say hold: one with a value that is said and that nobody has offered yet."""
    named = [object_member(move, "offer"), *(object_member(one, "package") for one in offers)]
    for other in move["alternatives"]:
        own = [(name, value) for name, value in other.items() if _is_new(name, value, named)]
        if any(words.value(name, value) in (move["say"] or "") for name, value in own):
            return words.package(other, with_total=False)
    return ""


def _is_new(name: str, value: object, named: Sequence[Mapping[str, Any]]) -> bool:
    return all(one.get(name) != value for one in named)


def live_offer(offers: Sequence[dict[str, Any]], by: str) -> dict[str, Any] | None:
    """The offer of a side that stands; `offers` are newest first."""
    return next((one for one in offers if one["by"] == by and one["status"] == "live"), None)


def _sent(package: Mapping[str, Any]) -> str:
    return orjson.dumps(package).decode()


def _standing(offer: Mapping[str, Any], offers: Sequence[dict[str, Any]]) -> Literal["", "open", "refused"]:
    """Whether this is the user's own last offer, and whether they said no to it; empty where they answered otherwise.

    What was heard counts once it is confirmed.
    """
    counted = [one for one in offers if one["package"] and one["status"] not in _HEARD]
    refused = bool(counted) and (counted[0]["by"], counted[0]["kind"]) == ("them", "rejection")
    last = next(iter(counted[refused:]), None)
    if last is None or last["by"] != "me" or last["package"] != offer:
        return ""
    return "refused" if refused else "open"
