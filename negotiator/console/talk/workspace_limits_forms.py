"""The forms of a negotiation's page that change its limits, and that keep an open page up to date."""

from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.base.errors import Conflict, PreconditionFailed, ValidationFailed
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.negotiation_words import NegotiationWords
from negotiator.console.page_router import FormFields
from negotiator.console.talk.actor_names import actor_names
from negotiator.console.talk.workspace_history import TalkSoFar, history_row
from negotiator.console.talk.workspace_limits import limits_patch
from negotiator.console.talk.workspace_page import WORKSPACE_PATH, RefusedForm, WorkspacePage

_UNCHANGED: Final = 204
_MOST_NEWS: Final = 3


@dataclass(frozen=True, slots=True)
class WorkspaceLimitsForms:
    """What a person aims for, and what others change meanwhile."""

    workspace: WorkspacePage

    def routes(self) -> list[Route]:
        router = self.workspace.router
        return [
            router.form(f"{WORKSPACE_PATH}/limits", self.change, back="/"),
            router.page(f"{WORKSPACE_PATH}/changes", self.changes),
        ]

    async def change(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Change the limits on the revision that the page showed; what was typed stays where that is refused."""
        page, named = self.workspace, {"id": request.path_params["id"]}
        view = await page.calls.run(session, "get_negotiation", named)
        patch, faults = limits_patch(form, view, NegotiationWords.of(view))
        if faults:
            refused = RefusedForm("limits", form, faults)
            return await page.page(request, session, refused=refused)
        revision = form.get("revision", "")
        shown = int(revision) if revision.isdecimal() and len(revision) < len("1000000000") else 0
        try:
            if patch or shown != view["revision"]:
                members = {**named, **patch}
                await page.calls.run(session, "edit_negotiation", members, revision=shown)
        except (Conflict, PreconditionFailed, ValidationFailed) as refusal:
            refused = RefusedForm("limits", form, refusal=refusal)
            return await page.page(request, session, refused=refused)
        return page.router.pages.see(f"/negotiations/{named['id']}#now")

    async def changes(self, request: Request, session: SignedInSession) -> Response:
        """What is new since the `revision` that the page shows: 204, or the parts in which nobody types."""
        page, named = self.workspace, {"id": request.path_params["id"]}
        view = await page.calls.run(session, "get_negotiation", named)
        shown = request.query_params.get("revision", "")
        if shown == str(view["revision"]):
            return Response(status_code=_UNCHANGED, headers={"cache-control": "no-store"})
        context = await page.talk(request, session, view)
        said = TalkSoFar(context["offers"], context["words"])
        news = await self._news(session, view, said, int(shown) if shown.isdecimal() else 0)
        moved_on = request.query_params.get("state", "") != view["state"]
        return page.router.render("workspace_changes.html", session, news=news, moved_on=moved_on, **context)

    async def _news(self, session: SignedInSession, view: dict[str, Any], said: TalkSoFar, shown: int) -> list[str]:
        """What others did since a revision, newest first."""
        members = {"id": view["id"], "limit": 20}
        found = await self.workspace.calls.run(session, "list_negotiation_events", members)
        theirs = [
            event for event in found["items"] if event["revision"] > shown and event["actor"]["id"] != session.user_id
        ]
        store = self.workspace.router.store
        names = await actor_names(store, session, [event["actor"] for event in theirs])
        return [history_row(event, names, said).what for event in theirs[:_MOST_NEWS]]
