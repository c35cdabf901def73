"""The parts of a negotiation's page with the one thing to do now, what an offer is worth, and the offers; pure."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from negotiator.console.negotiation_words import NegotiationWords, object_member
from negotiator.console.page_calls import Members
from negotiator.console.talk.workspace_fields import package_of
from negotiator.negotiations.schemas_advice import AskedInput, LeverageView, NextMoveView
from negotiator.negotiations.schemas_negotiations import NegotiationView
from negotiator.negotiations.schemas_offers import IntervalView, OfferView

DETECTED: Final = "detected_in_speech"


def offers_as_said(offers: Sequence[OfferView]) -> list[OfferView]:
    """The offers, newest first, in the order in which they were said.

    An offer that was heard and its confirmation are one: the confirmation, at the place and the moment of the other.
    """
    heard = {one["id"]: one for one in offers if one["source"] == DETECTED}
    confirmed = {one["confirms"] for one in offers if one["confirms"]}
    said: list[OfferView] = []
    for one in offers:
        if one["id"] in confirmed:
            continue
        merged = one.copy()
        if first := heard.get(one["confirms"] or ""):
            merged["seq"], merged["at"], merged["source"] = first["seq"], first["at"], first["source"]
            merged["rationale"] = one["rationale"] or first["rationale"]
        said.append(merged)
    return sorted(said, key=lambda one: one["seq"], reverse=True)


def heard_words(offer: OfferView) -> str:
    """The words around a figure; the rationale of a detected offer has them in quotation marks."""
    rationale = offer["rationale"] or ""
    start, end = rationale.find("“"), rationale.rfind("”")
    return rationale[start : end + 1] if 0 <= start < end else ""


def worth_text(worth: IntervalView | None) -> str:
    """What an offer is worth to the user, of 100: `73`, or `11 to 51` where it leaves something open; empty without."""
    if worth is None:
        return ""
    low, high = of_100(worth["low"]), of_100(worth["high"])
    return str(low) if low == high else f"{low} to {high}"


ACTIONS: Final[dict[str, str]] = {"counter": "Propose", "accept": "Accept their offer", "walk_away": "Walk away"}
_CHANCE: Final = "The chance that they accept it"
"""How the reason begins that says the chance; the page shows it by itself."""
_HEARD: Final = frozenset({"unconfirmed", "confirmed", "dismissed"})
"""The statuses of a figure that was heard on a call; the row that confirms it is the offer."""
MAX_REASONS: Final = 3


@dataclass(frozen=True, slots=True)
class Advice:
    """The one thing to do now. `action` is that of the `move`, or `wait` or `ask` where the offer was made already.

    `said` is the offer in words. Where the words to say hold two offers to choose from, `second` is the other one.
    `asks` are the questions to ask now; `put_away` is the number of those for later.
    """

    move: NextMoveView
    action: Literal["accept", "counter", "walk_away", "wait", "ask"]
    headline: str
    said: str
    second: str
    reasons: Sequence[str]
    chance: str
    asks: Sequence[AskedInput]
    put_away: int


def advice(
    move: NextMoveView, offers: Sequence[OfferView], words: NegotiationWords, put_away: Collection[str] = ()
) -> Advice:
    """The next move of the API as the page says it.

    `offers` are newest first; `put_away` has the names of the questions that the user asks later.
    """
    action, offer = move["action"], move["offer"]
    said = words.package(offer, with_total=False) if offer else ""
    asks = [one for one in move["ask"] if one["missing"] not in put_away]
    headline = f"{ACTIONS[action]}: {said}" if said and action != "walk_away" else ACTIONS[action]
    standing = _standing(offer or {}, offers) if action == "counter" else ""
    if standing == "refused":
        headline = f"Ask what stands in the way of your offer: {said}"
    elif standing:
        headline = f"Wait for their answer to your offer: {said}"
    return Advice(
        move,
        "ask" if standing == "refused" else "wait" if standing else action,
        headline,
        said,
        _second(move, offers, words) if action == "counter" and not standing else "",
        [one for one in move["reasons"] if not one.startswith(_CHANCE)][:MAX_REASONS],
        next((one for one in move["reasons"] if one.startswith(_CHANCE)), ""),
        asks[:MAX_REASONS],
        len(move["ask"]) - len(asks),
    )


def _second(move: NextMoveView, offers: Sequence[OfferView], words: NegotiationWords) -> str:
    """The other offer that the words to say hold: one with a value that is said and that nobody has offered yet."""
    named = [move["offer"] or {}, *(one["package"] or {} for one in offers)]
    for other in move["alternatives"]:
        new = [(name, value) for name, value in other.items() if all(one.get(name) != value for one in named)]
        if any(words.value(name, value) in move["say"] for name, value in new):
            return words.package(other, with_total=False)
    return ""


def live_offer(offers: Sequence[OfferView], by: str) -> OfferView | None:
    """The offer of a side that stands; `offers` are newest first."""
    return next((one for one in offers if one["by"] == by and one["status"] == "live"), None)


def confirmation(heard: OfferView, *, is_right: bool) -> Members:
    """The members of `record_offer` that confirm a figure that was heard on a call, or say that it was not offered."""
    members: Members = {"by": heard["by"], "channel": heard["channel"]}
    if is_right:
        found = {"package": heard["package"], "conditions": heard["conditions"], "confirms": heard["id"]}
        return members | {"kind": "offer"} | found
    return members | {"kind": "withdrawal", "in_reply_to": heard["id"]}


def _standing(offer: Mapping[str, Any], offers: Sequence[OfferView]) -> Literal["", "open", "refused"]:
    """Whether this is the user's own last offer, and whether they said no to it; empty where they answered otherwise.

    What was heard counts once it is confirmed.
    """
    counted = [one for one in offers if one["package"] and one["status"] not in _HEARD]
    refused = bool(counted) and (counted[0]["by"], counted[0]["kind"]) == ("them", "rejection")
    last = next(iter(counted[refused:]), None)
    if last is None or last["by"] != "me" or last["package"] != offer:
        return ""
    return "refused" if refused else "open"


def last_offer_worth(
    offers: Sequence[OfferView], standing: LeverageView, view: NegotiationView, words: NegotiationWords
) -> str:
    """Their standing offer's worth in a sentence, by the levels of the API; empty where none stands.

    `offers` are newest first.
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
    if alternative is not None and of_100(alternative) > of_100(worth["high"]):
        named = (view["batna"] or {}).get("description")
        whose = f"Your alternative ({named})" if named else "Your alternative"
        text += f". {whose} is better for you: {of_100(alternative)}"
    return f"{text}."


