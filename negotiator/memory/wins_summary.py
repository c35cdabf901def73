"""Sums over wins: over time, by category, counterparty, author and baseline; each currency by itself.

Every grouping covers every deal of its currency, so the sums of its rows equal the total.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final, TypeVar

from typing_extensions import TypedDict

from negotiator.base.values import format_money
from negotiator.memory.schemas_wins import CurrencyTotals, WinTotals
from negotiator.memory.wins_queries import WinDocument

MOST_PERIODS: Final = 18
"""Sums over time are by month, else by quarter, else by year: the first that has no more rows than this."""


class WinGroupView(TypedDict):
    """The deals of one group; `name` is null where they have none."""

    name: str | None
    n_deals: int
    savings_total: str


class CurrencySummaryView(TypedDict):
    """The deals in one currency. A deal below its baseline has negative savings; `n_losses` counts those.

    `periods` are months (`2026-03`), quarters (`2026-Q1`) or years, oldest first and without gaps. The groups are by
    category, counterparty, agent (null: the user by hand) and kind of baseline, the largest savings first.
    """

    currency: str
    n_deals: int
    n_losses: int
    savings_total: str
    periods: list[WinGroupView]
    categories: list[WinGroupView]
    counterparties: list[WinGroupView]
    agents: list[WinGroupView]
    baselines: list[WinGroupView]


class BenchmarkCellView(TypedDict):
    """A kind of deal that benchmarks compare: category, role and currency."""

    category: str
    role: str
    currency: str
    n_deals: int


class WinSummaryView(TypedDict):
    """The sums, the currency with the most deals first, and the kinds of deals, the most frequent first."""

    n_deals: int
    currencies: list[CurrencySummaryView]
    cells: list[BenchmarkCellView]


_Name = TypeVar("_Name", str, str | None)


@dataclass(slots=True)
class _Sum:
    deals: int = 0
    savings: Decimal = Decimal(0)

    def add(self, saved: Decimal) -> None:
        self.deals += 1
        self.savings += saved


def summarise_wins(wins: Sequence[WinDocument]) -> WinSummaryView:
    """The summary of these wins."""
    cells = Counter((win["category"], win["role"], win["currency"]) for win in wins)
    return {
        "n_deals": len(wins),
        "currencies": [_currency(currency, deals) for currency, deals in _by_currency(wins)],
        "cells": [
            {"category": category, "role": role, "currency": currency, "n_deals": deals}
            for (category, role, currency), deals in sorted(cells.items(), key=lambda one: (-one[1], one[0]))
        ],
    }


def win_totals(wins: Iterable[WinDocument]) -> WinTotals:
    """The totals of each currency, that of most deals first, and of the months in which its deals closed."""
    return {"items": [_totals(currency, deals) for currency, deals in _by_currency(wins)]}


def _totals(currency: str, wins: Sequence[WinDocument]) -> CurrencyTotals:
    whole, months = _Sum(), _sums(wins, lambda win: win["closed_at"][:7])
    for win in wins:
        whole.add(Decimal(win["savings_total"]))
    return {
        "currency": currency,
        "deals": whole.deals,
        "savings": format_money(whole.savings, currency),
        "months": [
            {"month": month, "deals": one.deals, "savings": format_money(one.savings, currency)}
            for month, one in sorted(months.items())
        ],
    }


def _by_currency(wins: Iterable[WinDocument]) -> list[tuple[str, list[WinDocument]]]:
    """The deals of each currency, that of most deals first."""
    found: dict[str, list[WinDocument]] = {}
    for win in wins:
        found.setdefault(win["currency"], []).append(win)
    return sorted(found.items(), key=lambda one: (-len(one[1]), one[0]))


def _currency(currency: str, wins: Sequence[WinDocument]) -> CurrencySummaryView:
    def grouped(name: Callable[[WinDocument], str | None]) -> list[WinGroupView]:
        sums = _sums(wins, name)
        largest = sorted(sums.items(), key=lambda one: (-one[1].savings, one[0] or ""))
        return [_group(key, one, currency) for key, one in largest]

    saved = [Decimal(win["savings_total"]) for win in wins]
    return {
        "currency": currency,
        "n_deals": len(wins),
        "n_losses": sum(amount < 0 for amount in saved),
        "savings_total": format_money(sum(saved, Decimal(0)), currency),
        "periods": _periods(wins, currency),
        "categories": grouped(lambda win: win["category"]),
        "counterparties": grouped(lambda win: win["counterparty"]),
        "agents": grouped(lambda win: win["source"]["client_id"]),
        "baselines": grouped(lambda win: win["baseline"]["kind"]),
    }


def _sums(wins: Iterable[WinDocument], name: Callable[[WinDocument], _Name]) -> dict[_Name, _Sum]:
    found: dict[_Name, _Sum] = {}
    for win in wins:
        found.setdefault(name(win), _Sum()).add(Decimal(win["savings_total"]))
    return found


def _group(name: str | None, total: _Sum, currency: str) -> WinGroupView:
    return {"name": name, "n_deals": total.deals, "savings_total": format_money(total.savings, currency)}


def _periods(wins: Sequence[WinDocument], currency: str) -> list[WinGroupView]:
    """Every period from the first deal to the last, those without a deal too."""
    months = [_month(win) for win in wins]
    size, word = next(
        (size, word)
        for size, word in ((1, _month_name), (3, _quarter_name), (12, _year_name))
        if size == 12 or max(months) // size - min(months) // size < MOST_PERIODS
    )
    sums = _sums(wins, lambda win: word(_month(win) // size))
    names = map(word, range(min(months) // size, max(months) // size + 1))
    return [_group(name, sums.get(name, _Sum()), currency) for name in names]


def _month(win: WinDocument) -> int:
    """Months since the year 0."""
    at = datetime.fromisoformat(win["closed_at"])
    return at.year * 12 + at.month - 1


def _month_name(place: int) -> str:
    return f"{place // 12:04d}-{place % 12 + 1:02d}"


def _quarter_name(place: int) -> str:
    return f"{place // 4:04d}-Q{place % 4 + 1}"


def _year_name(place: int) -> str:
    return f"{place:04d}"
