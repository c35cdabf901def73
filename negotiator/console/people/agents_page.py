"""`/agents`: the page with a user's agents, codes and connected applications, and its forms."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.agents.delegation import Delegations
from negotiator.base.errors import NotFound, ValidationFailed
from negotiator.base.scopes import ASSISTANT
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.page_router import FormFields, PageRouter, read_line
from negotiator.console.people import agents_overview, scope_words
from negotiator.console.people.agents_overview import ClientConnections, CodeHandover, NoClientConnections
from negotiator.memory import memories_lifecycle
from negotiator.store.statement import Transaction

AGENTS_PATH: Final = "/agents"
CODE_LIFETIMES: Final = {600: "10 minutes", 1800: "30 minutes", 3600: "1 hour"}
_DIGITS: Final = 6
_NO_FAULTS: Final = {"label": "", "scopes": "", "ttl": ""}
_NOTICES: Final = {
    "code": "The code is revoked. It cannot be used any more, and an agent that used it can do nothing now.",
    "agent": "The agent is ended. It can do nothing for you any more.",
    "app": "The app is ended. It can do nothing for you any more.",
}


@dataclass(frozen=True, slots=True)
class TypedCode:
    """What was chosen in the form of a code; `scopes` count only for the user's own choice."""

    purpose: str = scope_words.USUAL_PURPOSE
    scopes: tuple[str, ...] = scope_words.purpose_scopes(scope_words.USUAL_PURPOSE)
    label: str = ""
    life: str = ""

    @classmethod
    def of(cls, form: FormFields) -> "TypedCode":
        ticked, purpose = scope_words.ticked_scopes(form), form.get("purpose", "")
        return cls(purpose, ticked, form.get("label", ""), form.get("life", ""))

    @classmethod
    def for_purpose(cls, purpose: str) -> "TypedCode":
        return cls(purpose, scope_words.purpose_scopes(purpose))

    @property
    def seconds(self) -> int:
        """How long the code can be used; 0, which no code may have, for what is no number."""
        number = self.life.isascii() and self.life.isdecimal() and len(self.life) < _DIGITS
        return int(self.life) if number else 0


@dataclass(frozen=True, slots=True)
class AgentsPage:
    """The page where a user manages their agents."""

    router: PageRouter
    delegations: Delegations
    connections: ClientConnections = field(default_factory=NoClientConnections)

    def routes(self) -> list[Route]:
        form = self.router.form
        return [
            self.router.page(AGENTS_PATH, self.show),
            form(f"{AGENTS_PATH}/codes", self.make, back=AGENTS_PATH),
            self.router.page(f"{AGENTS_PATH}/codes/{{id}}", self.show_code),
            form(
                f"{AGENTS_PATH}/codes/{{id}}/revoke",
                self._end_handler("code", agents_overview.revoke_code),
                back=AGENTS_PATH,
            ),
            form(f"{AGENTS_PATH}/apps/revoke", self.revoke_app, back=AGENTS_PATH),
            form(f"{AGENTS_PATH}/{{id}}/revoke", self.revoke_agent, back=AGENTS_PATH),
        ]

    async def show(self, request: Request, session: SignedInSession) -> Response:
        """The page; a link may name the purpose to choose."""
        query = request.query_params
        notice = _NOTICES.get(query.get("told", ""), "")
        typed = TypedCode.for_purpose(query.get("purpose", scope_words.USUAL_PURPOSE))
        return await self._page(request, session, notice=notice, typed=typed)

    async def make(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Create a delegation code and show it once."""
        typed, granted = TypedCode.of(form), scope_words.chosen_scopes(form)
        try:
            label = read_line(form, "label", "A note")
            minted = await self.router.store.write(
                lambda tx: self.delegations.mint(tx, session.user_id, granted, label=label, ttl=typed.seconds)
            )
            code = await self._find_code(session, minted.id, text=minted.code)
        except ValidationFailed as refusal:
            faults = {fault.pointer[1:]: fault.description for fault in refusal.errors}
            if "scopes" in faults:
                faults["scopes"] = scope_words.NOTHING_CHOSEN
            return await self._page(request, session, typed=typed, faults=faults)
        return self.router.render("delegation_code.html", session, code=code, here="agents")

    async def show_code(self, request: Request, session: SignedInSession) -> Response:
        """How a code stands. A page that waits for the agent asks by script, and names the minutes that it shows."""
        code = await self._find_code(session, request.path_params["id"])
        if "hx-request" not in request.headers:
            return self.router.render("delegation_code.html", session, code=code, here="agents")
        if code.state != "open":
            return self.router.render("code_handover.html", session, code=code)
        if request.query_params.get("left") == str(code.minutes_left):
            return Response(status_code=204)
        replaced = {"hx-retarget": "#code-left", "hx-reswap": "outerHTML"}
        return self.router.render("code_left.html", session, headers=replaced, code=code)

    async def _find_code(self, session: SignedInSession, code_id: str, *, text: str = "") -> CodeHandover:
        return await self.router.store.read(
            lambda tx: agents_overview.find_code(tx, code_id, user_id=session.user_id, text=text)
        )

    async def revoke_app(self, _request: Request, session: SignedInSession, form: FormFields) -> Response:
        """End a client's access. Its id may be a URL and is therefore a form field."""
        app = form.get("app", "")
        if not await self.router.store.write(lambda tx: self.connections.revoke(tx, app, user_id=session.user_id)):
            raise NotFound("You have no such application.")
        return self.router.pages.see(f"{AGENTS_PATH}?told=app")

    async def revoke_agent(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Revoke an agent; on request its memories are quarantined."""
        agent: str = request.path_params["id"]

        def unit(tx: Transaction) -> None:
            agents_overview.revoke_agent(tx, agent, user_id=session.user_id)
            if form.get("memories") == "on":
                memories_lifecycle.quarantine_memories(tx, session.user_id, agent, actor=session.user_id)

        await self.router.store.write(unit)
        return self.router.pages.see(f"{AGENTS_PATH}?told=agent")

    def _end_handler(self, notice: str, end: Callable[..., None]) -> Any:
        """A form handler that ends the object with this id, if it is the user's."""

        async def act(request: Request, session: SignedInSession, _form: FormFields) -> Response:
            object_id: str = request.path_params["id"]
            await self.router.store.write(lambda tx: end(tx, object_id, user_id=session.user_id))
            return self.router.pages.see(f"{AGENTS_PATH}?told={notice}")

        return act

    async def _page(
        self,
        request: Request,
        session: SignedInSession,
        *,
        notice: str = "",
        typed: TypedCode | None = None,
        faults: Mapping[str, str] | None = None,
    ) -> Response:
        query = request.query_params
        overview = await self.router.store.scan(
            lambda tx: agents_overview.load_overview(
                tx,
                session.user_id,
                connections=self.connections,
                longest=self.delegations.refreshing.longest,
                agents_before=query.get("agents_before", agents_overview.AFTER_EVERY_ID),
                codes_before=query.get("codes_before", agents_overview.AFTER_EVERY_ID),
            )
        )
        return self.router.render(
            "agents.html",
            session,
            422 if faults else 200,
            overview=overview,
            in_words=scope_words.describe_scopes,
            purposes=scope_words.PURPOSES,
            scopes=scope_words.describe_scopes(ASSISTANT),
            lifetimes=CODE_LIFETIMES,
            notice=notice,
            typed=typed or TypedCode(),
            faults={**_NO_FAULTS, **(faults or {})},
            here="agents",
        )
