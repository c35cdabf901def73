"""What every page of ours stands in: the limit, the visitor, the form's token, the refusal as a page.

A slice of pages has a `Room` and makes its routes with it, so that no page can forget one of these steps.

What people type into our forms, held to what a page can show without being turned or hidden.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator import values
from negotiator.caller import anonymous_caller
from negotiator.console.browser_sessions import AnySession, BrowserSessions, SignedInSession
from negotiator.console.page_renderer import PageRenderer
from negotiator.errors import FieldError, NotFound, Refusal, ValidationFailed
from negotiator.http.endpoint import read_headers
from negotiator.http.input import RequestAborted, parse_form, read_body
from negotiator.http.limits import RateLimits, too_many_requests
from negotiator.store.store import Store
from negotiator.telemetry import logger, request_id

log = logger(__name__)

SIGN_IN_PATH: Final = "/sign-in"
_FORM = 8 * 1024

FormFields = dict[str, str]
PageHandler = Callable[[Request, SignedInSession], Awaitable[Response]]
FormHandler = Callable[[Request, SignedInSession, FormFields], Awaitable[Response]]
OpenPageHandler = Callable[[Request, AnySession], Awaitable[Response]]
OpenFormHandler = Callable[[Request, AnySession, FormFields], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class PageRouter:
    """Makes routes for pages and forms. `visitors` knows who comes, `pages` how a page looks.

    `home` is where whoever signs in goes, when he was going nowhere.
    """

    store: Store
    limits: RateLimits
    browser_sessions: BrowserSessions
    pages: PageRenderer
    home: str = "/agents"

    def page(self, path: str, show: PageHandler) -> Route:
        """A page for whoever is signed in; others sign in first and come back."""

        async def answer(request: Request, who: AnySession) -> Response:
            if isinstance(who, SignedInSession):
                return await show(request, who)
            query = f"?{request.url.query}" if request.url.query else ""
            return self.ask_to_sign_in(f"{request.url.path}{query}")

        return self.open_page(path, answer)

    def form(self, path: str, act: FormHandler, *, back: str = "") -> Route:
        """A form of whoever is signed in; others sign in and come back to the page it was on."""

        async def answer(request: Request, who: AnySession, form: FormFields) -> Response:
            if isinstance(who, SignedInSession):
                return await act(request, who, form)
            return self.ask_to_sign_in(back or request.url.path)

        return self.open_form(path, answer, strangers_need_token=False)

    def open_page(self, path: str, show: OpenPageHandler) -> Route:
        """A page for everybody."""

        async def answer(request: Request) -> Response:
            return await self._answer(request, lambda who: show(request, who))

        return Route(path, answer, methods=["GET"])

    def open_form(
        self, path: str, act: OpenFormHandler, *, strangers_need_token: bool = True
    ) -> Route:
        """A form for everybody. Without `strangers_need_token` what a stranger sends must prove itself."""

        async def receive(request: Request, who: AnySession) -> Response:
            length = request.headers.get("content-length")
            form = parse_form(await read_body(request.receive, _FORM, length))
            token = strangers_need_token or isinstance(who, SignedInSession)
            self.browser_sessions.check(request, who, form, token=token)
            return await act(request, who, form)

        async def answer(request: Request) -> Response:
            return await self._answer(request, lambda who: receive(request, who))

        return Route(path, answer, methods=["POST"])

    def render(
        self, template: str, who: AnySession | None, status: int = 200, **told: Any
    ) -> Response:
        """A page with the visitor's name and the way out in its head; see `Pages.render`."""
        visitor = who if isinstance(who, SignedInSession) else None
        csrf = who.csrf if who else ""
        known = {"visitor": visitor, "csrf": csrf, "home": self.home}
        return self.pages.render(template, status, **known, **told)

    def ask_to_sign_in(self, back: str) -> Response:
        """Off to the sign-in page, and from there to the path `back`."""
        return self.pages.see(f"{SIGN_IN_PATH}?next={quote(back, safe='')}")

    def redirect_after_sign_in(self, path: str) -> Response:
        """After signing in, to where the visitor was going.

        An authorization may redirect to a client's own origin at once. Browsers would hold that against the
        sign-in form's `form-action`, so the way there is a page of its own and not part of the form's answer.
        """
        if path.startswith("/oauth/"):
            return self.render("onward.html", None, path=path)
        return self.pages.see(path)

    def address(self, request: Request) -> str:
        """The client address that limits are kept by."""
        return self.browser_sessions.guard.address(request.scope, read_headers(request.scope))

    async def _answer(
        self, request: Request, make: Callable[[AnySession], Awaitable[Response]]
    ) -> Response:
        who: AnySession | None = None
        try:
            who = await self._enter(request)
            response = await make(who)
        except RequestAborted:
            return Response(status_code=400)
        except Refusal as refusal:
            return self._refuse(refusal, who)
        except Exception as fault:
            log.error("crashed", exc_info=fault)
            reason = f"Something went wrong on our side; {request_id.get()} leads to it in the log."
            return self.render("refused.html", who, 500, reason=reason)
        self.browser_sessions.remember(response, who)
        return response

    async def _enter(self, request: Request) -> AnySession:
        visitor = await self.browser_sessions.find(request)
        key = visitor.session_id if visitor else self.address(request)
        reading = await self.limits.charge(anonymous_caller(key))
        if not reading.taken:
            raise too_many_requests(reading)
        if any("\0" in str(value) for value in request.path_params.values()):
            raise NotFound("There is nothing at this path.")
        return visitor or self.browser_sessions.stranger(request)

    def _refuse(self, refusal: Refusal, who: AnySession | None) -> Response:
        return self.render(
            "refused.html",
            who,
            refusal.status,
            headers=refusal.headers,
            reason=refusal.description,
        )


_LONGEST: Final = 100


def read_line(form: FormFields, field: str, called: str) -> str:
    """One short line of a form, stripped; 422 when it is too long or has marks that nobody sees."""
    text = form.get(field, "").strip()
    if len(text) > _LONGEST:
        raise ValidationFailed([FieldError(f"/{field}", f"{called} has at most 100 characters.")])
    if values.has_invisible_characters(text):
        raise ValidationFailed(
            [FieldError(f"/{field}", f"{called} has a character that cannot be seen.")]
        )
    return text


def read_name(form: FormFields) -> str:
    """How to greet somebody."""
    return read_line(form, "name", "A name")
