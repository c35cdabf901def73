"""`/agents`: a user's agents, codes and connected applications; `/agents/{id}`: one agent and what it did."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.agents import call_record, delegation, registration
from negotiator.agents.call_record import AgentCallRecord
from negotiator.agents.delegation import Delegations
from negotiator.agents.tables import Agent, AgentCall, Delegation
from negotiator.base import values
from negotiator.base.errors import Conflict, NotFound, ValidationFailed
from negotiator.base.scopes import ASSISTANT, ordered
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.negotiation_words import STATES
from negotiator.console.page_calls import Members, PageCalls
from negotiator.console.page_router import FormFields, PageRouter, read_line, read_whole
from negotiator.console.people import scope_words
from negotiator.console.people.scope_words import PURPOSES, ScopeInWords, describe_scopes, purpose_title
from negotiator.memory import memories_lifecycle
from negotiator.store.statement import Transaction
from negotiator.tokens import access_tokens, authorization_codes, consent_queries
from negotiator.tokens.access_tokens import live_tokens
from negotiator.tokens.refresh_tokens import RefreshTokens
from negotiator.tokens.tables import ClientConsent

_SECOND: Final = 1000
_MINUTE: Final = 60_000
PAGE_SIZE: Final = 25
AFTER_EVERY_ID: Final = "~"
"""Sorts after every id."""


@dataclass(slots=True)
class AgentRights:
    """What an agent's live tokens and grants let it do.

    `until` is when that ends if the agent stays idle (0: it may do nothing now), `at_most` when it ends however often
    the agent renews it (0: it cannot renew). Milliseconds.
    """

    scopes: set[str] = field(default_factory=set[str])
    until: int = 0
    at_most: int = 0


@dataclass(frozen=True, slots=True)
class AgentsOverview:
    """One page of each list; `older_…` is the id of the last row when there are older ones, else None.

    `rights` are those of agents by id; `codes` have their state; `users` are the names of the agents that used codes.
    `apps` are the clients that the user consented to, `apps_used` when each of them last got a token (milliseconds).
    """

    agents: list[Agent]
    rights: Mapping[str, AgentRights]
    codes: list[tuple[Delegation, str]]
    users: Mapping[str, str]
    apps: list[ClientConsent]
    apps_used: Mapping[str, int]
    older_agents: str | None
    older_codes: str | None


def load_overview(
    tx: Transaction,
    user_id: str,
    *,
    longest: int = 0,
    agents_before: str = AFTER_EVERY_ID,
    codes_before: str = AFTER_EVERY_ID,
) -> AgentsOverview:
    """Everything of this user, newest first; `longest` is how long a grant can be renewed, in seconds."""
    now = values.now()
    agents = registration.of_user(tx, user_id, before=agents_before, limit=PAGE_SIZE + 1)
    codes = delegation.of_user(tx, user_id, before=codes_before, limit=PAGE_SIZE + 1)
    users = [registration.find(tx, code.used_by) for code in codes[:PAGE_SIZE] if code.used_by]
    apps = consent_queries.of_user(tx, user_id)
    return AgentsOverview(
        agents[:PAGE_SIZE],
        _rights(tx, user_id, longest),
        [(code, delegation.state(code, now)) for code in codes[:PAGE_SIZE]],
        {user.id: user.name for user in users if user},
        apps,
        access_tokens.last_issued(tx, user_id) if apps else {},
        agents[PAGE_SIZE - 1].id if len(agents) > PAGE_SIZE else None,
        codes[PAGE_SIZE - 1].id if len(codes) > PAGE_SIZE else None,
    )


def _rights(tx: Transaction, user_id: str, longest: int) -> defaultdict[str, AgentRights]:
    """The rights of every agent of the user that has a live token or grant."""
    found: defaultdict[str, AgentRights] = defaultdict(AgentRights)
    for token in live_tokens(tx, user_id):
        held = found[token.client_id]
        held.scopes |= set(token.scope.split())
        held.until = max(held.until, token.expires_at)
    for grant in authorization_codes.of_agents(tx, user_id):
        held = found[grant.client_id]
        held.scopes |= set(grant.scope.split())
        held.until = max(held.until, grant.expires_at)
        held.at_most = max(held.at_most, (grant.renewed_at or grant.created_at) + longest * _SECOND)
    return found


@dataclass(frozen=True, slots=True)
class AgentDetail:
    """One agent, the code that bound it if one did, and its calls, the last one first."""

    agent: Agent
    rights: AgentRights
    code: Delegation | None
    calls: Sequence[AgentCall]


def load_agent(tx: Transaction, agent_id: str, *, user_id: str, longest: int) -> AgentDetail:
    """An agent of this user's, ended or not; 404 when the user has none with this id."""
    agent = registration.find(tx, agent_id)
    if agent is None or agent.user_id != user_id:
        raise NotFound("You have no such agent.")
    return AgentDetail(
        agent,
        _rights(tx, user_id, longest)[agent_id],
        delegation.of_agent(tx, agent_id, user_id=user_id),
        call_record.latest_calls(tx, agent_id),
    )


