"""The forms of a negotiation's page that record offers and answers to them, and put questions away."""

from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.base.errors import Conflict, Refusal, ValidationFailed
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.negotiation_words import NegotiationWords
from negotiator.console.page_router import FormFields
from negotiator.console.talk.workspace_now import live_offer
from negotiator.console.talk.workspace_offer_form import AGREED, offer_key, past_limits_conflict, read_offer
from negotiator.console.talk.workspace_page import WORKSPACE_PATH, RefusedForm, WorkspacePage


@dataclass(frozen=True, slots=True)
class WorkspaceOfferForms:
    """What a person records of the talk."""

    workspace: WorkspacePage

    def routes(self) -> list[Route]:
        form = self.workspace.router.form
        return [
            form(f"{WORKSPACE_PATH}/offers", self.record_offer, back="/"),
            form(f"{WORKSPACE_PATH}/heard", self.confirm, back="/"),
            form(f"{WORKSPACE_PATH}/later", self.put_away, back="/"),
        ]

    async def record_offer(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Record what a side did; a refused form keeps what was typed, each fault at its field.

        The same form sent twice from one page records once.
        """
        page, negotiation = self.workspace, request.path_params["id"]
        view = await page.calls.run(session, "get_negotiation", {"id": negotiation})
        read = read_offer(form, NegotiationWords.of(view))
        if read.faults:
            refused = RefusedForm("offer", form, read.faults)
            return await page.page(request, session, refused=refused)
        shown = {**view, "revision": form.get("revision") or view["revision"]}
        key = offer_key(shown, read.members)
        try:
            await self._ask_past_limits(session, view, read.members, agreed=form.get("kind") == AGREED)
            if form.get("kind") == AGREED:
                await self._agree(session, view, read.members, key)
            else:
                members = {"id": negotiation, **read.members}
                await page.calls.run(session, "record_offer", members, key=key)
        except (Conflict, ValidationFailed) as refusal:
            refused = RefusedForm("offer", form, refusal=refusal)
            return await page.page(request, session, refused=refused)
        place = "end" if form.get("kind") == AGREED else "now"
        return page.router.pages.see(f"/negotiations/{negotiation}#{place}")

    async def _ask_past_limits(
        self, session: SignedInSession, view: dict[str, Any], members: dict[str, Any], *, agreed: bool
    ) -> None:
        """Raise 409 where the user would pass a limit on an issue and has not insisted."""
        accepted: dict[str, Any] | None = members["package"] if agreed else None
        if members["by"] == "me" and members["kind"] == "acceptance":
            found = await self.workspace.calls.run(session, "list_offers", {"id": view["id"], "limit": 100})
            answered = (one for one in found["items"] if one["id"] == members["in_reply_to"])
            accepted = next((one["package"] for one in answered), None)
        if refusal := past_limits_conflict(members, accepted, NegotiationWords.of(view)):
            raise refusal

    async def _agree(self, session: SignedInSession, view: dict[str, Any], members: dict[str, Any], key: str) -> None:
        """Record that the standing offer was accepted; where none is what was agreed on, as the user's offer first.

        An offer of the user's own is held to their limits, so nothing is recorded of what they have to insist on.
        """
        run, named = self.workspace.calls.run, {"id": view["id"]}
        insisted = {name: members[name] for name in ("override", "reason") if name in members}
        words = NegotiationWords.of(view)
        offers = (await run(session, "list_offers", {**named, "limit": 100}))["items"]
        said = words.package(members["package"])
        standing = [one for by in ("them", "me") if (one := live_offer(offers, by))]
        agreed = next((one for one in standing if words.package(one["package"]) == said), None)
        if agreed is None:
            offered = {**named, **members, "by": "me", "kind": "offer"}
            agreed = await run(session, "record_offer", offered, key=key)
        by = "me" if agreed["by"] == "them" else "them"
        acceptance = {"by": by, "kind": "acceptance", "in_reply_to": agreed["id"]}
        await run(session, "record_offer", {**named, **acceptance, **(insisted if by == "me" else {})})

    async def confirm(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Confirm a figure that was heard on a call, or say that it was not offered."""
        page, negotiation = self.workspace, request.path_params["id"]
        heard = await self._heard(session, negotiation, form.get("offer", ""))
        if heard is None:
            return page.router.pages.see(f"/negotiations/{negotiation}#offers")
        members = {"id": negotiation, "by": heard["by"]} | (
            {"package": heard["package"], "conditions": heard["conditions"], "confirms": heard["id"]}
            if form.get("answer") == "yes"
            else {"kind": "withdrawal", "in_reply_to": heard["id"]}
        )
        try:
            await page.calls.run(session, "record_offer", members)
        except Refusal as refusal:
            return await page.page(request, session, refused=RefusedForm("other", refusal=refusal))
        return page.router.pages.see(f"/negotiations/{negotiation}#offers")

    async def put_away(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Ask a question later, or ask again all that were put away; this is remembered by the browser alone."""
        page, negotiation = self.workspace, request.path_params["id"]
        await page.calls.run(session, "get_negotiation", {"id": negotiation})
        response = page.router.pages.see(f"/negotiations/{negotiation}#now")
        page.asked_later.write(request, response, negotiation, form.get("question", ""))
        return response

    async def _heard(self, session: SignedInSession, negotiation: str, offer: str) -> dict[str, Any] | None:
        found = await self.workspace.calls.run(session, "list_offers", {"id": negotiation, "limit": 100})
        open_ones = (one for one in found["items"] if one["status"] == "unconfirmed")
        return next((one for one in open_ones if one["id"] == offer), None)
