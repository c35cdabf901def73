"""The part "Now" of a negotiation's page: the one thing to do, from the API's next move; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from negotiator.console.negotiation_words import NegotiationWords

ACTIONS: Final[dict[str, str]] = {
    "counter": "Propose",
    "offer": "Propose",
    "accept": "Accept their offer",
    "walk_away": "Walk away",
    "wait": "Wait",
}


@dataclass(frozen=True, slots=True)
class Advice:
    """The one thing to do now, in words."""

    action: str
    headline: str
    total: str
    summary: str
    say: str
    reasons: Sequence[str]
    package: Mapping[str, Any]
    others: Sequence[str]
    asks: Sequence[Mapping[str, str]]


def advice(
    move: dict[str, Any], offers: Sequence[dict[str, Any]], words: NegotiationWords
) -> Advice:
    """The next move of the API as the page says it; `offers` are newest first."""
    action: str = move["action"]
    offer: dict[str, Any] = move["offer"] or {}
    said = words.package(offer, with_total=False) if offer else ""
    headline, total = ACTIONS[action], words.total(offer) if offer else ""
    if action == "counter" and _stands(offer, offers):
        action, headline = "wait", "Wait for their answer to your offer"
    elif said and action != "walk_away":
        headline = f"{headline}: {said}"
    return Advice(
        action,
        headline,
        total,
        move["summary"],
        move["say"] or "",
        move["reasons"][:3],
        offer,
        [words.package(other) for other in move["alternatives"]],
        move["ask"][:3],
    )


def _stands(offer: Mapping[str, Any], offers: Sequence[dict[str, Any]]) -> bool:
    """Whether the user's own last offer is this one and has not been answered."""
    last = next((one for one in offers if one["package"]), None)
    return last is not None and last["by"] == "me" and last["package"] == offer