def renew_agent(tx: Transaction, agent_id: str, *, user_id: str, refreshing: RefreshTokens) -> None:
    """Let an agent work as long as when it was bound; 409 when it holds nothing that could be renewed."""
    load_agent(tx, agent_id, user_id=user_id, longest=0)
    held = [one for one in authorization_codes.of_agents(tx, user_id) if one.client_id == agent_id]
    if not [grant for grant in held if refreshing.renew(tx, grant.id)]:
        raise Conflict("It has nothing to renew. Connect it again with a new code.")


@dataclass(frozen=True, slots=True)
class CodeHandover:
    """A delegation code on its way to an agent. `text` is empty when the code cannot be shown again."""

    code: Delegation
    state: str
    may: tuple[ScopeInWords, ...]
    minutes_left: int
    agent: Agent | None
    text: str = ""


def revoke_agent(tx: Transaction, agent_id: str, *, user_id: str) -> None:
    """Revoke an agent of this user's with all its tokens; 404 when the user has none with this id."""
    if not registration.revoke(tx, agent_id, user_id=user_id):
        raise NotFound("You have no such agent.")


AGENTS_PATH: Final = "/agents"
CODE_LIFETIMES: Final = {600: "10 minutes", 1800: "30 minutes", 3600: "1 hour"}


