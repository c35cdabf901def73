"""The sections of a plan about offers: opening, concession schedule, packages offered together, trades and limits."""

from collections.abc import Mapping
from typing import Any, Final

from negotiator.advice.concession.path import PathStep, PricedTrade, StepAsk, ValueChange
from negotiator.advice.plans.basis import PlanBasis
from negotiator.advice.plans.brief import (
    PackageFigures,
    figure,
    money_figure,
    package_figures,
    utility_figure,
    value_figure,
    worth_figures,
)
from negotiator.advice.plans.trades import IssueTrade
from negotiator.advice.words.sentences import parts, table
from negotiator.terms.issues import Issue, Package, Scalar, same_value
from negotiator.terms.limits import needs_approval, shows_limit, utility_floor
from negotiator.terms.plain_text import join_words, noun_phrase, sentence
from negotiator.terms.terms import SELLING_ROLES
from negotiator.terms.utility import utility_bounds, utility_of_alternative

PlanSection = dict[str, Any]

HIGH_AIM: Final = 0.85
MIDDLE_AIM: Final = 0.55
_MOVEMENTS: Final = (
    "If you take a step towards {} as well",
    "If you come a little further too",
    "If you move once more on your side",
)
_ORDINALS: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_COMPARISONS: Final = {
    "<=": "at most {}", ">=": "at least {}", "<": "less than {}", ">": "more than {}", "==": "only {}",
    "!=": "not {}", "in": "only {}", "not_in": "not {}",
}  # fmt: skip


def opening_section(basis: PlanBasis) -> PlanSection | None:
    """The package to open with or that the user stands at, why it is justified, and whether to speak first."""
    if basis.path is None:
        return None
    now, aims = basis.path.now, basis.path.aims
    least = utility_bounds(aims.terms.preferences).low if aims.floor < 0 else aims.floor
    most = utility_bounds(aims.terms.preferences).high
    bold = 1.0 if most <= least else min(1.0, (now.utility - least) / (most - least))
    level = "high" if bold > HIGH_AIM else "medium" if bold > MIDDLE_AIM else "low"
    return {
        "package": _opening_figures(basis, now.package),
        "words": basis.words.package(now.package, with_total=False),
        "values": _values_in_words(basis, now.package),
        "total": total_figure(basis, now.package),
        "made": basis.has_opened,
        "utility": utility_figure(now.utility, "engine:utility"),
        "aggressiveness": {"level": level, "value": figure(round(bold, 4), "engine:aggressiveness")},
        "justification": _justification(basis),
        "first_or_wait": first_or_wait(basis),
        "alternatives": [_package_row(basis, one) for one in now.alternatives],
    }


def first_or_wait(basis: PlanBasis) -> PlanSection:
    """Whether the user should name the first figure; an uninformed side gains nothing by it (Maaravi and Levy 2017)."""
    brief, path = basis.brief, basis.path
    shown = path is not None and shows_limit(brief.terms, path.now.package)
    knows_range = brief.terms.their_walk_away is not None or bool(brief.benchmarks)
    told = parts(
        "plan_first_word",
        has_opened=basis.has_opened,
        has_steps=path is not None and bool(path.steps),
        they_spoke=basis.they_spoke,
        they_spoke_last=basis.they_spoke_last,
        shows_limit=shown,
        knows_range=knows_range,
        them=basis.words.them,
    )
    advice = "answer" if basis.they_spoke else "first" if knows_range and not shown else "wait"
    return {"advice": advice, **told}


def schedule_rows(basis: PlanBasis) -> list[PlanSection]:
    """The steps after the opening, each an if-then trade: what is given, what is asked for it, and the offer then."""
    if basis.path is None:
        return []
    texts = table("plan")["schedule"]
    rows: list[PlanSection] = []
    for place, step in enumerate(basis.path.steps):
        last = place == len(basis.path.steps) - 1 and place > 0
        rows.append(
            {
                "trigger": texts["last_trigger"] if last else texts["triggers"][min(place, len(texts["triggers"]) - 1)],
                "package": package_figures(basis.terms, step.package, "engine:concession"),
                "words": basis.words.package(step.package, with_total=False),
                "values": _values_in_words(basis, step.package),
                "total": total_figure(basis, step.package),
                "utility": {"value": round(step.utility, 6), "source": "engine:utility"},
                "gives": {"value": round(step.given, 6), "source": "engine:concession"},
                "changes": [_change_row(basis, change) for change in step.gives],
                "ask": _ask_row(basis, step.ask),
                "ask_in_return": ask_in_words(basis, step.ask),
                "say": say_step(basis, step, place),
                "alternatives": [_package_row(basis, one) for one in step.alternatives],
            }
        )
    return rows


