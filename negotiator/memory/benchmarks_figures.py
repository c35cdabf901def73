"""The figures of a benchmark cell: exact for the owner's own deals, rounded and above the privacy floor for others'."""

from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

from negotiator.base import values
from negotiator.memory import benchmarks_queries
from negotiator.memory.benchmarks_queries import BenchmarkCell
from negotiator.memory.benchmarks_statistics import (
    BenchmarkDeal,
    median_interval,
    percentile,
    percentiles,
    round_rate,
    suppression_reason,
    weighted_mean,
)
from negotiator.store.statement import Transaction

STATISTICAL_METHOD: Final = "percentiles by linear interpolation; the median's interval from order statistics"


def own_figures(tx: Transaction, owner: str, cell: BenchmarkCell, now: int) -> dict[str, Any]:
    """The owner's own figures, however few deals there are."""
    return compute_figures(benchmarks_queries.own_deals(tx, owner, cell, now), cell, scope="mine")


def pooled_figures(tx: Transaction, owner: str, cell: BenchmarkCell, now: int) -> dict[str, Any]:
    """Others' figures. Over all kinds when one kind has too few contributors; empty with a `reason` when all have."""
    reason = benchmarks_queries.missing_dimension(cell)
    others = [] if reason else benchmarks_queries.contributed_deals(tx, owner, cell, now)
    widened: list[str] = []
    if not reason and (reason := suppression_reason(others)) and cell.kind is not None:
        cell, widened = replace(cell, kind=None), ["kind"]
        others = benchmarks_queries.contributed_deals(tx, owner, cell, now)
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
