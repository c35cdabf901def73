"""The figures of a benchmark cell: exact for the owner's own deals, rounded and above the privacy floor for others'.

The floor follows the antitrust agencies' former safety zone for exchanging prices (1996, withdrawn 2023): at least five
contributors besides the caller, none with more than a quarter of the value, no deal younger than ninety days. Cells are
fixed and figures rounded to half a percentage point, so that two answers cannot be subtracted from each other.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_EVEN, Decimal
from math import comb
from typing import Any, Final

from sqlalchemy import BigInteger, bindparam, select, true
from sqlmodel import col

from negotiator.base import values
from negotiator.base.values import DAY
from negotiator.memory.tables import Win, fits
from negotiator.store.statement import Query, Transaction, table

MIN_CONTRIBUTORS: Final = 5
MAX_CONTRIBUTOR_SHARE: Final = Decimal("0.25")
MIN_DEAL_AGE_DAYS: Final = 90
_HALF_POINT: Final = Decimal("0.005")


@dataclass(frozen=True, slots=True)
class BenchmarkDeal:
    """A closed deal: the fraction saved (`rate`), the baseline's value in its currency (`weight`), rounds and days."""

    owner: str
    currency: str
    rate: Decimal
    weight: Decimal
    rounds: int | None
    days: int | None


def suppression_reason(deals: Sequence[BenchmarkDeal]) -> str | None:
    """Why figures over these deals of others may not be shown; None when they may."""
    by_owner: defaultdict[str, Decimal] = defaultdict(Decimal)
    for deal in deals:
        by_owner[deal.owner] += deal.weight
    if len(by_owner) < MIN_CONTRIBUTORS:
        return "too_few_contributors"
    total = sum(by_owner.values())
    if not total or max(by_owner.values()) / total > MAX_CONTRIBUTOR_SHARE:
        return "one_contributor_dominates"
    return None


def round_rate(rate: Decimal | None) -> Decimal | None:
    """The rate rounded to half a percentage point."""
    if rate is None:
        return None
    return (rate / _HALF_POINT).quantize(Decimal(1), ROUND_HALF_EVEN) * _HALF_POINT


MEDIAN_CONFIDENCE: Final = 0.95
MIN_DEALS_FOR_TAILS: Final = 20
_TAILS: Final = frozenset({10, 90})


def percentile(ordered: Sequence[Decimal], percent: int) -> Decimal:
    """The percentile of at least one ordered value, interpolated linearly (Hyndman and Fan 1996, definition 7)."""
    place = Decimal(len(ordered) - 1) * percent / 100
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def percentiles(ordered: Sequence[Decimal]) -> dict[str, Decimal | None]:
    """p10 to p90, None without values. p10 and p90 need at least `MIN_DEALS_FOR_TAILS` values."""
    return {
        f"p{percent}": percentile(ordered, percent)
        if ordered and (percent not in _TAILS or len(ordered) >= MIN_DEALS_FOR_TAILS)
        else None
        for percent in (10, 25, 50, 75, 90)
    }


def median_interval(ordered: Sequence[Decimal]) -> tuple[Decimal, Decimal, float] | None:
    """The narrowest pair of order statistics that holds the median with at least 95 %, and its confidence.

    It assumes no distribution (David and Nagaraja 2003, §7.1). None for fewer than six values.
    """
    count = len(ordered)
    for inner in range(count // 2, 0, -1):
        tail = sum(comb(count, few) for few in range(inner)) / 2**count
        if 1 - 2 * tail >= MEDIAN_CONFIDENCE:
            return ordered[inner - 1], ordered[count - inner], round(1 - 2 * tail, 4)
    return None


def weighted_mean(rates: Sequence[Decimal], weights: Sequence[Decimal]) -> Decimal | None:
    """The weighted mean; None when the weights add up to zero."""
    total = sum(weights, Decimal(0))
    if not total:
        return None
    return sum((v * w for v, w in zip(rates, weights, strict=True)), Decimal(0)) / total


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


def _deal(row: Any) -> BenchmarkDeal:
    owner, currency, rate, weight, rounds, days = row
    return BenchmarkDeal(owner, currency, Decimal(rate), Decimal(weight), rounds, days)


_cell = select(col(Win.owner), col(Win.currency), col(Win.rate), col(Win.weight), col(Win.rounds), col(Win.days)).where(
    *(fits(table(Win).c[name], name) for name in ("category", "kind", "currency", "side")),
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
    return compute_figures(tx.all(_OWN, holder=owner, **_bound(cell, now)), cell, scope="mine")


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
