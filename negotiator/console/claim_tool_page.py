"""`/tools/{slug}/claim`: a publisher proves that a tool is theirs by a file at its address."""

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.open_pages import OpenPages
from negotiator.console.page_router import FormFields
from negotiator.directory.catalogue_pages import TOOL_PAGE_PATH, TOOLS_PAGE_PATH
from negotiator.directory.tool_claims import claim_text
from negotiator.errors import Conflict, Forbidden, Refusal, TooManyRequests, Unavailable


@dataclass(frozen=True, slots=True)
class ClaimToolPage:
    """What to publish, and the button that checks it."""

    pages: OpenPages

    def routes(self) -> list[Route]:
        path = f"{TOOL_PAGE_PATH}/claim"
        return [
            self.pages.router.page(path, self.show),
            self.pages.router.form(path, self.check, back=TOOLS_PAGE_PATH),
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

    async def _page(
        self, request: Request, session: SignedInSession, refusal: Refusal | None = None
    ) -> Response:
        key: str = request.path_params["slug"]
        run = self.pages.calls.run
        tool = await run(session, "get_tool", {"id": key})
        claim, text, said = None, "", refusal.description if refusal else ""
        try:
            claim = await run(session, "request_tool_claim", {"id": key})
            text = claim_text(claim["file"])
        except Forbidden as impossible:
            said = impossible.description
        return self.pages.render(
            request,
            session,
            "claim_tool.html",
            status=refusal.status if refusal else 200,
            here="tools",
            tool=tool,
            claim=claim,
            text=text,
            said=said,
        )
