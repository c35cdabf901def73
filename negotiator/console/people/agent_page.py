"""`/agents/{id}`: one agent: who it is, what it may do and until when, and what it did and was refused."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.agents.call_record import AgentCallRecord
from negotiator.agents.tables import AgentCall
from negotiator.base.errors import NotFound
from negotiator.base.scopes import ordered
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.negotiation_words import STATES
from negotiator.console.page_calls import Members, PageCalls
from negotiator.console.page_router import FormFields, PageRouter
from negotiator.console.people import agents_page
from negotiator.console.people.agents_page import AGENTS_PATH
from negotiator.console.people.scope_words import PURPOSES, ScopeInWords, describe_scopes, purpose_title
from negotiator.tokens.refresh_tokens import RefreshTokens

SHOWN: Final = 25


@dataclass(frozen=True, slots=True)
class CallInWords:
    """What an agent did or wanted to do; a refusal says why.

    `lacks` are the rights that were missing, and `purpose` the smallest one that would have them.
    """

    call: AgentCall
    why: str
    lacks: tuple[ScopeInWords, ...] = ()
    purpose: str = ""


def calls_in_words(calls: Sequence[AgentCall], held: Sequence[ScopeInWords]) -> list[CallInWords]:
    """The calls, newest first; `held` are the agent's rights."""
    owned = {one.name for one in held}
    return [_call(one, owned) for one in calls[:SHOWN]]


def _call(call: AgentCall, held: set[str]) -> CallInWords:
    lacks = tuple(name for name in ordered(call.needs.split()) if name not in held)
    needed = held | set(lacks)
    purpose = next((one.key for one in PURPOSES if needed <= set(one.scopes)), "")
    why = "It may not do that." if call.error == "insufficient_scope" else _without_pointer(call.description)
    return CallInWords(call, why, describe_scopes(lacks), purpose if lacks else "")


def _without_pointer(description: str) -> str:
    """The sentence of a refusal with a field's name where programs read its path."""
    path, _, said = description.partition(": ")
    if not path.startswith("/") or not said:
        return description
    field = path.rpartition("/")[2].replace("_", " ")
    return f"{field[:1].upper()}{field[1:]}: {said[:1].lower()}{said[1:]}"


def subjects(calls: Sequence[AgentCall], prefix: str, most: int) -> list[str]:
    """The ids of this kind that the agent touched without being refused, the last one first."""
    named = [one.subject for one in calls if one.subject.startswith(prefix) and not one.error]
    return list(dict.fromkeys(named))[:most]


AGENT_PATH: Final = f"{AGENTS_PATH}/{{id}}"
MAX_TOUCHED: Final = 8


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
            lambda tx: agents_page.load_agent(tx, agent_id, user_id=session.user_id, longest=self.refreshing.longest)
        )
        may = describe_scopes(found.rights.scopes)
        negotiations = await self._read(session, "get_negotiation", found, "neg_")
        memories = await self._read(session, "get_memory", found, "mem_")
        return self.router.render(
            "agent.html",
            session,
            agent=found.agent,
            rights=found.rights,
            may=may,
            purpose_title=purpose_title,
            code=found.code,
            last_seen=max([found.agent.seen_at or 0, *(one.at for one in found.calls[:1])]),
            calls=calls_in_words(found.calls, may),
            operations=self._titles(),
            negotiations=negotiations,
            titles={one["id"]: one["title"] for one in negotiations},
            states=STATES,
            memories=[one for one in memories if one["source"]["client_id"] == agent_id],
            here="agents",
        )

    async def renew(self, request: Request, session: SignedInSession, _form: FormFields) -> Response:
        """Let the agent work as long as when it was bound."""
        agent_id: str = request.path_params["id"]
        await self.router.store.write(
            lambda tx: agents_page.renew_agent(tx, agent_id, user_id=session.user_id, refreshing=self.refreshing)
        )
        return self.router.pages.see(f"{AGENTS_PATH}/{agent_id}?told=renewed")

    async def _read(
        self, session: SignedInSession, operation: str, found: agents_page.AgentDetail, prefix: str
    ) -> list[Members]:
        """What the agent touched last and what is still there."""
        read: list[Members] = []
        for named in subjects(found.calls, prefix, MAX_TOUCHED):
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
