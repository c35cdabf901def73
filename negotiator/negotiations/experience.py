"""What a user's memory says about one talk: memories that bear on it, what tactics did, how such deals end.

Memories are chosen by meaning, and only those that a person stands behind. Nothing here sets a limit: the walk-away,
the target and the authority come from the negotiation alone (contract §3, reference on memory poisoning).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from negotiator import telemetry, values
from negotiator.errors import Unavailable
from negotiator.memory.benchmarks import figures
from negotiator.memory.benchmarks.cells import Cell
from negotiator.memory.guard.belief import BOUND
from negotiator.memory.memories.schemas import SearchMemories
from negotiator.memory.recall.recall import Recall
from negotiator.memory.wins.results import results
from negotiator.memory.wins.savings import gains_above
from negotiator.negotiations.plans.evidence import Benchmark, Remembered
from negotiator.negotiations.session import Session
from negotiator.negotiations.tactics.suggest import OwnResult
from negotiator.negotiations.tactics.tactic import Stats
from negotiator.store.statement import Transaction
from negotiator.store.store import Store

MOST: Final = 5
_LOOKED_AT: Final = 20
_CLOSE: Final = 0.4
_FEWEST_DEALS: Final = 3
_CITED: Final = 5
log = telemetry.logger(__name__)


@dataclass(frozen=True, slots=True)
class Experience:
    """What bears on one talk; empty for a user without a past."""

    memories: tuple[Remembered, ...] = ()
    results: Mapping[str, OwnResult] = field(default_factory=dict[str, OwnResult])
    benchmarks: tuple[Benchmark, ...] = ()


@dataclass(frozen=True, slots=True)
class Past:
    """Asks an owner's memory. Every question is asked before a unit begins."""

    store: Store
    recall: Recall

    async def about(self, owner: str, session: Session) -> Experience:
        """What bears on this negotiation."""
        cell, now = _cell(session), values.now()

        def unit(tx: Transaction) -> tuple[Mapping[str, OwnResult], tuple[Benchmark, ...]]:
            return _results(tx, owner), _benchmarks(tx, owner, cell, now)

        record, marks = await self.store.scan(unit)
        return Experience(await self._memories(owner, session), record, marks)

    async def of_tactics(self, owner: str) -> Mapping[str, OwnResult]:
        """What tactics did for their owner so far."""
        return await self.store.scan(lambda tx: _results(tx, owner))

    async def _memories(self, owner: str, session: Session) -> tuple[Remembered, ...]:
        """The few that are about the other side, or close in meaning to what is negotiated."""
        body = session.body
        them = body.counterparty
        names = {name for name in (them.organisation, them.name) if name} if them else set[str]()
        labels = [issue.label or issue.name for issue in body.issues]
        asked = " ".join([body.title, body.category, *sorted(names), *labels])
        question = {"query": asked[:1000], "limit": _LOOKED_AT, "explain": True}
        try:
            found = await self.recall.search(owner, SearchMemories.model_validate(question))
        except Unavailable as away:
            log.warning("planned without memories", detail=away.detail)
            return ()
        chosen = [
            hit["memory"]
            for hit in found["items"]
            if hit["memory"]["trust"] >= BOUND
            and (
                hit["memory"]["counterparty"] in names or (hit["why"]["similarity"] or 0) >= _CLOSE
            )
        ]
        return tuple(Remembered(memory["id"], memory["text"]) for memory in chosen[:MOST])


def _cell(session: Session) -> Cell:
    body = session.body
    side = "sell" if gains_above(body.role, "") else "buy"
    return Cell(body.category, None, body.currency, side, "all")


def _results(tx: Transaction, owner: str) -> Mapping[str, OwnResult]:
    return {
        tactic: OwnResult(
            Stats(one.used, one.helped, one.known, one.mean_rate), tuple(one.memories[:_CITED])
        )
        for tactic, one in results(tx, owner).items()
    }


def _benchmarks(tx: Transaction, owner: str, cell: Cell, now: int) -> tuple[Benchmark, ...]:
    """Others' figures, which may be said, then the user's own, which are not; few deals are no benchmark."""
    others = figures.pooled(tx, owner, cell, now)
    mine = figures.own(tx, owner, cell, now)
    marks: list[Benchmark] = []
    if not others["suppressed"]:
        marks.append(
            _mark(others, "what comparable deals save against their baseline", public=True)
        )
    if mine["n_deals"] >= _FEWEST_DEALS:
        label = f"What your {mine['n_deals']} deals of this category saved against their baseline"
        marks.append(_mark(mine, label, public=False))
    return tuple(marks)


def _mark(found: Mapping[str, Any], label: str, *, public: bool) -> Benchmark:
    low, middle, high = (_percent(found[name]) for name in ("p25", "p50", "p75"))
    return Benchmark(found["id"], label, middle, low, high, public)


def _percent(rate: float) -> str:
    text = format((Decimal(str(rate)) * 100).quantize(Decimal("0.1")), "f")
    return f"{text.removesuffix('.0')} %"
