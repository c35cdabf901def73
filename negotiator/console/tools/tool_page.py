"""`/tools/{slug}`: a tool with its evidence, how to install it, what to take instead; saving and reporting it."""

from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from negotiator.base.errors import Gone, NotFound, Refusal, ValidationFailed
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.open_pages import OpenPages, Reader
from negotiator.console.page_calls import Members
from negotiator.console.page_router import FormFields
from negotiator.console.tools import tool_view
from negotiator.directory.catalogue_pages import TOOL_PAGE_PATH, TOOLS_PAGE_PATH, tool_markdown
from negotiator.discovery.documents import HTML, negotiated_response

MOST_COLLECTIONS: Final = 100
NEW: Final = "new"
"""The choice of a collection that is made for the tool."""
_GONE: Final = {404: "There is no such tool", 410: "This tool was removed"}


@dataclass(frozen=True, slots=True)
class ToolPage:
    """The page of one tool, for everyone, and the forms of signed-in users."""

    pages: OpenPages

    def routes(self) -> list[Route]:
        form = self.pages.router.form
        return [
            self.pages.route(TOOL_PAGE_PATH, self.show),
            form(f"{TOOL_PAGE_PATH}/save", self.save, back=TOOLS_PAGE_PATH),
            form(f"{TOOL_PAGE_PATH}/report", self.report, back=TOOLS_PAGE_PATH),
        ]

    async def show(self, request: Request, reader: Reader) -> Response:
        key: str = request.path_params["slug"]
        try:
            tool = await self.pages.run(request, reader, "get_tool", {"id": key})
        except (NotFound, Gone) as refusal:
            return self._gone(refusal, reader)
        if key != tool["slug"]:
            place = f"{self.pages.site.root}{TOOLS_PAGE_PATH}/{tool['slug']}"
            return RedirectResponse(place, 301)
        page = await self._page(request, reader, tool)
        if reader is not None:
            return page
        markdown = tool_markdown(self.pages.site, tool)
        told = {name: value for name, value in page.headers.items() if name in _KEPT}
        if page.status_code == 200 and page.headers["content-type"] == HTML:
            return negotiated_response(request, bytes(page.body), markdown.encode(), told)
        return page

    async def save(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Put the tool into a collection, or into a new one."""
        tool, collection = await self._tool(request, session), form.get("collection", "")
        run = self.pages.calls.run
        try:
            if collection in ("", NEW):
                named = {"name": form.get("name", "").strip()}
                collection = (await run(session, "save_collection", named))["id"]
            members = {"id": collection, "tool_id": tool["id"]}
            if form.get("note", "").strip():
                members["note"] = form["note"].strip()
            await run(session, "put_in_collection", members)
        except Refusal as refusal:
            return await self._refused(request, session, tool, refusal, form, part="save")
        place = f"{TOOLS_PAGE_PATH}/{tool['slug']}?saved={collection}#save"
        return self.pages.router.pages.see(place)

    async def report(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Report a problem with the tool."""
        tool = await self._tool(request, session)
        members = {"id": tool["id"], "reason": form.get("reason", ""), "details": form.get("details", "").strip()}
        try:
            await self.pages.calls.run(session, "report_tool", members)
        except Refusal as refusal:
            return await self._refused(request, session, tool, refusal, form, part="report")
        return self.pages.router.pages.see(f"{TOOLS_PAGE_PATH}/{tool['slug']}?reported=1#report")

    async def _tool(self, request: Request, session: SignedInSession) -> Members:
        return await self.pages.calls.run(session, "get_tool", {"id": request.path_params["slug"]})

    async def _page(
        self,
        request: Request,
        reader: Reader,
        tool: Members,
        *,
        typed: FormFields | None = None,
        faults: dict[str, str] | None = None,
        status: int = 200,
    ) -> Response:
        others = await self.pages.run(request, reader, "list_alternatives", {"id": tool["id"]})
        collections: list[Members] = []
        if reader is not None:
            limit = {"limit": MOST_COLLECTIONS}
            collections = (await self.pages.calls.run(reader, "list_collections", limit))["items"]
        query = request.query_params
        return self.pages.render(
            request,
            reader,
            "tool.html",
            status=status,
            here="tools",
            tool=tool,
            words=tool_view,
            evidence={line["field"]: line for line in tool["evidence"]},
            facts=tool_view.tool_facts(tool),
            installs=tool_view.install_texts(tool),
            install_basis=tool_view.install_basis(tool),
            others=others["items"],
            collections=collections,
            saved=next((each for each in collections if each["id"] == query.get("saved")), None),
            reported="reported" in query,
            typed=typed or {},
            faults=faults or {},
        )

    async def _refused(
        self,
        request: Request,
        session: SignedInSession,
        tool: Members,
        refusal: Refusal,
        form: FormFields,
        *,
        part: str,
    ) -> Response:
        """The page with what was typed and the refusal at its form."""
        said = refusal.description
        if isinstance(refusal, ValidationFailed):
            said = " ".join(f"{_FIELDS.get(each.pointer, '')}{each.description}" for each in refusal.errors)
        return await self._page(request, session, tool, typed=form, faults={part: said}, status=refusal.status)

    def _gone(self, refusal: Refusal, reader: Reader) -> Response:
        return self.pages.refused(refusal, _GONE[refusal.status], reader)


_KEPT: Final = frozenset({"content-security-policy", "cache-control", "vary"})
_FIELDS: Final = {"/name": "The name: ", "/reason": "The reason: ", "/details": "What is wrong: "}
