"""`/agents/{id}`: one agent: who it is, what it may do and until when, and what it did and was refused."""

from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.agents.call_record import AgentCallRecord
from negotiator.base.errors import NotFound
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.negotiation_words import STATES
from negotiator.console.page_calls import PageCalls
from negotiator.console.page_router import FormFields, PageRouter
from negotiator.console.people import agent_view, agents_overview
from negotiator.console.people.agents_page import AGENTS_PATH
from negotiator.tokens.refresh_tokens import RefreshTokens

AGENT_PATH: Final = f"{AGENTS_PATH}/{{id}}"
MAX_TOUCHED: Final = 8
_NOTICES: Final = {"renewed": "Renewed: its time begins again today."}


@dataclass(frozen=True, slots=True)
class AgentPage:
    """The page of one agent of the user's."""

    router: PageRouter
    calls: PageCalls
    record: AgentCallRecord
    refreshing: RefreshTokens

    def routes(self) -> list[Route]:
        return [
            self.router.page(AGENT_PATH, self.show),
            self.router.form(f"{AGENT_PATH}/renew", self.renew, back=AGENTS_PATH),
        ]

    async def show(self, request: Request, session: SignedInSession) -> Response:
        agent_id: str = request.path_params["id"]
        await self.record.flush()
        found = await self.router.store.scan(
            lambda tx: agents_overview.load_agent(
                tx, agent_id, user_id=session.user_id, longest=self.refreshing.longest
            )
        )
        negotiations = await self._read(session, "get_negotiation", found, "neg_")
        memories = await self._read(session, "get_memory", found, "mem_")
        return self.router.render(
            "agent.html",
            session,
            agent=found.view.agent,
            rights=found.view,
            code=found.code,
            last_seen=max([found.view.agent.seen_at or 0, *(one.at for one in found.calls[:1])]),
            calls=agent_view.calls_in_words(found.calls, self._titles(), found.view.may),
            negotiations=negotiations,
            titles={one["id"]: one["title"] for one in negotiations},
            states=STATES,
            memories=[one for one in memories if one["source"]["client_id"] == agent_id],
            notice=_NOTICES.get(request.query_params.get("told", ""), ""),
            here="agents",
        )

    async def renew(self, request: Request, session: SignedInSession, _form: FormFields) -> Response:
        """Let the agent work as long as when it was bound."""
        agent_id: str = request.path_params["id"]
        await self.router.store.write(
            lambda tx: agents_overview.renew_agent(tx, agent_id, user_id=session.user_id, refreshing=self.refreshing)
        )
        return self.router.pages.see(f"{AGENTS_PATH}/{agent_id}?told=renewed")

    async def _read(
        self, session: SignedInSession, operation: str, found: agents_overview.AgentDetail, prefix: str
    ) -> list[dict[str, Any]]:
        """What the agent touched last and what is still there."""
        read: list[dict[str, Any]] = []
        for named in agent_view.subjects(found.calls, prefix, MAX_TOUCHED):
            try:
                read.append(await self.calls.run(session, operation, {"id": named}))
            except NotFound:
                continue
        return read

    def _titles(self) -> dict[str, str]:
        """The operations as their titles or summaries name them."""
        return {
            one.name: one.tool.title if one.tool else one.summary.partition(":")[0]
            for one in self.calls.service.operations
        }
