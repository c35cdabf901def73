"""`/tools/submit`: a tool is read from its address, mended, sent; `/tools/{slug}/change`: a listed one is corrected."""

from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.base import values
from negotiator.base.errors import Refusal
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.open_pages import OpenPages
from negotiator.console.page_router import FormFields, FormSize
from negotiator.console.tools import submission_form
from negotiator.console.tools.submission_pages import SUBMISSION_PAGE_PATH
from negotiator.directory.catalogue_pages import TOOL_PAGE_PATH, TOOLS_PAGE_PATH

SUBMIT_PATH: Final = "/tools/submit"
READ_PATH: Final = "/tools/submit/address"
CHANGE_PATH: Final = f"{TOOL_PAGE_PATH}/change"
SIZE: Final = FormSize(24 * 1024, 40)


@dataclass(frozen=True, slots=True)
class SubmitToolPages:
    """The two forms that propose something to the directory."""

    pages: OpenPages

    def routes(self) -> list[Route]:
        page, form = self.pages.router.page, self.pages.router.form
        return [
            page(SUBMIT_PATH, self.show),
            form(READ_PATH, self.read, back=SUBMIT_PATH),
            form(SUBMIT_PATH, self.send, size=SIZE),
            page(CHANGE_PATH, self.show_change),
            form(CHANGE_PATH, self.send_change, back=TOOLS_PAGE_PATH, size=SIZE),
        ]

    async def show(self, request: Request, session: SignedInSession) -> Response:
        """The first step, or the empty form for a tool without an address."""
        if "form" in request.query_params:
            return self._form(request, session, submission_form.typed_of({}))
        return self._start(request, session)

    async def read(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Read the address and show the form filled with what it says."""
        address = form.get("address", "").strip()
        if address and "://" not in address:
            address = f"https://{address}"
        try:
            read = await self.pages.calls.run(session, "read_tool_address", {"url": address})
        except Refusal as refusal:
            said = "; ".join(submission_form.faults_of(refusal).values())
            return self._start(request, session, address, said, refusal.status)
        typed = submission_form.typed_of({"homepage_url": address, **read["draft"]})
        if read["draft"].get("repository"):
            typed["homepage_url"] = ""
        return self._form(request, session, typed, sources=read["sources"])

    async def send(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Submit the tool; a refused form keeps what was typed."""
        members = submission_form.members_of(form)
        try:
            sent = await self.pages.calls.run(session, "submit_tool", members, key=form.get("once") or None)
        except Refusal as refusal:
            return self._form(request, session, form, refusal=refusal)
        return self.pages.router.pages.see(SUBMISSION_PAGE_PATH.format(id=sent["id"]))

    async def show_change(self, request: Request, session: SignedInSession) -> Response:
        tool = await self._tool(request, session)
        return self._form(request, session, submission_form.typed_of(tool), tool=tool)

    async def send_change(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Propose what differs from the tool as it is listed."""
        tool = await self._tool(request, session)
        patch = submission_form.changed_members(tool, form)
        if not patch:
            return self._form(request, session, form, tool=tool, said="Nothing was changed yet.")
        try:
            sent = await self.pages.calls.run(
                session, "request_update", {"id": tool["id"], **patch}, revision=tool["revision"]
            )
        except Refusal as refusal:
            return self._form(request, session, form, tool=tool, refusal=refusal)
        return self.pages.router.pages.see(SUBMISSION_PAGE_PATH.format(id=sent["id"]))

    async def _tool(self, request: Request, session: SignedInSession) -> dict[str, Any]:
        return await self.pages.calls.run(session, "get_tool", {"id": request.path_params["slug"]})

    def _start(
        self, request: Request, session: SignedInSession, address: str = "", said: str = "", status: int = 200
    ) -> Response:
        return self.pages.render(
            request, session, "submit_tool.html", status=status, here="tools", address=address, said=said
        )

    def _form(
        self,
        request: Request,
        session: SignedInSession,
        typed: submission_form.Typed,
        *,
        sources: list[dict[str, Any]] | None = None,
        tool: dict[str, Any] | None = None,
        refusal: Refusal | None = None,
        said: str = "",
    ) -> Response:
        faults = submission_form.faults_of(refusal) if refusal else {}
        existing: dict[str, Any] = refusal.members.get("existing", {}) if refusal else {}
        status = refusal.status if refusal else 422 if said else 200
        return self.pages.render(
            request,
            session,
            "tool_form.html",
            status=status,
            here="tools",
            typed={**submission_form.typed_of({}), **typed},
            choices=submission_form.CHOICES,
            sources=sources,
            read_something=any(source["states"] for source in sources or ()),
            tool=tool,
            submission=None,
            existing=existing,
            faults=faults,
            said=said or faults.get("", ""),
            once=typed.get("once") or values.new_secret(),
        )
