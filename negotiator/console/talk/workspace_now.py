"""The parts of a negotiation's page with the one thing to do now, what an offer is worth, and the offers; pure."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import orjson

from negotiator.console.negotiation_words import NegotiationWords, day_text, object_member, time_text

DETECTED: Final = "detected_in_speech"


def offers_as_said(offers: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The offers, newest first, in the order in which they were said.

    An offer that was heard and its confirmation are one: the confirmation, at the place and the moment of the other.
    """
    heard = {one["id"]: one for one in offers if one["source"] == DETECTED}
    confirmed = {one["confirms"] for one in offers if one["confirms"]}
    said: list[dict[str, Any]] = []
    for one in offers:
        if one["id"] in confirmed:
            continue
        first = heard.get(one["confirms"] or "")
        if first is not None:
            members = ("seq", "at", "source")
            words = one["rationale"] or first["rationale"]
            one = {**one, **{name: first[name] for name in members}, "rationale": words}
        said.append(one)
    return sorted(said, key=lambda one: one["seq"], reverse=True)


def heard_words(offer: Mapping[str, Any]) -> str:
    """The words around a figure; the rationale of a detected offer has them in quotation marks."""
    rationale = str(offer["rationale"] or "")
    start, end = rationale.find("“"), rationale.rfind("”")
    return rationale[start : end + 1] if 0 <= start < end else ""


STATUSES: Final[dict[str, str]] = {
    "live": "stands",
    "superseded": "replaced",
    "withdrawn": "taken back",
    "expired": "no longer valid",
    "accepted": "accepted",
    "unconfirmed": "heard, not confirmed",
    "confirmed": "heard and confirmed",
    "dismissed": "heard, but not so",
    "awaiting_approval": "waits for approval",
    "not_approved": "not approved",
    "recorded": "",
}
KINDS: Final[dict[str, str]] = {
    "offer": "offered",
    "counter": "offered",
    "final": "offered, as the last word,",
    "withdrawal": "took an offer back",
    "acceptance": "accepted",
    "rejection": "said no",
}


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """One row of the table of offers; one that was `heard` on a call waits to be confirmed."""

    id: str
    at: str
    said: str
    total: str
    status: str
    notes: Sequence[str]
    worth: str
    heard: bool


def ledger(offers: Sequence[dict[str, Any]], words: NegotiationWords) -> list[LedgerRow]:
    """The offers as said (`offers_as_said`), newest first."""
    return [
        LedgerRow(
            offer["id"],
            time_text(offer["at"]),
            f"{'You' if offer['by'] == 'me' else words.them} {_said(offer, words)}",
            words.total(offer["package"]) if offer["package"] else "",
            STATUSES[offer["status"]],
            _notes(offer, words),
            worth_text(offer["utility_me"]),
            offer["status"] == "unconfirmed",
        )
        for offer in offers
    ]


def worth_text(worth: dict[str, float] | None) -> str:
    """What an offer is worth to the user, of 100: `73`, or `11 to 51` where it leaves something open; empty without."""
    if worth is None:
        return ""
    low, high = round(worth["low"] * 100), round(worth["high"] * 100)
    return str(low) if low == high else f"{low} to {high}"


def _said(offer: dict[str, Any], words: NegotiationWords) -> str:
    if offer["kind"] == "withdrawal" and offer["package"] is None:
        return "did not offer what was heard"
    said = KINDS[offer["kind"]]
    return f"{said} {words.package(offer['package'], with_total=False)}" if offer["package"] else said


def _notes(offer: dict[str, Any], words: NegotiationWords) -> list[str]:
    """Conditions, validity, the reason that was given, and the reason for passing the limit."""
    found = [f"Condition: {condition}" for condition in offer["conditions"]]
    if offer["valid_until"]:
        found.append(f"Holds until {day_text(offer['valid_until'])}")
    if offer["source"] == DETECTED and (heard := heard_words(offer)):
        found.append(f"Heard on the call: {heard}")
    elif offer["rationale"]:
        found.append(offer["rationale"])
    if passed := words.past_limits(offer["past_limits"]):
        found.append(passed)
    if offer["override"]:
        found.append(f"Beyond your limit on purpose: {offer['override']['reason']}")
    return found


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


_PERCENT: Final = 100


def last_offer_worth(
    offers: Sequence[dict[str, Any]], standing: Mapping[str, Any], view: Mapping[str, Any], words: NegotiationWords
) -> str:
    """Their standing offer's worth in a sentence, by the levels of the API; empty where none stands.

    `offers` are newest first, `standing` is the leverage of the API.
    """
    offer = live_offer(offers, "them")
    if offer is None or not offer["package"] or offer["utility_me"] is None:
        return ""
    levels, worth = standing["levels"], offer["utility_me"]
    compared = [
        _against_limit(offer["package"], worth, levels["walk_away"], view, words),
        _against_target(worth, levels["target"]),
    ]
    said = words.package(offer["package"], with_total=False)
    text = f"Their last offer, {said}, is worth {worth_text(worth)} out of 100 to you"
    if any(compared):
        text += f": {', '.join(one for one in compared if one)}"
    alternative = levels["alternative"]
    if alternative is not None and _of_100(alternative) > _of_100(worth["high"]):
        named = object_member(view, "batna").get("description")
        whose = f"Your alternative ({named})" if named else "Your alternative"
        text += f". {whose} is better for you: {_of_100(alternative)}"
    return f"{text}."


def stricter_limit(standing: Mapping[str, Any], view: Mapping[str, Any], words: NegotiationWords) -> str:
    """That the user's limit refuses what their alternative brings, with its price; empty where it does not."""
    levels, price = standing["levels"], words.terms.price
    alternative = object_member(object_member(object_member(view, "batna"), "value"), "package")
    limit = object_member(object_member(view, "walk_away"), "package")
    ends = levels["alternative"], levels["walk_away"]
    if price is None or ends[0] is None or ends[1] is None or ends[0] >= ends[1]:
        return ""
    if not words.gap(alternative, limit):
        return ""
    verb = "pay" if price.direction == "lower" else "get"
    said = words.package({price.name: alternative[price.name]}, with_total=False)
    return f"Your limit is stricter than your alternative: without a deal you would {verb} {said}. Is that right?"


def _against_limit(
    package: dict[str, Any],
    worth: Mapping[str, float],
    limit: float | None,
    view: Mapping[str, Any],
    words: NegotiationWords,
) -> str:
    if limit is None:
        return ""
    low, high, at = _of_100(worth["low"]), _of_100(worth["high"]), _of_100(limit)
    least = object_member(object_member(view, "walk_away"), "package")
    price = words.terms.price
    is_price_alone = price is not None and set(least) == {price.name} and not view.get("allow")
    gap = words.gap(package, least) if is_price_alone else ""
    if gap:
        return f"beyond your limit ({at}), {gap} it"
    if high < at:
        return f"beyond your limit ({at})"
    if low < at:
        return f"beyond your limit ({at}) or not, depending on what it leaves open"
    return f"at your limit ({at})" if low == high == at else f"better than your limit ({at})"


def _against_target(worth: Mapping[str, float], target: float | None) -> str:
    if target is None:
        return ""
    at = _of_100(target)
    if _of_100(worth["low"]) >= at:
        return f"as good as your target ({at}) or better"
    return f"short of your target ({at})"


def _of_100(worth: float) -> int:
    return round(worth * _PERCENT)
