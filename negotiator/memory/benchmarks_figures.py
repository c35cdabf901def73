"""The figures of a benchmark cell: exact for the owner's own deals, rounded and above the privacy floor for others'."""

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final

from sqlalchemy import BigInteger, String, bindparam, or_, select, true
from sqlmodel import col

from negotiator.base import values
from negotiator.base.values import DAY
from negotiator.memory.benchmarks_statistics import (
    MIN_DEAL_AGE_DAYS,
    BenchmarkDeal,
    median_interval,
    percentile,
    percentiles,
    round_rate,
    suppression_reason,
    weighted_mean,
)
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


STATISTICAL_METHOD: Final = "percentiles by linear interpolation; the median's interval from order statistics"


def own_figures(tx: Transaction, owner: str, cell: BenchmarkCell, now: int) -> dict[str, Any]:
    """The owner's own figures, however few deals there are."""
    return compute_figures(own_deals(tx, owner, cell, now), cell, scope="mine")


def pooled_figures(tx: Transaction, owner: str, cell: BenchmarkCell, now: int) -> dict[str, Any]:
    """Others' figures. Over all kinds when one kind has too few contributors; empty with a `reason` when all have."""
    reason = missing_dimension(cell)
    others = [] if reason else contributed_deals(tx, owner, cell, now)
    widened: list[str] = []
    if not reason and (reason := suppression_reason(others)) and cell.kind is not None:
        cell, widened = replace(cell, kind=None), ["kind"]
        others = contributed_deals(tx, owner, cell, now)
        reason = suppression_reason(others)
    if reason is not None:
        empty = compute_figures([], cell, scope="all")
        return {**empty, "suppressed": True, "reason": reason, "widened": widened}
    return {**compute_figures(others, cell, scope="all"), "widened": widened}


def compute_figures(deals: list[BenchmarkDeal], cell: BenchmarkCell, *, scope: str) -> dict[str, Any]:
    """The figures over these deals, rates rounded to half a percentage point unless `scope` is "mine"."""
    rates = sorted(deal.rate for deal in deals)

    def shown_rate(rate: Decimal | None) -> float | None:
        return _number(rate if scope == "mine" else round_rate(rate))

    interval = median_interval(rates)
    one_currency = len({deal.currency for deal in deals}) == 1
    weighted = weighted_mean([d.rate for d in deals], [d.weight for d in deals])
    return {
        "id": f"bmk_{values.digest(repr((scope, cell, rates)))[:26]}",
        "scope": scope,
        "n_deals": len(deals),
        "n_contributors": len({deal.owner for deal in deals}),
        **{name: shown_rate(value) for name, value in percentiles(rates).items()},
        "spend_weighted_rate": shown_rate(weighted) if one_currency else None,
        "median_rounds": _median([deal.rounds for deal in deals]),
        "median_days": _median([deal.days for deal in deals]),
        "confidence_interval": interval
        and {"low": shown_rate(interval[0]), "high": shown_rate(interval[1]), "level": interval[2]},
        "period": cell.period,
        "method": STATISTICAL_METHOD,
        "widened": [],
        "suppressed": not deals,
        "reason": None if deals else "no_deals",
    }


def _median(found: list[int | None]) -> float | None:
    known = sorted(Decimal(value) for value in found if value is not None)
    return _number(percentile(known, 50)) if known else None


def _number(value: Decimal | None) -> float | None:
    return None if value is None else round(float(value), 6)
