"""The forms of a negotiation's page that record offers and answers to them."""

from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.page_router import FormFields
from negotiator.console.workspace_page import WORKSPACE_PATH, WorkspacePage

ISSUE_FIELD: Final = "issue:"


@dataclass(frozen=True, slots=True)
class WorkspaceOfferForms:
    """What a person records of the talk."""

    workspace: WorkspacePage

    def routes(self) -> list[Route]:
        form = self.workspace.router.form
        return [
            form(f"{WORKSPACE_PATH}/offers", self.record_offer, back="/"),
            form(f"{WORKSPACE_PATH}/accept", self.accept, back="/"),
        ]

    async def record_offer(
        self, request: Request, session: SignedInSession, form: FormFields
    ) -> Response:
        """Record an offer of either side; a refused one keeps what was typed."""
        package = {
            name.removeprefix(ISSUE_FIELD): value
            for name, value in form.items()
            if name.startswith(ISSUE_FIELD)
        }
        by, kind = form.get("by", ""), form.get("kind", "offer")
        members: dict[str, Any] = {"by": by, "kind": kind, "package": package}
        if form.get("rationale"):
            members["rationale"] = form["rationale"]
        act = self.workspace.act
        return await act(request, session, "record_offer", members, anchor="now", typed=form)

    async def accept(
        self, request: Request, session: SignedInSession, form: FormFields
    ) -> Response:
        """Accept an offer of the other side, or record that they accepted."""
        members = {
            "by": form.get("by", "me"),
            "kind": "acceptance",
            "in_reply_to": form.get("offer", ""),
        }
        return await self.workspace.act(request, session, "record_offer", members, anchor="now")
