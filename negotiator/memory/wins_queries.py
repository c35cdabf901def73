"""Queries of wins, counts of what each tactic did over the wins that name it, and sums over wins: over time, by
category, counterparty, author and baseline, each currency by itself.

Every statement names the owner. A win names its memory only while that memory exists. Every grouping covers every deal
of its currency, so the sums of its rows equal the total.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Final, TypeVar

import orjson
from sqlalchemy import and_, bindparam, delete, select, update
from sqlmodel import col
from typing_extensions import TypedDict

from negotiator.base import values
from negotiator.base.errors import NotFound, PreconditionFailed
from negotiator.base.values import format_money
from negotiator.memory.schemas_wins import CurrencyTotals, ListWins, WinTotals
from negotiator.memory.tables import Memory, Win, fits
from negotiator.store.statement import Query, RowInsertion, Statement, Transaction, table

WinDocument = dict[str, Any]
_LAST: Final = "win_" + "z" * values.ID_LENGTH


_theirs = col(Win.owner) == bindparam("holder")
_mine = (col(Win.id) == bindparam("win"), _theirs)
_with_memory = (
    select(col(Win.id), col(Win.document), col(Memory.id), col(Win.origin))
    .select_from(table(Win))
    .outerjoin(table(Memory), and_(col(Memory.id) == col(Win.memory), col(Memory.owner) == col(Win.owner)))
)
_ADD = RowInsertion(Win)
_FIND = Query(_with_memory.where(*_mine), tuple)
_OF_NEGOTIATION = Query(
    select(col(Win.id)).where(_theirs, col(Win.negotiation) == bindparam("subject")), lambda row: str(row[0])
)
_PAGE = Query(
    _with_memory.where(
        _theirs,
        col(Win.id) < bindparam("before"),
        *(fits(table(Win).c[name], name) for name in ("category", "kind", "counterparty")),
        fits(table(Win).c.negotiation, "subject"),
    )
    .order_by(col(Win.id).desc())
    .limit(bindparam("limit")),
    tuple,
)
_SAVE = Statement(
    update(Win)
    .where(*_mine)
    .values(
        {
            name: bindparam(f"new_{name}", type_=table(Win).c[name].type)
            for name in (
                *("negotiation", "counterparty", "category", "kind", "side", "currency"),
                *("closed_at", "rate", "weight", "rounds", "days", "contributed", "memory"),
                *("document", "revision", "updated_at"),
            )
        }
    )
)
_REMOVE = Statement(delete(Win).where(*_mine))
_ALL = Query(_with_memory.where(_theirs).order_by(col(Win.id)), tuple)


def find(tx: Transaction, owner: str, win: str) -> WinDocument:
    """The owner's win; 404 when the owner has none with this id."""
    found = tx.one(_FIND, win=win, holder=owner)
    if found is None:
        raise NotFound("There is no such win.")
    return _view(found)


def load(tx: Transaction, owner: str, win: str, *, expected: int | None) -> WinDocument:
    """The win for a change; 404, and 412 when `expected` is not the current revision."""
    view = find(tx, owner, win)
    if expected is not None and view["revision"] != expected:
        raise PreconditionFailed("The win has changed since that revision.", members={"revision": view["revision"]})
    return view


def find_by_negotiation(tx: Transaction, owner: str, negotiation: str) -> str | None:
    """The id of the win of this negotiation."""
    return tx.one(_OF_NEGOTIATION, holder=owner, subject=negotiation)


def page(tx: Transaction, owner: str, query: ListWins, before: str | None) -> list[WinDocument]:
    """Up to `limit` + 1 of the owner's wins older than `before`, newest first."""
    found = tx.all(
        _PAGE,
        holder=owner,
        before=before or _LAST,
        category=query.category,
        kind=query.kind,
        counterparty=query.counterparty,
        subject=query.negotiation_id,
        limit=query.limit + 1,
    )
    return [_view(row) for row in found]


def add(tx: Transaction, owner: str, view: WinDocument, columns: dict[str, Any]) -> None:
    at = values.now()
    named = {"id": view["id"], "owner": owner, "origin": None, "created_at": at, "updated_at": at}
    tx.run(_ADD, **named, **columns, document=orjson.dumps(view), revision=view["revision"])


def save(tx: Transaction, owner: str, view: WinDocument, columns: dict[str, Any]) -> None:
    new = {**columns, "document": orjson.dumps(view), "revision": view["revision"], "updated_at": values.now()}
    tx.run(_SAVE, win=view["id"], holder=owner, **{f"new_{name}": value for name, value in new.items()})


def list_all(tx: Transaction, owner: str) -> list[WinDocument]:
    """All of an owner's wins, oldest first."""
    return [_view(row) for row in tx.all(_ALL, holder=owner)]


def delete_win(tx: Transaction, owner: str, win: str) -> None:
    tx.run(_REMOVE, win=win, holder=owner)


def _view(row: Any) -> WinDocument:
    _, document, memory, origin = row
    win = orjson.loads(document)
    before = {"type": "agent", "client_id": origin, "at": win["created_at"]}
    return {"source": before, **win, "memory_id": memory, "origin": origin}


_NEWEST: Final = 1000
_USED = Query(
    select(col(Win.document), col(Win.memory))
    .where(col(Win.owner) == bindparam("holder"))
    .order_by(col(Win.id).desc())
    .limit(_NEWEST),
    lambda row: (orjson.loads(row[0]), row[1]),
)


@dataclass(slots=True)
class TacticRecord:
    """A tactic's record: times used, times with a known effect, times it helped, rates saved, memory ids."""

    used: int = 0
    known: int = 0
    helped: int = 0
    rates: list[float] = field(default_factory=list[float])
    memories: list[str] = field(default_factory=list[str])

    @property
    def mean_rate(self) -> float | None:
        """The mean fraction saved in the wins that used it."""
        return sum(self.rates) / len(self.rates) if self.rates else None


def tactic_records(tx: Transaction, owner: str) -> dict[str, TacticRecord]:
    """Records by tactic id, over the owner's newest thousand wins."""
    found: dict[str, TacticRecord] = {}
    for win, memory in tx.all(_USED, holder=owner):
        for used in win["tactics_used"]:
            result = found.setdefault(used["tactic_id"], TacticRecord())
            result.used += 1
            result.known += used["helped"] != 0
            result.helped += used["helped"] > 0
            result.rates.append(win["savings_rate"])
            if memory is not None and used["helped"] > 0:
                result.memories.append(memory)
    return found


def wins_with_tactic(tx: Transaction, owner: str, tactic: str) -> list[WinDocument]:
    """The wins that name this tactic, newest first, of the owner's newest thousand."""
    return [
        win
        for win, _ in tx.all(_USED, holder=owner)
        if any(used["tactic_id"] == tactic for used in win["tactics_used"])
    ]


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
