"""Makes the routes of all pages with the common steps: rate limit, session, form token, refusals as pages.

`read_line` and `read_name` read short texts of forms.
"""

import tomllib
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from importlib import resources
from typing import Any, Final
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.base import values
from negotiator.base.caller import anonymous_caller
from negotiator.base.errors import FieldError, NotFound, Refusal, RequestAborted, Unavailable, ValidationFailed
from negotiator.console.browser_sessions import AnySession, BrowserSessions, SignedInSession
from negotiator.console.guides_content import guide_of_page
from negotiator.console.page_renderer import PageRenderer
from negotiator.http.input import FIELDS, parse_form, read_body, read_headers
from negotiator.http.limits import RateLimits, too_many_requests
from negotiator.runtime.telemetry import logger, request_id
from negotiator.store.store import Store

log = logger(__name__)

SIGN_IN_PATH: Final = "/sign-in"
GO_PATH: Final = "/go"
LIVE_PATH: Final = "/live"
HEADINGS: Final = {
    401: "This address is for programs",
    403: "You may not do that",
    404: "There is nothing here",
    405: "This address is for programs",
    410: "This link does not work any more",
    413: "That is too large",
    422: "Something is missing or wrong",
    429: "A moment, please",
    503: "Not available right now",
}
_asked: ContextVar[Request | None] = ContextVar("request of the page", default=None)
_NOTICES: Final[Mapping[str, Mapping[str, str]]] = tomllib.loads(
    (resources.files("negotiator.console") / "notices.toml").read_text("utf-8")
)
_typed: ContextVar[tuple[str, ...]] = ContextVar("texts of the form", default=())
_SHORTEST_TEXT: Final = 15
_UNREPEATED: Final = ("csrf", "password", "code", "secret")
OTHER_HEADING: Final = "This did not work"


@dataclass(frozen=True, slots=True)
class FormSize:
    """How much a form may send."""

    bytes: int = 8 * 1024
    fields: int = FIELDS


_USUAL_SIZE: Final = FormSize()