@dataclass(frozen=True, slots=True)
class AgentsPage:
    """The page where a user manages their agents."""

    router: PageRouter
    delegations: Delegations

    def routes(self) -> list[Route]:
        form = self.router.form
        return [
            self.router.page(AGENTS_PATH, self.show),
            form(f"{AGENTS_PATH}/codes", self.make, back=AGENTS_PATH),
            self.router.page(f"{AGENTS_PATH}/codes/{{id}}", self.show_code),
            form(f"{AGENTS_PATH}/codes/{{id}}/revoke", self.revoke_code, back=AGENTS_PATH),
            form(f"{AGENTS_PATH}/apps/revoke", self.revoke_app, back=AGENTS_PATH),
            form(f"{AGENTS_PATH}/{{id}}/revoke", self.revoke_agent, back=AGENTS_PATH),
        ]

    async def show(self, request: Request, session: SignedInSession) -> Response:
        """The page; a link may name the purpose to choose."""
        purpose = request.query_params.get("purpose", scope_words.USUAL_PURPOSE)
        return await self._page(request, session, purpose, scope_words.purpose_scopes(purpose))

    async def make(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Create a delegation code and show it once."""
        granted, seconds = scope_words.chosen_scopes(form), read_whole(form.get("life", ""))
        try:
            label = read_line(form, "label", "A note")
            minted = await self.router.store.write(
                lambda tx: self.delegations.mint(tx, session.user_id, granted, label=label, ttl=seconds)
            )
            handover = await self._find_code(session, minted.id, text=minted.code)
        except ValidationFailed as refusal:
            faults = {fault.pointer[1:]: fault.description for fault in refusal.errors}
            if "scopes" in faults:
                faults["scopes"] = scope_words.NOTHING_CHOSEN
            purpose, ticked = form.get("purpose", ""), scope_words.ticked_scopes(form)
            return await self._page(request, session, purpose, ticked, form=form, faults=faults)
        return self.router.render("delegation_code.html", session, handover=handover, here="agents")

    async def show_code(self, request: Request, session: SignedInSession) -> Response:
        """How a code stands. A page that waits for the agent asks by script, and names the minutes that it shows."""
        handover = await self._find_code(session, request.path_params["id"])
        if "hx-request" not in request.headers:
            return self.router.render("delegation_code.html", session, handover=handover, here="agents")
        if handover.state != "open":
            return self.router.render("code_handover.html", session, handover=handover)
        if request.query_params.get("left") == str(handover.minutes_left):
            return Response(status_code=204)
        replaced = {"hx-retarget": "#code-left", "hx-reswap": "outerHTML"}
        return self.router.render("code_left.html", session, headers=replaced, handover=handover)

    async def _find_code(self, session: SignedInSession, code_id: str, *, text: str = "") -> CodeHandover:
        """A code of this user's and the agent that used it; 404 when the user has none with this id."""

        def unit(tx: Transaction) -> CodeHandover:
            code, now = delegation.find(tx, code_id), values.now()
            if code is None or code.user_id != session.user_id:
                raise NotFound("You have no such code.")
            return CodeHandover(
                code,
                delegation.state(code, now),
                describe_scopes(code.scope.split()),
                max(0, math.ceil((code.expires_at - now) / _MINUTE)),
                registration.find(tx, code.used_by) if code.used_by else None,
                text,
            )

        return await self.router.store.read(unit)

    async def revoke_app(self, _request: Request, session: SignedInSession, form: FormFields) -> Response:
        """End a client's access. Its id may be a URL and is therefore a form field."""
        app, user = form.get("app", ""), session.user_id
        if not await self.router.store.write(lambda tx: consent_queries.withdraw(tx, user, app, actor=user)):
            raise NotFound("You have no such application.")
        return self.router.pages.see(f"{AGENTS_PATH}?told=app")

    async def revoke_agent(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Revoke an agent; on request its memories are quarantined."""
        agent: str = request.path_params["id"]

        def unit(tx: Transaction) -> None:
            revoke_agent(tx, agent, user_id=session.user_id)
            if form.get("memories") == "on":
                memories_lifecycle.quarantine_memories(tx, session.user_id, agent, actor=session.user_id)

        await self.router.store.write(unit)
        return self.router.pages.see(f"{AGENTS_PATH}?told=agent")

    async def revoke_code(self, request: Request, session: SignedInSession, _form: FormFields) -> Response:
        """Revoke a code, with everything an agent obtained by it."""
        code, user = request.path_params["id"], session.user_id
        await self.router.store.write(lambda tx: delegation.revoke(tx, code, actor=user, user_id=user))
        return self.router.pages.see(f"{AGENTS_PATH}?told=code")

    async def _page(
        self,
        request: Request,
        session: SignedInSession,
        purpose: str,
        ticked: Sequence[str],
        *,
        form: FormFields | None = None,
        faults: Mapping[str, str] | None = None,
    ) -> Response:
        """The page with the form of a code; what is `ticked` counts only for the user's own choice."""
        query = request.query_params
        overview = await self.router.store.scan(
            lambda tx: load_overview(
                tx,
                session.user_id,
                longest=self.delegations.refreshing.longest,
                agents_before=query.get("agents_before", AFTER_EVERY_ID),
                codes_before=query.get("codes_before", AFTER_EVERY_ID),
            )
        )
        return self.router.render(
            "agents.html",
            session,
            422 if faults else 200,
            overview=overview,
            in_words=scope_words.describe_scopes,
            purpose_title=scope_words.purpose_title,
            purposes=scope_words.PURPOSES,
            scopes=scope_words.describe_scopes(ASSISTANT),
            lifetimes=CODE_LIFETIMES,
            purpose=purpose,
            ticked=ticked,
            typed=form or {},
            faults=faults or {},
            here="agents",
        )


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
            lambda tx: load_agent(tx, agent_id, user_id=session.user_id, longest=self.refreshing.longest)
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
            lambda tx: renew_agent(tx, agent_id, user_id=session.user_id, refreshing=self.refreshing)
        )
        return self.router.pages.see(f"{AGENTS_PATH}/{agent_id}?told=renewed")

    async def _read(self, session: SignedInSession, operation: str, found: AgentDetail, prefix: str) -> list[Members]:
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
