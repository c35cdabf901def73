"""The sections of a plan about where the user stands and what to prepare: summary, objectives, room, power, gaps."""

from collections.abc import Mapping
from dataclasses import asdict
from decimal import Decimal
from typing import Any

from negotiator.advice.concession.move_text import assumptions, missing_inputs
from negotiator.advice.leverage_summary import summarise_leverage
from negotiator.advice.open_questions import gap_question
from negotiator.advice.plans.basis import MoneyAtStake, PlanBasis, money_at_stake
from negotiator.advice.plans.brief import PlanBrief, PlanFigure, figure, money_figure, utility_figure, value_figure
from negotiator.advice.plans.case_template import paying_side
from negotiator.advice.plans.offer_sections import PlanSection, first_or_wait
from negotiator.advice.words.sentences import parts, said
from negotiator.base.values import format_money
from negotiator.terms.issues import Issue, Scalar
from negotiator.terms.plain_text import capitalise, sentence


def summary_section(basis: PlanBasis) -> PlanSection:
    """Who, about what, what is at stake in money, the aim, the limit, the first move, and what is assumed."""
    money, terms, words = money_at_stake(basis), basis.brief.terms, basis.words
    aim = None if money is None else money.totals["aim"]
    limits = {issue.name: limit for issue in terms.issues if (limit := basis.limit(issue)) is not None}
    told = parts(
        "plan_summary",
        has_name=terms.other_party is not None and bool(terms.other_party.names),
        role=terms.role,
        them=words.them,
        labels=[words.label(issue) for issue in terms.issues],
        aim_in_all="" if aim is None else words.money(aim),
        factors=money.factors if money else "",
        scope=money.scope if money else "",
        compared=_compared(basis, money) if money else "",
        aim=words.package(basis.aim_package, with_total=False) if basis.aim_package else "",
        limits=words.package(limits, with_total=False) if limits else "",
        has_floor=terms.walk_away is not None or terms.batna is not None,
        offer="" if basis.path is None else words.package(basis.path.now.package, with_total=False),
        has_opened=basis.has_opened,
        advice=first_or_wait(basis)["advice"],
    )
    return {
        "text": " ".join(part for part in told.values() if part),
        **told,
        "assumptions": _assumptions(basis),
        "money": None if money is None else _money_figures(basis, money),
    }


def overview_rows(basis: PlanBasis) -> list[PlanSection]:
    """For each issue the first move, the aim and the limit, as figures and in words."""
    terms, words = basis.terms, basis.words
    rows: list[PlanSection] = []
    for place, issue in enumerate(basis.brief.terms.issues):
        opening = basis.offers[0].package.get(issue.name) if basis.offers else None
        limit, least = basis.limit(issue), terms.walk_away
        if limit is None and issue.compensated and least is not None and least.package is not None:
            limit = least.package.get(issue.name)  # kept in all, with the other issues
        limited = f"session:/issues/{place}/limit" if issue.limit is not None else "session:/walk_away"
        aim = basis.aim(issue)
        target = terms.target
        aimed = target is not None and target.package is not None and issue.name in target.package
        cells: dict[str, tuple[Scalar | None, str]] = {
            "first_move": (opening, "engine:opening"),
            "aim": (aim, "session:/target" if aimed else "engine:target"),
            "limit": (limit, limited),
        }
        rows.append(
            {
                "issue": issue.name,
                "label": words.label(issue),
                **{name: _cell(basis, issue, *cell) for name, cell in cells.items()},
            }
        )
    return rows


def objective_rows(basis: PlanBasis) -> list[PlanSection]:
    """The objectives, most important first, each with its measure."""
    terms, rows = basis.terms, list[PlanSection]()
    if terms.target is not None:
        rows.append({"objective": "Reach the target.", "measure": "The agreed terms are worth at least as much."})
    if terms.walk_away is not None or terms.batna is not None:
        measure = "You sign nothing that is worse than it."
        rows.append({"objective": "Never go below the walk-away.", "measure": measure})
    for issue in sorted(terms.issues, key=lambda one: -one.weight)[:3]:
        label, aim = basis.words.label(issue), basis.aim(issue)
        wanted = (
            f"Get {label} right" if aim is None else f"{capitalise(label)}: {basis.words.value(issue, aim)} or better"
        )
        place = terms.issues.index(issue)
        weight = figure(round(issue.weight, 4), f"session:/issues/{place}/weight")
        row: PlanSection = {"objective": sentence(wanted), "measure": "The figure in the signed agreement."}
        if aim is not None:
            row["aim"] = value_figure(terms, issue, aim, "session:/target" if terms.target else "engine:target")
        rows.append({**row, "weight": weight})
    if basis.trades:
        rows.append({"objective": "Trade before you concede.", "measure": "You made one of the trades below."})
    return rows


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
        "method": "Compares your walk-away with your estimate of theirs."
        if known
        else "Not known: your walk-away and an estimate of theirs are needed.",
    }


def leverage_section(basis: PlanBasis) -> PlanSection | None:
    """The split of power with its factors and what it means in words; None without an assessment."""
    leverage = basis.brief.leverage
    if leverage is None:
        return None
    power = leverage.power
    factors = [
        {
            "name": share.name,
            "value": figure(round(share.value, 2), f"leverage:/power/factors/{place}/value"),
            "contribution": figure(round(share.contribution, 4), f"leverage:/power/factors/{place}/contribution"),
            "explanation": share.explanation,
        }
        for place, share in enumerate(power.factors)
    ]
    movable = power.most_movable
    summary = summarise_leverage(basis.words, leverage, basis.brief.expected, now=basis.brief.now)
    return {
        "summary": {
            "who_needs_it_more": summary.who_needs_it_more,
            "room": summary.room,
            "would_shift_most": summary.would_shift_most,
            "find_out_next": [
                {name: text for name, text in asdict(one).items() if isinstance(text, str)}
                for one in summary.find_out_next
            ],
        },
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
        "assumptions": list(leverage.assumptions),
    }