FormFields = dict[str, str]
RefusedField = tuple[str, str]
"""The name of a form's field, and why what was typed there was refused; two empty texts for none."""
NO_FIELD: Final[RefusedField] = ("", "")
PageHandler = Callable[[Request, SignedInSession], Awaitable[Response]]
FormHandler = Callable[[Request, SignedInSession, FormFields], Awaitable[Response]]
OpenPageHandler = Callable[[Request, AnySession], Awaitable[Response]]
OpenFormHandler = Callable[[Request, AnySession, FormFields], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class NavigationEntry:
    """A link at the top of every page; `key` is the page's `here`. Only administrators see one that is for them."""

    key: str
    path: str
    title: str
    admins_only: bool = False


@dataclass(frozen=True, slots=True)
class PageRouter:
    """Makes routes for pages and forms, so that no page can skip a check.

    `home` is the page after a sign-in that names no other. `navigation` are the pages that every page links to.
    """

    store: Store
    limits: RateLimits
    browser_sessions: BrowserSessions
    pages: PageRenderer
    home: str = "/"
    navigation: tuple[NavigationEntry, ...] = ()

    def page(self, path: str, show: PageHandler) -> Route:
        """A page for signed-in users; others sign in first and return to it."""

        async def answer(request: Request, session: AnySession) -> Response:
            if isinstance(session, SignedInSession):
                return await show(request, session)
            query = f"?{request.url.query}" if request.url.query else ""
            return self.ask_to_sign_in(f"{request.url.path}{query}")

        return self.open_page(path, answer)

    def form(self, path: str, act: FormHandler, *, back: str = "", size: FormSize = _USUAL_SIZE) -> Route:
        """A form for signed-in users; others sign in and return to the page it was on."""

        async def answer(request: Request, session: AnySession, form: FormFields) -> Response:
            if isinstance(session, SignedInSession):
                return await act(request, session, form)
            return self.ask_to_sign_in(back or request.url.path)

        return self.open_form(path, answer, anonymous_needs_token=False, size=size)

    def open_page(self, path: str, show: OpenPageHandler) -> Route:
        """A page that needs no sign-in."""

        async def answer(request: Request) -> Response:
            return await self._answer(request, lambda session: show(request, session))

        return Route(path, answer, methods=["GET"])

    def open_form(
        self,
        path: str,
        act: OpenFormHandler,
        *,
        anonymous_needs_token: bool = True,
        user_needs_token: bool = True,
        size: FormSize = _USUAL_SIZE,
    ) -> Route:
        """A form that needs no sign-in. Without `anonymous_needs_token` an anonymous form must authenticate itself.

        Without `user_needs_token` the handler asks `has_token` before it changes anything. A foreign site's form is
        refused in any case.
        """

        async def receive(request: Request, session: AnySession) -> Response:
            length = request.headers.get("content-length")
            body = await read_body(request.receive, size.bytes, length)
            form = parse_form(body, most=size.fields)
            signed_in = isinstance(session, SignedInSession)
            token = user_needs_token if signed_in else anonymous_needs_token
            self.browser_sessions.check(request, session, form, token=token)
            _typed.set(_texts(form))
            return await act(request, session, form)

        async def answer(request: Request) -> Response:
            return await self._answer(request, lambda session: receive(request, session))

        return Route(path, answer, methods=["POST"])

    def has_token(self, session: AnySession, form: FormFields) -> bool:
        """Whether the form carries the token of this very session."""
        return values.equal_in_constant_time(form.get("csrf", ""), session.csrf)

    def render(self, template: str, session: AnySession | None, status: int = 200, **context: Any) -> Response:
        """A page with the user's name and the sign-out button in its header; see `PageRenderer.render`.

        Its `notice` is what the path says of the query's `told`, unless the context has another one.
        """
        signed_in = session if isinstance(session, SignedInSession) else None
        request = _asked.get()
        path = request.url.path.removeprefix(request.scope.get("root_path", "")) if request else ""
        context.setdefault("notice", _notice(path, request.query_params.get("told", "")) if request else "")
        common = {
            "session": signed_in,
            "csrf": session.csrf if session else "",
            "home": self.home,
            "explained_in": guide_of_page(path),
            "navigation": [
                entry for entry in self.navigation if not entry.admins_only or (signed_in and signed_in.is_admin)
            ],
        }
        return self.pages.render(template, status, **common, **context)

    def unavailable(self, reason: str) -> Response:
        """The page for anyone who cannot be served now; it names no user."""
        return self.refused(Unavailable(reason), None)

    def refused(self, refusal: Refusal, session: AnySession | None, *, heading: str = "", **context: Any) -> Response:
        """The page of a refusal; `heading` stands for the usual one of its status."""
        faults = refusal.errors if isinstance(refusal, ValidationFailed) else ()
        return self.render(
            "error.html",
            session,
            refusal.status,
            headers=refusal.headers,
            heading=heading or HEADINGS.get(refusal.status, OTHER_HEADING),
            reason=refusal.description,
            faults=[fault.description for fault in faults],
            **context,
        )

    def ask_to_sign_in(self, back: str) -> Response:
        """Redirect to the sign-in page, which returns to the path `back`."""
        return self.pages.see(f"{SIGN_IN_PATH}?next={quote(back, safe='')}")

    def redirect_after_sign_in(self, path: str) -> Response:
        """Redirect to the page that the user wanted to open before signing in.

        An authorization may redirect to a client's own origin at once. Browsers would check that against the sign-in
        form's `form-action`, so an intermediate page leads there instead of the form's answer.
        """
        if path.startswith("/oauth/"):
            return self.render("continue.html", None, path=path)
        return self.pages.see(path)

    def address(self, request: Request) -> str:
        """The client address that limits are charged to."""
        return self.browser_sessions.guard.address(request.scope, read_headers(request.scope))

    async def _answer(self, request: Request, make: Callable[[AnySession], Awaitable[Response]]) -> Response:
        session: AnySession | None = None
        _asked.set(request)
        _typed.set(())
        try:
            session = await self._session(request)
            response = await make(session)
        except RequestAborted:
            return Response(status_code=400)
        except Refusal as refusal:
            return self.refused(refusal, session, typed=_typed.get())
        except Exception as fault:
            log.error("crashed", exc_info=fault)
            return self.render(
                "error.html",
                session,
                500,
                heading=OTHER_HEADING,
                reason="An internal error occurred.",
                request=request_id.get(),
            )
        self.browser_sessions.remember(response, session)
        return response

    async def _session(self, request: Request) -> AnySession:
        signed_in = await self.browser_sessions.find(request)
        key = signed_in.session_id if signed_in else self.address(request)
        reading = await self.limits.charge(anonymous_caller(key))
        if not reading.taken:
            raise too_many_requests(reading)
        if any("\0" in str(value) for value in request.path_params.values()):
            raise NotFound("There is nothing at this path.")
        return signed_in or self.browser_sessions.anonymous(request)


def _notice(path: str, told: str) -> str:
    """What the page at `path` says after a form that led back to it with this key; usually nothing."""
    for place, texts in _NOTICES.items():
        if path == place or path.startswith(f"{place}/"):
            return texts.get(told, "")
    return ""


def _texts(form: FormFields) -> tuple[str, ...]:
    """What a person wrote into a form in more than a word or two, which a refusal shows again."""
    return tuple(
        text
        for name, value in form.items()
        if len(text := value.strip()) >= _SHORTEST_TEXT
        and " " in text
        and not any(word in name for word in _UNREPEATED)
    )


def field_error(refusal: ValidationFailed) -> RefusedField:
    """The first field that was refused, and why."""
    fault = refusal.errors[0]
    return fault.pointer.removeprefix("/"), fault.description


_MAX_LINE_LENGTH: Final = 100


def read_line(form: FormFields, field: str, label: str) -> str:
    """One line of a form, stripped; 422 when it has more than 100 characters or invisible ones."""
    text = form.get(field, "").strip()
    if len(text) > _MAX_LINE_LENGTH:
        raise ValidationFailed([FieldError(f"/{field}", f"{label} has at most 100 characters.")])
    if values.has_invisible_characters(text):
        raise ValidationFailed([FieldError(f"/{field}", f"{label} contains a character that cannot be seen.")])
    return text


def read_whole(text: str, otherwise: int = 0) -> int:
    """The whole number that a field or a query holds, of nine digits at most; `otherwise` for any other text."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else otherwise


def read_revision(form: FormFields) -> int | None:
    """The revision that the page of the form showed."""
    return read_whole(form.get("revision", "")) or None


def read_name(form: FormFields) -> str:
    return read_line(form, "name", "A name")
