"""Adds up what wins saved, by currency and month."""

from collections.abc import Sequence
from decimal import Decimal
from itertools import groupby
from operator import attrgetter
from typing import Any

from negotiator.base import values
from negotiator.base.values import format_money
from negotiator.memory.wins_queries import ClosedWin


def win_totals(wins: Sequence[ClosedWin]) -> list[dict[str, Any]]:
    """The totals of each currency, that of most deals first; `wins` are in the order in which they closed."""
    by_currency = sorted(wins, key=attrgetter("currency"))
    found = [_of_currency(currency, list(group)) for currency, group in groupby(by_currency, attrgetter("currency"))]
    return sorted(found, key=lambda one: -one["deals"])


def _of_currency(currency: str, wins: list[ClosedWin]) -> dict[str, Any]:
    months: list[dict[str, Any]] = []
    for month, group in groupby(wins, lambda win: values.timestamp(win.closed_at)[:7]):
        closed = list(group)
        months.append({"month": month, "deals": len(closed), "savings": _sum(closed, currency)})
    return {"currency": currency, "deals": len(wins), "savings": _sum(wins, currency), "months": months}


def _sum(wins: Sequence[ClosedWin], currency: str) -> str:
    return format_money(sum((win.savings for win in wins), Decimal(0)), currency)
