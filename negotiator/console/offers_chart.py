"""The charts of both sides' offers in their order, as SVG text; pure.

Their labels never overlap: one that finds no free place is left out, and the table beside the chart has every figure.
Sides are told apart by shape and dash, the room for a deal by hatching and its name.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from html import escape
from typing import Any, Final

from negotiator.console.charts import Scale
from negotiator.console.negotiation_words import NegotiationWords
from negotiator.negotiations.schemas_advice import LeverageView
from negotiator.negotiations.schemas_offers import OfferView

_TOP: Final = 26
_BOTTOM: Final = 24
_LEFT: Final = 26
_ROW: Final = 15
"""The least distance between two labels at the right edge, in the chart's units."""
_LETTER: Final = 6.7
"""The width of a letter of 12 units, on the safe side."""
_MOST_MARKS: Final = 3


@dataclass(frozen=True, slots=True)
class Point:
    """One offer: `place` counts from 0, `low` to `high` is its value, which are equal for a whole offer.

    `label` is the value in words, `day` when it was made. `conditions` each have a mark.
    """

    place: int
    low: float
    high: float
    label: str
    day: str = ""
    conditions: Sequence[str] = ()

    @property
    def middle(self) -> float:
        return (self.low + self.high) / 2


@dataclass(frozen=True, slots=True)
class Line:
    """A level across the chart, such as the target."""

    value: float
    label: str


@dataclass(frozen=True, slots=True)
class Band:
    """A range of values across the chart, such as the room for a deal."""

    name: str
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class OffersChart:
    """Both sides' offers in their order, the user's own levels, and the room for a deal where it is known.

    `ends` are the values at bottom and top; without them the chart is as high as its values. `id` is unique on a page.
    """

    id: str
    title: str
    mine: Sequence[Point]
    theirs: Sequence[Point]
    lines: Sequence[Line] = ()
    band: Band | None = None
    ends: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class _Box:
    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: "_Box") -> bool:
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


@dataclass(slots=True)
class _Places:
    """The places on the chart that are taken."""

    within: _Box
    taken: list[_Box] = field(default_factory=list[_Box])
    levels: Sequence[_Box] = ()
    """The lines across the chart, on which a label stands only where there is no other place."""

    def take(self, box: _Box) -> None:
        self.taken.append(box)

    def text(self, label: str, kind: str, spots: Iterable[tuple[float, float]]) -> str:
        """The label centred at the first spot (its baseline) where it meets nothing; empty if there is none."""
        half, found = len(label) * _LETTER / 2, list(spots)
        tried = [(x, y, (*self.taken, *self.levels)) for x, y in found]
        tried += [(x, y, tuple(self.taken)) for x, y in found]
        for x, y, taken in tried:
            x = min(max(x, self.within.left + half), self.within.right - half)
            box = _Box(x - half, y - 11, x + half, y + 3)
            fits = self.within.top <= box.top and box.bottom <= self.within.bottom
            if fits and not any(box.meets(other) for other in taken):
                self.take(box)
                return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(label)}</text>'
        return ""


def offers_chart(chart: OffersChart, *, width: int, height: int = 250) -> str:
    """Both sides' offers; the user's are filled circles on a line, the other side's hollow squares on a dashed one."""
    points = (*chart.mine, *chart.theirs)
    if not points:
        return ""
    right = width - 12 - max([len(line.label) for line in chart.lines], default=0) * _LETTER
    low, high = chart.ends or _ends(chart)
    last = max(point.place for point in points)
    across = Scale(0, max(last, 1), _LEFT, right - 18)
    up = Scale(low, high, height - _BOTTOM - 8, _TOP)
    rows = [up.at(line.value) for line in chart.lines]
    levels = [_Box(0, y - 1, right, y + 1) for y in rows]
    places = _Places(_Box(2, 0, right, height), levels=levels)
    parts = [_band(chart, up, right), *_levels(chart.lines, up, right, height)]
    parts += [_series(chart.theirs, across, up, "theirs"), _series(chart.mine, across, up, "mine")]
    for point in points:
        x, y = across.at(point.place), up.at(point.middle)
        places.take(_Box(x - 7, y - 7, x + 7, y + 7))
        if point.high > point.low:
            places.take(_Box(x - 2, up.at(point.high), x + 2, up.at(point.low)))
    parts += [_marks(point, across, up, places) for point in points]
    parts += _labels(chart, across, up, places)
    parts += _days(points, across, height, places)
    if chart.band:
        parts.append(_band_name(chart.band, up, right, places))
    return (
        f'<svg class="chart offers" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(chart.title)}">{"".join(parts)}</svg>'
    )


def _ends(chart: OffersChart) -> tuple[float, float]:
    values = [end for point in (*chart.mine, *chart.theirs) for end in (point.low, point.high)]
    values += [line.value for line in chart.lines]
    values += [chart.band.low, chart.band.high] if chart.band else []
    spread = (max(values) - min(values)) or abs(max(values)) or 1.0
    return min(values) - spread * 0.08, max(values) + spread * 0.08


