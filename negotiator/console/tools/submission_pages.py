"""A tool is sent to the directory or claimed here; `/tools/submissions` shows what was sent, its state and reasons."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.base import values
from negotiator.base.errors import Conflict, Forbidden, Gone, NotFound, Refusal, TooManyRequests, Unavailable
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.open_pages import OpenPages
from negotiator.console.page_calls import Members
from negotiator.console.page_router import FormFields, FormSize
from negotiator.console.tools import submission_form, tool_view
from negotiator.directory.catalogue_pages import TOOL_PAGE_PATH, TOOLS_PAGE_PATH
from negotiator.directory.claims import claim_text
from negotiator.directory.schemas_submissions import SubmissionView

SUBMISSIONS_PAGE_PATH: Final = "/tools/submissions"
SUBMISSION_PAGE_PATH: Final = "/tools/submissions/{id}"
SUBMIT_PATH: Final = "/tools/submit"
READ_PATH: Final = "/tools/submit/address"
CHANGE_PATH: Final = f"{TOOL_PAGE_PATH}/change"
_SHOWN: Final = 50
_SIZE: Final = FormSize(24 * 1024, 40)


@dataclass(frozen=True, slots=True)
class SubmissionPages:
    """The forms that propose something to the directory, and the user's own submissions."""

    pages: OpenPages

    def routes(self) -> list[Route]:
        page, form = self.pages.router.page, self.pages.router.form
        one, back = SUBMISSION_PAGE_PATH, SUBMISSIONS_PAGE_PATH
        return [
            page(SUBMIT_PATH, self.start),
            form(READ_PATH, self.read, back=SUBMIT_PATH),
            form(SUBMIT_PATH, self.send, size=_SIZE),
            page(CHANGE_PATH, self.show_correction),
            form(CHANGE_PATH, self.send_correction, back=TOOLS_PAGE_PATH, size=_SIZE),
            page(SUBMISSIONS_PAGE_PATH, self.show_all),
            page(one, self.show),
            page(f"{one}/change", self.show_change),
            form(f"{one}/change", self.change, back=back, size=_SIZE),
            form(f"{one}/withdraw", self.withdraw, back=back),
            form(f"{one}/appeal", self.appeal, back=back),
        ]

    async def show_all(self, request: Request, session: SignedInSession) -> Response:
        run = self.pages.calls.run
        found = (await run(session, "list_submissions", {"limit": _SHOWN}))["items"]
        return self.pages.render(request, session, "submissions.html", here="tools", submissions=found)

    async def show(self, request: Request, session: SignedInSession) -> Response:
        return await self._one(request, session)

    async def withdraw(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        del form
        return await self._act(request, session, "withdraw_submission", {})

    async def appeal(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        message = form.get("message", "").replace("\r\n", "\n").strip()
        return await self._act(request, session, "appeal_submission", {"message": message})

    async def show_change(self, request: Request, session: SignedInSession) -> Response:
        view = await self._view(request, session)
        before = await self._before(session, view)
        return self._form(request, session, submission_form.typed_of(before), submission=view)

    async def change(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Send the submission again with what was mended."""
        view = await self._view(request, session)
        patch = submission_form.changed_members(await self._before(session, view), form)
        if not patch:
            return self._form(request, session, form, submission=view, said="Nothing was changed yet.")
        try:
            await self.pages.calls.run(
                session, "change_submission", {"id": view["id"], **patch}, revision=view["revision"]
            )
        except Refusal as refusal:
            return self._form(request, session, form, submission=view, refusal=refusal)
        return self.pages.router.pages.see(SUBMISSION_PAGE_PATH.format(id=view["id"]))

    async def _act(self, request: Request, session: SignedInSession, operation: str, members: Members) -> Response:
        key: str = request.path_params["id"]
        try:
            await self.pages.calls.run(session, operation, {"id": key, **members})
        except NotFound:
            raise
        except Refusal as refusal:
            return await self._one(request, session, refusal=refusal, message=members.get("message", ""))
        return self.pages.router.pages.see(SUBMISSION_PAGE_PATH.format(id=key))

    async def _view(self, request: Request, session: SignedInSession) -> SubmissionView:
        key: str = request.path_params["id"]
        return cast(SubmissionView, await self.pages.calls.run(session, "get_submission", {"id": key}))

    async def _current(self, session: SignedInSession, view: SubmissionView) -> Members | None:
        """The tool that a correction is about, as it is listed."""
        if view["type"] == "create" or not view["tool"]:
            return None
        try:
            return await self.pages.calls.run(session, "get_tool", {"id": view["tool"]["id"]})
        except Gone:
            return None

    async def _before(self, session: SignedInSession, view: SubmissionView) -> Members:
        """The draft as it was sent last."""
        return {**(await self._current(session, view) or {}), **view["proposed"]}

    async def _one(
        self, request: Request, session: SignedInSession, *, refusal: Refusal | None = None, message: str = ""
    ) -> Response:
        view = await self._view(request, session)
        current = await self._current(session, view)
        faults = submission_form.faults_of(refusal) if refusal else {}
        return self.pages.render(
            request,
            session,
            "submission.html",
            status=refusal.status if refusal else 200,
            here="tools",
            view=view,
            current=current,
            reasons=submission_form.REASONS,
            finding=submission_form.finding,
            facts=submission_form.proposed_facts(view, current),
            message=message,
            said=faults.get("message") or " ".join(faults.values()),
        )

    async def start(self, request: Request, session: SignedInSession) -> Response:
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

    async def show_correction(self, request: Request, session: SignedInSession) -> Response:
        tool = await self._tool(request, session)
        return self._form(request, session, submission_form.typed_of(tool), tool=tool)

    async def send_correction(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
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

    async def _tool(self, request: Request, session: SignedInSession) -> Members:
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
        typed: Mapping[str, str],
        *,
        sources: list[Members] | None = None,
        tool: Members | None = None,
        submission: SubmissionView | None = None,
        refusal: Refusal | None = None,
        said: str = "",
    ) -> Response:
        """The form of a new tool, of a correction to `tool`, or of a `submission` that is mended."""
        faults = submission_form.faults_of(refusal) if refusal else {}
        return self.pages.render(
            request,
            session,
            "tool_form.html",
            status=refusal.status if refusal else 422 if said else 200,
            here="tools",
            typed={**submission_form.typed_of({}), **typed},
            words=tool_view,
            sources=sources,
            tool=tool,
            submission=submission,
            existing=refusal.members.get("existing", {}) if refusal else {},
            faults=faults,
            said=said or faults.get("", ""),
            once="" if submission else typed.get("once") or values.new_secret(),
        )


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
        claim, text, said = Members(), "", refusal.description if refusal else ""
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
            is_homeless=is_homeless,
            **context,
        )
