"""The charts of a negotiation's offers: what each is worth to the user, and its price; pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

from negotiator.console.negotiation_words import NegotiationWords
from negotiator.console.offers_chart import Band, Line, OffersChart, Point, offers_chart

_WIDTHS: Final = (720, 350)
_COUNTED: Final = frozenset({"live", "superseded", "withdrawn", "expired", "accepted", "awaiting_approval"})
"""The offers that were made; not those heard on a call, whose confirmation is an offer of its own."""
_OFFERS: Final = frozenset({"offer", "counter", "final"})
BEST: Final = 100.0


@dataclass(frozen=True, slots=True)
class DrawnChart:
    """A chart for a wide and for a narrow page, with its title and how to read it."""

    title: str
    caption: str
    drawn: Sequence[str]


def offer_charts(
    offers: Sequence[dict[str, Any]], standing: dict[str, Any], view: dict[str, Any], words: NegotiationWords
) -> list[DrawnChart]:
    """The value of each offer to the user over time, and below it the price; empty before the first offer."""
    made = [one for one in reversed(offers) if one["status"] in _COUNTED and one["kind"] in _OFFERS]
    if not made:
        return []
    worth = _worth_chart(made, standing, words)
    price = _price_chart(made, standing, view, words)
    key = f"● and the full line: you. □ and the dashed line: {words.them}."
    if any(one["conditions"] for one in made):
        key += " ▲: a condition."
    if any(one["utility_me"]["low"] < one["utility_me"]["high"] for one in made):
        key += " A bar through a mark: the offer leaves something open."
    if ":" in _days(made)[0]:
        key += " The times below are UTC."
    found = [
        DrawnChart(
            "What each offer is worth to you",
            f"100 is the best you can think of, 0 the worst. {key}",
            drawn_for_widths(worth),
        )
    ]
    if price is not None:
        unit = "in all, " if words.total(made[-1]["package"]) else ""
        issue = words.terms.price
        name = "price" if issue is None else words.wording.short_label(issue)
        title = f"The {name} over time"
        found.append(
            DrawnChart(
                title,
                f"The {name}, {unit}in the order of the offers; marks and lines as above.",
                drawn_for_widths(price),
            )
        )
    return found


def drawn_for_widths(chart: OffersChart) -> list[str]:
    """The chart for a wide and for a narrow page."""
    return [offers_chart(chart, width=width) for width in _WIDTHS]


def _worth_chart(made: Sequence[dict[str, Any]], standing: dict[str, Any], words: NegotiationWords) -> OffersChart:
    levels = standing["levels"]
    lines = [
        Line(levels[name] * BEST, f"{label} {round(levels[name] * BEST)}")
        for name, label in (("target", "Target"), ("walk_away", "Limit"))
        if levels[name] is not None
    ]
    ends = levels["room_low"], levels["room_high"]
    band = None
    if ends[0] is not None and ends[1] is not None and ends[1] > ends[0]:
        band = Band(_room_name(standing), ends[0] * BEST, ends[1] * BEST)

    days = _days(made)

    def point(place: int, offer: dict[str, Any]) -> Point:
        low, high = (offer["utility_me"][end] * BEST for end in ("low", "high"))
        label = f"{round(low)}" if round(low) == round(high) else f"{round(low)}–{round(high)}"
        return Point(place, low, high, label, days[place], offer["conditions"])

    mine, theirs = _sides(made, point)
    title = f"What each offer is worth to you, of 100: {_told(mine, 'yours')}; {_told(theirs, words.wording.them)}"
    return OffersChart("worth", title, mine, theirs, lines, band, (0.0, BEST))


def _price_chart(
    made: Sequence[dict[str, Any]], standing: dict[str, Any], view: dict[str, Any], words: NegotiationWords
) -> OffersChart | None:
    priced = [one for one in made if words.price(one["package"]) is not None]
    if not priced:
        return None

    days = _days(priced)

    def point(place: int, offer: dict[str, Any]) -> Point:
        amount = words.price(offer["package"]) or Decimal(0)
        at = float(amount)
        return Point(place, at, at, words.money(amount), days[place], offer["conditions"])

    mine, theirs = _sides(priced, point)
    lines = [
        Line(float(amount), f"{label} {words.money(amount)}")
        for member, label in (("target", "Target"), ("walk_away", "Limit"))
        if (amount := words.price(view[member]["package"] if view[member] else None)) is not None
    ]
    zone = standing["position"]["zopa"]
    is_price = isinstance(zone["low"], str) and isinstance(zone["high"], str)
    band = Band(_room_name(standing), float(Decimal(zone["low"])), float(Decimal(zone["high"]))) if is_price else None
    title = f"The price of each offer: {_told(mine, 'yours')}; {_told(theirs, words.wording.them)}"
    return OffersChart("price", title, mine, theirs, lines, band)


def _room_name(standing: dict[str, Any]) -> str:
    share = standing["position"]["zopa"]["probability"]
    return "Room for a deal" + (f", {round(share * 100)}% likely" if share is not None else "")


def _sides(
    made: Sequence[dict[str, Any]], point: Callable[[int, dict[str, Any]], Point]
) -> tuple[list[Point], list[Point]]:
    points = [(one["by"], point(place, one)) for place, one in enumerate(made)]
    return [one for by, one in points if by == "me"], [one for by, one in points if by == "them"]


def _told(points: Sequence[Point], whose: str) -> str:
    return f"{whose} {', '.join(one.label for one in points)}" if points else f"{whose} none"


def _days(made: Sequence[dict[str, Any]]) -> list[str]:
    """The day of each offer; its time, in UTC, where all are of one day."""
    moments = [datetime.fromisoformat(one["at"]).astimezone(UTC) for one in made]
    if len({at.date() for at in moments}) == 1 < len({f"{at:%H:%M}" for at in moments}):
        return [f"{at:%H:%M}" for at in moments]
    return [f"{at.day} {at:%b}" for at in moments]