def _band(chart: OffersChart, up: Scale, right: float) -> str:
    if chart.band is None:
        return ""
    top, bottom = up.at(chart.band.high), up.at(chart.band.low)
    hatch = f"{chart.id}-hatch-{right:.0f}"
    place = f'x="0" y="{top:.1f}" width="{right:.1f}" height="{bottom - top:.1f}"'
    return (
        f'<pattern id="{hatch}" width="8" height="8" patternUnits="userSpaceOnUse">'
        f'<path class="hatch" d="M0 8 8 0"/></pattern>'
        f'<rect class="band" {place}/><rect fill="url(#{hatch})" {place}/>'
    )


def _band_name(band: Band, up: Scale, right: float, places: _Places) -> str:
    """Its name inside the band, or just below or above it."""
    top, bottom = up.at(band.high), up.at(band.low)
    columns = (right / 2, right, 0.0, right / 4, right * 3 / 4)
    rows = (bottom - 5, top + 14, (top + bottom) / 2 + 4, bottom + 14, top - 5)
    return places.text(band.name, "band-name", [(x, y) for y in rows for x in columns])


def _levels(lines: Sequence[Line], up: Scale, right: float, height: int) -> list[str]:
    """Dashed levels with their names right of the chart, moved apart where they lie close."""
    ordered = sorted(lines, key=lambda one: -one.value)
    rows = [up.at(line.value) + 4 for line in ordered]
    for place in range(1, len(rows)):
        rows[place] = max(rows[place], rows[place - 1] + _ROW)
    for place in reversed(range(len(rows))):
        most = height - 6 if place == len(rows) - 1 else rows[place + 1] - _ROW
        rows[place] = min(rows[place], most)
    found: list[str] = []
    for line, row in zip(ordered, rows, strict=True):
        y = up.at(line.value)
        found.append(
            f'<path class="level" d="M0 {y:.1f}H{right:.1f}L{right + 6:.1f} {row - 4:.1f}"/>'
            f'<text class="level-name" x="{right + 9:.1f}" y="{row:.1f}">{escape(line.label)}</text>'
        )
    return found


def _series(points: Sequence[Point], across: Scale, up: Scale, side: str) -> str:
    places = [(across.at(point.place), up.at(point.middle)) for point in points]
    found: list[str] = []
    if len(places) > 1:
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        found.append(f'<polyline class="{side}" points="{path}"/>')
    for point, (x, y) in zip(points, places, strict=True):
        told = f"<title>{escape(point.label)}</title>"
        if point.high > point.low:
            found.append(f'<path class="{side} open" d="M{x:.1f} {up.at(point.high):.1f}V{up.at(point.low):.1f}"/>')
        found.append(
            f'<circle class="{side}" cx="{x:.1f}" cy="{y:.1f}" r="5">{told}</circle>'
            if side == "mine"
            else f'<rect class="{side}" x="{x - 5:.1f}" y="{y - 5:.1f}" width="10" height="10">{told}</rect>'
        )
    return "".join(found)


def _marks(point: Point, across: Scale, up: Scale, places: _Places) -> str:
    """A triangle for each condition, above the offer."""
    count = min(len(point.conditions), _MOST_MARKS)
    if not count:
        return ""
    x, y = across.at(point.place) - count * 5, min(up.at(point.middle) - 11, up.at(point.high) - 3)
    places.take(_Box(x, y - 8, x + count * 10, y))
    told = f"<title>{escape('; '.join(point.conditions))}</title>"
    drawn = "".join(f"M{x + n * 10 + 1:.1f} {y:.1f}h8l-4-7z" for n in range(count))
    return f'<path class="condition" d="{drawn}">{told}</path>'


def _labels(chart: OffersChart, across: Scale, up: Scale, places: _Places) -> list[str]:
    """The values beside their points: the last of each side first, then the first ones, then the others."""
    ranked: list[tuple[int, Point]] = []
    for points in (chart.mine, chart.theirs):
        for n, point in enumerate(points):
            rank = 0 if n == len(points) - 1 else 1 if n == 0 else 2
            ranked.append((rank, point))
    found: list[str] = []
    for _, point in sorted(ranked, key=lambda one: (one[0], -one[1].place)):
        x, y = across.at(point.place), up.at(point.middle)
        above = y - 11 - (9 if point.conditions else 0)
        beside = 12 + len(point.label) * _LETTER / 2
        spots = ((x, above), (x, y + 20), (x + beside, y + 4), (x - beside, y + 4))
        spots += ((x + beside, y - 10), (x + beside, y + 18), (x, above - 9), (x, y + 29))
        found.append(places.text(point.label, "point-name", spots))
    return found


def _days(points: Sequence[Point], across: Scale, height: int, places: _Places) -> list[str]:
    """The first offer of each day has its day below it, where there is room."""
    found: list[str] = []
    seen: set[str] = set()
    for point in sorted(points, key=lambda one: one.place):
        if point.day and point.day not in seen:
            seen.add(point.day)
            found.append(places.text(point.day, "day", [(across.at(point.place), height - 6)]))
    return found


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
    days = _offer_days(made)
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
        for place, (one, day) in enumerate(zip(priced, _offer_days(priced), strict=True))
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


def _offer_days(made: Sequence[OfferView]) -> list[str]:
    """The day of each offer; its time, in UTC, where all are of one day."""
    moments = [datetime.fromisoformat(one["at"]).astimezone(UTC) for one in made]
    if len({at.date() for at in moments}) == 1 < len({f"{at:%H:%M}" for at in moments}):
        return [f"{at:%H:%M}" for at in moments]
    return [f"{at.day} {at:%b}" for at in moments]
