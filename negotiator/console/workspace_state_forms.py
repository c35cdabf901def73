"""The forms of a negotiation's page that move it between states, make its plan and decide what waits for approval."""

from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.page_router import FormFields
from negotiator.console.workspace_page import WORKSPACE_PATH, WorkspacePage


@dataclass(frozen=True, slots=True)
class WorkspaceStateForms:
    """How a person steers the negotiation."""

    workspace: WorkspacePage

    def routes(self) -> list[Route]:
        form = self.workspace.router.form
        return [
            form(f"{WORKSPACE_PATH}/state", self.move, back="/"),
            form(f"{WORKSPACE_PATH}/plan", self.make_plan, back="/"),
            form(f"{WORKSPACE_PATH}/approval", self.decide, back="/"),
        ]

    async def move(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Move the negotiation to another state."""
        members = {"to": form.get("to", "")} | (
            {"reason": form["reason"]} if form.get("reason") else {}
        )
        act = self.workspace.act
        return await act(request, session, "move_negotiation", members, anchor="history")

    async def make_plan(
        self, request: Request, session: SignedInSession, form: FormFields
    ) -> Response:
        del form
        return await self.workspace.act(request, session, "make_battle_plan", {}, anchor="plan")

    async def decide(
        self, request: Request, session: SignedInSession, form: FormFields
    ) -> Response:
        """Allow or refuse what waits for the user's approval."""
        allowed = form.get("decision") == "allow"
        members: dict[str, Any] = {"to": "active", "approved": allowed}
        if allowed:
            members["package_sha256"] = form.get("package", "")
        else:
            members["reason"] = form.get("reason") or "Refused on the page."
        return await self.workspace.act(request, session, "move_negotiation", members, anchor="now")
