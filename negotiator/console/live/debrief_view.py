"""What the pages of rehearsals show: whom to meet, the talk, and once it is over its worth and its chart; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from negotiator.console.negotiation_words import NegotiationWords, day_text, object_member, time_text
from negotiator.console.offers_chart import Line, OffersChart, Point
from negotiator.console.talk.workspace_charts import BEST, DrawnChart, drawn_for_widths
from negotiator.terms.plain_text import capitalise, join_words, sentence

KINDS: Final[dict[str, tuple[str, str]]] = {
    "fair": ("Fair", "Opens within reason, and moves when you give a reason."),
    "stubborn": ("Stubborn", "Moves late, and in small steps."),
    "extreme_anchor": ("Opens far off", "Begins with a figure that is far from anything likely."),
    "takes_back": ("Takes back", "Makes an offer, and takes it back once."),
    "deadline_bluff": ("Last offer", "Calls an offer the last one, which may not be true."),
}
"""By kind: its name, and what to expect."""
HARDNESSES: Final[dict[str, tuple[str, str]]] = {
    "easy": ("Easy", "They come far towards you, and have time."),
    "normal": ("Normal", "They come some of the way, and their patience ends."),
    "hard": ("Hard", "They give little, and leave early."),
}
ENDINGS: Final[dict[str, str]] = {
    "running": "Goes on",
    "agreed": "Agreed",
    "left_by_me": "You left",
    "left_by_them": "They left",
}
_HEARD: Final[dict[str, str]] = {
    "reason": "a reason",
    "alternative": "another choice that you have",
    "question_interest": "a question about what they need",
    "question_limit": "a question about how far they can go",
    "question_why": "a question about how they come to it",
    "ultimatum": "your last word",
    "names_tactic": "that you see what they are doing",
    "rude": "an insult",
    "courtesy": "a kind word",
}
_OWN_ACTIONS: Final[dict[str, str]] = {
    "wait": "You said nothing.",
    "accept": "You accepted their offer.",
    "leave": "You left.",
}


@dataclass(frozen=True, slots=True)
class RehearsalRow:
    """An earlier rehearsal: when, whom, how it ended, and what was left on the table."""

    id: str
    at: str
    whom: str
    ended: str
    deal: str
    points: str
    left: str
    is_over: bool


@dataclass(frozen=True, slots=True)
class TalkLine:
    """One turn of the conversation: what was said and offered, what that comes to, and what else happened in it."""

    number: int
    by: str
    who: str
    text: str
    offer: str
    total: str
    notes: Sequence[str]


@dataclass(frozen=True, slots=True)
class TableRow:
    """One point, or the total, as both sides have it on the table."""

    label: str
    mine: str
    theirs: str


@dataclass(frozen=True, slots=True)
class MetBefore:
    """A person that was met before; `rehearsal` is the last rehearsal with them."""

    rehearsal: str
    label: str


def whom(kind: str, hardness: str) -> str:
    """`Stubborn, hard`."""
    return f"{KINDS[kind][0]}, {HARDNESSES[hardness][0].lower()}"


def rehearsal_row(head: Mapping[str, Any]) -> RehearsalRow:
    """A rehearsal as the table of earlier ones shows it."""
    result = object_member(head, "result")
    deal = object_member(result, "deal")
    return RehearsalRow(
        head["id"],
        time_text(head["created_at"]),
        whom(head["kind"], head["hardness"]),
        ENDINGS[head["state"]],
        deal.get("words", ""),
        f"{result['score']} of 100" if result else "",
        capitalise(result.get("left_on_table") or ""),
        head["state"] != "running",
    )


def met_before(heads: Sequence[Mapping[str, Any]]) -> list[MetBefore]:
    """Each person that was met, with the last rehearsal with them; `heads` are newest first."""
    found: dict[int, MetBefore] = {}
    for head in heads:
        if head["seed"] not in found:
            said = whom(head["kind"], head["hardness"])
            ended = rehearsal_row(head)
            result = f", {ended.points} points" if ended.points else ""
            label = f"{said}, of {day_text(head['created_at'])}{result}"
            found[head["seed"]] = MetBefore(head["id"], label)
    return list(found.values())


def talk_lines(turns: Sequence[Mapping[str, Any]], words: NegotiationWords) -> list[TalkLine]:
    """The conversation in its order. What they put on the table is in their sentence, but for what it comes to."""
    found: list[TalkLine] = []
    mine: Mapping[str, Any] = {}
    for turn in turns:
        package, offer = object_member(turn, "package"), ""
        if package and turn["by"] == "me":
            offer = "" if turn["action"] == "accept" else offer_words(package, mine, words)
            mine = package
        total = words.total(package) if package else ""
        who = "You" if turn["by"] == "me" else words.them
        found.append(TalkLine(turn["number"], turn["by"], who, turn["said"], offer, total, _notes(turn)))
    return found


def offer_words(package: Mapping[str, Any], before: Mapping[str, Any], words: NegotiationWords) -> str:
    """An offer; of one that follows another of the same side, only what is new in it."""
    new = {name: value for name, value in package.items() if before.get(name) != value}
    if not before or not new or len(new) == len(package):
        return words.package(dict(package), with_total=False)
    return f"{words.package(new, with_total=False)}, the rest as before"


def on_the_table(rehearsal: Mapping[str, Any], words: NegotiationWords) -> list[TableRow]:
    """Each point with both sides' last values, and what they come to in all."""
    mine, theirs = (_package(rehearsal[side]) for side in ("my_offer", "their_offer"))
    rows = [
        TableRow(
            words.label(issue.name),
            words.value(issue.name, mine[issue.name]) if issue.name in mine else "",
            words.value(issue.name, theirs[issue.name]) if issue.name in theirs else "",
        )
        for issue in words.terms.issues
        if issue.name in mine or issue.name in theirs
    ]
    totals = [words.total(side) if side else "" for side in (mine, theirs)]
    return [*rows, TableRow("In all", *totals)] if any(totals) else rows


def _package(offer: Mapping[str, Any] | None) -> dict[str, Any]:
    return offer["package"] if offer else {}


def _notes(turn: Mapping[str, Any]) -> list[str]:
    found: list[str] = []
    if turn["by"] == "me" and turn["action"] in _OWN_ACTIONS:
        found.append(_OWN_ACTIONS[turn["action"]])
    if turn["withdraws"]:
        found.append("They took their last offer back.")
    if turn["final"]:
        found.append("They call it their last offer.")
    if heard := [_HEARD[one] for one in turn["heard"]]:
        found.append(f"They heard {join_words(heard)}.")
    return found


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
