"""`/wins`: what the deals brought, in charts with their tables; each result is recorded, edited and deleted here."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.base.errors import Conflict, NotFound, PreconditionFailed, Refusal, ValidationFailed
from negotiator.base.values import MINOR_UNITS
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.form_fields import field_faults
from negotiator.console.owned.wins_view import (
    BASELINES,
    FIELDS,
    ROLE_NAMES,
    ROLES,
    Figure,
    comparison,
    csv_text,
    deals_text,
    outcome_figure,
    read_win_form,
    savings_figures,
    sums_text,
    typed_win,
    win_cells,
    win_of_negotiation,
    win_row,
)
from negotiator.console.page_calls import PageCalls
from negotiator.console.page_router import FormFields, FormSize, PageRouter, read_revision, read_whole
from negotiator.console.talk.prepare_page import USUAL_CURRENCIES

WINS_PAGE_PATH: Final = "/wins"
MAX_SHOWN: Final = 20
PERIODS: Final = {
    "all": "Any time",
    "12m": "The last 12 months",
    "24m": "The last 24 months",
    "36m": "The last 36 months",
}
_NOTICES: Final = {
    "added": "Recorded. It is counted in the charts.",
    "saved": "Saved. The charts are drawn anew.",
    "deleted": "Deleted, with what was remembered of it.",
}
Members = dict[str, Any]


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
        names = await self.calls.agent_names(session)
        listed = await self.calls.run(session, "list_wins", _list_query(request))
        summary = await self.calls.run(session, "get_win_summary")
        chosen = _chosen(summary, request)
        cell = _cell(summary, request)
        compared = await self._compared(session, request, cell)
        figures, outcomes = await self._figures(session, summary, request, names)
        return self.router.render(
            "wins.html",
            session,
            sums=sums_text(summary),
            is_empty=not summary["n_deals"],
            currencies=[one["currency"] for one in summary["currencies"]],
            currency=chosen["currency"] if chosen else "",
            figures=figures,
            outcomes=outcomes,
            cells=[
                (
                    place,
                    f"{each['category'].capitalize()}, {ROLE_NAMES[each['role']]}, "
                    f"{each['currency']}: {deals_text(each['n_deals'])}",
                )
                for place, each in enumerate(summary["cells"])
            ],
            cell=summary["cells"].index(cell) if cell else 0,
            period=_period(request),
            periods=PERIODS,
            compared=compared,
            wins=[win_row(win, names) for win in listed["items"]],
            cursor=listed["next_cursor"] or "",
            is_continued="cursor" in request.query_params,
            notice=_NOTICES.get(request.query_params.get("told", ""), ""),
            here="wins",
        )

    async def _figures(
        self, session: SignedInSession, summary: Mapping[str, Any], request: Request, names: Mapping[str, str]
    ) -> tuple[list[Figure], Figure | None]:
        chosen = _chosen(summary, request)
        outcomes = outcome_figure(await self.calls.run(session, "list_outcomes"))
        return savings_figures(chosen, names) if chosen else [], outcomes

    async def _compared(self, session: SignedInSession, request: Request, cell: Mapping[str, Any] | None) -> Any:
        if cell is None:
            return None
        asked = {name: cell[name] for name in ("category", "role", "currency")}
        members = {**asked, "period": _period(request)}
        return comparison(await self.calls.run(session, "get_benchmarks", members))

    async def table(self, request: Request, session: SignedInSession) -> Response:
        """All results as CSV, or with `of` the table behind one chart."""
        names, of = await self.calls.agent_names(session), request.query_params.get("of", "")
        if not of:
            rows = win_cells(await self.calls.every(session, "list_wins"), names)
        else:
            summary = await self.calls.run(session, "get_win_summary")
            figures, outcomes = await self._figures(session, summary, request, names)
            compared = await self._compared(session, request, _cell(summary, request))
            found = [*figures, outcomes, compared.figure if compared else None]
            figure = next((one for one in found if one and one.key == of), None)
            if figure is None:
                raise NotFound("There is no such table.")
            rows = figure.cells
        named = f'attachment; filename="{f"wins-{of}" if of else "wins"}.csv"'
        headers = {"content-disposition": named, "cache-control": "no-store"}
        return Response(csv_text(rows), media_type="text/csv; charset=utf-8", headers=headers)

    async def new(self, request: Request, session: SignedInSession) -> Response:
        """An empty form, or one filled in with what the `negotiation` of the query knows."""
        negotiation = request.query_params.get("negotiation", "")
        typed: dict[str, str] = {}
        if negotiation:
            typed = win_of_negotiation(await self.calls.run(session, "get_negotiation", {"id": negotiation}))
        return self._form_page(session, typed)

    async def record(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        del request
        body, faults = read_win_form(form)
        if faults:
            return self._form_page(session, form, faults=faults)
        known = {name: value for name, value in body.items() if value is not None}
        try:
            made = await self.calls.run(session, "record_win", known)
        except (Conflict, ValidationFailed) as refusal:
            return self._form_page(session, form, refusal=refusal)
        return self.router.pages.see(f"{WINS_PAGE_PATH}/{made['id']}?told=added")

    async def open(self, request: Request, session: SignedInSession) -> Response:
        """One result, with the form to change it."""
        win = await self.calls.run(session, "get_win", {"id": request.path_params["id"]})
        notice = _NOTICES.get(request.query_params.get("told", ""), "")
        row = win_row(win, await self.calls.agent_names(session))
        return self._form_page(session, typed_win(win), win=win, row=row, notice=notice)

    async def save(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Save what was typed; the day is sent only when it was changed, since a day has no hour."""
        member = {"id": request.path_params["id"]}
        win = await self.calls.run(session, "get_win", member)
        row = win_row(win, await self.calls.agent_names(session))
        body, faults = read_win_form(form)
        if faults:
            return self._form_page(session, form, win=win, row=row, faults=faults)
        if form.get("closed_at") == typed_win(win)["closed_at"]:
            del body["closed_at"]
        try:
            await self.calls.run(session, "edit_win", {**member, **body}, revision=read_revision(form))
        except (Conflict, PreconditionFailed, ValidationFailed) as refusal:
            return self._form_page(session, form, win=win, row=row, refusal=refusal)
        return self.router.pages.see(f"{WINS_PAGE_PATH}/{member['id']}?told=saved")

    async def delete(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Delete a result; without a script that let it be taken back, after a second question."""
        member = {"id": request.path_params["id"]}
        if form.get("sure") != "yes":
            win = await self.calls.run(session, "get_win", member)
            row = win_row(win, await self.calls.agent_names(session))
            return self.router.render("win_delete.html", session, row=row, here="wins")
        await self.calls.run(session, "delete_win", member)
        return self.router.pages.see(f"{WINS_PAGE_PATH}?told=deleted")

    def _form_page(
        self,
        session: SignedInSession,
        typed: Mapping[str, str],
        *,
        win: Mapping[str, Any] | None = None,
        row: Any = None,
        faults: Mapping[str, str] | None = None,
        refusal: Refusal | None = None,
        notice: str = "",
    ) -> Response:
        found = {**(faults or {}), **field_faults(refusal, FIELDS)}
        status = refusal.status if refusal else 422 if found else 200
        return self.router.render(
            "win.html",
            session,
            status,
            win=win,
            row=row,
            typed=typed,
            faults=found,
            refusal=refusal.description if refusal else "",
            notice=notice,
            roles=ROLES,
            baselines=BASELINES,
            usual_currencies=USUAL_CURRENCIES,
            currencies=[code for code in sorted(MINOR_UNITS) if code not in USUAL_CURRENCIES],
            here="wins",
        )


def _list_query(request: Request) -> Members:
    cursor = request.query_params.get("cursor")
    return {"limit": MAX_SHOWN, **({"cursor": cursor} if cursor else {})}


def _chosen(summary: Mapping[str, Any], request: Request) -> Mapping[str, Any] | None:
    """The currency of the query, else the one with the most deals; None without a deal."""
    every = summary["currencies"]
    asked = request.query_params.get("currency", "")
    return next((one for one in every if one["currency"] == asked), every[0] if every else None)


def _cell(summary: Mapping[str, Any], request: Request) -> Mapping[str, Any] | None:
    """The kind of deal at the place of the query, else the most frequent one; None without a deal."""
    cells, asked = summary["cells"], request.query_params.get("deals", "")
    place = read_whole(asked)
    return cells[place] if place < len(cells) else cells[0] if cells else None


def _period(request: Request) -> str:
    asked = request.query_params.get("period", "")
    return asked if asked in PERIODS else "all"
