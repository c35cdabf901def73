"""What the pages of results show, from the API's answers: charts with their tables, rows of CSV, forms; pure."""

import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from negotiator.console import charts as drawing
from negotiator.console.charts import Bar, Tick
from negotiator.console.entered_numbers import read_entered
from negotiator.console.form_fields import FormField, FormTable, fill_fields, read_fields
from negotiator.console.negotiation_words import (
    amount_text,
    counted_text,
    day_text,
    month_name,
    percent_text,
    short_amount,
)
from negotiator.terms.issues import IssueType

WIDTHS: Final = (720, 350)
MOST_BARS: Final = 10
ROLES: Final = {
    "buyer": "I bought",
    "seller": "I sold",
    "employer": "I hired",
    "candidate": "I was hired",
    "landlord": "I let",
    "tenant": "I rented",
    "party": "Something else",
}
ROLE_NAMES: Final = {
    "buyer": "buying",
    "seller": "selling",
    "employer": "hiring",
    "candidate": "being hired",
    "landlord": "letting",
    "tenant": "renting",
    "party": "settling",
}
BASELINES: Final = {
    "previous_price": "What you had before",
    "first_quote": "Their first offer",
    "list_price": "The list price",
    "budget": "The budget",
    "market": "The market's price",
    "should_cost": "What it should cost",
    "other": "Something else",
}
PLACES: Final = {
    "below_walk_away": "Below your limit",
    "first_quarter": "Just above your limit",
    "second_quarter": "Less than halfway",
    "third_quarter": "More than halfway",
    "last_quarter": "Close to your target",
    "target": "Your target or better",
}
_SUPPRESSED: Final = {
    "too_few_contributors": "Fewer people share them so far, so nothing is shown.",
    "one_contributor_dominates": "One of them has more than a quarter of the value, so nothing is shown.",
    "name_the_category": "Choose a kind of deal first.",
    "name_the_currency": "Choose a kind of deal first.",
    "name_the_role": "Choose a kind of deal first.",
}
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


