"""`/negotiations/{id}`: what to do now, the offers, who needs the deal more, the plan and the history."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from markdown_it import MarkdownIt
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.console import workspace_view
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.negotiation_words import STATES, NegotiationWords
from negotiator.console.page_calls import PageCalls
from negotiator.console.page_router import FormFields, PageRouter
from negotiator.errors import Conflict, NotFound, Refusal, ValidationFailed

WORKSPACE_PATH: Final = "/negotiations/{id}"
MAX_OFFERS: Final = 100
MAX_EVENTS: Final = 50
ISSUE_FIELD: Final = "issue:"
_TALKING: Final = frozenset({"draft", "planned", "active", "awaiting_approval"})
_STEPS: Final = {
    "paused": "Pause",
    "active": "Go on",
    "agreed": "Agreed",
    "won": "Signed: it is won",
    "lost": "No deal",
    "walked_away": "I walk away",
    "cancelled": "Cancel",
}
"""The moves between states that a person makes, as they are named on buttons."""
_MARKDOWN: Final = MarkdownIt("commonmark", {"html": False}).enable("table")


@dataclass(frozen=True, slots=True)
class WorkspacePage:
    """The page of one negotiation, and its forms."""

    router: PageRouter
    calls: PageCalls

    def routes(self) -> list[Route]:
        form = self.router.form
        return [
            self.router.page(WORKSPACE_PATH, self.show),
            form(f"{WORKSPACE_PATH}/offers", self.record_offer, back="/"),
            form(f"{WORKSPACE_PATH}/accept", self.accept, back="/"),
            form(f"{WORKSPACE_PATH}/state", self.move, back="/"),
            form(f"{WORKSPACE_PATH}/plan", self.make_plan, back="/"),
            form(f"{WORKSPACE_PATH}/approval", self.decide, back="/"),
        ]

    async def show(self, request: Request, session: SignedInSession) -> Response:
        return await self._page(request, session)

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
        return await self._act(request, session, "record_offer", members, anchor="now", typed=form)

    async def accept(
        self, request: Request, session: SignedInSession, form: FormFields
    ) -> Response:
        """Accept an offer of the other side, or record that they accepted."""
        members = {
            "by": form.get("by", "me"),
            "kind": "acceptance",
            "in_reply_to": form.get("offer", ""),
        }
        return await self._act(request, session, "record_offer", members, anchor="now")

    async def move(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Move the negotiation to another state."""
        members = {"to": form.get("to", "")} | (
            {"reason": form["reason"]} if form.get("reason") else {}
        )
        return await self._act(request, session, "move_negotiation", members, anchor="history")

    async def make_plan(
        self, request: Request, session: SignedInSession, form: FormFields
    ) -> Response:
        del form
        return await self._act(request, session, "make_battle_plan", {}, anchor="plan")

    async def decide(
        self, request: Request, session: SignedInSession, form: FormFields
    ) -> Response:
        """Allow or refuse what waits for the user's approval."""
        allowed = form.get("decision") == "allow"
        members: dict[str, Any] = {"to": "active", "approved": allowed}
        if allowed:
            members["package_sha256"] = form.get("package", "")
        else:
            members["reason"] = form.get("reason") or "Refused on the page."
        return await self._act(request, session, "move_negotiation", members, anchor="now")

    async def _act(
        self,
        request: Request,
        session: SignedInSession,
        operation: str,
        members: Mapping[str, Any],
        *,
        anchor: str,
        typed: Mapping[str, str] | None = None,
    ) -> Response:
        negotiation: str = request.path_params["id"]
        try:
            await self.calls.run(session, operation, {"id": negotiation, **members})
        except (Conflict, ValidationFailed) as refusal:
            return await self._page(request, session, refusal=refusal, typed=typed or {})
        return self.router.pages.see(f"/negotiations/{negotiation}#{anchor}")

    async def _page(
        self,
        request: Request,
        session: SignedInSession,
        *,
        refusal: Refusal | None = None,
        typed: Mapping[str, str] | None = None,
    ) -> Response:
        negotiation = {"id": request.path_params["id"]}
        run = self.calls.run
        view = await run(session, "get_negotiation", negotiation)
        words = NegotiationWords.of(view)
        offers = (await run(session, "list_offers", {**negotiation, "limit": MAX_OFFERS}))["items"]
        events = await run(session, "list_negotiation_events", {**negotiation, "limit": MAX_EVENTS})
        standing = await run(session, "get_leverage", negotiation)
        move = None
        if view["state"] in _TALKING:
            move = await run(session, "next_move", negotiation)
        return self.router.render(
            "workspace.html",
            session,
            refusal.status if refusal else 200,
            negotiation=view,
            state=STATES[view["state"]],
            words=words,
            now=workspace_view.advice(move, offers, words) if move else None,
            ledger=workspace_view.ledger(offers, words),
            charts=workspace_view.charts(offers, view, standing, words=words),
            power=workspace_view.power(standing),
            history=workspace_view.history(events["items"], session.user_id),
            plan=await self._plan(session, view),
            steps=[
                (to, _STEPS[to])
                for to in workspace_view.allowed_steps(view["state"])
                if to in _STEPS
            ],
            fields=workspace_view.offer_fields(view, words, typed or {}),
            typed=typed or {},
            refusal=refusal.description if refusal else "",
            faults=[fault.description for fault in refusal.errors]
            if isinstance(refusal, ValidationFailed)
            else [],
        )

    async def _plan(self, session: SignedInSession, view: dict[str, Any]) -> dict[str, Any] | None:
        """The newest plan as HTML, with its version and whether the negotiation has moved on; None without one."""
        named = {"id": view["id"]}
        newest = await self.calls.run(session, "list_battle_plans", {**named, "limit": 1})
        if not newest["items"]:
            return None
        plan = newest["items"][0]
        try:
            text = await self.calls.text(
                session,
                "get_battle_plan",
                {**named, "plan_id": plan["id"]},
                accept="text/markdown",
            )
        except NotFound:
            return None
        return {**plan, "html": _MARKDOWN.render(_below_the_page(text))}


def _below_the_page(text: str) -> str:
    """The plan's markdown with its headings one level down and without its title, which the page has."""
    lines = text.split("\n")
    return "\n".join(f"#{line}" if line.startswith("##") else line for line in lines[1:])
