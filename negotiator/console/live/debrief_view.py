"""What the pages of rehearsals say beside the API's own words: each turn's offer, and the debrief; pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from negotiator.console.negotiation_words import NegotiationWords, object_member
from negotiator.console.offers_chart import Line, OffersChart, Point
from negotiator.console.talk.workspace_charts import BEST, DrawnChart, drawn_for_widths, level_lines, told_offers
from negotiator.negotiations.schemas_negotiations import NegotiationView

_ACTIONS: Final[dict[str, str]] = {"offer": "offered", "accept": "accepted"}


def offers_in_words(turns: Sequence[Mapping[str, Any]], words: NegotiationWords) -> Iterator[str]:
    """The offer of each turn, empty without one; of one that follows another of its side, only what is new in it."""
    before: dict[str, dict[str, Any]] = {"me": {}, "them": {}}
    for turn in turns:
        package = object_member(turn, "package")
        last = before[turn["by"]]
        new = {name: value for name, value in package.items() if last.get(name) != value}
        if not package:
            yield ""
        elif not last or not new or len(new) == len(package):
            yield words.package(package, with_total=False)
        else:
            yield f"{words.package(new, with_total=False)}, the rest as before"
        before[turn["by"]] = package or last


@dataclass(frozen=True, slots=True)
class DebriefOffer:
    """One turn of the table beside the chart; `least` is the last price that they would have signed then."""

    turn: int
    said: str
    total: str
    worth: int
    least: str
    cost: str


def debrief_offers(points: Sequence[Mapping[str, Any]], words: NegotiationWords) -> list[DebriefOffer]:
    """The offers of the debrief in words."""
    price = words.terms.price
    return [
        DebriefOffer(
            point["turn"],
            f"{'You' if point['by'] == 'me' else words.them} {_ACTIONS.get(point['action'], 'said')} {said}",
            words.total(point["package"]),
            round(point["utility"] * BEST),
            words.value(price.name, point["floor_price"]) if price and point["floor_price"] else "",
            rough_amount(point["lost"], words) if Decimal(point["lost"] or 0) > 0 else "",
        )
        for point, said in zip(points, offers_in_words(points, words), strict=True)
    ]


def debrief_chart(debrief: Mapping[str, Any], view: NegotiationView, words: NegotiationWords) -> DrawnChart | None:
    """The price over the turns where price is all that is talked about; else what each offer is worth to the user.

    `view` is the negotiation, for its target and limit.
    """
    points = debrief["ledger"]
    if not points:
        return None
    key = f"● and the full line: you. □ and the dashed line: {words.them}. The number below is the turn."
    least = [point["floor_price"] for point in points if point["floor_price"] is not None]
    price = words.terms.price
    if price is not None and len(words.terms.issues) == 1 and len(least) == len(points):
        lowest = min(least, key=Decimal)
        lines = [Line(float(lowest), "Their limit")]
        for goal, label in ((view["target"], "Target"), (view["walk_away"], "Your limit")):
            if price.name in (package := object_member(goal or {}, "package")):
                lines.append(Line(float(package[price.name]), label))
        levels = [f"{line.label} {words.money(Decimal(str(line.value)))}" for line in lines]
        drawn = [
            (point["by"], Point(place, at := float(said), at, words.amount(said), str(point["turn"])))
            for place, point in enumerate(points)
            if (said := point["price"]) is not None
        ]
        caption = f"{words.label(price.name)} by turn. Their limit was {words.value(price.name, lowest)}. {key}"
    else:
        named = {"target": "Target", "walk_away": "Your limit", "best_deal": "Best possible"}
        lines = level_lines(debrief["levels"], named)
        levels = [line.label for line in lines]
        drawn = [
            (point["by"], Point(place, at := point["utility"] * BEST, at, str(round(at)), str(point["turn"])))
            for place, point in enumerate(points)
        ]
        caption = (
            "What each offer is worth to you: 100 is the best you can think of, 0 the worst. "
            f"“Best possible” is the best deal for you that they would have signed. {key}"
        )
    mine, theirs = ([point for by, point in drawn if by == side] for side in ("me", "them"))
    title = f"Offers by turn: {told_offers(mine, theirs, words)}. {', '.join(levels)}"
    chart = OffersChart("debrief", title, mine, theirs, lines)
    return DrawnChart("Both sides, with their limit drawn in", caption, drawn_for_widths(chart))


def rough_amount(money: str | None, words: NegotiationWords) -> str:
    """An amount in all; of several points it stands for more than money, so that two figures of it are said."""
    if not money:
        return ""
    amount = Decimal(money)
    if len(words.terms.issues) == 1 or not amount:
        return words.money(amount)
    unit = Decimal(1).scaleb(amount.adjusted() - 1)
    rough = (amount / unit).to_integral_value() * unit
    return f"{'about ' if rough != amount else ''}{words.money(rough)}"


def attempts(debrief: Mapping[str, Any], rehearsal: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """All rehearsals with this person in their order; empty if this is the only one."""
    others = [one for one in debrief["attempts"] if one["id"] != rehearsal["id"]]
    this = {
        "id": rehearsal["id"],
        "created_at": rehearsal["created_at"],
        "score": debrief["score"],
        "money": debrief["left_on_table"]["money"],
        "state": rehearsal["state"],
    }
    return sorted([this, *others], key=lambda one: one["created_at"]) if others else []
