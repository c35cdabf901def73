"""What every page of ours stands in: the limit, the visitor, the form's token, the refusal as a page.

A slice of pages has a `Room` and makes its routes with it, so that no page can forget one of these steps.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.caller import nobody
from negotiator.console.pages import Pages
from negotiator.console.visitor import Somebody, Visitor, Visitors
from negotiator.edge.endpoint import read_headers
from negotiator.edge.input import Disconnected, parse_form, read_body
from negotiator.errors import NotFound, Refusal
from negotiator.limits.budgets import Limits, refuse
from negotiator.store.store import Store
from negotiator.telemetry import logger, request_id

log = logger(__name__)

_FORM = 8 * 1024

Form = dict[str, str]
Show = Callable[[Request, Visitor], Awaitable[Response]]
Act = Callable[[Request, Visitor, Form], Awaitable[Response]]
ShowAnybody = Callable[[Request, Somebody], Awaitable[Response]]
ActOfAnybody = Callable[[Request, Somebody, Form], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Room:
    """Makes routes for pages and forms. `visitors` knows who comes, `pages` how a page looks.

    `home` is where whoever signs in goes, when he was going nowhere.
    """

    store: Store
    limits: Limits
    visitors: Visitors
    pages: Pages
    home: str = "/agents"

    def page(self, path: str, show: Show) -> Route:
        """A page for whoever is signed in; others sign in first and come back."""

        async def answer(request: Request, who: Somebody) -> Response:
            if isinstance(who, Visitor):
                return await show(request, who)
            query = f"?{request.url.query}" if request.url.query else ""
            return self.ask_to_sign_in(f"{request.url.path}{query}")

        return self.open_page(path, answer)

    def form(self, path: str, act: Act, *, back: str = "") -> Route:
        """A form of whoever is signed in; others sign in and come back to the page it was on."""

        async def answer(request: Request, who: Somebody, form: Form) -> Response:
            if isinstance(who, Visitor):
                return await act(request, who, form)
            return self.ask_to_sign_in(back or request.url.path)

        return self.open_form(path, answer, strangers_need_token=False)

    def open_page(self, path: str, show: ShowAnybody) -> Route:
        """A page for everybody."""

        async def answer(request: Request) -> Response:
            return await self._answer(request, lambda who: show(request, who))

        return Route(path, answer, methods=["GET"])

    def open_form(
        self, path: str, act: ActOfAnybody, *, strangers_need_token: bool = True
    ) -> Route:
        """A form for everybody. Without `strangers_need_token` what a stranger sends must prove itself."""

        async def receive(request: Request, who: Somebody) -> Response:
            length = request.headers.get("content-length")
            form = parse_form(await read_body(request.receive, _FORM, length))
            token = strangers_need_token or isinstance(who, Visitor)
            self.visitors.check(request, who, form, token=token)
            return await act(request, who, form)

        async def answer(request: Request) -> Response:
            return await self._answer(request, lambda who: receive(request, who))

        return Route(path, answer, methods=["POST"])

    def render(
        self, template: str, who: Somebody | None, status: int = 200, **told: Any
    ) -> Response:
        """A page with the visitor's name and the way out in its head; see `Pages.render`."""
        visitor = who if isinstance(who, Visitor) else None
        csrf = who.csrf if who else ""
        known = {"visitor": visitor, "csrf": csrf, "home": self.home}
        return self.pages.render(template, status, **known, **told)

    def ask_to_sign_in(self, back: str) -> Response:
        """Off to the sign-in page, and from there to the path `back`."""
        return self.pages.see(f"/sign-in?next={quote(back, safe='')}")

    def go_on(self, path: str) -> Response:
        """After signing in, to where the visitor was going.

        An authorization may redirect to a client's own origin at once. Browsers would hold that against the
        sign-in form's `form-action`, so the way there is a page of its own and not part of the form's answer.
        """
        if path.startswith("/oauth/"):
            return self.render("onward.html", None, path=path)
        return self.pages.see(path)

    def address(self, request: Request) -> str:
        """The client address that limits are kept by."""
        return self.visitors.guard.address(request.scope, read_headers(request.scope))

    async def _answer(
        self, request: Request, make: Callable[[Somebody], Awaitable[Response]]
    ) -> Response:
        who: Somebody | None = None
        try:
            who = await self._enter(request)
            response = await make(who)
        except Disconnected:
            return Response(status_code=400)
        except Refusal as refusal:
            return self._refuse(refusal, who)
        except Exception as fault:
            log.error("crashed", exc_info=fault)
            reason = f"Something went wrong on our side; {request_id.get()} leads to it in the log."
            return self.render("refused.html", who, 500, reason=reason)
        self.visitors.remember(response, who)
        return response

    async def _enter(self, request: Request) -> Somebody:
        visitor = await self.visitors.find(request)
        key = visitor.session_id if visitor else self.address(request)
        reading = await self.limits.charge(nobody(key))
        if not reading.taken:
            raise refuse(reading)
        if any("\0" in str(value) for value in request.path_params.values()):
            raise NotFound("There is nothing at this path.")
        return visitor or self.visitors.stranger(request)

    def _refuse(self, refusal: Refusal, who: Somebody | None) -> Response:
        return self.render(
            "refused.html",
            who,
            refusal.status,
            headers=refusal.headers,
            reason=refusal.description,
        )
