"""What a plan is made from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypedDict

from negotiator.negotiations.leverage.assess import Leverage
from negotiator.negotiations.leverage.signals import LedgerOffer
from negotiator.negotiations.plans.evidence import Benchmark, Lead, Remembered
from negotiator.negotiations.tactics.situation import TacticSituation
from negotiator.negotiations.tactics.suggest import OwnResult
from negotiator.negotiations.tactics.tactic import Tactic
from negotiator.negotiations.terms.terms import Terms


class Figure(TypedDict):
    """A number (or a value of an issue) and where it comes from."""

    value: Any
    source: str


Figures = dict[str, Figure]
"""A package whose every value says where it comes from, by issue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanBrief:
    """Everything one plan is made from; only the terms are needed.

    `counterparty` and `batna_description` are as given in the negotiation; `leverage` is the assessment of the same
    terms and ledger. Private throughout, except for the parts of `situation` that may be said.
    """

    terms: Terms
    counterparty: Mapping[str, Any] = field(default_factory=dict[str, Any])
    batna_description: str | None = None
    ledger: tuple[LedgerOffer, ...] = ()
    leverage: Leverage | None = None
    situation: TacticSituation = field(default_factory=TacticSituation)
    own_tactics: tuple[Tactic, ...] = ()
    results: Mapping[str, OwnResult] = field(default_factory=dict[str, OwnResult])
    memories: tuple[Remembered, ...] = ()
    benchmarks: tuple[Benchmark, ...] = ()
    alternatives: tuple[Lead, ...] = ()

    @property
    def them(self) -> str:
        """What the other side is called."""
        name = self.counterparty.get("organisation") or self.counterparty.get("name")
        return str(name) if name else "the other side"


def figure(value: Any, source: str) -> Figure:
    """A number with its source."""
    return {"value": value, "source": source}


def utility_figure(value: float, source: str) -> Figure:
    """A utility, to four places."""
    return {"value": round(value, 4), "source": source}
