"""`GET /api/benchmarks`: how deals like this one usually end."""

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final, Literal

from pydantic import Field
from typing_extensions import TypedDict

from negotiator import values
from negotiator.edge.operation import Call, Operation, Strict, Tool
from negotiator.memory.benchmarks import cells
from negotiator.memory.benchmarks.cells import Cell
from negotiator.memory.benchmarks.floor import Deal, hidden, rounded
from negotiator.memory.benchmarks.statistics import (
    median_interval,
    percentile,
    percentiles,
    weighted_mean,
)
from negotiator.memory.wins.savings import gains_above
from negotiator.memory.wins.schemas import Currency, Role
from negotiator.scalars import Word
from negotiator.store.statement import Transaction
from negotiator.store.store import Store

Period = Literal["12m", "24m", "36m", "all"]
METHOD: Final = "percentiles by linear interpolation; the median's interval from order statistics"


class AskBenchmarks(Strict):
    """Which deals: every member narrows. Others' deals are counted in whole cells only."""

    category: Word | None = None
    kind: Word | None = None
    currency: Currency | None = None
    role: Role | None = Field(None, description="Buying and selling sides are never mixed.")
    period: Period = Field("all", description="Deals closed since then.")


class Interval(TypedDict):
    """Where the true median lies with at least this confidence."""

    low: float
    high: float
    level: float


class Figures(TypedDict):
    """Rates are fractions of the baseline; what cannot be told is null, with the reason."""

    id: str
    scope: str
    n_deals: int
    n_contributors: int
    p10: float | None
    p25: float | None
    p50: float | None
    p75: float | None
    p90: float | None
    spend_weighted_rate: float | None
    median_rounds: float | None
    median_days: float | None
    confidence_interval: Interval | None
    period: str
    method: str
    widened: list[str]
    suppressed: bool
    reason: str | None


class BenchmarksView(Figures):
    """The caller's own figures, and those of contributors besides."""

    contributors: Figures


@dataclass(frozen=True, slots=True)
class Benchmarks:
    """Compares over the wins that are kept."""

    store: Store

    def operations(self) -> list[Operation]:
        """What this slice offers."""
        return [
            Operation(
                name="get_benchmarks",
                method="GET",
                path="/api/benchmarks",
                summary="How deals like this one usually end: yours, and others' where nobody can be seen",
                run=self.get,
                input=AskBenchmarks,
                output=BenchmarksView,
                scopes=frozenset({"memories:read"}),
                refusals=(422,),
                tool=Tool("Compare with benchmarks"),
                tag="wins",
            )
        ]

    async def get(self, call: Call[AskBenchmarks]) -> dict[str, Any]:
        """Both answers over one snapshot."""
        owner, cell, now = call.caller.principal, cell_of(call.input), values.now()

        def unit(tx: Transaction) -> dict[str, Any]:
            mine = cells.own(tx, owner, cell, now)
            return {
                **figures(mine, cell, scope="mine"),
                "contributors": pooled(tx, owner, cell, now),
            }

        return await self.store.scan(unit)


def cell_of(asked: AskBenchmarks) -> Cell:
    """The cell that is asked for."""
    side = None if asked.role is None else "sell" if gains_above(asked.role, "") else "buy"
    return Cell(asked.category, asked.kind, asked.currency, side, asked.period)


def pooled(tx: Transaction, owner: str, cell: Cell, now: int) -> dict[str, Any]:
    """Others' figures, over all kinds when one kind would show somebody; or why there are none."""
    reason = cells.incomplete(cell)
    others = [] if reason else cells.contributed(tx, owner, cell, now)
    widened: list[str] = []
    if not reason and (reason := hidden(others)) and cell.kind is not None:
        cell, widened = replace(cell, kind=None), ["kind"]
        others = cells.contributed(tx, owner, cell, now)
        reason = hidden(others)
    if reason is not None:
        empty = figures([], cell, scope="all")
        return {**empty, "suppressed": True, "reason": reason, "widened": widened}
    return {**figures(others, cell, scope="all"), "widened": widened}


def figures(deals: list[Deal], cell: Cell, *, scope: str) -> dict[str, Any]:
    """The figures over these deals; rounded to half a point unless they are one's own."""
    rates = sorted(deal.rate for deal in deals)

    def told(rate: Decimal | None) -> float | None:
        return _number(rate if scope == "mine" else rounded(rate))

    interval = median_interval(rates)
    one_currency = len({deal.currency for deal in deals}) == 1
    weighted = weighted_mean([d.rate for d in deals], [d.weight for d in deals])
    return {
        "id": f"bmk_{values.digest(repr((scope, cell, rates)))[:26]}",
        "scope": scope,
        "n_deals": len(deals),
        "n_contributors": len({deal.owner for deal in deals}),
        **{name: told(value) for name, value in percentiles(rates).items()},
        "spend_weighted_rate": told(weighted) if one_currency else None,
        "median_rounds": _median([deal.rounds for deal in deals]),
        "median_days": _median([deal.days for deal in deals]),
        "confidence_interval": interval
        and {"low": told(interval[0]), "high": told(interval[1]), "level": interval[2]},
        "period": cell.period,
        "method": METHOD,
        "widened": [],
        "suppressed": not deals,
        "reason": None if deals else "no_deals",
    }


def _median(found: list[int | None]) -> float | None:
    known = sorted(Decimal(value) for value in found if value is not None)
    return _number(percentile(known, 50)) if known else None


def _number(value: Decimal | None) -> float | None:
    return None if value is None else round(float(value), 6)