def ask_in_words(basis: PlanBasis, ask: StepAsk | None) -> str:
    """What to ask for a step, for the user."""
    if ask is not None and ask.kind == "issue" and ask.issue is not None and ask.value is not None:
        return sentence(basis.words.phrase(ask.issue, ask.value))
    if ask is not None and ask.kind == "close":
        asks = basis.content.closing_asks
        extra = f", and one of these: {'; '.join(one.text for one in asks[:3])}" if asks else ""
        return sentence(f"Their yes today{extra}")
    return "A step from them of at least the same size."


def say_step(basis: PlanBasis, step: PathStep, place: int) -> str:
    """A step as an if-then sentence for the other side; `place` counts the steps from 0."""
    voice, ask = basis.words.voice, step.ask
    given = basis.words.objects([(one.issue, one.after) for one in step.gives])
    if ask is not None and ask.kind == "issue" and ask.issue is not None and ask.value is not None:
        asked = basis.words.objects([(ask.issue, ask.value)])
        if basis.terms.role in SELLING_ROLES and asked.startswith("it without "):
            asked = asked.removeprefix("it ")
        condition = f"If you can do {asked}"
    elif ask is not None and ask.kind == "close":
        condition = "If that settles it today"
    else:
        condition = _MOVEMENTS[place % len(_MOVEMENTS)].format(voice.me)
    return sentence(f"{condition}, {voice.i} can do {given}")


def together_rows(basis: PlanBasis) -> list[PlanSection]:
    """Packages of equal worth to the user that are offered together, with the offer that they stand in place of."""
    rows: list[PlanSection] = []
    for place, step in enumerate(basis.offers):
        others = [one for one in step.alternatives if not shows_limit(basis.terms, one)]
        before = basis.offers[place - 1].package if place else {}
        if others:
            packages = [
                {**_package_row(basis, one), "changes": _differences(basis, before, one)}
                for one in (step.package, *others)
            ]
            rows.append({"beside": offer_name(place), "packages": packages})
    return rows


def _differences(basis: PlanBasis, before: Package, after: Package) -> str:
    """The values of a package that are not those of the one before, in words."""
    changed = [
        (issue, after[issue.name])
        for issue in basis.terms.issues
        if issue.name not in before or not same_value(issue.type, before[issue.name], after[issue.name])
    ]
    return basis.words.objects(changed).removeprefix("it ")


def offer_name(place: int) -> str:
    """An offer of the plan by its place: `the opening`, `step two`."""
    return "the opening offer" if place == 0 else f"step {_ORDINALS[place - 1]}"


def trade_rows(basis: PlanBasis) -> list[PlanSection]:
    """Trades between issues (logrolling): what to give, what to get, and the estimated gain of both sides."""
    rows: list[PlanSection] = []
    for trade in basis.trades:
        give, get = (noun_phrase(basis.words.label(one)) for one in (trade.give, trade.get))
        got, given = (basis.words.objects([(issue, trade.after[issue.name])]) for issue in (trade.get, trade.give))
        rows.append(
            {
                "give": _trade_side(basis, trade, trade.give),
                "get": _trade_side(basis, trade, trade.get),
                "my_net_utility": utility_figure(trade.mine, "engine:logrolling"),
                "their_estimated_gain": utility_figure(trade.theirs, "engine:logrolling"),
                "why": f"They seem to care more than you about {give}, and less about {get}.",
                "say": sentence(f"If you can do {got}, {basis.words.voice.i} can do {given}"),
            }
        )
    return rows


def allowed_rows(basis: PlanBasis) -> list[PlanSection]:
    """The trades beyond an own limit that the user allowed, each with what passing the limit costs in money."""
    if basis.path is None:
        return []
    return [_allowed_row(basis, trade) for trade in basis.path.allowed]


