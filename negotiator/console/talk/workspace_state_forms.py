"""The forms of a negotiation's page that steer it: its states, its plan, what waits for approval, and its win."""

from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.base.errors import Conflict, ValidationFailed
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.negotiation_words import NegotiationWords
from negotiator.console.page_router import FormFields
from negotiator.console.talk.heard_offers import offers_as_said
from negotiator.console.talk.workspace_end import win_members
from negotiator.console.talk.workspace_history import TalkSoFar
from negotiator.console.talk.workspace_page import MAX_OFFERS, WORKSPACE_PATH, RefusedForm, WorkspacePage
from negotiator.console.talk.workspace_plan import PlanVersionsPage


@dataclass(frozen=True, slots=True)
class WorkspaceStateForms:
    """How a person steers the negotiation."""

    workspace: WorkspacePage

    def routes(self) -> list[Route]:
        form, plan = self.workspace.router.form, f"{WORKSPACE_PATH}/plan"
        return [
            form(f"{WORKSPACE_PATH}/state", self.move, back="/"),
            form(plan, self.make_plan, back="/"),
            form(f"{WORKSPACE_PATH}/approval", self.decide, back="/"),
            form(f"{WORKSPACE_PATH}/win", self.record_win, back="/"),
            *PlanVersionsPage(self.workspace.router, self.workspace.calls, plan).routes(),
        ]

    async def move(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Move the negotiation to another state; what was learned is remembered."""
        names = ("to", "reason", "offer_id")
        members = {name: form[name] for name in names if form.get(name)}
        act = self.workspace.act
        answer = await act(request, session, "move_negotiation", members, anchor="end", typed=form)
        if answer.status_code < 400 and form.get("lesson", "").strip():
            await self._remember(session, request.path_params["id"], form["lesson"])
        return answer

    async def make_plan(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        del form
        return await self.workspace.act(request, session, "make_battle_plan", {}, anchor="plan")

    async def decide(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Allow or refuse what waits for the user's approval."""
        members: dict[str, Any] = {"to": "active", "approved": form.get("decision") == "allow"}
        members |= {name: form[name] for name in ("package_sha256", "reason") if form.get(name, "").strip()}
        act = self.workspace.act
        return await act(request, session, "move_negotiation", members, anchor="now", typed=form)

    async def record_win(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Show what the figures come to, or keep the record and close the negotiation as won."""
        negotiation: str = request.path_params["id"]
        run, named = self.workspace.calls.run, {"id": request.path_params["id"]}
        view = await run(session, "get_negotiation", named)
        if view["state"] not in {"agreed", "won"}:
            raise Conflict("Only an agreed negotiation has a record of what it brought.")
        found = await run(session, "list_offers", {**named, "limit": MAX_OFFERS})
        offers = offers_as_said(found["items"])
        members = win_members(view, TalkSoFar(offers, NegotiationWords.of(view)), form)
        is_kept = form.get("do") == "save"
        if not is_kept or members is None:
            shown = RefusedForm("win", form, unread=is_kept)
            return await self.workspace.page(request, session, refused=shown)
        try:
            await run(session, "record_win", members)
        except (Conflict, ValidationFailed) as refusal:
            other = RefusedForm("other", form, refusal=refusal)
            return await self.workspace.page(request, session, refused=other)
        if form.get("lesson", "").strip():
            await self._remember(session, negotiation, form["lesson"])
        if view["state"] == "agreed":
            await run(session, "move_negotiation", {**named, "to": "won"})
        return self.workspace.router.pages.see(f"/negotiations/{negotiation}#end")

    async def _remember(self, session: SignedInSession, negotiation: str, lesson: str) -> None:
        """Keep what was learned as a memory about the other side; what is known already is not stored twice."""
        run = self.workspace.calls.run
        view = await run(session, "get_negotiation", {"id": negotiation})
        party: dict[str, Any] = view["counterparty"] or {}
        members = {
            "text": lesson.strip(),
            "kind": "lesson",
            "category": view["category"],
            "counterparty": party.get("organisation") or party.get("name"),
            "negotiation_id": negotiation,
        }
        await run(session, "remember", {name: value for name, value in members.items() if value})
