"""`/wins`: what the deals brought, in charts with their tables; each result is recorded, edited and deleted here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.base.errors import Conflict, NotFound, PreconditionFailed, Refusal, ValidationFailed
from negotiator.base.values import MINOR_UNITS
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.entered_numbers import read_entered
from negotiator.console.form_fields import FormField, FormTable, field_faults, fill_fields, read_fields
from negotiator.console.negotiation_words import object_member
from negotiator.console.owned.wins_figures import (
    BASELINES,
    Figure,
    csv_text,
    outcome_figure,
    percentile_figure,
    savings_figures,
    win_cells,
)
from negotiator.console.page_calls import Members, PageCalls
from negotiator.console.page_router import FormFields, FormSize, PageRouter, read_revision, read_whole
from negotiator.console.talk.prepare_page import USUAL_CURRENCIES
from negotiator.terms.issues import IssueType

WINS_PAGE_PATH: Final = "/wins"
MAX_SHOWN: Final = 20
PERIODS: Final = {
    "all": "Any time",
    "12m": "The last 12 months",
    "24m": "The last 24 months",
    "36m": "The last 36 months",
}
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


def read_win_form(form: Mapping[str, str]) -> tuple[Members, dict[str, str]]:
    """The body of a request and the faults by field; a field that is empty is null, which an edit removes."""
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
    day = form.get("closed_at", "").strip()
    months = numbers.get("period_months")
    return {
        **read_fields({**form, **{name: str(number) for name, number in numbers.items()}}, FIELDS),
        "period_months": None if months is None else int(months),
        "closed_at": f"{day}T12:00:00Z" if day else None,
        "visibility": "contribute_anonymously" if "shared" in form else "private",
    }, faults


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
            page(f"{path}/new", self.new),
            form(f"{path}/new", self.record, size=FormSize(64 * 1024)),
            page(f"{path}/{{id}}", self.open),
            form(f"{path}/{{id}}", self.save, back=path, size=FormSize(64 * 1024)),
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

    async def new(self, request: Request, session: SignedInSession) -> Response:
        """An empty form, or one filled in with what the `negotiation` of the query knows."""
        negotiation = request.query_params.get("negotiation", "")
        typed: dict[str, str] = {}
        if negotiation:
            typed = win_of_negotiation(await self.calls.run(session, "get_negotiation", {"id": negotiation}))
        return await self._form_page(session, typed)

    async def record(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        del request
        body, faults = read_win_form(form)
        if faults:
            return await self._form_page(session, form, faults=faults)
        known = {name: value for name, value in body.items() if value is not None}
        try:
            made = await self.calls.run(session, "record_win", known)
        except (Conflict, ValidationFailed) as refusal:
            return await self._form_page(session, form, refusal=refusal)
        return self.router.pages.see(f"{WINS_PAGE_PATH}/{made['id']}?told=added")

    async def open(self, request: Request, session: SignedInSession) -> Response:
        """One result, with the form to change it."""
        win = await self.calls.run(session, "get_win", {"id": request.path_params["id"]})
        return await self._form_page(session, typed_win(win), win=win)

    async def save(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Save what was typed; the day is sent only when it was changed, since a day has no hour."""
        member = {"id": request.path_params["id"]}
        win = await self.calls.run(session, "get_win", member)
        body, faults = read_win_form(form)
        if faults:
            return await self._form_page(session, form, win=win, faults=faults)
        if form.get("closed_at") == typed_win(win)["closed_at"]:
            del body["closed_at"]
        try:
            await self.calls.run(session, "edit_win", {**member, **body}, revision=read_revision(form))
        except (Conflict, PreconditionFailed, ValidationFailed) as refusal:
            return await self._form_page(session, form, win=win, refusal=refusal)
        return self.router.pages.see(f"{WINS_PAGE_PATH}/{member['id']}?told=saved")

    async def delete(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Delete a result; without a script that let it be taken back, after a second question."""
        member = {"id": request.path_params["id"]}
        if form.get("sure") != "yes":
            win = await self.calls.run(session, "get_win", member)
            return await self._render("win_delete.html", session, win=win)
        await self.calls.run(session, "delete_win", member)
        return self.router.pages.see(f"{WINS_PAGE_PATH}?told=deleted")

    async def _form_page(
        self,
        session: SignedInSession,
        typed: Mapping[str, str],
        *,
        win: Members | None = None,
        faults: Mapping[str, str] | None = None,
        refusal: Refusal | None = None,
    ) -> Response:
        found = {**(faults or {}), **field_faults(refusal, FIELDS)}
        status = refusal.status if refusal else 422 if found else 200
        return await self._render(
            "win.html",
            session,
            status,
            win=win,
            typed=typed,
            faults=found,
            refusal=refusal.description if refusal else "",
            baselines=BASELINES,
            usual_currencies=USUAL_CURRENCIES,
            currencies=[code for code in sorted(MINOR_UNITS) if code not in USUAL_CURRENCIES],
        )


def _list_query(request: Request) -> Members:
    cursor = request.query_params.get("cursor")
    return {"limit": MAX_SHOWN, **({"cursor": cursor} if cursor else {})}