def expected_section(basis: PlanBasis) -> PlanSection | None:
    """The forecast of the price with what it rests on, for the user alone; None without one."""
    expected, terms = basis.brief.expected, basis.terms
    if expected is None:
        return None
    total = expected.total
    return {
        "words": expected.text,
        "price": money_figure(terms, expected.price, "engine:forecast"),
        "low": money_figure(terms, expected.low, "engine:forecast"),
        "high": money_figure(terms, expected.high, "engine:forecast"),
        "level": figure(expected.level, "engine:forecast"),
        "deal_probability": _share(expected.deal_probability, "engine:forecast"),
        "total": None
        if total is None
        else {
            "price": money_figure(terms, total.price, "engine:forecast"),
            "low": money_figure(terms, total.low, "engine:forecast"),
            "high": money_figure(terms, total.high, "engine:forecast"),
            "scope": total.scope,
            "at": total.at,
        },
        "rests_on": list(expected.rests_on),
    }


def _compared(basis: PlanBasis, money: MoneyAtStake) -> str:
    """How the aim compares with the figure that the result is measured against; empty where either is not known."""
    saved, baseline = money.savings["aim"], money.totals["baseline"]
    if saved is None or baseline is None:
        return ""
    words = basis.words
    return f"{words.money(abs(saved))} {_way(basis, saved)} than {money.baseline} ({words.money(baseline)})"


def _way(basis: PlanBasis, saved: Decimal) -> str:
    """Whether a gain against the baseline is less or more money."""
    pays = paying_side(basis.brief.terms) == "pays"
    return "less" if pays == (saved >= 0) else "more"


def _assumptions(basis: PlanBasis) -> list[str]:
    """What the plan takes for granted, each as a sentence that the user can correct."""
    brief, path = basis.brief, basis.path
    found: list[str] = []
    if path is not None:
        found += assumptions(path.aims, basis.words, path.now.package)
    terms = brief.terms
    if terms.walk_away is None and terms.batna is not None:
        found.append("You gave no walk-away, so your best alternative is used instead.")
    if terms.walk_away is None and terms.batna is None:
        found.append("You gave no walk-away, so nothing in this plan protects you from a bad deal.")
    return list(dict.fromkeys(sentence(one) for one in found))


def _money_figures(basis: PlanBasis, money: MoneyAtStake) -> PlanSection:
    def cells(amounts: Mapping[str, Decimal | None]) -> PlanSection:
        return {
            name: None
            if amount is None
            else {"figure": money_figure(basis.terms, amount, "engine:total"), "words": basis.words.money(amount)}
            for name, amount in amounts.items()
        }

    return {
        "factors": money.factors,
        "scope": money.scope,
        "baseline": money.baseline,
        "compared": capitalise(_way(basis, Decimal(1))),
        "totals": cells(money.totals),
        "savings": cells(money.savings),
    }


def _cell(basis: PlanBasis, issue: Issue, value: Scalar | None, source: str) -> PlanSection | None:
    if value is None:
        return None
    shown = value_figure(basis.terms, issue, value, source)
    return {"figure": shown, "words": basis.words.value(issue, value)}


def _share(value: float | None, source: str) -> PlanFigure | None:
    return None if value is None else figure(round(value, 4), source)


def _amount(brief: PlanBrief, value: Any, source: str) -> PlanFigure | None:
    if value is None:
        return None
    if isinstance(value, Decimal):
        return figure(format_money(value, brief.terms.currency), source)
    return utility_figure(float(str(value)), source)


def gap_rows(basis: PlanBasis) -> list[PlanSection]:
    """What is missing, by the name of the member, in the order of what it would change, with the question to put."""
    brief, path = basis.brief, basis.path
    rows: list[PlanSection] = []
    if path is not None:
        found = missing_inputs(path.aims, basis.words)
        rows += [{"missing": one.missing, "ask": one.ask, "why": one.why} for one in found]
    named = {row["missing"] for row in rows}
    for name in brief.terms.missing:
        if name not in named:
            rows.append({"missing": name, "ask": gap_question(basis.words, brief.terms.issues, name).ask})
    if not brief.benchmarks:
        rows.append({"missing": "benchmarks", "ask": "At which figures did comparable deals end?"})
    if brief.terms.batna is None and not brief.alternatives:
        rows.append({"missing": "alternatives", "ask": "Who else could you turn to?"})
    return rows


def next_action_rows(basis: PlanBasis) -> list[PlanSection]:
    """The three most important next actions."""
    brief, terms = basis.brief, basis.brief.terms
    told = said(
        "plan_actions",
        missing=terms.missing,
        they_spoke=basis.they_spoke,
        has_opening=basis.path is not None,
        has_steps=basis.path is not None and bool(basis.path.steps),
        unvalued=[basis.words.label(one) for one in terms.issues if one.name in terms.unvalued],
        leads=[lead.name for lead in brief.alternatives[:3]],
        how_to_get_evidence="" if brief.benchmarks else basis.content.standards[0].how,
    )
    return [{"action": one} for one in told[:3]]
