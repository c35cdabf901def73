"""`/tools/{slug}/claim` and `/tools/submissions/{id}/claim`: a publisher proves that a tool is theirs by a file."""

from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.base.errors import Conflict, Forbidden, Refusal, TooManyRequests, Unavailable
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.open_pages import OpenPages
from negotiator.console.page_router import FormFields
from negotiator.console.tools.submission_pages import SUBMISSION_PAGE_PATH, SUBMISSIONS_PAGE_PATH
from negotiator.directory.catalogue_pages import TOOL_PAGE_PATH, TOOLS_PAGE_PATH
from negotiator.directory.claims import claim_text

_FOUND: Final = "Your file was found, but it does not settle everything."
_NO_HOME: Final = "not_claimable"


@dataclass(frozen=True, slots=True)
class ClaimToolPage:
    """What to publish, and the button that checks it."""

    pages: OpenPages

    def routes(self) -> list[Route]:
        page, form = self.pages.router.page, self.pages.router.form
        listed, sent = f"{TOOL_PAGE_PATH}/claim", f"{SUBMISSION_PAGE_PATH}/claim"
        return [
            page(sent, self.show_sent),
            form(sent, self.check_sent, back=SUBMISSIONS_PAGE_PATH),
            page(listed, self.show),
            form(listed, self.check, back=TOOLS_PAGE_PATH),
            form(f"{listed}/ask", self.ask, back=TOOLS_PAGE_PATH),
        ]

    async def show(self, request: Request, session: SignedInSession) -> Response:
        return await self._page(request, session)

    async def check(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Read the file; a claim that does not stand says why, with the file still to be seen."""
        del form
        key: str = request.path_params["slug"]
        try:
            found = await self.pages.calls.run(session, "complete_tool_claim", {"id": key})
        except (Conflict, Forbidden, TooManyRequests, Unavailable) as refusal:
            return await self._page(request, session, refusal)
        return self.pages.router.pages.see(f"{TOOLS_PAGE_PATH}/{found['slug']}")

    async def ask(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Ask the moderators to decide what the file does not settle, by a change without a change."""
        del form
        key: str = request.path_params["slug"]
        run = self.pages.calls.run
        tool = await run(session, "get_tool", {"id": key})
        try:
            sent = await run(session, "request_update", {"id": key}, revision=tool["revision"])
        except (Conflict, TooManyRequests) as refusal:
            return await self._page(request, session, refusal)
        return self.pages.router.pages.see(SUBMISSION_PAGE_PATH.format(id=sent["id"]))

    async def show_sent(self, request: Request, session: SignedInSession) -> Response:
        return await self._sent_page(request, session)

    async def check_sent(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Read the file for a submission that waits."""
        del form
        key: str = request.path_params["id"]
        try:
            await self.pages.calls.run(session, "complete_submission_claim", {"id": key})
        except (Conflict, Forbidden, TooManyRequests, Unavailable) as refusal:
            return await self._sent_page(request, session, refusal)
        return self.pages.router.pages.see(SUBMISSION_PAGE_PATH.format(id=key))

    async def _page(self, request: Request, session: SignedInSession, refusal: Refusal | None = None) -> Response:
        key: str = request.path_params["slug"]
        tool = await self.pages.calls.run(session, "get_tool", {"id": key})
        place = f"{TOOLS_PAGE_PATH}/{tool['slug']}"
        return await self._render(
            request,
            session,
            "request_tool_claim",
            key,
            refusal,
            name=tool["name"],
            trail=(tool["name"], place),
            place=place,
        )

    async def _sent_page(self, request: Request, session: SignedInSession, refusal: Refusal | None = None) -> Response:
        key: str = request.path_params["id"]
        view = await self.pages.calls.run(session, "get_submission", {"id": key})
        return await self._render(
            request,
            session,
            "request_submission_claim",
            key,
            refusal,
            name=view["proposed"].get("name") or "The tool",
            trail=("What you sent", SUBMISSION_PAGE_PATH.format(id=key)),
            place=SUBMISSION_PAGE_PATH.format(id=key),
        )

    async def _render(
        self,
        request: Request,
        session: SignedInSession,
        operation: str,
        key: str,
        refusal: Refusal | None,
        **context: Any,
    ) -> Response:
        claim, text, said = dict[str, Any](), "", refusal.description if refusal else ""
        if refusal and "obstacles" in refusal.members:
            said = _FOUND
        is_homeless = False
        try:
            claim = await self.pages.calls.run(session, operation, {"id": key})
            text = claim_text(claim["file"])
        except (Conflict, Forbidden) as impossible:
            said = said or impossible.description
            is_homeless = impossible.error == _NO_HOME
        return self.pages.render(
            request,
            session,
            "claim_tool.html",
            status=refusal.status if refusal else 200,
            here="tools",
            claim=claim,
            text=text,
            said=said,
            obstacles=claim.get("obstacles", ()),
            waits="submission_id" in claim,
            is_homeless=is_homeless,
            **context,
        )