def stricter_limit(standing: LeverageView, view: NegotiationView, words: NegotiationWords) -> str:
    """That the user's limit refuses what their alternative brings, with its price; empty where it does not."""
    levels, price = standing["levels"], words.terms.price
    alternative, limit = package_of(object_member(view, "batna").get("value")), package_of(view["walk_away"])
    brings, least = levels["alternative"], levels["walk_away"]
    if price is None or brings is None or least is None or brings >= least:
        return ""
    if not words.gap(alternative, limit):
        return ""
    verb = "pay" if price.direction == "lower" else "get"
    said = words.package({price.name: alternative[price.name]}, with_total=False)
    return f"Your limit is stricter than your alternative: without a deal you would {verb} {said}. Is that right?"


def _against_limit(
    package: Members, worth: IntervalView, limit: float | None, view: NegotiationView, words: NegotiationWords
) -> str:
    if limit is None:
        return ""
    low, high, at = of_100(worth["low"]), of_100(worth["high"]), of_100(limit)
    least, price = package_of(view["walk_away"]), words.terms.price
    is_price_alone = price is not None and set(least) == {price.name} and not view["allow"]
    if is_price_alone and (gap := words.gap(package, least)):
        return f"beyond your limit ({at}), {gap} it"
    if high < at:
        return f"beyond your limit ({at})"
    if low < at:
        return f"beyond your limit ({at}) or not, depending on what it leaves open"
    return f"at your limit ({at})" if low == high == at else f"better than your limit ({at})"


def _against_target(worth: IntervalView, target: float | None) -> str:
    if target is None:
        return ""
    at = of_100(target)
    if of_100(worth["low"]) >= at:
        return f"as good as your target ({at}) or better"
    return f"short of your target ({at})"


def of_100(worth: float) -> int:
    """A worth from 0 to 1 as the pages say it."""
    return round(worth * 100)
