"""`/admin/registrations`: the agents that registered last, and for whom they work."""

from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.agents import registration
from negotiator.agents.tables import Agent
from negotiator.base.errors import NotFound
from negotiator.console.admin.admin_router import AFTER_EVERY_ID, PAGE_SIZE, REGISTRATIONS_PATH, AdminRouter
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.page_router import FormFields
from negotiator.store.statement import Transaction
from negotiator.users import user_queries

_WAYS: Final = {
    "anonymous": "Without an identity",
    "identity_assertion": "By its organisation",
    "verified_email": "By an e-mail address",
    "email": "By an e-mail address",
    "domain": "By its domain",
    "url": "By its web address",
}


@dataclass(frozen=True, slots=True)
class RegistrationRow:
    """An agent with the words for how it came, its state, and the user that it works for."""

    agent: Agent
    way: str
    state: str
    user: str


@dataclass(frozen=True, slots=True)
class AdminRegistrations:
    """Agents of both services, newest first."""

    admin: AdminRouter

    def routes(self) -> list[Route]:
        return [
            self.admin.page(REGISTRATIONS_PATH, self.show),
            self.admin.form(f"{REGISTRATIONS_PATH}/{{id}}/end", self.end, back=REGISTRATIONS_PATH),
        ]

    async def show(self, request: Request, session: SignedInSession) -> Response:
        before = request.query_params.get("before", AFTER_EVERY_ID)
        rows = await self.admin.router.store.read(lambda tx: _load(tx, before))
        return self.admin.render(
            "admin_registrations.html",
            session,
            "registrations",
            rows=rows[:PAGE_SIZE],
            older=rows[PAGE_SIZE - 1].agent.id if len(rows) > PAGE_SIZE else "",
            is_first=before == AFTER_EVERY_ID,
            notice="The agent's access has ended." if request.query_params.get("told") == "ended" else "",
        )

    async def end(self, request: Request, session: SignedInSession, _form: FormFields) -> Response:
        agent_id: str = request.path_params["id"]
        if not await self.admin.router.store.write(
            lambda tx: registration.end_any(tx, agent_id, actor=session.user_id)
        ):
            raise NotFound("There is no active agent with this id.")
        return self.admin.see(REGISTRATIONS_PATH, "ended")


def _load(tx: Transaction, before: str) -> list[RegistrationRow]:
    names: dict[str, str] = {}
    rows: list[RegistrationRow] = []
    for agent in registration.newest(tx, before=before, limit=PAGE_SIZE + 1):
        if agent.user_id and agent.user_id not in names:
            user = user_queries.by_id(tx, agent.user_id)
            names[agent.user_id] = (user and (user.email or user.name)) or agent.user_id
        rows.append(
            RegistrationRow(
                agent,
                _WAYS.get(agent.identity_type, agent.identity_type.replace("_", " ").capitalize()),
                _state(agent),
                names.get(agent.user_id or "", ""),
            )
        )
    return rows


def _state(agent: Agent) -> str:
    if agent.revoked_at is not None:
        return "ended"
    if agent.user_id is None and agent.service == "assistant":
        return "works for nobody yet"
    return "active"
