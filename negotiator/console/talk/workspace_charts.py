"""The charts of a negotiation's offers: what each is worth to the user, and its price; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

from negotiator.console.negotiation_words import NegotiationWords
from negotiator.console.offers_chart import Band, Line, OffersChart, Point, offers_chart
from negotiator.negotiations.schemas_advice import LeverageView
from negotiator.negotiations.schemas_offers import OfferView

_WIDTHS: Final = (720, 350)
_COUNTED: Final = frozenset({"live", "superseded", "withdrawn", "expired", "accepted", "awaiting_approval"})
"""The offers that were made; not those heard on a call, whose confirmation is an offer of its own."""
_OFFERS: Final = frozenset({"offer", "counter", "final"})
_LEVELS: Final = {"target": "Target", "walk_away": "Limit"}
BEST: Final = 100.0


@dataclass(frozen=True, slots=True)
class DrawnChart:
    """A chart for a wide and for a narrow page, with its title and how to read it."""

    title: str
    caption: str
    drawn: Sequence[str]


def offer_charts(offers: Sequence[OfferView], standing: LeverageView, words: NegotiationWords) -> list[DrawnChart]:
    """The value of each offer to the user over time, and below it the price; empty before the first offer."""
    made = [one for one in reversed(offers) if one["status"] in _COUNTED and one["kind"] in _OFFERS]
    if not made:
        return []
    days = _days(made)
    key = f"● and the full line: you. □ and the dashed line: {words.them}."
    if any(one["conditions"] for one in made):
        key += " ▲: a condition."
    if any(worth["low"] < worth["high"] for one in made if (worth := one["utility_me"])):
        key += " A bar through a mark: the offer leaves something open."
    if ":" in days[0]:
        key += " The times below are UTC."
    found = [
        DrawnChart(
            "What each offer is worth to you",
            f"100 is the best you can think of, 0 the worst. {key}",
            drawn_for_widths(_worth_chart(made, days, standing, words)),
        )
    ]
    if price := _price_chart(made, standing, words):
        unit = "in all, " if words.total(made[-1]["package"] or {}) else ""
        issue = words.terms.price
        name = "price" if issue is None else words.wording.short_label(issue)
        caption = f"The {name}, {unit}in the order of the offers; marks and lines as above."
        found.append(DrawnChart(f"The {name} over time", caption, drawn_for_widths(price)))
    return found


def drawn_for_widths(chart: OffersChart) -> list[str]:
    """The chart for a wide and for a narrow page."""
    return [offers_chart(chart, width=width) for width in _WIDTHS]


def level_lines(levels: Mapping[str, Any], named: Mapping[str, str]) -> list[Line]:
    """The levels of the API that are known, of 100, each with its name."""
    return [
        Line(levels[name] * BEST, f"{label} {round(levels[name] * BEST)}")
        for name, label in named.items()
        if levels[name] is not None
    ]


def told_offers(mine: Sequence[Point], theirs: Sequence[Point], words: NegotiationWords) -> str:
    """The values of both sides' offers, for those who do not see the chart."""
    return "; ".join(
        f"{whose} {', '.join(one.label for one in points) or 'none'}"
        for whose, points in (("yours", mine), (words.wording.them, theirs))
    )


def _worth_chart(
    made: Sequence[OfferView], days: Sequence[str], standing: LeverageView, words: NegotiationWords
) -> OffersChart:
    levels = standing["levels"]
    room = levels["room_low"], levels["room_high"]
    band = None
    if room[0] is not None and room[1] is not None and room[1] > room[0]:
        band = Band(_room_name(standing), room[0] * BEST, room[1] * BEST)
    points: list[Point] = []
    for place, (offer, day) in enumerate(zip(made, days, strict=True)):
        worth = offer["utility_me"] or {"low": 0.0, "high": 0.0}
        low, high = worth["low"] * BEST, worth["high"] * BEST
        label = f"{round(low)}" if round(low) == round(high) else f"{round(low)}–{round(high)}"
        points.append(Point(place, low, high, label, day, offer["conditions"]))
    mine, theirs = _sides(made, points)
    title = f"What each offer is worth to you, of 100: {told_offers(mine, theirs, words)}"
    return OffersChart("worth", title, mine, theirs, level_lines(levels, _LEVELS), band, (0.0, BEST))


def _price_chart(made: Sequence[OfferView], standing: LeverageView, words: NegotiationWords) -> OffersChart | None:
    prices = {one["id"]: amount for one in made if (amount := words.price(one["package"])) is not None}
    priced = [one for one in made if one["id"] in prices]
    if not priced:
        return None
    points = [
        Point(place, at := float(prices[one["id"]]), at, words.money(prices[one["id"]]), day, one["conditions"])
        for place, (one, day) in enumerate(zip(priced, _days(priced), strict=True))
    ]
    mine, theirs = _sides(priced, points)
    goals = (words.terms.target, "Target"), (words.terms.walk_away, "Limit")
    lines = [
        Line(float(amount), f"{label} {words.money(amount)}")
        for goal, label in goals
        if (amount := words.price(dict(goal.package or {}) if goal else None)) is not None
    ]
    zone = standing["position"]["zopa"]
    is_price = isinstance(zone["low"], str) and isinstance(zone["high"], str)
    band = Band(_room_name(standing), float(Decimal(zone["low"])), float(Decimal(zone["high"]))) if is_price else None
    return OffersChart(
        "price", f"The price of each offer: {told_offers(mine, theirs, words)}", mine, theirs, lines, band
    )


def _room_name(standing: LeverageView) -> str:
    share = standing["position"]["zopa"]["probability"]
    return "Room for a deal" + (f", {round(share * 100)}% likely" if share is not None else "")


def _sides(made: Sequence[OfferView], points: Sequence[Point]) -> tuple[list[Point], list[Point]]:
    sided = [*zip(made, points, strict=True)]
    return [at for one, at in sided if one["by"] == "me"], [at for one, at in sided if one["by"] == "them"]


def _days(made: Sequence[OfferView]) -> list[str]:
    """The day of each offer; its time, in UTC, where all are of one day."""
    moments = [datetime.fromisoformat(one["at"]).astimezone(UTC) for one in made]
    if len({at.date() for at in moments}) == 1 < len({f"{at:%H:%M}" for at in moments}):
        return [f"{at:%H:%M}" for at in moments]
    return [f"{at.day} {at:%b}" for at in moments]
