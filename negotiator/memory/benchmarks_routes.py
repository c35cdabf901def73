"""`GET /api/benchmarks`: how deals like this one usually end."""

from dataclasses import dataclass
from typing import Any, Final, Literal

from pydantic import Field
from typing_extensions import TypedDict

from negotiator.base import values
from negotiator.base.schema import Strict
from negotiator.base.scopes import MEMORIES_READ
from negotiator.base.values import ShortText
from negotiator.http.operation import Call, Operation, ToolOffer
from negotiator.memory import benchmarks_figures
from negotiator.memory.benchmarks_figures import (
    MAX_CONTRIBUTOR_SHARE,
    MIN_CONTRIBUTORS,
    MIN_DEAL_AGE_DAYS,
    BenchmarkCell,
)
from negotiator.memory.schemas_wins import BENCHMARKS_PATH, WinRole, gains_when_higher
from negotiator.numbers.written import CurrencyCode
from negotiator.store.store import Store

BenchmarkPeriod = Literal["12m", "24m", "36m", "all"]


class BenchmarkQuery(Strict):
    """Which deals to count: every member narrows. Others' deals are counted in whole cells only."""

    category: ShortText | None = Field(None, description="Only deals of this category.")
    kind: ShortText | None = Field(None, description="Only deals of this kind, such as renewal.")
    currency: CurrencyCode | None = Field(None, description="ISO 4217 code.")
    role: WinRole | None = Field(None, description="The user's side; buyers and sellers are never mixed.")
    period: BenchmarkPeriod = Field("all", description="Deals closed in the last months.")


class MedianInterval(TypedDict):
    """The true median lies in this interval with at least this confidence."""

    low: float
    high: float
    level: float


class BenchmarkFigures(TypedDict):
    """Rates are fractions of the baseline. A figure that may not be shown is null, with the reason."""

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
    confidence_interval: MedianInterval | None
    period: str
    method: str
    widened: list[str]
    suppressed: bool
    reason: str | None


class PrivacyFloorView(TypedDict):
    """Others' figures need this many `contributors`, none with more than `largest_share` of the value, and deals that
    closed at least `days` ago.
    """

    contributors: int
    largest_share: float
    days: int


class BenchmarksView(BenchmarkFigures):
    """The caller's own figures, with those of other contributors and what those need."""

    contributors: BenchmarkFigures
    floor: PrivacyFloorView


_FLOOR: Final[PrivacyFloorView] = {
    "contributors": MIN_CONTRIBUTORS,
    "largest_share": float(MAX_CONTRIBUTOR_SHARE),
    "days": MIN_DEAL_AGE_DAYS,
}


@dataclass(frozen=True, slots=True)
class BenchmarkRoutes:
    store: Store

    def operations(self) -> list[Operation]:
        return [
            Operation(
                name="get_benchmarks",
                method="GET",
                path=BENCHMARKS_PATH,
                summary="How deals like this one usually end: yours, and others' if no contributor is identifiable",
                run=self.get,
                input=BenchmarkQuery,
                output=BenchmarksView,
                scopes=frozenset({MEMORIES_READ}),
                refusals=(422,),
                tool=ToolOffer(
                    "Compare with benchmarks",
                    hint="Use it to choose a realistic target or to judge a result.",
                    leave_out=("period",),
                ),
                tag="wins",
            )
        ]

    async def get(self, call: Call[BenchmarkQuery]) -> dict[str, Any]:
        """The caller's figures, and the contributors', whose deals are weeks old."""
        owner, cell, now = call.caller.principal, cell_for(call.input), values.now()

        own = await self.store.scan(lambda tx: benchmarks_figures.own_figures(tx, owner, cell, now))
        contributors = await self.store.scan(lambda tx: benchmarks_figures.pooled_figures(tx, owner, cell, now))
        return {**own, "contributors": contributors, "floor": _FLOOR}


def cell_for(query: BenchmarkQuery) -> BenchmarkCell:
    side = None if query.role is None else "sell" if gains_when_higher(query.role, "") else "buy"
    return BenchmarkCell(query.category, query.kind, query.currency, side, query.period)
