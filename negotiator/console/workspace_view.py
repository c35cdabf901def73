"""What the page of a negotiation shows, from the API's answers; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from negotiator.console import charts as drawing
from negotiator.console.charts import Band, Bar, Line, OffersChart, Point
from negotiator.console.negotiation_words import STATES, NegotiationWords, time_text
from negotiator.negotiations.states import allowed_moves

ACTIONS: Final[dict[str, str]] = {
    "counter": "Propose",
    "offer": "Propose",
    "accept": "Accept their offer",
    "walk_away": "Walk away",
    "wait": "Wait",
}
FACTORS: Final[dict[str, str]] = {
    "alternatives": "What each side does without this deal",
    "time": "Who can wait longer",
    "competition": "How many others each side could deal with",
    "dependency": "What a break would cost",
    "information": "Who knows the other's limits better",
    "market": "Whose figures the market supports",
    "authority": "Who decides more freely",
    "commitment": "Who has put more into it already",
    "relationship": "Who needs the relationship more",
}
STATUSES: Final[dict[str, str]] = {
    "live": "stands",
    "superseded": "replaced",
    "withdrawn": "taken back",
    "expired": "no longer valid",
    "accepted": "accepted",
    "unconfirmed": "heard, not confirmed",
    "confirmed": "confirmed",
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
EVENTS: Final[dict[str, str]] = {
    "opened": "Prepared",
    "edited": "Changed",
    "baseline_changed": "Baseline changed",
    "offer": "Offer recorded",
    "override": "Limit passed on purpose",
    "approval_requested": "Approval asked for",
    "approval": "Approval decided",
    "claimed": "Taken over from an agent",
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


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """One row of the table of offers."""

    id: str
    at: str
    who: str
    said: str
    status: str
    note: str
    acceptable: bool


def ledger(offers: Sequence[dict[str, Any]], words: NegotiationWords) -> list[LedgerRow]:
    """The offers, newest first."""
    return [
        LedgerRow(
            offer["id"],
            time_text(offer["at"]),
            "You" if offer["by"] == "me" else words.them,
            f"{KINDS[offer['kind']]} {words.package(offer['package'])}"
            if offer["package"]
            else KINDS[offer["kind"]],
            STATUSES[offer["status"]],
            "; ".join(
                [*offer["conditions"], *([offer["rationale"]] if offer["rationale"] else [])]
            ),
            offer["status"] == "live" and offer["complete"],
        )
        for offer in offers
    ]


def charts(
    offers: Sequence[dict[str, Any]],
    view: dict[str, Any],
    standing: dict[str, Any],
    *,
    words: NegotiationWords,
) -> list[str]:
    """The chart of both sides' prices over time, for a wide and a narrow page; empty before the first price."""
    points: dict[str, list[Point]] = {"me": [], "them": []}
    priced = [
        (offer, amount)
        for offer in reversed(offers)
        if offer["package"] and (amount := words.price(offer["package"])) is not None
    ]
    for place, (offer, amount) in enumerate(priced):
        conditions = len(offer["conditions"])
        mark = f"{conditions} condition{'s' if conditions > 1 else ''}" if conditions else ""
        points[offer["by"]].append(Point(place, float(amount), words.money(amount), mark))
    if not priced:
        return []
    levels = [
        Line(name, float(amount), f"{name} {words.money(amount)}")
        for name, member in (("Target", "target"), ("Limit", "walk_away"))
        if (amount := words.price(view[member]["package"] if view[member] else None)) is not None
    ]
    chart = OffersChart(
        f"Offers of both sides in the order they were made, {words.money(priced[-1][1])} last",
        points["me"],
        points["them"],
        levels,
        _room(standing, words),
    )
    return [drawing.offers_chart(chart, width=width) for width in (720, 350)]


def _room(standing: dict[str, Any], words: NegotiationWords) -> Band | None:
    """The room for a deal on the price, where both ends are known."""
    zone = standing["position"]["zopa"]
    if zone["low"] is None or zone["high"] is None or len(words.terms.issues) > 1:
        return None
    share = zone["probability"]
    name = "Room for a deal" + (f", {round(share * 100)} % likely" if share is not None else "")
    return Band(name, float(Decimal(zone["low"])), float(Decimal(zone["high"])))


@dataclass(frozen=True, slots=True)
class PowerOverview:
    """Who needs the deal more: in words, as bars, and what to find out next."""

    summary: str
    shift: str
    room: str
    expected: str
    charts: Sequence[str]
    known: Sequence[tuple[str, str]]
    questions: Sequence[Mapping[str, Any]]


def power(standing: dict[str, Any]) -> PowerOverview:
    """The split of power as the page shows it; only factors of which something is known have a bar."""
    told = standing["summary"]
    known = [one for one in standing["power"]["factors"] if one["contribution"] != 0]
    bars = [Bar(FACTORS[one["name"]], one["value"], one["explanation"]) for one in known]
    title = "What speaks for you (right) and against you (left)"
    return PowerOverview(
        told["who_needs_it_more"],
        told["would_shift_most"],
        told["room"],
        told["expected"] or "",
        [drawing.balance_chart(title, bars, width=width) for width in (720, 350)] if bars else [],
        [(FACTORS[one["name"]], one["explanation"]) for one in known],
        told["find_out_next"],
    )


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """One thing that happened."""

    at: str
    who: str
    what: str
    why: str


def history(events: Sequence[dict[str, Any]], user_id: str) -> list[HistoryRow]:
    """What happened, newest first."""
    return [
        HistoryRow(
            time_text(event["at"]),
            _who(event["actor"], user_id),
            f"Now: {STATES[event['to_state']]}"
            if event["kind"] == "state"
            else EVENTS[event["kind"]],
            event["reason"] or "",
        )
        for event in events
    ]


def _who(actor: Mapping[str, str], user_id: str) -> str:
    if actor["kind"] == "user":
        return "You" if actor["id"] == user_id else "Another user"
    return {"clock": "The clock", "agent": "An agent", "client": "An application"}[actor["kind"]]


def allowed_steps(state: str) -> list[str]:
    """The states that a person may move the negotiation to."""
    return allowed_moves(state)


@dataclass(frozen=True, slots=True)
class OfferField:
    """One field of the form of an offer."""

    name: str
    label: str
    unit: str
    value: str
    options: Sequence[tuple[str, str]]


def offer_fields(
    view: dict[str, Any], words: NegotiationWords, typed: Mapping[str, str]
) -> list[OfferField]:
    """A field for each issue, with what was typed before."""
    return [
        OfferField(
            f"issue:{issue['name']}",
            words.label(issue["name"]),
            issue["unit"] or (view["currency"] or "" if issue["type"] == "money" else ""),
            typed.get(f"issue:{issue['name']}", ""),
            _options(issue, words),
        )
        for issue in view["issues"]
    ]


def _options(issue: dict[str, Any], words: NegotiationWords) -> list[tuple[str, str]]:
    if issue["type"] == "boolean":
        return [("true", "yes"), ("false", "no")]
    if issue["type"] != "enum":
        return []
    return [
        (str(option["value"]), words.value(issue["name"], option["value"]))
        for option in issue["options"]
    ]
