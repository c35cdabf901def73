"""The part "History" of a negotiation's page: who did what, and what waits for the user's approval."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from negotiator.agents import registration
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.home_view import asked_verb, beyond_text
from negotiator.console.negotiation_words import NegotiationWords, day_text, time_text
from negotiator.console.page_calls import PageCalls
from negotiator.store.statement import Transaction
from negotiator.store.store import Store
from negotiator.terms.plain_text import join_words

UNNAMED: Final = {"clock": "The clock", "agent": "An agent", "client": "An application", "user": "Another user"}


async def actor_names(store: Store, session: SignedInSession, actors: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Names by id: `You`, the user's agents as they call themselves; others are missing."""
    ids = sorted({one["id"] for one in actors if one["kind"] == "agent"})

    def unit(tx: Transaction) -> dict[str, str]:
        found = [registration.find(tx, one) for one in ids]
        return {one.id: one.name for one in found if one and one.user_id == session.user_id}

    named = await store.read(unit) if ids else {}
    return {**named, session.user_id: "You"}


def name_of(actor: Mapping[str, str], names: Mapping[str, str]) -> str:
    """The actor's name at the beginning of a sentence."""
    return names.get(actor["id"]) or UNNAMED[actor["kind"]]


MAX_EVENTS: Final = 100
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
class HistoryRow:
    """One thing that happened: a sentence, the reason that was given, and when."""

    at: str
    what: str
    why: str


@dataclass(frozen=True, slots=True)
class PendingApproval:
    """What waits for the user: who wants what, what it comes to and depends on, why, and how far it passes a limit."""

    who: str
    wish: str
    total: str
    notes: Sequence[str]
    reason: str
    beyond: str
    package_sha256: str


@dataclass(frozen=True, slots=True)
class TalkSoFar:
    """The offers of a negotiation, newest first, and its words."""

    offers: Sequence[dict[str, Any]]
    words: NegotiationWords

    def package(self, offer_id: str) -> str:
        """The package of an offer in words; empty without one."""
        found = next((one["package"] for one in self.offers if one["id"] == offer_id), None)
        return self.words.package(found) if found else ""


async def history_part(
    calls: PageCalls, session: SignedInSession, view: dict[str, Any], talk: TalkSoFar, *, store: Store
) -> dict[str, Any]:
    """What the templates of the history and of the approval read."""
    members = {"id": view["id"], "limit": MAX_EVENTS}
    events = (await calls.run(session, "list_negotiation_events", members))["items"]
    names = await actor_names(store, session, [event["actor"] for event in events])
    return {
        "events": events,
        "names": names,
        "history": [history_row(event, names, talk) for event in events],
        "approval": pending_approval(view, names, talk.words),
    }


def history_row(event: dict[str, Any], names: Mapping[str, str], talk: TalkSoFar) -> HistoryRow:
    """An event in one sentence."""
    sentence = f"{name_of(event['actor'], names)} {_deed(event, talk)}."
    return HistoryRow(time_text(event["at"]), sentence, event["reason"] or "")


def _deed(event: dict[str, Any], talk: TalkSoFar) -> str:
    detail: dict[str, Any] = event["detail"]
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


def _offer_deed(detail: dict[str, Any], talk: TalkSoFar) -> str:
    package = talk.package(detail["offer_id"])
    named = f": {package}" if package else ""
    answer = _ANSWERS.get(detail["kind"])
    if answer is None:
        return f"noted {'your' if detail['by'] == 'me' else 'their'} offer{named}"
    who = "you" if detail["by"] == "me" else talk.words.wording.them
    return f"noted that {who} {answer}{named}"


def _move(event: dict[str, Any], words: NegotiationWords) -> str:
    to: str = event["to_state"]
    if to == "awaiting_approval":
        package = words.package(event["detail"]["package"])
        return f"asked for your approval: {package}"
    if to == "active" and event["from_state"] in _REOPENED:
        return "opened the talks again"
    if to == "active" and event["from_state"] in {"paused", "awaiting_approval"}:
        return "went on with the talks"
    return _ENTERED[to]


def pending_approval(
    view: Mapping[str, Any], names: Mapping[str, str], words: NegotiationWords
) -> PendingApproval | None:
    """What waits for the user's approval; None where nothing does."""
    held: dict[str, Any] | None = view["pending_approval"]
    if held is None:
        return None
    package = held["package"]
    until: str | None = held.get("valid_until")
    notes = [f"Condition: {condition}" for condition in held.get("conditions") or ()]
    notes += [f"Holds until {day_text(until)}"] if until else []
    asked_by = held.get("asked_by") or {"kind": "agent", "id": ""}
    who = name_of(asked_by, names)
    return PendingApproval(
        who,
        f"{who} {'want' if who == 'You' else 'wants'} to {asked_verb(held)} {words.package(package, with_total=False)}",
        words.total(package),
        notes,
        held.get("reason") or "",
        beyond_text(held),
        held["package_sha256"],
    )
