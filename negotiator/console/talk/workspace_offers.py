"""The part "Offers" of a negotiation's page: the ledger; pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from negotiator.console.negotiation_words import NegotiationWords, day_text, time_text
from negotiator.console.talk.heard_offers import DETECTED, heard_words

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
