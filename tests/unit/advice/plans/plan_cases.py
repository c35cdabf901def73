"""Briefs from readable cases."""

import tomllib
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from negotiator.advice.expected_price import expected_price
from negotiator.advice.leverage.assessment import assess_leverage
from negotiator.advice.leverage.concessions import LedgerOffer
from negotiator.advice.plans.brief import PlanBrief
from negotiator.advice.plans.evidence import AlternativeLead, BenchmarkFigure, RelevantMemory
from negotiator.negotiations.person_advice import comparable_price, price_evidence
from negotiator.negotiations.tactic_input import stored_tactic_situation
from negotiator.terms.negotiation_body import NegotiationBody
from negotiator.terms.terms_parsing import parse_terms
from negotiator.terms.wording import Wording

FOLDER = Path(__file__).parent / "cases"
CASES = sorted(path.stem for path in FOLDER.glob("*.toml"))
PAGES = Path(__file__).parent / "pages"
STORED = sorted(path.stem for path in PAGES.glob("*.toml"))
"""The cases whose printed page is stored beside them."""


@dataclass(frozen=True)
class Case:
    """A negotiation as it was sent, the brief made of it, and what its plan has to show."""

    body: NegotiationBody
    brief: PlanBrief
    expect: dict[str, Any]


def case(name: str, folder: Path = FOLDER) -> Case:
    """The case of this name."""
    with (folder / f"{name}.toml").open("rb") as file:
        page = tomllib.load(file)
    body = NegotiationBody.model_validate(page["negotiation"])
    now: datetime = page["now"]
    ledger = tuple(
        LedgerOffer(
            seq=n + 1,
            by=row["by"],
            package=row["package"],
            at=datetime.fromtimestamp(now.timestamp() + 60 * n, UTC),
            claimed_final=row.get("claimed_final", False),
        )
        for n, row in enumerate(page.get("ledger", []))
    )
    outside = {
        "benchmarks": tuple(BenchmarkFigure(**row) for row in page.get("benchmarks", [])),
        "memories": tuple(RelevantMemory(**row) for row in page.get("memories", [])),
        "alternatives": tuple(AlternativeLead(**row) for row in page.get("alternatives", [])),
    }
    return Case(body, brief_of(body, ledger, int(now.timestamp() * 1000), **outside), page.get("expect", {}))


def brief_of(body: NegotiationBody, ledger: tuple[LedgerOffer, ...] = (), now: int = 0, **outside: Any) -> PlanBrief:
    """The brief of a body, with the leverage that goes with it when it can be assessed."""
    terms = parse_terms(body)
    leverage = None
    if not terms.unvalued:
        leverage = assess_leverage(terms, ledger, now=now)
    theirs = [row.package for row in ledger if row.by == "them"]
    return PlanBrief(
        terms=terms,
        ledger=ledger,
        leverage=leverage,
        situation=stored_tactic_situation(terms, leverage, ledger, now=now),
        evidence=price_evidence(terms, outside.get("benchmarks", ())),
        expected=expected_price(
            Wording(terms), ledger, comparable=comparable_price(terms, outside.get("benchmarks", ()))
        ),
        now=now,
        on_table=theirs[-1] if theirs else None,
        **outside,
    )
