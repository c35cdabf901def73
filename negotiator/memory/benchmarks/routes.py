"""`GET /api/benchmarks`: how deals like this one usually end."""

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from negotiator import values
from negotiator.edge.operation import Call, Operation, Strict, Tool
from negotiator.memory.benchmarks import figures
from negotiator.memory.benchmarks.cells import Cell
from negotiator.memory.wins.savings import gains_above
from negotiator.memory.wins.schemas import Currency, Role
from negotiator.scalars import Word
from negotiator.store.statement import Transaction
from negotiator.store.store import Store

Period = Literal["12m", "24m", "36m", "all"]


class AskBenchmarks(Strict):
    """Which deals: every member narrows. Others' deals are counted in whole cells only."""

    category: Word | None = Field(None, description="Only deals of this category.")
    kind: Word | None = Field(None, description="Only deals of this kind, such as renewal.")
    currency: Currency | None = Field(None, description="ISO 4217 code.")
    role: Role | None = Field(
        None, description="The user's side; buyers and sellers are never mixed."
    )
    period: Period = Field("all", description="Deals closed in the last months.")


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
                tool=Tool(
                    "Compare with benchmarks",
                    hint="Use it to choose a realistic target or to judge a result.",
                ),
                tag="wins",
            )
        ]

    async def get(self, call: Call[AskBenchmarks]) -> dict[str, Any]:
        """Both answers over one snapshot."""
        owner, cell, now = call.caller.principal, cell_of(call.input), values.now()

        def unit(tx: Transaction) -> dict[str, Any]:
            contributors = figures.pooled(tx, owner, cell, now)
            return {**figures.own(tx, owner, cell, now), "contributors": contributors}

        return await self.store.scan(unit)


def cell_of(asked: AskBenchmarks) -> Cell:
    """The cell that is asked for."""
    side = None if asked.role is None else "sell" if gains_above(asked.role, "") else "buy"
    return Cell(asked.category, asked.kind, asked.currency, side, asked.period)
