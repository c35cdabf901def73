"""Evidence from a user's memory for one negotiation: relevant memories, results of tactics, and benchmarks.

Memories are chosen by similarity, and only those of a user or of an agent that a user claimed. This evidence sets no
limit: the walk-away, the target and the authority come from the negotiation alone (docs/contract 7.3).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from negotiator.advice.plans.evidence import BenchmarkFigure, RelevantMemory
from negotiator.advice.tactics.ranking import TacticResult
from negotiator.advice.tactics.tactic import TacticStats
from negotiator.base import values
from negotiator.base.errors import Unavailable
from negotiator.memory import benchmarks_figures
from negotiator.memory.benchmarks_figures import BenchmarkCell
from negotiator.memory.content_guard import TRUST_BOUND_AGENT
from negotiator.memory.schemas_memories import SearchMemories
from negotiator.memory.schemas_wins import gains_when_higher
from negotiator.memory.search import MemorySearch
from negotiator.memory.wins_queries import tactic_records
from negotiator.negotiations.session import NegotiationSession
from negotiator.runtime import telemetry
from negotiator.store.statement import Transaction
from negotiator.store.store import Store

MAX_MEMORIES: Final = 5
_LOOKED_AT: Final = 20
_CLOSE: Final = 0.4
_FEWEST_DEALS: Final = 3
_CITED: Final = 5
log = telemetry.logger(__name__)


@dataclass(frozen=True, slots=True)
class PastEvidence:
    """The evidence for one negotiation; empty for a user without memories and deals."""

    memories: tuple[RelevantMemory, ...] = ()
    results: Mapping[str, TacticResult] = field(default_factory=dict[str, TacticResult])
    benchmarks: tuple[BenchmarkFigure, ...] = ()


@dataclass(frozen=True, slots=True)
class PastEvidenceReader:
    """Reads the evidence from an owner's memory. Call it before a transaction starts."""

    store: Store
    recall: MemorySearch

    async def about(self, owner: str, session: NegotiationSession) -> PastEvidence:
        cell, now = _cell(session), values.now()

        def unit(tx: Transaction) -> tuple[Mapping[str, TacticResult], tuple[BenchmarkFigure, ...]]:
            return _results(tx, owner), _benchmarks(tx, owner, cell, now)

        record, marks = await self.store.scan(unit)
        return PastEvidence(await self._memories(owner, session), record, marks)

    async def benchmarks(self, owner: str, session: NegotiationSession) -> tuple[BenchmarkFigure, ...]:
        """What comparable deals save; empty where the negotiation has no baseline to apply it to."""
        baseline = session.terms.baseline
        if baseline is None or baseline.value is None:
            return ()
        cell, now = _cell(session), values.now()
        return await self.store.scan(lambda tx: _benchmarks(tx, owner, cell, now))

    async def results_by_tactic(self, owner: str) -> Mapping[str, TacticResult]:
        """The owner's results with each tactic, by tactic id."""
        return await self.store.scan(lambda tx: _results(tx, owner))

    async def _memories(self, owner: str, session: NegotiationSession) -> tuple[RelevantMemory, ...]:
        """The few memories about the other side or similar in meaning to the subject of the negotiation."""
        terms = session.terms
        names = set(terms.other_party.names) if terms.other_party else set[str]()
        labels = [issue.label for issue in terms.issues]
        query = " ".join([terms.title, terms.category, *sorted(names), *labels])
        question = {"query": query[:1000], "limit": _LOOKED_AT, "explain": True}
        try:
            found = await self.recall.search(owner, SearchMemories.model_validate(question))
        except Unavailable as away:
            log.warning("memory search unavailable", detail=away.detail)
            return ()
        chosen = [
            hit["memory"]
            for hit in found["items"]
            if hit["memory"]["trust"] >= TRUST_BOUND_AGENT
            and (hit["memory"]["counterparty"] in names or (hit["why"]["similarity"] or 0) >= _CLOSE)
        ]
        return tuple(RelevantMemory(memory["id"], memory["text"]) for memory in chosen[:MAX_MEMORIES])


def _cell(session: NegotiationSession) -> BenchmarkCell:
    terms = session.terms
    side = "sell" if gains_when_higher(terms.role, "") else "buy"
    return BenchmarkCell(terms.category, None, terms.currency, side, "all")


def _results(tx: Transaction, owner: str) -> Mapping[str, TacticResult]:
    return {
        tactic: TacticResult(TacticStats(one.used, one.helped, one.known, one.mean_rate), tuple(one.memories[:_CITED]))
        for tactic, one in tactic_records(tx, owner).items()
    }


def _benchmarks(tx: Transaction, owner: str, cell: BenchmarkCell, now: int) -> tuple[BenchmarkFigure, ...]:
    """The pooled figures of other users, which may be said, then the user's own, which may not.

    Figures of fewer than `_FEWEST_DEALS` own deals are left out.
    """
    others = benchmarks_figures.pooled_figures(tx, owner, cell, now)
    mine = benchmarks_figures.own_figures(tx, owner, cell, now)
    marks: list[BenchmarkFigure] = []
    if not others["suppressed"]:
        marks.append(_mark(others, "the usual change from the starting figure in comparable deals", public=True))
    if mine["n_deals"] >= _FEWEST_DEALS:
        label = f"the usual change from the starting figure in your own {mine['n_deals']} deals of this kind"
        marks.append(_mark(mine, label, public=False))
    return tuple(marks)


def _mark(found: Mapping[str, Any], label: str, *, public: bool) -> BenchmarkFigure:
    low, middle, high = (_percent(found[name]) for name in ("p25", "p50", "p75"))
    return BenchmarkFigure(found["id"], label, middle, low, high, public)


def _percent(rate: float) -> str:
    text = format((Decimal(str(rate)) * 100).quantize(Decimal("0.1")), "f")
    return f"{text.removesuffix('.0')}%"
