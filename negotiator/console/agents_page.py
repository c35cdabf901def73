"""`/agents`: the page, and the forms on it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.agents.delegation import Delegations
from negotiator.console import agents_overview
from negotiator.console.agents_overview import ClientConnections, NoClientConnections
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.page_router import FormFields, PageRouter, read_line
from negotiator.errors import NotFound, ValidationFailed
from negotiator.memory import memories_lifecycle
from negotiator.scopes import ASSISTANT
from negotiator.store.statement import Transaction

AGENTS_PATH: Final = "/agents"
CODE_LIFETIMES: Final = {600: "10 minutes", 1800: "30 minutes", 3600: "1 hour"}
_TOLD: Final = {
    "code": "The code is revoked. Nobody can use it any more, and an agent that did has lost what it gave.",
    "agent": "The agent is cut off. None of its tokens works any more.",
    "app": "The application is cut off. None of its tokens works any more.",
}


@dataclass(frozen=True, slots=True)
class AgentsPage:
    """Where a user looks after what works for him."""

    room: PageRouter
    delegations: Delegations
    connections: ClientConnections = field(default_factory=NoClientConnections)

    def routes(self) -> list[Route]:
        """The page and its four forms."""
        form = self.room.form
        return [
            self.room.page(AGENTS_PATH, self.show),
            form(f"{AGENTS_PATH}/codes", self.make, back=AGENTS_PATH),
            form(
                f"{AGENTS_PATH}/codes/{{id}}/revoke",
                self._ending("code", agents_overview.revoke_code),
                back=AGENTS_PATH,
            ),
            form(f"{AGENTS_PATH}/apps/revoke", self.revoke_app, back=AGENTS_PATH),
            form(f"{AGENTS_PATH}/{{id}}/revoke", self.revoke_agent, back=AGENTS_PATH),
        ]

    async def show(self, request: Request, who: SignedInSession) -> Response:
        """Everything that is this user's."""
        told = _TOLD.get(request.query_params.get("told", ""), "")
        return await self._page(request, who, told=told)

    async def make(self, request: Request, who: SignedInSession, form: FormFields) -> Response:
        """Make a code and show it, this once."""
        granted = [scope for scope in ASSISTANT if form.get(f"scope:{scope}") == "on"]
        life = form.get("life", "")
        try:
            label = read_line(form, "label", "A label")
            ttl = int(life) if life.isascii() and life.isdecimal() and len(life) < 6 else 0
            minted = await self.room.store.write(
                lambda tx: self.delegations.mint(tx, who.user_id, granted, label=label, ttl=ttl)
            )
        except ValidationFailed as refusal:
            wrong = refusal.errors[0].description
            return await self._page(request, who, wrong=wrong, status=422)
        return self.room.render(
            "code.html",
            who,
            minted=minted,
            label=label,
            may=agents_overview.describe_scopes(minted.scopes),
        )

    async def revoke_app(
        self, _request: Request, who: SignedInSession, form: FormFields
    ) -> Response:
        """End a client's access; its id may be a URL and is therefore a field."""
        app = form.get("app", "")
        if not await self.room.store.write(
            lambda tx: self.connections.revoke(tx, app, user_id=who.user_id)
        ):
            raise NotFound("There is no such application of yours.")
        return self.room.pages.see(f"{AGENTS_PATH}?told=app")

    async def revoke_agent(
        self, request: Request, who: SignedInSession, form: FormFields
    ) -> Response:
        """Cut an agent off; if it is believed no more, with what it remembered put out of sight."""
        agent: str = request.path_params["id"]

        def unit(tx: Transaction) -> None:
            agents_overview.revoke_agent(tx, agent, user_id=who.user_id)
            if form.get("memories") == "on":
                memories_lifecycle.quarantine_memories(tx, who.user_id, agent, actor=who.user_id)

        await self.room.store.write(unit)
        return self.room.pages.see(f"{AGENTS_PATH}?told=agent")

    def _ending(self, told: str, end: Callable[..., None]) -> Any:
        """A form that ends the thing of this id, if it is the visitor's."""

        async def act(request: Request, who: SignedInSession, _form: FormFields) -> Response:
            thing: str = request.path_params["id"]
            await self.room.store.write(lambda tx: end(tx, thing, user_id=who.user_id))
            return self.room.pages.see(f"{AGENTS_PATH}?told={told}")

        return act

    async def _page(
        self,
        request: Request,
        who: SignedInSession,
        *,
        told: str = "",
        wrong: str = "",
        status: int = 200,
    ) -> Response:
        query = request.query_params
        seen = await self.room.store.scan(
            lambda tx: agents_overview.load_overview(
                tx,
                who.user_id,
                connections=self.connections,
                longest=self.delegations.refreshing.longest,
                agents_before=query.get("agents_before", agents_overview.AFTER_EVERY_ID),
                codes_before=query.get("codes_before", agents_overview.AFTER_EVERY_ID),
            )
        )
        return self.room.render(
            "agents.html",
            who,
            status,
            seen=seen,
            in_words=agents_overview.describe_scopes,
            scopes=ASSISTANT,
            lives=CODE_LIFETIMES,
            told=told,
            wrong=wrong,
            here="agents",
        )
