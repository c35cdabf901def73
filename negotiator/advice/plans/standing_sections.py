"""The sections of a plan about where the user stands and what to prepare: summary, objectives, room, power, gaps."""

from collections.abc import Mapping
from dataclasses import asdict
from decimal import Decimal
from typing import Any, Final

from negotiator.advice.concession.move_text import assumptions, missing_inputs
from negotiator.advice.leverage_summary import summarise_leverage
from negotiator.advice.open_questions import gap_question
from negotiator.advice.plans.basis import MoneyAtStake, PlanBasis, money_at_stake
from negotiator.advice.plans.brief import PlanBrief, PlanFigure, figure, money_figure, utility_figure, value_figure
from negotiator.advice.plans.case_template import paying_side
from negotiator.advice.plans.offer_sections import PlanSection, first_or_wait
from negotiator.base.values import format_money
from negotiator.terms.issues import Issue, Scalar
from negotiator.terms.plain_text import capitalise, join_words, sentence

_YOU: Final = {
    "buyer": ("You buy from {}.", "You are the buyer."),
    "seller": ("You sell to {}.", "You are the seller."),
    "candidate": ("You negotiate your pay with {}.", "You are the candidate."),
    "employer": ("You want {} on board.", "You are the employer."),
    "tenant": ("You rent from {}.", "You are the tenant."),
    "landlord": ("You let to {}.", "You are the landlord."),
}
_FIRST_MOVE: Final = {
    "answer": "They have named their figure, so answer with {}.",
    "wait": "Let them name their figure first, then open with {}.",
    "first": "Name the first figure: {}.",
}
MAX_ISSUES_NAMED: Final = 5


def summary_section(basis: PlanBasis) -> PlanSection:
    """Who, about what, what is at stake in money, the aim, the limit, the first move, and what is assumed."""
    money = money_at_stake(basis)
    parts = {
        "who": _who(basis),
        "about": _about(basis),
        "at_stake": _stake(basis, money),
        "aim": _aim(basis),
        "limit": _limit(basis),
        "first_move": _first_move(basis),
    }
    return {
        "text": " ".join(part for part in parts.values() if part),
        **parts,
        "assumptions": _assumptions(basis),
        "money": None if money is None else _money_figures(basis, money),
    }


def overview_rows(basis: PlanBasis) -> list[PlanSection]:
    """For each issue the first move, the aim and the limit, as figures and in words."""
    terms, words = basis.terms, basis.words
    rows: list[PlanSection] = []
    for place, issue in enumerate(basis.brief.terms.issues):
        opening = basis.offers[0].package.get(issue.name) if basis.offers else None
        limit = basis.limit(issue)
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


# The sentences of the summary


def _who(basis: PlanBasis) -> str:
    party = basis.brief.terms.other_party
    named, plain = _YOU.get(basis.brief.terms.role, ("You negotiate with {}.", "You are one of the parties."))
    known = party is not None and bool(party.names)
    return named.format(basis.words.them) if known else plain


def _about(basis: PlanBasis) -> str:
    labels = [basis.words.label(issue) for issue in basis.brief.terms.issues]
    shown = labels[:MAX_ISSUES_NAMED]
    more = ["more"] if len(labels) > len(shown) else []
    return sentence(f"It is about {join_words([*shown, *more])}")


def _stake(basis: PlanBasis, money: MoneyAtStake | None) -> str:
    if money is None or (aim := money.totals["aim"]) is None:
        return ""
    words = basis.words
    told = f"Your aim comes to {words.money(aim)} {money.scope} ({money.factors})" if money.factors else ""
    saved, baseline = money.savings["aim"], money.totals["baseline"]
    if saved is None or baseline is None:
        return sentence(told)
    compared = f"{words.money(abs(saved))} {_way(basis, saved)} than {money.baseline} ({words.money(baseline)})"
    return sentence(f"{told}, {compared}" if told else f"Your aim is {compared}")


def _way(basis: PlanBasis, saved: Decimal) -> str:
    """Whether a gain against the baseline is less or more money."""
    pays = paying_side(basis.brief.terms) == "pays"
    return "less" if pays == (saved >= 0) else "more"


def _aim(basis: PlanBasis) -> str:
    package = basis.aim_package
    if not package:
        return "No aim is set yet."
    return sentence(f"You aim for {basis.words.package(package, with_total=False)}")


def _limit(basis: PlanBasis) -> str:
    limits = {issue.name: limit for issue in basis.brief.terms.issues if (limit := basis.limit(issue)) is not None}
    if limits:
        said = basis.words.package(limits, with_total=False)
        return sentence(f"Your limit, which you never say, is {said}")
    if basis.brief.terms.walk_away is not None or basis.brief.terms.batna is not None:
        return "The plan offers nothing worse than your walk-away."
    return "No limit is set yet, so nothing here protects you from a bad deal."


def _first_move(basis: PlanBasis) -> str:
    if basis.path is None:
        return "No offer can be planned yet: the values of an issue are missing, or there is no room for a deal."
    if basis.has_opened:
        said = basis.words.package(basis.path.now.package, with_total=False)
        return sentence(f"Your last offer is {said}")
    said = basis.words.package(basis.path.now.package, with_total=False)
    return sentence(_FIRST_MOVE[first_or_wait(basis)["advice"]].format(said))


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


def interest_section(basis: PlanBasis) -> PlanSection:
    """What each side probably wants behind its positions; to be found out, not known."""
    content = basis.content
    return {"theirs": list(content.their_interests), "ours": list(content.our_interests)}


def standard_rows(basis: PlanBasis) -> list[PlanSection]:
    """Objective standards that count in this kind of talk, and how to get each."""
    return [{"standard": one.what, "how": one.how} for one in basis.content.standards]


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
    missing = set(terms.missing)
    rows: list[PlanSection] = []
    if basis.they_spoke and basis.path is not None and basis.path.steps:
        rows.append({"action": "Answer their last offer with the next step of the schedule."})
    if missing & {"walk_away", "target"}:
        rows.append({"action": "Write down your walk-away and your target before you talk."})
    if terms.unvalued:
        labels = [basis.words.label(one) for one in terms.issues if one.name in terms.unvalued]
        rows.append({"action": sentence(f"Enter the range of possible values for {join_words(labels)}")})
    if brief.alternatives:
        names = ", ".join(lead.name for lead in brief.alternatives[:3])
        rows.append({"action": sentence(f"Get an offer from an alternative: {names}")})
    if "batna" in missing:
        rows.append({"action": "Find out what you would do without a deal, and what that is worth to you."})
    if not brief.benchmarks:
        rows += [{"action": one.how} for one in basis.content.standards[:1]]
    if "their_estimate" in missing:
        rows.append({"action": "Ask somebody who has dealt with them how far they went."})
    if basis.path is not None:
        rows.append({"action": "Say the opening aloud once, and practise staying silent after it."})
    rows += [
        {"action": "Ask your questions before any figure."},
        {"action": "Find out who decides, and by when."},
        {"action": "Right after the talk, write down what was said."},
    ]
    return rows[:3]


def lead_rows(brief: PlanBrief) -> list[dict[str, Any]]:
    """Possible alternatives to the other side, with links."""
    return [
        {"name": one.name, "link": one.link, "why": one.why} | ({"source": one.source} if one.source else {})
        for one in brief.alternatives
    ]
