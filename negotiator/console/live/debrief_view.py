"""What the page of a rehearsal that is over shows: the money, the chart with their last price, what happened; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from negotiator.console.live.rehearsals_view import ENDINGS, offer_words
from negotiator.console.negotiation_words import NegotiationWords, time_text
from negotiator.console.offers_chart import Line, OffersChart, Point
from negotiator.console.talk.workspace_charts import BEST, DrawnChart, drawn_for_widths
from negotiator.terms.plain_text import capitalise, sentence

_CHART_TITLE: Final = "Both sides, with their limit drawn in"
_THEIR_LIMIT: Final = "Their limit"
_ACTIONS: Final[dict[str, str]] = {"offer": "offered", "accept": "accepted"}


@dataclass(frozen=True, slots=True)
class MoneyRow:
    """One line of the account: what it is, and the offer or amount."""

    label: str
    said: str
    is_sum: bool = False


@dataclass(frozen=True, slots=True)
class DebriefOffer:
    """One turn of the table beside the chart; `least` is the last price that they would have signed then."""

    turn: int
    said: str
    total: str
    worth: str
    least: str
    cost: str


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """One of the rehearsals with this person."""

    id: str
    at: str
    ended: str
    points: str
    left: str
    is_this: bool


@dataclass(frozen=True, slots=True)
class DebriefPage:
    """The debrief in words."""

    points: int
    sentences: Sequence[str]
    try_next: str
    lesson: str
    account: Sequence[MoneyRow]
    chart: DrawnChart | None
    offers: Sequence[DebriefOffer]
    has_least: bool
    has_cost: bool
    has_totals: bool
    opening: str
    first: str
    moves: Sequence[str]
    limits: Sequence[str]
    tactics: Sequence[str]
    attempts: Sequence[AttemptRow]


def debrief_page(
    debrief: Mapping[str, Any], rehearsal: Mapping[str, Any], view: Mapping[str, Any], words: NegotiationWords
) -> DebriefPage:
    """The debrief of the API as the page says it. `view` is the negotiation, for its target and limit."""
    offers = _offer_rows(debrief["ledger"], words)
    return DebriefPage(
        debrief["score"],
        debrief["sentences"],
        debrief["try_next"],
        debrief["lesson"],
        _account(debrief),
        _chart(debrief, view, words),
        offers,
        any(one.least for one in offers),
        any(one.cost for one in offers),
        any(one.total for one in offers),
        _opening(debrief["opening"]),
        _first(debrief),
        [f"Turn {one['turn']}: {sentence(one['words'])}" for one in debrief["moves"]],
        [f"Turn {one['turn']}: {sentence(one['words'])}" for one in debrief["own_limits_passed"]],
        [one["words"] for one in debrief["unanswered"]],
        _attempts(debrief, rehearsal, words),
    )


def _account(debrief: Mapping[str, Any]) -> list[MoneyRow]:
    """The deal, the best that was to be had, and the difference, so that it can be checked on paper."""
    deal, best, left = debrief["deal"], debrief["best_deal"], debrief["left_on_table"]
    rows = [
        MoneyRow("Your deal", deal["words"] if deal else "No deal"),
        MoneyRow(
            "The best for you that they would have signed", best["words"] if best else "Nothing within your limits"
        ),
    ]
    rows.append(MoneyRow("Left on the table", capitalise(left["words"]), is_sum=True))
    if len(left["parts"]) > 1:
        rows += [MoneyRow("Of that", capitalise(part["words"])) for part in left["parts"]]
        if debrief["same_terms"]:
            rows.append(MoneyRow("By the price alone", debrief["same_terms"]["words"]))
    rows.append(MoneyRow("The least that they would have signed", debrief["floor"]["words"]))
    return rows


def _offer_rows(points: Sequence[Mapping[str, Any]], words: NegotiationWords) -> list[DebriefOffer]:
    before: dict[str, Mapping[str, Any]] = {"me": {}, "them": {}}
    price = words.terms.price
    found: list[DebriefOffer] = []
    for point in points:
        package: dict[str, Any] = point["package"]
        who = "You" if point["by"] == "me" else words.them
        said = offer_words(package, before[point["by"]], words)
        before[point["by"]] = package
        least, lost = point["floor_price"], Decimal(point["lost"] or 0)
        found.append(
            DebriefOffer(
                point["turn"],
                f"{who} {_ACTIONS.get(point['action'], 'said')} {said}",
                words.total(package),
                str(round(point["utility"] * BEST)),
                words.value(price.name, least) if price and least else "",
                _rough(lost, words) if lost > 0 else "",
            )
        )
    return found


def _chart(debrief: Mapping[str, Any], view: Mapping[str, Any], words: NegotiationWords) -> DrawnChart | None:
    """The price over the turns where price is all that is talked about; else what each offer is worth to the user."""
    points: list[Mapping[str, Any]] = debrief["ledger"]
    if not points:
        return None
    key = f"● and the full line: you. □ and the dashed line: {words.them}. The number below is the turn."
    least = {point["floor_price"] for point in points}
    price = words.terms.price
    if price is not None and len(words.terms.issues) == 1 and None not in least:
        lines = [Line(float(Decimal(min(least))), _THEIR_LIMIT)]
        for member, label in (("target", "Target"), ("walk_away", "Your limit")):
            goal = view[member]["package"] if view[member] else None
            if goal and price.name in goal:
                lines.append(Line(float(Decimal(str(goal[price.name]))), label))
        said = words.value(price.name, min(least))
        drawn = _drawn(points, lines, "price", words)
        caption = f"{words.label(price.name)} by turn. Their limit was {said}. {key}"
        return DrawnChart(_CHART_TITLE, caption, drawn)
    levels = debrief["levels"]
    named = (("target", "Target"), ("walk_away", "Your limit"), ("best_deal", "Best possible"))
    lines = [
        Line(levels[name] * BEST, f"{label} {round(levels[name] * BEST)}")
        for name, label in named
        if levels[name] is not None
    ]
    caption = (
        "What each offer is worth to you: 100 is the best you can think of, 0 the worst. "
        f"“Best possible” is the best deal for you that they would have signed. {key}"
    )
    drawn = _drawn(points, lines, "utility", words)
    return DrawnChart(_CHART_TITLE, caption, drawn)


def _drawn(
    points: Sequence[Mapping[str, Any]], lines: Sequence[Line], measure: str, words: NegotiationWords
) -> list[str]:
    sides: dict[str, list[Point]] = {"me": [], "them": []}
    for place, point in enumerate(points):
        if point[measure] is None:
            continue
        at = float(point[measure]) * (BEST if measure == "utility" else 1.0)
        label = str(round(at)) if measure == "utility" else words.amount(point[measure])
        sides[point["by"]].append(Point(place, at, at, label, str(point["turn"])))
    told = "; ".join(
        f"{whose} {', '.join(one.label for one in sides[by]) or 'none'}"
        for by, whose in (("me", "yours"), ("them", words.wording.them))
    )
    levels = ", ".join(_level(line, measure, words) for line in lines)
    title = f"Offers by turn: {told}. {levels}"
    return drawn_for_widths(OffersChart("debrief", title, sides["me"], sides["them"], lines))


def _level(line: Line, measure: str, words: NegotiationWords) -> str:
    if measure == "utility":
        return line.label
    return f"{line.label} {words.money(Decimal(str(line.value)))}"


def _rough(amount: Decimal, words: NegotiationWords) -> str:
    """An amount in all; of several points it stands for more than money, so that two figures of it are said."""
    if len(words.terms.issues) == 1 or not amount:
        return words.money(amount)
    unit = Decimal(1).scaleb(amount.adjusted() - 1)
    rough = (amount / unit).to_integral_value() * unit
    return f"{'about ' if rough != amount else ''}{words.money(rough)}"


def _opening(opening: Mapping[str, Any] | None) -> str:
    if opening is None:
        return "You made no offer."
    said = f"You opened in turn {opening['turn']} with {opening['words']}"
    beside = opening["against_target"]
    return sentence(f"{said}: {beside['words']}" if beside else said)


def _first(debrief: Mapping[str, Any]) -> str:
    if debrief["first_mover"] is None:
        return "Neither side came towards the other."
    first = next(one for one in debrief["moves"] if one["by"] == debrief["first_mover"])
    who = "You" if debrief["first_mover"] == "me" else "They"
    return f"{who} moved first, in turn {first['turn']}."


def _attempts(debrief: Mapping[str, Any], rehearsal: Mapping[str, Any], words: NegotiationWords) -> list[AttemptRow]:
    """All rehearsals with this person in their order; empty if this is the only one."""
    this = {
        "id": rehearsal["id"],
        "created_at": rehearsal["created_at"],
        "score": debrief["score"],
        "money": debrief["left_on_table"]["money"],
        "state": rehearsal["state"],
    }
    others = [one for one in debrief["attempts"] if one["id"] != this["id"]]
    if not others:
        return []
    rows: list[Mapping[str, Any]] = sorted((this, *others), key=lambda one: one["created_at"])
    return [
        AttemptRow(
            one["id"],
            time_text(one["created_at"]),
            ENDINGS[one["state"]],
            f"{one['score']} of 100",
            _rough(Decimal(one["money"]), words) if one["money"] else "",
            one["id"] == rehearsal["id"],
        )
        for one in rows
    ]
