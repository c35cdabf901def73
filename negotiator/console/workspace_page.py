"""`/negotiations/{id}`: what to do now, the offers, who needs the deal more, the plan and the history."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.negotiation_words import STATES, NegotiationWords
from negotiator.console.page_calls import PageCalls
from negotiator.console.page_router import PageRouter
from negotiator.console.workspace_history import history_part
from negotiator.console.workspace_now import advice
from negotiator.console.workspace_offers import charts, ledger, offer_fields
from negotiator.console.workspace_plan import plan_part
from negotiator.console.workspace_power import power
from negotiator.errors import Conflict, Refusal, ValidationFailed

WORKSPACE_PATH: Final = "/negotiations/{id}"
MAX_OFFERS: Final = 100
_TALKING: Final = frozenset({"draft", "planned", "active", "awaiting_approval"})


@dataclass(frozen=True, slots=True)
class WorkspacePage:
    """The page of one negotiation; the modules `workspace_*_forms` have its forms."""

    router: PageRouter
    calls: PageCalls

    def routes(self) -> list[Route]:
        return [self.router.page(WORKSPACE_PATH, self.show)]

    async def show(self, request: Request, session: SignedInSession) -> Response:
        return await self.page(request, session)

    async def act(
        self,
        request: Request,
        session: SignedInSession,
        operation: str,
        members: Mapping[str, Any],
        *,
        anchor: str,
        typed: Mapping[str, str] | None = None,
    ) -> Response:
        """Run an operation on the negotiation and return to a part of the page; a refusal keeps what was typed."""
        negotiation: str = request.path_params["id"]
        try:
            await self.calls.run(session, operation, {"id": negotiation, **members})
        except (Conflict, ValidationFailed) as refusal:
            return await self.page(request, session, refusal=refusal, typed=typed or {})
        return self.router.pages.see(f"/negotiations/{negotiation}#{anchor}")

    async def page(
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
            now=advice(move, offers, words) if move else None,
            ledger=ledger(offers, words),
            charts=charts(offers, view, standing, words=words),
            power=power(standing),
            fields=offer_fields(view, words, typed or {}),
            typed=typed or {},
            refusal=refusal.description if refusal else "",
            faults=[fault.description for fault in refusal.errors]
            if isinstance(refusal, ValidationFailed)
            else [],
            **await plan_part(self.calls, session, view),
            **await history_part(self.calls, session, view),
        )
