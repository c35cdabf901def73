"""`/tools/submissions`: what a user sent to the directory, its state, the reasons, and what they may do next."""

from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.base.errors import Gone, NotFound, Refusal
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.open_pages import OpenPages
from negotiator.console.page_router import FormFields, FormSize
from negotiator.console.tools import submission_form, submission_words

SUBMISSIONS_PAGE_PATH: Final = "/tools/submissions"
SUBMISSION_PAGE_PATH: Final = "/tools/submissions/{id}"
_SHOWN: Final = 50
_SIZE: Final = FormSize(24 * 1024, 40)


@dataclass(frozen=True, slots=True)
class SubmissionPages:
    """The user's own submissions."""

    pages: OpenPages

    def routes(self) -> list[Route]:
        page, form = self.pages.router.page, self.pages.router.form
        one, back = SUBMISSION_PAGE_PATH, SUBMISSIONS_PAGE_PATH
        return [
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
        return self.pages.render(
            request,
            session,
            "submissions.html",
            here="tools",
            submissions=[submission_words.shown_submission(view) for view in found],
        )

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
        return self._form(request, session, view, submission_form.typed_of(before))

    async def change(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Send the submission again with what was mended."""
        view = await self._view(request, session)
        patch = submission_form.changed_members(await self._before(session, view), form)
        if not patch:
            return self._form(request, session, view, form, said="Nothing was changed yet.")
        try:
            await self.pages.calls.run(
                session, "change_submission", {"id": view["id"], **patch}, revision=view["revision"]
            )
        except Refusal as refusal:
            return self._form(request, session, view, form, refusal=refusal)
        return self.pages.router.pages.see(SUBMISSION_PAGE_PATH.format(id=view["id"]))

    async def _act(
        self, request: Request, session: SignedInSession, operation: str, members: dict[str, Any]
    ) -> Response:
        key: str = request.path_params["id"]
        try:
            await self.pages.calls.run(session, operation, {"id": key, **members})
        except NotFound:
            raise
        except Refusal as refusal:
            return await self._one(request, session, refusal=refusal, message=members)
        return self.pages.router.pages.see(SUBMISSION_PAGE_PATH.format(id=key))

    async def _view(self, request: Request, session: SignedInSession) -> dict[str, Any]:
        key: str = request.path_params["id"]
        return await self.pages.calls.run(session, "get_submission", {"id": key})

    async def _current(self, session: SignedInSession, view: dict[str, Any]) -> dict[str, Any] | None:
        """The tool that a correction is about, as it is listed."""
        if view["type"] == "create" or not view["tool"]:
            return None
        try:
            return await self.pages.calls.run(session, "get_tool", {"id": view["tool"]["id"]})
        except Gone:
            return None

    async def _before(self, session: SignedInSession, view: dict[str, Any]) -> dict[str, Any]:
        """The draft as it was sent last."""
        return {**(await self._current(session, view) or {}), **view["proposed"]}

    async def _one(
        self,
        request: Request,
        session: SignedInSession,
        *,
        refusal: Refusal | None = None,
        message: dict[str, Any] | None = None,
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
            shown=submission_words.shown_submission(view, current["name"] if current else ""),
            next_step=submission_form.WHAT_NEXT[view["status"]],
            reason=submission_form.REASONS.get(view["reason_code"] or "", ""),
            checks=submission_words.shown_checks(view),
            facts=submission_words.proposed_facts(view, current),
            message=(message or {}).get("message", ""),
            said=faults.get("message") or " ".join(faults.values()),
        )

    def _form(
        self,
        request: Request,
        session: SignedInSession,
        view: dict[str, Any],
        typed: submission_form.Typed,
        *,
        refusal: Refusal | None = None,
        said: str = "",
    ) -> Response:
        faults = submission_form.faults_of(refusal) if refusal else {}
        return self.pages.render(
            request,
            session,
            "tool_form.html",
            status=refusal.status if refusal else 422 if said else 200,
            here="tools",
            typed={**submission_form.typed_of({}), **typed},
            choices=submission_form.CHOICES,
            sources=None,
            read_something=False,
            tool=None,
            submission=view,
            existing=refusal.members.get("existing", {}) if refusal else {},
            faults=faults,
            said=said or faults.get("", ""),
            once="",
        )
