"""The charts of results with the tables behind them, and results as CSV, from the API's answers; pure."""

import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from negotiator.console import charts as drawing
from negotiator.console.charts import Bar, Tick
from negotiator.console.negotiation_words import amount_text, counted_text, month_name, percent_text, short_amount
from negotiator.console.page_calls import Members

_WIDTHS: Final = (720, 350)
_MOST_BARS: Final = 10
BASELINES: Final = {
    "previous_price": "What you had before",
    "first_quote": "Their first offer",
    "list_price": "The list price",
    "budget": "The budget",
    "market": "The market's price",
    "should_cost": "What it should cost",
    "other": "Something else",
}
_PLACES: Final = {
    "below_walk_away": "Below your limit",
    "first_quarter": "Just above your limit",
    "second_quarter": "Less than halfway",
    "third_quarter": "More than halfway",
    "last_quarter": "Close to your target",
    "target": "Your target or better",
}
_PERCENTILES: Final = {
    "p10": "lowest tenth",
    "p25": "lower quarter",
    "p50": "middle",
    "p75": "upper quarter",
    "p90": "highest tenth",
}
_SAVED: Final = ("deals", "savings", "currency")
_NUMBER: Final = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_FORMULA: Final = tuple("=+-@\t\r")


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart with the table and the CSV behind it; `drawn` is for a wide and a narrow page."""

    key: str
    title: str
    caption: str
    drawn: Sequence[str]
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    cells: Sequence[Sequence[str]]
    """The rows as plain values, for CSV."""


def savings_figures(one: Members, agents: Mapping[str, str]) -> list[Figure]:
    """The charts of one currency: over time, by category, counterparty, agent and baseline."""
    groups: dict[str, tuple[str, Callable[[str | None], str]]] = {
        "categories": ("By category", lambda name: (name or "other")[:1].upper() + (name or "other")[1:]),
        "counterparties": ("By the other side", lambda name: name or "Not named"),
        "agents": ("By who recorded it", lambda name: _author(name, agents)),
        "baselines": ("Compared with", lambda name: BASELINES[name or "other"]),
    }
    found = [_over_time(one)]
    for key, (title, words) in groups.items():
        found.append(_grouped(key, title, one["currency"], [(words(row["name"]), row) for row in one[key]]))
    return found


def _author(client: str | None, agents: Mapping[str, str]) -> str:
    return "You" if client is None else agents.get(client, "An agent that is no longer here")


def _over_time(one: Members) -> Figure:
    currency, rows = one["currency"], one["periods"]
    named = [(_period_text(row["name"]), row) for row in rows]
    bars = [
        Bar(name, float(row["savings_total"]), short_amount(row["savings_total"]) if row["n_deals"] else "")
        for name, row in named
    ]
    return Figure(
        "periods",
        "Over time",
        f"What the deals of each period saved, in {currency}.",
        [drawing.column_chart(f"Savings over time in {currency}", bars, width=width) for width in _WIDTHS],
        ("Period", "Deals", "Saved"),
        _in_words(named, currency),
        [("period", *_SAVED), *((row["name"], str(row["n_deals"]), row["savings_total"], currency) for row in rows)],
    )


def _grouped(key: str, title: str, currency: str, named: Sequence[tuple[str, Members]]) -> Figure:
    bars = [
        Bar(name, float(row["savings_total"]), amount_text(row["savings_total"], currency))
        for name, row in named[:_MOST_BARS]
    ]
    return Figure(
        key,
        title,
        f"The {_MOST_BARS} largest; all are in the table." if len(named) > _MOST_BARS else "",
        [drawing.bar_chart(f"{title}, in {currency}", bars, width=width) for width in _WIDTHS],
        ("", "Deals", "Saved"),
        _in_words(named, currency),
        [("name", *_SAVED), *((name, str(row["n_deals"]), row["savings_total"], currency) for name, row in named)],
    )


def _in_words(named: Sequence[tuple[str, Members]], currency: str) -> list[tuple[str, str, str]]:
    return [(name, str(row["n_deals"]), amount_text(row["savings_total"], currency)) for name, row in named]


def _period_text(name: str) -> str:
    """A period in short words: `Mar 2026`, `Q1 2026`, `2026`."""
    year, _, part = name.partition("-")
    if not part:
        return year
    return f"{part if part.startswith('Q') else month_name(int(part))} {year}"


def outcome_figure(outcomes: Members) -> Figure | None:
    """How many agreements lie in each part of the way from the limit to the target; None without any."""
    if not outcomes["items"]:
        return None
    counts = [(_PLACES[place], number) for place, number in outcomes["places"].items()]
    bars = [Bar(name, number, str(number)) for name, number in counts]
    unknown = outcomes["n_unknown"]
    more = f" Without both: {counted_text(unknown, 'deal')}, left out." if unknown else ""
    return Figure(
        "outcomes",
        "Between your limit and your target",
        f"How many agreements ended where, by what they are worth to you.{more}",
        [drawing.bar_chart("Agreements between your limit and your target", bars, width=width) for width in _WIDTHS],
        ("", "Agreements"),
        [(name, str(number)) for name, number in counts],
        [
            ("negotiation", "other_side", "agreed", "share_from_limit_to_target", "place"),
            *(
                (item["title"], item["counterparty"] or "", item["at"], str(item["share"]), _PLACES[item["place"]])
                for item in outcomes["items"]
            ),
        ],
    )


def percentile_figure(found: Members) -> Figure | None:
    """The percentiles of others with the user's own median among them; of the user alone where others' are hidden.

    None where they are all one value.
    """
    others = found["contributors"]
    hidden = others["suppressed"]
    shown = found if hidden else others
    ticks = [
        Tick(name, shown[member], percent_text(shown[member]))
        for member, name in _PERCENTILES.items()
        if shown[member] is not None
    ]
    if not hidden and found["p50"] is not None:
        ticks.append(Tick("your middle", found["p50"], percent_text(found["p50"]), own=True))
    if len({tick.value for tick in ticks}) < 2:
        return None
    whose = "your own deals" if hidden else "others' deals"
    return Figure(
        "benchmarks",
        "Compared with others",
        f"What share of the starting figure was saved in {whose}.",
        [drawing.strip_chart(f"Savings in {whose}", ticks, width=width) for width in _WIDTHS],
        ("", "Saved"),
        [(tick.name, tick.label) for tick in ticks],
        [("place", "share_saved"), *((tick.name, str(tick.value)) for tick in ticks)],
    )


_WIN_COLUMNS: Final = (
    *("id", "closed_at", "counterparty", "category", "kind", "role", "currency"),
    *("baseline_kind", "baseline", "achieved", "quantity", "period_months"),
    *("savings_total", "savings_rate", "recorded_by", "notes"),
)


def win_cells(wins: Iterable[Members], agents: Mapping[str, str]) -> list[Sequence[str]]:
    """All results as rows of CSV, with a head."""
    rows: list[Sequence[str]] = [_WIN_COLUMNS]
    for win in wins:
        members = {
            **win,
            "baseline_kind": win["baseline"]["kind"],
            "baseline": win["baseline"]["amount"],
            "achieved": win["achieved"]["amount"],
            "recorded_by": _author(win["source"]["client_id"], agents),
        }
        rows.append(["" if members[name] is None else str(members[name]) for name in _WIN_COLUMNS])
    return rows


def csv_text(rows: Iterable[Sequence[str]]) -> str:
    """Rows as CSV (RFC 4180). A text that a spreadsheet would take for a formula gets an apostrophe before it."""
    written = io.StringIO()
    writer = csv.writer(written)
    for row in rows:
        writer.writerow([_safe(cell) for cell in row])
    return written.getvalue()


def _safe(cell: str) -> str:
    return f"'{cell}" if cell.startswith(_FORMULA) and not _NUMBER.fullmatch(cell) else cell