def limit_section(basis: PlanBasis, name: str) -> PlanSection | None:
    """The target or the walk-away (`name`) as given, with its utility; None when neither is known."""
    terms, aims = basis.terms, basis.path.aims if basis.path else None
    given = terms.target if name == "target" else terms.walk_away
    shown = worth_figures(terms, given, f"/{name}")
    level: float | None = None
    if name == "target":
        level = aims.target_utility if aims else None
        source = "session:/target" if shown else "engine:target"
    else:
        level = _floor(basis)
        source = "session:/walk_away" if shown else "session:/batna/value"
    if shown is None and (level is None or (name == "target" and _floor(basis) is None)):
        return None
    package = given.package if given is not None and given.package is not None else None
    words = basis.words.package(package, with_total=False) if package else None
    utility = None if level is None else utility_figure(level, source)
    return {**(shown or {}), "utility": utility, "words": words}


def red_line_rows(basis: PlanBasis) -> list[PlanSection]:
    """The constraints, the user's own limits and the walk-away, which no agreement may break."""
    terms, words = basis.brief.terms, basis.words
    rows: list[PlanSection] = []
    for place, rule in enumerate(terms.constraints):
        issue = terms.issue(rule.issue)
        if issue is None:
            continue
        source = f"session:/constraints/{place}/value"
        values = join_words([words.value(issue, value) for value in rule.values])
        said = f"{words.label(issue)}: {_COMPARISONS[rule.op].format(values)}"
        rows.append(
            {
                "issue": rule.issue,
                "op": rule.op,
                "values": [value_figure(terms, issue, value, source) for value in rule.values],
                "hard": rule.hard,
                "words": sentence(said if rule.hard else f"{said} (a wish)"),
            }
        )
    for place, issue in enumerate(terms.issues):
        limit = basis.limit(issue)
        if limit is not None:
            given = "limit" if issue.limit is not None else "walk_away"
            source = f"session:/issues/{place}/limit" if given == "limit" else "session:/walk_away"
            rows.append(
                {
                    "issue": issue.name,
                    "op": "no worse than",
                    "values": [value_figure(terms, issue, limit, source)],
                    "hard": True,
                    "words": sentence(limit_in_words(basis, issue, limit)),
                }
            )
    if (floor := _floor(basis)) is not None:
        where = "session:/walk_away" if terms.walk_away else "session:/batna/value"
        said = "No deal that is worth less to you as a whole than your walk-away."
        row = {"issue": None, "op": "utility >=", "values": [utility_figure(floor, where)]}
        rows.append({**row, "hard": True, "words": said})
    return rows


def limit_in_words(basis: PlanBasis, issue: Issue, limit: Scalar) -> str:
    """An own limit: `no more than €56 per seat and month`."""
    said = basis.words.phrase(issue, limit)
    if issue.type in {"enum", "boolean"} or issue.options or issue.value_points:
        return f"at worst {said}"
    if issue.type == "date":
        way = "later" if issue.direction == "lower" else "earlier"
        return f"{basis.words.label(issue)}: no {way} than {basis.words.value(issue, limit)}"
    return f"no {'more' if issue.direction == 'lower' else 'less'} than {said}"


def approval_rows(basis: PlanBasis) -> list[PlanSection]:
    """The planned packages that go beyond the authority, with the approver."""
    terms = basis.terms
    rows: list[PlanSection] = []
    for place, step in enumerate(basis.offers):
        if needs_approval(terms, step.package):
            said = basis.words.package(step.package, with_total=False)
            what = "The opening offer" if place == 0 else f"The step to {said}"
            source = "engine:concession" if place else "engine:opening"
            rows.append(
                {
                    "what": f"{what} goes beyond your authority.",
                    "from": f"From {offer_name(place)}",
                    "approver": terms.authority.approver,
                    "package": package_figures(terms, step.package, source),
                }
            )
    return rows


def total_figure(basis: PlanBasis, package: Package) -> PlanSection | None:
    """What a package comes to in all, as a figure and in words; None for a lump sum."""
    total = basis.words.total(package)
    if total is None:
        return None
    return {
        "amount": money_figure(basis.terms, total.amount, "engine:total"),
        "words": total.text,
        "in_short": basis.words.money(total.amount),
        "scope": total.scope,
    }


def _values_in_words(basis: PlanBasis, package: Package) -> list[str]:
    """Each value of a package in words, in the order of the issues."""
    return [basis.words.value(issue, package[issue.name]) for issue in basis.brief.terms.issues]


def _floor(basis: PlanBasis) -> float | None:
    floor = utility_floor(basis.terms)
    if floor is None and not basis.terms.unvalued:
        floor = utility_of_alternative(basis.terms.preferences, basis.terms.batna)
    return floor


