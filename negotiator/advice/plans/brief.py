"""The input of a plan, and its figures with their sources."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, TypedDict

from negotiator.advice.concession.aims import Evidence
from negotiator.advice.expected_price import ExpectedPrice
from negotiator.advice.leverage.assessment import Leverage
from negotiator.advice.leverage.concessions import LedgerOffer
from negotiator.advice.plans.evidence import AlternativeLead, BenchmarkFigure, RelevantMemory
from negotiator.advice.tactics.facts import TacticSituation
from negotiator.advice.tactics.ranking import TacticResult
from negotiator.advice.tactics.tactic import Tactic
from negotiator.base.values import format_money
from negotiator.terms.issues import Issue, Package, Scalar
from negotiator.terms.terms import Terms
from negotiator.terms.terms_view import value_view
from negotiator.terms.utility import Worth, escape_pointer


class PlanFigure(TypedDict):
    """A number or a value of an issue, with its source, for example `session:/target/utility`."""

    value: Any
    source: str


PackageFigures = dict[str, PlanFigure]
"""A package by issue, each value with its source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanBrief:
    """The whole input of one plan; only the terms are required.

    `leverage` is the assessment of the same terms and ledger. `advised` are the terms that the steps keep, where the
    user allowed an offer beyond a limit. `now` is in milliseconds since the epoch, `on_table` their offer that can be
    accepted, `evidence` the prices that others can check, `expected` the forecast of the price. Everything is private
    except `situation.sayable`.
    """

    terms: Terms
    advised: Terms | None = None
    ledger: tuple[LedgerOffer, ...] = ()
    leverage: Leverage | None = None
    situation: TacticSituation = field(default_factory=TacticSituation)
    own_tactics: tuple[Tactic, ...] = ()
    results: Mapping[str, TacticResult] = field(default_factory=dict[str, TacticResult])
    memories: tuple[RelevantMemory, ...] = ()
    benchmarks: tuple[BenchmarkFigure, ...] = ()
    alternatives: tuple[AlternativeLead, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    expected: ExpectedPrice | None = None
    now: int = 0
    on_table: Package | None = None


def figure(value: Any, source: str) -> PlanFigure:
    return {"value": value, "source": source}


def utility_figure(value: float, source: str) -> PlanFigure:
    """A utility rounded to four places, with its source."""
    return {"value": round(value, 4), "source": source}


def package_figures(terms: Terms, package: Package, source: str) -> PackageFigures:
    """A package in which every value has the same source."""
    return {
        issue.name: value_figure(terms, issue, package[issue.name], source)
        for issue in terms.issues
        if issue.name in package
    }


def pointer_figures(terms: Terms, package: Package, pointer: str) -> PackageFigures:
    """A package of the negotiation itself: the source of each value is `pointer` and the escaped name of its issue."""
    return {
        name: {**one, "source": f"{pointer}/{escape_pointer(name)}"}
        for name, one in package_figures(terms, package, "").items()
    }


def value_figure(terms: Terms, issue: Issue, value: Scalar, source: str) -> PlanFigure:
    """One value of an issue, as JSON carries it."""
    return figure(value_view(issue, value, terms.currency), source)


def money_figure(terms: Terms, amount: Decimal | None, source: str) -> PlanFigure | None:
    """An amount in the negotiation's currency; None without one."""
    return None if amount is None else figure(format_money(amount, terms.currency), source)


def worth_figures(terms: Terms, given: Worth | None, pointer: str) -> dict[str, Any] | None:
    """A target or walk-away as given, as a package or a utility, with its sources; None without one."""
    if given is None:
        return None
    if given.package is not None:
        return {"package": pointer_figures(terms, given.package, f"session:{pointer}/package")}
    return {"given_utility": figure(given.utility, f"session:{pointer}/utility")}
