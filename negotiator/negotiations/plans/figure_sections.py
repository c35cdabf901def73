"""The sections of a plan that are mostly figures: zone of agreement, power, opening, limits, trades and approvals."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from negotiator.negotiations.issues import Issue
from negotiator.negotiations.limits import needs_approval
from negotiator.negotiations.plans.admissible_packages import AdmissiblePackages
from negotiator.negotiations.plans.brief import PlanBrief, PlanFigure, figure, utility_figure
from negotiator.negotiations.plans.concession_path import ConcessionStep, IssueTrade
from negotiator.negotiations.plans.rendering import (
    issue_label,
    may_be_said,
    package_figures,
    value_in_words,
    worth_figures,
)
from negotiator.values import format_money

PlanSection = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ChosenPackages:
    """The packages of a plan: the opening, packages of equal utility, the concession path and the trades.

    `made` is the source (`offer:` and its `seq`) when the opening is an offer that the user already made, else None.
    """

    opening: ConcessionStep | None
    alike: tuple[ConcessionStep, ...]
    path: tuple[ConcessionStep, ...]
    trades: tuple[IssueTrade, ...]
    made: str | None = None


def zopa_section(brief: PlanBrief) -> PlanSection:
    """The zone of possible agreement of the assessment: probability and ends, each with its source."""
    if brief.leverage is None:
        return {"probability": None, "low": None, "high": None, "method": "Not assessed."}
    position = brief.leverage.position
    in_money = isinstance(position.my_walk_away, Decimal)
    known = position.zopa.probability is not None
    return {
        "probability": _share(position.zopa.probability, "leverage:/position/zopa/probability"),
        "low": _amount(brief, position.zopa.low, "leverage:/position/zopa/low"),
        "high": _amount(brief, position.zopa.high, "leverage:/position/zopa/high"),
        "unit": (brief.terms.currency or "money") if in_money else "your utility",
        "method": "Your walk-away against a triangular belief about theirs."
        if known
        else "Unknown: it needs your walk-away and an estimate of theirs.",
    }


def leverage_section(brief: PlanBrief) -> PlanSection | None:
    """The split of power with its factors; None without an assessment."""
    if brief.leverage is None:
        return None
    power = brief.leverage.power
    factors = [
        {
            "name": share.name,
            "value": figure(round(share.value, 2), f"leverage:/power/factors/{place}/value"),
            "contribution": figure(
                round(share.contribution, 4), f"leverage:/power/factors/{place}/contribution"
            ),
            "explanation": share.explanation,
        }
        for place, share in enumerate(power.factors)
    ]
    movable = power.most_movable
    return {
        "alpha": _share(power.alpha, "leverage:/power/alpha"),
        "low": _share(power.low, "leverage:/power/low"),
        "high": _share(power.high, "leverage:/power/high"),
        "factors": factors,
        "most_movable": {
            "name": movable.name,
            "gain": _share(movable.alpha_gain, "leverage:/power/most_movable/alpha_gain"),
            "advice": movable.advice,
        },
        "missing": list(power.missing),
    }


def opening_section(
    brief: PlanBrief, admissible: AdmissiblePackages, chosen: ChosenPackages
) -> PlanSection | None:
    """The opening package, its aggressiveness, its justification, and whether to make the first offer."""
    step = chosen.opening
    if step is None:
        return None
    bottom = float(admissible.edge.mine[-1]) if admissible.floor is None else admissible.floor
    bold = 1.0 if admissible.top <= bottom else (step.utility - bottom) / (admissible.top - bottom)
    words = "high" if bold > 0.85 else "medium" if bold > 0.55 else "low"
    return {
        "package": package_figures(admissible.terms, step.package, chosen.made or "engine:opening"),
        "made": chosen.made is not None,
        "utility": utility_figure(step.utility, "engine:utility"),
        "aggressiveness": {"level": words, "value": _share(bold, "engine:aggressiveness")},
        "justification": _justification(brief),
        "first_or_wait": first_offer_section(brief, may_be_said(admissible, step)),
        "alternatives": [
            {
                "package": package_figures(admissible.terms, one.package, "engine:equal_packages"),
                "utility": utility_figure(one.utility, "engine:utility"),
            }
            for one in chosen.alike
        ],
    }


def first_offer_section(brief: PlanBrief, sayable: bool) -> PlanSection:
    """Whether the user should make the first offer, which is an advantage only for an informed side.

    `sayable` is whether the opening can be said without revealing a limit.
    """
    if any(row.by == "them" for row in brief.ledger):
        return {"advice": "answer", "why": "They have named their number; answer with yours."}
    if not sayable:
        return {"advice": "wait", "why": "Your opening would show your limit; let them speak."}
    if brief.terms.their_walk_away is not None or brief.benchmarks:
        return {"advice": "first", "why": "You know their range or the market: set the anchor."}
    return {
        "advice": "wait",
        "why": "You know little of their range; ask for their number, keep yours ready.",
    }


def limit_section(
    admissible: AdmissiblePackages,
    given_as: str,
    level: float | None,
    *,
    fallback: str | None = None,
) -> PlanSection | None:
    """The target or the walk-away as given, and its utility; None when neither is known.

    `given_as` is `target` or `walk_away`, `fallback` the source of `level` when the limit is derived.
    """
    terms = admissible.terms
    given = terms.target if given_as == "target" else terms.walk_away
    shown = worth_figures(terms, given, f"/{given_as}")
    if shown is None and level is None:
        return None
    source = f"session:/{given_as}" if shown else fallback or f"engine:{given_as}"
    utility = None if level is None else utility_figure(level, source)
    return {**(shown or {}), "utility": utility}


def trade_rows(admissible: AdmissiblePackages, chosen: ChosenPackages) -> list[PlanSection]:
    """Trades between issues (logrolling): what to give, what to get, and the estimated gain of both sides."""
    terms = admissible.terms
    return [
        {
            "give": _change(admissible, trade, trade.give),
            "get": _change(admissible, trade, trade.get),
            "my_net_utility": utility_figure(trade.mine, "engine:logrolling"),
            "their_estimated_gain": utility_figure(trade.theirs, "engine:logrolling"),
            "why": f"{_capital(issue_label(trade.give))} seems to matter more to them than to you, "
            f"{issue_label(trade.get)} less.",
            "say": f"If you can do {value_in_words(terms, trade.get, trade.after[trade.get.name])}, "
            f"we can look at {issue_label(trade.give)}.",
        }
        for trade in chosen.trades
    ]


def red_line_rows(brief: PlanBrief, admissible: AdmissiblePackages) -> list[PlanSection]:
    """The constraints and the walk-away, which no agreement may break."""
    terms = admissible.terms
    rows: list[PlanSection] = [
        {
            "issue": rule.issue,
            "op": rule.op,
            "values": [
                figure(
                    next(iter(package_figures(terms, {rule.issue: value}, "").values()))["value"],
                    f"session:/constraints/{place}/value",
                )
                for value in rule.values
            ],
            "hard": rule.hard,
        }
        for place, rule in enumerate(terms.constraints)
    ]
    if admissible.floor is not None:
        where = "session:/walk_away" if terms.walk_away else "session:/batna/value"
        floor = utility_figure(admissible.floor, where)
        rows.append({"issue": None, "op": "utility >=", "values": [floor], "hard": True})
    return rows


def approval_rows(admissible: AdmissiblePackages, chosen: ChosenPackages) -> list[PlanSection]:
    """The planned packages that go beyond the authority, with the approver."""
    terms = admissible.terms
    rows: list[PlanSection] = []
    steps = [*([chosen.opening] if chosen.opening else []), *chosen.path]
    for place, step in enumerate(steps):
        if needs_approval(terms, step.package):
            what = "The opening" if place == 0 else f"The concession to {_named(admissible, step)}"
            rows.append(
                {
                    "what": f"{what} goes beyond your authority.",
                    "approver": terms.authority.approver,
                    "package": package_figures(
                        terms, step.package, "engine:concession" if place else "engine:opening"
                    ),
                }
            )
    return rows


def _named(admissible: AdmissiblePackages, step: ConcessionStep) -> str:
    return ", ".join(
        value_in_words(admissible.terms, i, step.package[i.name]) for i in admissible.terms.issues
    )


def _change(admissible: AdmissiblePackages, trade: IssueTrade, issue: Issue) -> PlanSection:
    terms = admissible.terms
    ends = ({issue.name: trade.before[issue.name]}, {issue.name: trade.after[issue.name]})
    was, now = (package_figures(terms, one, "engine:logrolling")[issue.name] for one in ends)
    return {"issue": issue.name, "from": was, "to": now}


def _justification(brief: PlanBrief) -> list[PlanSection]:
    """Benchmarks and memories that support the opening; without any, advice to find evidence."""
    rows: list[PlanSection] = [
        {
            "text": f"{mark.label}: {mark.value}.",
            "figure": figure(mark.value, f"benchmark:{mark.id}"),
        }
        for mark in brief.benchmarks
    ]
    rows += [{"text": note.text, "source": f"memory:{note.id}"} for note in brief.memories[:3]]
    if not rows:
        rows.append({"text": "No evidence yet: find one comparable deal before you open."})
    return rows


def _share(value: float | None, source: str) -> PlanFigure | None:
    return None if value is None else figure(round(value, 4), source)


def _amount(brief: PlanBrief, value: object, source: str) -> PlanFigure | None:
    if value is None:
        return None
    if isinstance(value, Decimal):
        return figure(format_money(value, brief.terms.currency), source)
    return utility_figure(float(str(value)), source)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
