"""`/wins`: what the deals brought, in charts with their tables; each result is recorded, edited and deleted here."""

import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.base.errors import NotFound
from negotiator.base.values import MINOR_UNITS
from negotiator.console import charts as drawing
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.charts import Bar, Tick
from negotiator.console.form_fields import FormField, FormTable, field_finder, fill_fields, read_entered, read_fields
from negotiator.console.negotiation_words import (
    amount_text,
    counted_text,
    month_name,
    object_member,
    percent_text,
    short_amount,
    table,
)
from negotiator.console.page_calls import Members, PageCalls
from negotiator.console.page_router import (
    NO_FORM,
    FormFields,
    FormSize,
    PageRouter,
    RefusedForm,
    UnreadFields,
    read_revision,
    read_whole,
)
from negotiator.console.talk.prepare_page import USUAL_CURRENCIES
from negotiator.terms.issues import IssueType

_WIDTHS: Final = (720, 350)
_MOST_BARS: Final = 10
BASELINES: Final = table("baselines")
_PLACES: Final = table("outcome_places")
_PERCENTILES: Final = table("percentiles")
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


WINS_PAGE_PATH: Final = "/wins"
MAX_SHOWN: Final = 20
PERIODS: Final = table("periods")
_NUMBERS: Final[Mapping[str, IssueType]] = {
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


def read_win_form(form: Mapping[str, str]) -> Members:
    """The body of a request; a field that is empty is null, which an edit removes. Raises `UnreadFields`."""
    numbers: dict[str, Decimal] = {}
    faults: dict[str, str] = {}
    for name, kind in _NUMBERS.items():
        typed = form.get(name, "").strip()
        if not typed:
            if name in _REQUIRED:
                faults[name] = "This figure is needed."
            continue
        try:
            numbers[name] = read_entered(typed, kind, currency=form.get("currency", ""))
        except ValueError as fault:
            faults[name] = str(fault)
    if faults:
        raise UnreadFields(faults)
    day = form.get("closed_at", "").strip()
    months = numbers.get("period_months")
    return {
        **read_fields({**form, **{name: str(number) for name, number in numbers.items()}}, FIELDS),
        "period_months": None if months is None else int(months),
        "closed_at": f"{day}T12:00:00Z" if day else None,
        "visibility": "contribute_anonymously" if "shared" in form else "private",
    }


def typed_win(win: Members) -> dict[str, str]:
    """A result as it would have been typed."""
    shared = {"shared": "on"} if win["visibility"] != "private" else {}
    return {**fill_fields(win, FIELDS), "closed_at": win["closed_at"][:10], **shared}


def win_of_negotiation(view: Members) -> dict[str, str]:
    """The form of a negotiation's result, as far as the negotiation knows it."""
    outcome, baseline = object_member(view, "outcome"), object_member(view, "baseline")
    package = object_member(outcome, "package")
    price = next((issue["name"] for issue in view["issues"] if issue["type"] == "money"), "")
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


@dataclass(frozen=True, slots=True)
class ChosenCharts:
    """The answers behind the charts, what of them is chosen, and the charts themselves.

    `deals` is the place of the chosen kind of deal among the summary's cells, `compared` what others saved with it.
    """

    summary: Members
    currency: str
    deals: int
    period: str
    savings: Sequence[Figure]
    outcomes: Figure | None
    compared: Members | None
    percentiles: Figure | None


@dataclass(frozen=True, slots=True)
class WinsPage:
    """The pages of the user's results, their CSV and their forms."""

    router: PageRouter
    calls: PageCalls

    def routes(self) -> list[Route]:
        page, form, path = self.router.page, self.router.form, WINS_PAGE_PATH
        return [
            page(path, self.show),
            page("/wins.csv", self.table),
            page(f"{path}/new", self.form_page),
            form(f"{path}/new", self.record, again=self.form_page, size=FormSize(64 * 1024)),
            page(f"{path}/{{id}}", self.form_page),
            form(f"{path}/{{id}}", self.save, again=self.form_page, back=path, size=FormSize(64 * 1024)),
            form(f"{path}/{{id}}/delete", self.delete, back=path),
        ]

    async def show(self, request: Request, session: SignedInSession) -> Response:
        """The sums, the charts of one currency, how the user compares with others, and the newest results."""
        chosen = await self._charts(request, session)
        listed = await self.calls.run(session, "list_wins", _list_query(request))
        return await self._render(
            "wins.html",
            session,
            chosen=chosen,
            summary=chosen.summary,
            periods=PERIODS,
            wins=listed["items"],
            cursor=listed["next_cursor"] or "",
            is_continued="cursor" in request.query_params,
        )

    async def _render(self, template: str, session: SignedInSession, status: int = 200, **context: Any) -> Response:
        """A page that shows results in words."""
        agents = await self.calls.agent_names(session)
        return self.router.render(template, session, status, agents=agents, here="wins", **context)

    async def _charts(self, request: Request, session: SignedInSession) -> ChosenCharts:
        """The charts of the currency, the kind of deal and the time that the query names."""
        asked, run = request.query_params, self.calls.run
        agents = await self.calls.agent_names(session)
        summary = await run(session, "get_win_summary")
        currencies, cells = summary["currencies"], summary["cells"]
        place = read_whole(asked.get("deals", ""))
        place = place if place < len(cells) else 0
        period = asked.get("period", "")
        period = period if period in PERIODS else "all"
        one = next((each for each in currencies if each["currency"] == asked.get("currency", "")), None)
        one = one or next(iter(currencies), None)
        compared = None
        if cells:
            kind = {name: cells[place][name] for name in ("category", "role", "currency")}
            compared = await run(session, "get_benchmarks", {**kind, "period": period})
        return ChosenCharts(
            summary,
            one["currency"] if one else "",
            place,
            period,
            savings_figures(one, agents) if one else [],
            outcome_figure(await run(session, "list_outcomes")),
            compared,
            percentile_figure(compared) if compared else None,
        )

    async def table(self, request: Request, session: SignedInSession) -> Response:
        """All results as CSV, or with `of` the table behind one chart."""
        of = request.query_params.get("of", "")
        if of:
            chosen = await self._charts(request, session)
            found = [*chosen.savings, chosen.outcomes, chosen.percentiles]
            figure = next((one for one in found if one and one.key == of), None)
            if figure is None:
                raise NotFound("There is no such table.")
            rows = figure.cells
        else:
            agents = await self.calls.agent_names(session)
            rows = win_cells(await self.calls.every(session, "list_wins"), agents)
        named = f'attachment; filename="{f"wins-{of}" if of else "wins"}.csv"'
        headers = {"content-disposition": named, "cache-control": "no-store"}
        return Response(csv_text(rows), media_type="text/csv; charset=utf-8", headers=headers)

    async def record(self, _request: Request, session: SignedInSession, form: FormFields) -> Response:
        known = {name: value for name, value in read_win_form(form).items() if value is not None}
        made = await self.calls.run(session, "record_win", known)
        return self.router.pages.see(f"{WINS_PAGE_PATH}/{made['id']}?told=added")

    async def save(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Save what was typed; the day is sent only when it was changed, since a day has no hour."""
        member = {"id": request.path_params["id"]}
        win = await self.calls.run(session, "get_win", member)
        body = read_win_form(form)
        if form.get("closed_at") == typed_win(win)["closed_at"]:
            del body["closed_at"]
        await self.calls.run(session, "edit_win", {**member, **body}, revision=read_revision(form))
        return self.router.pages.see(f"{WINS_PAGE_PATH}/{member['id']}?told=saved")

    async def delete(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Delete a result; without a script that let it be taken back, after a second question."""
        member = {"id": request.path_params["id"]}
        if form.get("sure") != "yes":
            win = await self.calls.run(session, "get_win", member)
            return await self._render("win_delete.html", session, win=win)
        await self.calls.run(session, "delete_win", member)
        return self.router.pages.see(f"{WINS_PAGE_PATH}?told=deleted")

    async def form_page(self, request: Request, session: SignedInSession, form: RefusedForm = NO_FORM) -> Response:
        """One result with the form to change it, or a new form, filled with what the query's `negotiation` knows."""
        win: Members | None = None
        known: dict[str, str] = {}
        if request.path_params:
            win = await self.calls.run(session, "get_win", dict(request.path_params))
            known = typed_win(win)
        elif negotiation := request.query_params.get("negotiation", ""):
            known = win_of_negotiation(await self.calls.run(session, "get_negotiation", {"id": negotiation}))
        return await self._render(
            "win.html",
            session,
            form.status,
            win=win,
            typed=form.typed or known,
            faults=form.faults(field_finder(FIELDS)),
            refusal=form.said,
            baselines=BASELINES,
            usual_currencies=USUAL_CURRENCIES,
            currencies=[code for code in sorted(MINOR_UNITS) if code not in USUAL_CURRENCIES],
        )


def _list_query(request: Request) -> Members:
    cursor = request.query_params.get("cursor")
    return {"limit": MAX_SHOWN, **({"cursor": cursor} if cursor else {})}