def sums_text(summary: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The total of each currency with its deals: `€43,200` and `in 12 deals, 1 of them a loss`."""
    return [(amount_text(one["savings_total"], one["currency"]), _deals_text(one)) for one in summary["currencies"]]


def _deals_text(one: Mapping[str, Any]) -> str:
    losses = f", {one['n_losses']} of them below what you had" if one["n_losses"] else ""
    return f"in {deals_text(one['n_deals'])}{losses}"


def deals_text(number: int) -> str:
    return counted_text(number, "deal")


def savings_figures(one: Mapping[str, Any], names: Mapping[str, str]) -> list[Figure]:
    """The charts of one currency: over time, by category, counterparty, agent and baseline."""
    groups: dict[str, tuple[str, Callable[[str | None], str]]] = {
        "categories": ("By category", lambda name: _titled(name or "other")),
        "counterparties": ("By the other side", lambda name: name or "Not named"),
        "agents": ("By who recorded it", lambda name: _author(name, names)),
        "baselines": ("Compared with", lambda name: BASELINES[name or "other"]),
    }
    figures = [_over_time(one)]
    for key, (title, words) in groups.items():
        figures.append(_grouped(key, title, one, [words(row["name"]) for row in one[key]]))
    return figures


def _titled(text: str) -> str:
    return text[:1].upper() + text[1:]


def _author(client: str | None, names: Mapping[str, str]) -> str:
    return "You" if client is None else names.get(client, "An agent that is no longer here")


def _over_time(one: Mapping[str, Any]) -> Figure:
    currency, rows = one["currency"], one["periods"]
    bars = [
        Bar(
            period_text(row["name"]),
            float(row["savings_total"]),
            short_amount(row["savings_total"]) if row["n_deals"] else "",
        )
        for row in rows
    ]
    title = f"Savings over time in {currency}"
    return Figure(
        "periods",
        "Over time",
        f"What the deals of each period saved, in {currency}.",
        [drawing.column_chart(title, bars, width=width) for width in WIDTHS],
        ("Period", "Deals", "Saved"),
        [_row(period_text(row["name"]), row, currency) for row in rows],
        [
            ("period", "deals", "savings", "currency"),
            *((row["name"], str(row["n_deals"]), row["savings_total"], currency) for row in rows),
        ],
    )


def _grouped(key: str, title: str, one: Mapping[str, Any], names: Sequence[str]) -> Figure:
    currency, rows = one["currency"], one[key]
    bars = [
        Bar(name, float(row["savings_total"]), amount_text(row["savings_total"], currency))
        for name, row in zip(names, rows, strict=True)
    ][:MOST_BARS]
    caption = f"The {MOST_BARS} largest; all are in the table." if len(rows) > MOST_BARS else ""
    return Figure(
        key,
        title,
        caption,
        [drawing.bar_chart(f"{title}, in {currency}", bars, width=width) for width in WIDTHS],
        ("", "Deals", "Saved"),
        [_row(name, row, currency) for name, row in zip(names, rows, strict=True)],
        [
            ("name", "deals", "savings", "currency"),
            *(
                (name, str(row["n_deals"]), row["savings_total"], currency)
                for name, row in zip(names, rows, strict=True)
            ),
        ],
    )


def _row(name: str, row: Mapping[str, Any], currency: str) -> tuple[str, str, str]:
    return name, str(row["n_deals"]), amount_text(row["savings_total"], currency)


def period_text(name: str) -> str:
    """A period in short words: `Mar 2026`, `Q1 2026`, `2026`."""
    year, _, part = name.partition("-")
    if not part:
        return year
    return f"{part if part.startswith('Q') else month_name(int(part))} {year}"


def outcome_figure(outcomes: Mapping[str, Any]) -> Figure | None:
    """How many agreements lie in each part of the way from the limit to the target; None without any."""
    if not outcomes["items"]:
        return None
    counts = [(PLACES[place], number) for place, number in outcomes["places"].items()]
    bars = [Bar(name, number, str(number)) for name, number in counts]
    title = "Agreements between your limit and your target"
    unknown = outcomes["n_unknown"]
    more = f" {deals_text(unknown)} without both is left out." if unknown else ""
    return Figure(
        "outcomes",
        "Between your limit and your target",
        f"How many agreements ended where, by what they are worth to you.{more}",
        [drawing.bar_chart(title, bars, width=width) for width in WIDTHS],
        ("", "Agreements"),
        [(name, str(number)) for name, number in counts],
        [
            ("negotiation", "other_side", "agreed", "share_from_limit_to_target", "place"),
            *(
                (item["title"], item["counterparty"] or "", item["at"], str(item["share"]), PLACES[item["place"]])
                for item in outcomes["items"]
            ),
        ],
    )


@dataclass(frozen=True, slots=True)
class Comparison:
    """How the user's deals of one kind compare with others', and why others' are not shown where they are not."""

    figure: Figure | None
    summary: str
    floor: str
    reason: str


def comparison(found: Mapping[str, Any]) -> Comparison:
    """The percentiles of others with the user's own median among them; of the user alone under the privacy floor."""
    others, floor = found["contributors"], found["floor"]
    hidden = others["suppressed"]
    shown = found if hidden else others
    ticks = [
        Tick(name, shown[member], percent_text(shown[member]))
        for member, name in (
            ("p10", "lowest tenth"),
            ("p25", "lower quarter"),
            ("p50", "middle"),
            ("p75", "upper quarter"),
            ("p90", "highest tenth"),
        )
        if shown[member] is not None
    ]
    if not hidden and found["p50"] is not None:
        ticks.append(Tick("your middle", found["p50"], percent_text(found["p50"]), own=True))
    return Comparison(
        _percentiles(ticks, hidden) if len({tick.value for tick in ticks}) > 1 else None,
        _usual_saving(found["n_deals"], percent_text(found["p50"]))
        if found["p50"] is not None
        else "You have no deal of this kind in this time.",
        f"Others' deals are shown only when at least {floor['contributors']} other people share them, none of them "
        f"with more than {percent_text(floor['largest_share'])} of the value, each closed at least "
        f"{floor['days']} days ago. Figures are rounded, so that no single deal can be recognised.",
        _SUPPRESSED.get(others["reason"] or "", "") if hidden else "",
    )


def _usual_saving(deals: int, share: str) -> str:
    return f"Your 1 deal saved {share}." if deals == 1 else f"The median of your {deals} deals saved {share}."


def _percentiles(ticks: Sequence[Tick], hidden: bool) -> Figure:
    whose = "your own deals" if hidden else "others' deals"
    return Figure(
        "benchmarks",
        "Compared with others",
        f"What share of the starting figure was saved in {whose}.",
        [drawing.strip_chart(f"Savings in {whose}", ticks, width=width) for width in WIDTHS],
        ("", "Saved"),
        [(tick.name, tick.label) for tick in ticks],
        [("place", "share_saved"), *((tick.name, str(tick.value)) for tick in ticks)],
    )


@dataclass(frozen=True, slots=True)
class WinRow:
    """One result in words."""

    id: str
    title: str
    about: str
    closed: str
    prices: str
    saved: str
    share: str
    is_loss: bool
    author: str


def win_row(win: Mapping[str, Any], names: Mapping[str, str]) -> WinRow:
    """A result as the pages show it, unit and total together."""
    currency = win["currency"]
    unit = [amount_text(win[part]["amount"], currency) for part in ("achieved", "baseline")]
    quantity = amount_text(win["quantity"], "")
    prices = f"{unit[0]} instead of {unit[1]}"
    if win["quantity"] != "1":
        prices += f", × {quantity} = {amount_text(win['tcv'], currency)} in all"
    return WinRow(
        win["id"],
        win["counterparty"] or _titled(win["category"]),
        " · ".join(part for part in (win["category"], win["kind"].replace("_", " ")) if part != "other"),
        day_text(win["closed_at"]),
        prices,
        amount_text(win["savings_total"], currency),
        percent_text(win["savings_rate"]),
        Decimal(win["savings_total"]) < 0,
        _author(win["source"]["client_id"], names),
    )


WIN_COLUMNS: Final = (
    *("id", "closed_at", "counterparty", "category", "kind", "role", "currency"),
    *("baseline_kind", "baseline", "achieved", "quantity", "period_months"),
    *("savings_total", "savings_rate", "recorded_by", "notes"),
)


def win_cells(wins: Iterable[Mapping[str, Any]], names: Mapping[str, str]) -> list[Sequence[str]]:
    """All results as rows of CSV, with a head."""
    rows: list[Sequence[str]] = [WIN_COLUMNS]
    for win in wins:
        members = {
            **win,
            "baseline_kind": win["baseline"]["kind"],
            "baseline": win["baseline"]["amount"],
            "achieved": win["achieved"]["amount"],
            "recorded_by": _author(win["source"]["client_id"], names),
        }
        rows.append(["" if members[name] is None else str(members[name]) for name in WIN_COLUMNS])
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


NUMBERS: Final[Mapping[str, IssueType]] = {
    "baseline": "money",
    "achieved": "money",
    "quantity": "number",
    "period_months": "integer",
}
_REQUIRED: Final = ("baseline", "achieved")
FIELDS: Final[FormTable] = {
    **{name: FormField(name) for name in ("role", "counterparty", "currency", "notes", "negotiation_id")},
    "category": FormField("category", blank="other"),
    "kind": FormField("kind", blank="other"),
    "baseline_kind": FormField("baseline/kind", blank="other"),
    "baseline": FormField("baseline/amount", blank=""),
    "achieved": FormField("achieved/amount", blank=""),
    "quantity": FormField("quantity", blank="1"),
    "period_months": FormField("period_months"),
}


def read_win_form(form: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    """The body of a request and the faults by field; a field that is empty is null, which an edit removes."""
    numbers: dict[str, Decimal] = {}
    faults: dict[str, str] = {}
    for name, kind in NUMBERS.items():
        typed = form.get(name, "").strip()
        if not typed:
            if name in _REQUIRED:
                faults[name] = "This figure is needed."
            continue
        try:
            numbers[name] = read_entered(typed, kind, currency=form.get("currency", ""))
        except ValueError as fault:
            faults[name] = str(fault)
    day = form.get("closed_at", "").strip()
    months = numbers.get("period_months")
    return {
        **read_fields({**form, **{name: str(number) for name, number in numbers.items()}}, FIELDS),
        "period_months": None if months is None else int(months),
        "closed_at": f"{day}T12:00:00Z" if day else None,
        "visibility": "contribute_anonymously" if "shared" in form else "private",
    }, faults


def typed_win(win: Mapping[str, Any]) -> dict[str, str]:
    """A result as it would have been typed."""
    shared = {"shared": "on"} if win["visibility"] != "private" else {}
    return {**fill_fields(win, FIELDS), "closed_at": win["closed_at"][:10], **shared}


def win_of_negotiation(view: Mapping[str, Any]) -> dict[str, str]:
    """The form of a negotiation's result, as far as the negotiation knows it."""
    outcome: Mapping[str, Any] = view["outcome"] or {}
    package: Mapping[str, Any] = outcome.get("package") or {}
    issues = view["issues"]
    price = next((issue["name"] for issue in issues if issue["type"] == "money"), "")
    baseline: Mapping[str, Any] = view["baseline"] or {}
    party = view["counterparty"]
    return {
        "negotiation_id": view["id"],
        "category": view["category"] or "",
        "kind": view["kind"] or "",
        "role": view["role"],
        "counterparty": (party["name"] if party else "") or "",
        "currency": view["currency"] or "",
        "baseline_kind": baseline.get("kind") or "other",
        "baseline": str(baseline.get("value") or ""),
        "achieved": str(package.get(price, "")),
        "quantity": "1",
        "closed_at": (outcome.get("closed_at") or outcome.get("agreed_at") or "")[:10],
    }
