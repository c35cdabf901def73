"""A tool is sent to the directory or claimed here; `/tools/submissions` shows what was sent, its state and reasons."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.base import values
from negotiator.base.errors import Conflict, Forbidden, Gone
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.form_fields import FormField, FormTable, field_finder, fill_fields, read_fields
from negotiator.console.negotiation_words import table
from negotiator.console.page_calls import Members, OpenPages
from negotiator.console.page_router import NO_FORM, FormFields, FormSize, RefusedForm, UnreadFields
from negotiator.console.tools import tool_view
from negotiator.directory.catalogue_pages import TOOL_PAGE_PATH, TOOLS_PAGE_PATH
from negotiator.directory.claims import claim_text
from negotiator.directory.schemas_submissions import SubmissionView

Typed = Mapping[str, str]
FIELDS: Final[FormTable] = {
    **{
        name: FormField(name)
        for name in (
            *("name", "summary", "description", "homepage_url", "docs_url", "licence", "version"),
            *("kind", "category"),
        )
    },
    "tags": FormField("tags", "tags"),
    "repository": FormField("repository/url"),
    "auth": FormField("auth/type", unknown="unknown"),
    "pricing": FormField("pricing/model", unknown="unknown"),
    "open_source": FormField("open_source", "truth"),
    "publisher_name": FormField("publisher/name"),
    "publisher_domain": FormField("publisher/domain"),
    "interface_type": FormField("interfaces/0/type"),
    "interface_url": FormField("interfaces/0/url"),
    "registry": FormField("packages/0/registry", blank=""),
    "package": FormField("packages/0/identifier", blank=""),
}


FIELD_OF: Final = field_finder(FIELDS)


def typed_of(draft: Members) -> dict[str, str]:
    """A draft or a record as the fields of the form; of several interfaces and packages the first."""
    return fill_fields(draft, FIELDS)


def members_of(typed: Typed) -> Members:
    """The members of a draft that the form states; empty fields are left out."""
    members = {name: value for name, value in read_fields(typed, FIELDS).items() if value not in (None, [])}
    for interface in members.get("interfaces", ()):
        interface["type"] = interface["type"] or _likely_type(interface["url"] or "")
    return members


def _likely_type(address: str) -> str:
    """The type of interface that an address without one suggests."""
    parts = urlsplit(address)
    if parts.path.rstrip("/").endswith("/sse"):
        return "sse"
    return "streamable-http" if re.search(r"\bmcp\b", f"{parts.netloc}{parts.path}") else "rest"


def changed_members(before: Members, typed: Typed) -> Members:
    """A merge patch: the members that the form states differently from the draft that it was filled with.

    A field that the form shows only a part of, such as the first of three packages, is named only when it was changed.
    """
    shown, stated = members_of(typed_of(before)), members_of(typed)
    return {name: stated.get(name) for name in shown.keys() | stated.keys() if shown.get(name) != stated.get(name)}


REASONS: Final = table("rejection_reasons")
NOTHING: Final = "not known"
_TOOL_ID: Final = re.compile(r"tool_[a-z0-9]{26}")


def proposed_facts(view: SubmissionView, current: Members | None) -> list[tuple[str, str, str]]:
    """What the submission states: the name of each member, its value in the directory now, and the proposed one."""
    before = current or {}
    return [
        (
            tool_view.FACT_NAMES.get(name, name.replace("_", " ")),
            tool_view.value_text(name, before.get(name)) or NOTHING,
            tool_view.value_text(name, value) or NOTHING,
        )
        for name, value in view["proposed"].items()
        if current or tool_view.value_text(name, value)
    ]


def finding(found: Members, similar: Sequence[Members]) -> str:
    """What a check found; a tool is called by its address on the pages, never by its id."""
    member, said = found["pointer"].removeprefix("/").partition("/")[0], found["description"]
    for tool in similar:
        said = said.replace(tool["id"], tool["slug"].replace("-", " "))
    return f"{tool_view.FACT_NAMES.get(member, member)}: {_TOOL_ID.sub('another tool', said)}"


SUBMISSIONS_PAGE_PATH: Final = "/tools/submissions"
SUBMISSION_PAGE_PATH: Final = "/tools/submissions/{id}"
SUBMIT_PATH: Final = "/tools/submit"
READ_PATH: Final = "/tools/submit/address"
CHANGE_PATH: Final = f"{TOOL_PAGE_PATH}/change"
_SHOWN: Final = 50
_UNCHANGED: Final = "Nothing was changed yet."
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
            form(READ_PATH, self.read, again=self.start, back=SUBMIT_PATH),
            form(SUBMIT_PATH, self.send, again=self.form, size=_SIZE),
            page(CHANGE_PATH, self.correction),
            form(CHANGE_PATH, self.send_correction, again=self.correction, back=TOOLS_PAGE_PATH, size=_SIZE),
            page(SUBMISSIONS_PAGE_PATH, self.show_all),
            page(one, self.show),
            page(f"{one}/change", self.mending),
            form(f"{one}/change", self.change, again=self.mending, back=back, size=_SIZE),
            form(f"{one}/withdraw", self.withdraw, again=self.show, back=back),
            form(f"{one}/appeal", self.appeal, again=self.show, back=back),
        ]

    async def show_all(self, request: Request, session: SignedInSession) -> Response:
        run = self.pages.calls.run
        found = (await run(session, "list_submissions", {"limit": _SHOWN}))["items"]
        return self.pages.render(request, session, "submissions.html", here="tools", submissions=found)

    async def withdraw(self, request: Request, session: SignedInSession, _form: FormFields) -> Response:
        return await self._act(request, session, "withdraw_submission", {})

    async def appeal(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        message = form.get("message", "").replace("\r\n", "\n").strip()
        return await self._act(request, session, "appeal_submission", {"message": message})

    async def mending(self, request: Request, session: SignedInSession, form: RefusedForm = NO_FORM) -> Response:
        """The form of a submission that is mended."""
        view = await self._view(request, session)
        shown = form.typed or typed_of(await self._before(session, view))
        return await self.form(request, session, replace(form, typed=shown), submission=view)

    async def change(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Send the submission again with what was mended."""
        view = await self._view(request, session)
        patch = changed_members(await self._before(session, view), form)
        if not patch:
            raise UnreadFields({"": _UNCHANGED})
        await self.pages.calls.run(session, "change_submission", {"id": view["id"], **patch}, revision=view["revision"])
        return self.pages.router.pages.see(SUBMISSION_PAGE_PATH.format(id=view["id"]))

    async def _act(self, request: Request, session: SignedInSession, operation: str, members: Members) -> Response:
        key: str = request.path_params["id"]
        await self.pages.calls.run(session, operation, {"id": key, **members})
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

    async def show(self, request: Request, session: SignedInSession, form: RefusedForm = NO_FORM) -> Response:
        view = await self._view(request, session)
        current = await self._current(session, view)
        faults = form.faults(FIELD_OF)
        return self.pages.render(
            request,
            session,
            "submission.html",
            status=form.status,
            here="tools",
            view=view,
            current=current,
            reasons=REASONS,
            finding=finding,
            facts=proposed_facts(view, current),
            message=form.typed.get("message", ""),
            said=faults.get("message") or " ".join(faults.values()),
        )

    async def start(self, request: Request, session: SignedInSession, form: RefusedForm = NO_FORM) -> Response:
        """The first step, or the empty form for a tool without an address."""
        if "form" in request.query_params:
            return await self.form(request, session)
        return self.pages.render(
            request,
            session,
            "submit_tool.html",
            status=form.status,
            here="tools",
            address=_address(form.typed),
            said="; ".join(form.faults().values()),
        )

    async def read(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Read the address and show the form filled with what it says."""
        address = _address(form)
        read = await self.pages.calls.run(session, "read_tool_address", {"url": address})
        typed = typed_of({"homepage_url": address, **read["draft"]})
        if read["draft"].get("repository"):
            typed["homepage_url"] = ""
        return await self.form(request, session, RefusedForm(typed=typed), sources=read["sources"])

    async def send(self, _request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Submit the tool."""
        sent = await self.pages.calls.run(session, "submit_tool", members_of(form), key=form.get("once") or None)
        return self.pages.router.pages.see(SUBMISSION_PAGE_PATH.format(id=sent["id"]))

    async def correction(self, request: Request, session: SignedInSession, form: RefusedForm = NO_FORM) -> Response:
        """The form of a correction to a tool."""
        tool = await self._tool(request, session)
        return await self.form(request, session, replace(form, typed=form.typed or typed_of(tool)), tool=tool)

    async def send_correction(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Propose what differs from the tool as it is listed."""
        tool = await self._tool(request, session)
        patch = changed_members(tool, form)
        if not patch:
            raise UnreadFields({"": _UNCHANGED})
        sent = await self.pages.calls.run(
            session, "request_update", {"id": tool["id"], **patch}, revision=tool["revision"]
        )
        return self.pages.router.pages.see(SUBMISSION_PAGE_PATH.format(id=sent["id"]))

    async def _tool(self, request: Request, session: SignedInSession) -> Members:
        return await self.pages.calls.run(session, "get_tool", {"id": request.path_params["slug"]})

    async def form(
        self,
        request: Request,
        session: SignedInSession,
        form: RefusedForm = NO_FORM,
        *,
        sources: list[Members] | None = None,
        tool: Members | None = None,
        submission: SubmissionView | None = None,
    ) -> Response:
        """The form of a new tool, of a correction to `tool`, or of a `submission` that is mended."""
        faults = form.faults(FIELD_OF)
        return self.pages.render(
            request,
            session,
            "tool_form.html",
            status=form.status,
            here="tools",
            typed={**typed_of({}), **form.typed},
            words=tool_view,
            sources=sources,
            tool=tool,
            submission=submission,
            existing=form.refusal.members.get("existing", {}) if form.refusal else {},
            faults=faults,
            said=faults.get("", ""),
            once="" if submission else form.typed.get("once") or values.new_secret(),
        )


def _address(form: Mapping[str, str]) -> str:
    """What was typed as the tool's address, by https unless it says otherwise."""
    address = form.get("address", "").strip()
    return f"https://{address}" if address and "://" not in address else address


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
            form(sent, self.check_sent, again=self.show_sent, back=SUBMISSIONS_PAGE_PATH),
            page(listed, self.show),
            form(listed, self.check, again=self.show, back=TOOLS_PAGE_PATH),
            form(f"{listed}/ask", self.ask, again=self.show, back=TOOLS_PAGE_PATH),
        ]

    async def check(self, request: Request, session: SignedInSession, _form: FormFields) -> Response:
        """Read the file; a claim that does not stand says why, with the file still to be seen."""
        found = await self.pages.calls.run(session, "complete_tool_claim", {"id": request.path_params["slug"]})
        return self.pages.router.pages.see(f"{TOOLS_PAGE_PATH}/{found['slug']}")

    async def ask(self, request: Request, session: SignedInSession, _form: FormFields) -> Response:
        """Ask the moderators to decide what the file does not settle, by a change without a change."""
        key: str = request.path_params["slug"]
        run = self.pages.calls.run
        tool = await run(session, "get_tool", {"id": key})
        sent = await run(session, "request_update", {"id": key}, revision=tool["revision"])
        return self.pages.router.pages.see(SUBMISSION_PAGE_PATH.format(id=sent["id"]))

    async def check_sent(self, request: Request, session: SignedInSession, _form: FormFields) -> Response:
        """Read the file for a submission that waits."""
        key: str = request.path_params["id"]
        await self.pages.calls.run(session, "complete_submission_claim", {"id": key})
        return self.pages.router.pages.see(SUBMISSION_PAGE_PATH.format(id=key))

    async def show(self, request: Request, session: SignedInSession, form: RefusedForm = NO_FORM) -> Response:
        key: str = request.path_params["slug"]
        tool = await self.pages.calls.run(session, "get_tool", {"id": key})
        place = f"{TOOLS_PAGE_PATH}/{tool['slug']}"
        return await self._render(
            request,
            session,
            "request_tool_claim",
            key,
            form,
            name=tool["name"],
            trail=(tool["name"], place),
            place=place,
        )

    async def show_sent(self, request: Request, session: SignedInSession, form: RefusedForm = NO_FORM) -> Response:
        key: str = request.path_params["id"]
        view = await self.pages.calls.run(session, "get_submission", {"id": key})
        return await self._render(
            request,
            session,
            "request_submission_claim",
            key,
            form,
            name=view["proposed"].get("name") or "The tool",
            trail=("What you sent", SUBMISSION_PAGE_PATH.format(id=key)),
            place=SUBMISSION_PAGE_PATH.format(id=key),
        )

    async def _render(
        self, request: Request, session: SignedInSession, operation: str, key: str, form: RefusedForm, **context: Any
    ) -> Response:
        claim, text, said = Members(), "", form.said
        if form.refusal and "obstacles" in form.refusal.members:
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
            status=form.status,
            here="tools",
            claim=claim,
            text=text,
            said=said,
            is_homeless=is_homeless,
            **context,
        )