def _opening_figures(basis: PlanBasis, package: Package) -> PackageFigures:
    """The package; a value that the user has offered already names the offer."""
    figures = package_figures(basis.terms, package, "engine:opening")
    if not basis.has_opened:
        return figures
    for row in basis.brief.ledger:
        if row.by != "me":
            continue
        said = package_figures(basis.terms, row.package, f"offer:{row.seq}")
        figures |= {name: one for name, one in said.items() if one["value"] == figures[name]["value"]}
    return figures


def _justification(basis: PlanBasis) -> list[PlanSection]:
    """Grounds, benchmarks and memories that support the opening; without any, what to look for."""
    rows: list[PlanSection] = []
    if basis.path is not None:
        rows += [{"text": one.text, "source": one.source} for one in basis.path.aims.grounds]
    cited = {row["source"] for row in rows}
    for mark in basis.brief.benchmarks:
        if f"benchmark:{mark.id}" in cited:
            continue
        text = sentence(f"{mark.label}: {mark.value}")
        rows.append({"text": text, "figure": figure(mark.value, f"benchmark:{mark.id}")})
    rows += [{"text": note.text, "source": f"memory:{note.id}"} for note in basis.brief.memories[:3]]
    if not rows:
        standard = basis.content.standards[0]
        rows.append({"text": sentence(f"You have no evidence yet. What would help: {standard.what}")})
    return rows


def _package_row(basis: PlanBasis, package: Package) -> PlanSection:
    worth = basis.path.aims.worth(package) if basis.path else 0.0
    return {
        "package": package_figures(basis.terms, package, "engine:equal_packages"),
        "words": basis.words.package(package, with_total=False),
        "total": total_figure(basis, package),
        "utility": utility_figure(worth, "engine:utility"),
    }


def _change_row(basis: PlanBasis, change: ValueChange) -> PlanSection:
    figures = {
        name: value_figure(basis.terms, change.issue, value, "engine:concession")
        for name, value in (("from", change.before), ("to", change.after))
    }
    words = basis.words.change(change.issue, change.before, change.after)
    label = basis.words.label(change.issue)
    return {"issue": change.issue.name, **figures, "words": f"{label}: {words}"}


def _ask_row(basis: PlanBasis, ask: StepAsk | None) -> PlanSection:
    if ask is None or ask.issue is None or ask.value is None:
        return {"kind": "movement" if ask is None else ask.kind, "issue": None, "value": None}
    value = value_figure(basis.terms, ask.issue, ask.value, "engine:concession")
    return {"kind": ask.kind, "issue": ask.issue.name, "value": value}


def _trade_side(basis: PlanBasis, trade: IssueTrade, issue: Issue) -> PlanSection:
    was, now = (
        value_figure(basis.terms, issue, package[issue.name], "engine:logrolling")
        for package in (trade.before, trade.after)
    )
    return {"issue": issue.name, "from": was, "to": now}


def _allowed_row(basis: PlanBasis, trade: PricedTrade) -> PlanSection:
    terms, words, voice = basis.terms, basis.words, basis.words.voice
    place = terms.allowed.index(trade.allowed)
    to = trade.allowed.to
    issue = next(one for one in terms.issues if one.name == trade.allowed.issue)
    wanted = _in_return(basis, trade.allowed.in_return)
    given = basis.words.objects([(issue, to)])
    cost = None if trade.cost is None else words.roughly(words.amount_in_all(trade.package, trade.cost))
    price = "" if cost is None else f"; going beyond your limit costs you about {words.money(cost)}"
    return {
        "issue": issue.name,
        "to": value_figure(terms, issue, to, f"session:/allow/{place}/to"),
        "in_return": package_figures(terms, trade.allowed.in_return, f"session:/allow/{place}/in_return"),
        "package": package_figures(terms, trade.package, "engine:allowed_trade"),
        "cost": money_figure(terms, cost, "engine:allowed_trade"),
        "priced": terms.price is not None and terms.price is not issue,
        "words": sentence(f"{given}, only for {wanted}{price}"),
        "say": sentence(f"If you can do {wanted}, {voice.i} can do {given}"),
    }


def _in_return(basis: PlanBasis, wanted: Mapping[str, Scalar]) -> str:
    issues = {issue.name: issue for issue in basis.terms.issues}
    return basis.words.objects([(issues[name], value) for name, value in wanted.items()])
