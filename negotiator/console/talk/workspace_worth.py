"""What the other side's last offer is worth to the user beside their target, limit and alternative; pure."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from negotiator.console.negotiation_words import NegotiationWords, object_member
from negotiator.console.talk.workspace_now import live_offer
from negotiator.console.talk.workspace_offers import worth_text

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
