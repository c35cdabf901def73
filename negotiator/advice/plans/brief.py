"""The input of a plan."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypedDict

from negotiator.advice.concession.aims import Evidence
from negotiator.advice.expected_price import ExpectedPrice
from negotiator.advice.leverage.assessment import Leverage
from negotiator.advice.leverage.concessions import LedgerOffer
from negotiator.advice.plans.evidence import AlternativeLead, BenchmarkFigure, RelevantMemory
from negotiator.advice.tactics.facts import TacticSituation
from negotiator.advice.tactics.ranking import TacticResult
from negotiator.advice.tactics.tactic import Tactic
from negotiator.terms.issues import Package
from negotiator.terms.terms import Terms


class PlanFigure(TypedDict):
    """A number or a value of an issue, with its source, for example `session:/target/utility`."""

    value: Any
    source: str


PackageFigures = dict[str, PlanFigure]
"""A package by issue, each value with its source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanBrief:
    """The whole input of one plan; only the terms are required.

    `counterparty` and `batna_description` come from the negotiation; `leverage` is the assessment of the same terms
    and ledger. `advised` are the terms that the steps keep, where the user allowed an offer beyond a limit. `now` is
    in milliseconds since the epoch, `on_table` their offer that can be accepted, `evidence` the prices that others can
    check, `expected` the forecast of the price. Everything is private except `situation.sayable`.
    """

    terms: Terms
    advised: Terms | None = None
    counterparty: Mapping[str, Any] = field(default_factory=dict[str, Any])
    batna_description: str | None = None
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
