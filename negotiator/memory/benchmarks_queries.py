"""Reads the deals of a benchmark cell from the wins."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from sqlalchemy import BigInteger, String, bindparam, or_, select, true
from sqlmodel import col

from negotiator.base.values import DAY
from negotiator.memory.benchmarks_statistics import MIN_DEAL_AGE_DAYS, BenchmarkDeal
from negotiator.memory.tables import Win
from negotiator.store.statement import Query, Transaction

_MONTHS: Final = {"12m": 12, "24m": 24, "36m": 36}
_MONTH_DAYS: Final = Decimal("30.4375")


@dataclass(frozen=True, slots=True)
class BenchmarkCell:
    """Which deals to count; None means any."""

    category: str | None
    kind: str | None
    currency: str | None
    side: str | None
    period: str


def _absent_or(name: str, condition: Any) -> Any:
    return or_(bindparam(name, type_=String).is_(None), condition)


def _deal(row: Any) -> BenchmarkDeal:
    owner, currency, rate, weight, rounds, days = row
    return BenchmarkDeal(owner, currency, Decimal(rate), Decimal(weight), rounds, days)


_cell = select(col(Win.owner), col(Win.currency), col(Win.rate), col(Win.weight), col(Win.rounds), col(Win.days)).where(
    *(
        _absent_or(name, column == bindparam(name, type_=String))
        for name, column in (
            ("category", col(Win.category)),
            ("kind", col(Win.kind)),
            ("currency", col(Win.currency)),
            ("side", col(Win.side)),
        )
    ),
    col(Win.closed_at) >= bindparam("since", type_=BigInteger),
)
_OWN = Query(_cell.where(col(Win.owner) == bindparam("holder")), _deal)
_CONTRIBUTED = Query(
    _cell.where(
        col(Win.contributed) == true(),
        col(Win.owner) != bindparam("holder"),
        col(Win.closed_at) <= bindparam("until", type_=BigInteger),
    ),
    _deal,
)


def own_deals(tx: Transaction, owner: str, cell: BenchmarkCell, now: int) -> list[BenchmarkDeal]:
    return tx.all(_OWN, holder=owner, **_bound(cell, now))


def contributed_deals(tx: Transaction, owner: str, cell: BenchmarkCell, now: int) -> list[BenchmarkDeal]:
    """Deals of other owners that they contributed to the cell, closed at least `MIN_DEAL_AGE_DAYS` ago."""
    until = now - MIN_DEAL_AGE_DAYS * DAY
    return tx.all(_CONTRIBUTED, holder=owner, until=until, **_bound(cell, now))


def missing_dimension(cell: BenchmarkCell) -> str | None:
    """The dimension that a query must name before others' deals are counted, as a reason word; None when it names all.

    Fixed cells keep a caller from splitting or joining cells until one contributor shows.
    """
    for name in ("category", "currency", "side"):
        if getattr(cell, name) is None:
            return f"name_the_{'role' if name == 'side' else name}"
    return None


def _bound(cell: BenchmarkCell, now: int) -> dict[str, Any]:
    months = _MONTHS.get(cell.period)
    since = 0 if months is None else now - int(months * _MONTH_DAYS * DAY)
    return {"category": cell.category, "kind": cell.kind, "currency": cell.currency, "side": cell.side, "since": since}
