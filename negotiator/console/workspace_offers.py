"""The part "Offers" of a negotiation's page: the ledger, the charts and the fields of the form; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from negotiator.console import charts as drawing
from negotiator.console.charts import Band, Line, OffersChart, Point
from negotiator.console.negotiation_words import NegotiationWords, time_text

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
