"""The part "History" of a negotiation's page: who did what, and what waits for the user's approval."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.home_view import asked_verb
from negotiator.console.negotiation_words import NegotiationWords
from negotiator.negotiations.schemas_negotiations import EventView, NegotiationView
from negotiator.negotiations.schemas_offers import OfferView
from negotiator.terms.plain_text import join_words

UNNAMED: Final = {"clock": "The clock", "agent": "An agent", "client": "An application", "user": "Another user"}


def name_of(actor: Mapping[str, str], session: SignedInSession, agents: Mapping[str, str]) -> str:
    """The actor's name at the beginning of a sentence; `agents` are the names of the user's agents by id."""
    if actor["id"] == session.user_id:
        return "You"
    return (actor["kind"] == "agent" and agents.get(actor["id"])) or UNNAMED[actor["kind"]]


MEMBERS: Final = {
    "title": "the title",
    "role": "your side",
    "issues": "what is negotiated",
    "category": "the category",
    "kind": "the kind",
    "counterparty": "the other side",
    "currency": "the currency",
    "target": "your target",
    "walk_away": "your limit",
    "batna": "your alternative",
    "their_estimate": "what you think of their side",
    "deadline": "the deadline",
    "max_rounds": "the number of rounds",
    "constraints": "your rules",
    "authority": "what may be agreed without you",
    "baseline": "what the result is compared with",
    "allow": "the trades you allow",
    "arguments": "what speaks for you",
    "facts": "what is known of both sides",
    "example": "whether it is an example",
}
"""What an edit changed, in words."""
_ENTERED: Final = {
    "planned": "made the first plan",
    "active": "began the talks",
    "paused": "paused the talks",
    "agreed": "agreed",
    "won": "closed it as won",
    "lost": "closed it without a deal",
    "walked_away": "walked away",
    "cancelled": "cancelled it",
    "expired": "ended it: the deadline has passed",
}
_REOPENED: Final = frozenset({"agreed", "lost", "walked_away", "expired"})
_ANSWERS: Final = {"acceptance": "accepted", "rejection": "said no", "withdrawal": "took back"}


@dataclass(frozen=True, slots=True)
class TalkSoFar:
    """The offers of a negotiation, newest first, and its words."""

    offers: Sequence[OfferView]
    words: NegotiationWords

    def package(self, offer_id: str) -> str:
        """The package of an offer in words; empty without one."""
        found = next((one["package"] for one in self.offers if one["id"] == offer_id), None)
        return self.words.package(found) if found else ""


def event_said(event: EventView, session: SignedInSession, agents: Mapping[str, str], talk: TalkSoFar) -> str:
    """An event in one sentence; `agents` are the names of the user's agents by id."""
    return f"{name_of(event['actor'], session, agents)} {_deed(event, talk)}."


def _deed(event: EventView, talk: TalkSoFar) -> str:
    detail = event["detail"]
    match event["kind"]:
        case "opened":
            return "prepared the negotiation"
        case "edited":
            return f"changed {edit_text(detail)}"
        case "baseline_changed":
            return "changed what the result is compared with"
        case "offer":
            return _offer_deed(detail, talk)
        case "override":
            return "passed your limit on purpose"
        case "approval":
            verb = "allowed once" if detail["approved"] else "refused"
            return f"{verb}: {talk.package(detail['offer_id']) or 'the offer'}"
        case "claimed":
            return "took the negotiation over from an agent"
        case _:
            return _move(event, talk.words)


def edit_text(detail: Mapping[str, Any]) -> str:
    """What an edit changed: each limit with its old and new figure, and the other members by name."""
    limits: Sequence[Mapping[str, Any]] = detail.get("limits") or ()
    said = [f"your {one['name']} from {one['was'] or 'none'} to {one['now'] or 'none'}" for one in limits]
    told = {_member(one["limit"]) for one in limits}
    changed: Sequence[str] = detail["changed"]
    said += [MEMBERS.get(name, name) for name in changed if name not in told]
    return join_words(said) or "nothing"


def _member(limit: str) -> str:
    """The member of a negotiation that tells of a limit: that of an issue follows from the walk-away."""
    first, _, rest = limit.partition("/")
    return "walk_away" if first == "issues" and rest else first


def _offer_deed(detail: Mapping[str, Any], talk: TalkSoFar) -> str:
    package = talk.package(detail["offer_id"])
    named = f": {package}" if package else ""
    answer = _ANSWERS.get(detail["kind"])
    if answer is None:
        return f"noted {'your' if detail['by'] == 'me' else 'their'} offer{named}"
    who = "you" if detail["by"] == "me" else talk.words.wording.them
    return f"noted that {who} {answer}{named}"


def _move(event: EventView, words: NegotiationWords) -> str:
    to = event["to_state"] or ""
    if to == "awaiting_approval":
        package = words.package(event["detail"]["package"])
        return f"asked for your approval: {package}"
    if to == "active" and event["from_state"] in _REOPENED:
        return "opened the talks again"
    if to == "active" and event["from_state"] in {"paused", "awaiting_approval"}:
        return "went on with the talks"
    return _ENTERED[to]


def approval_wish(
    view: NegotiationView, session: SignedInSession, agents: Mapping[str, str], words: NegotiationWords
) -> str:
    """Who asks for the user's approval of what; empty where nothing waits for it."""
    held = view["pending_approval"]
    if held is None:
        return ""
    who = name_of(held.get("asked_by") or {"kind": "agent", "id": ""}, session, agents)
    verb = "want" if who == "You" else "wants"
    return f"{who} {verb} to {asked_verb(held)} {words.package(held['package'], with_total=False)}"
