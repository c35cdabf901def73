"""Makes the routes of all pages with the common steps: rate limit, session, form token, refusals as pages.

`read_line` and `read_name` read short texts of forms. `RefusalPages` shows refusals of every path as pages to browsers,
and `DeferredPages` imports most pages at the first request for one of them.
"""

import tomllib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from importlib import resources
from typing import Any, Final, TypeVar
from urllib.parse import quote

import orjson
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from negotiator.base import values
from negotiator.base.caller import anonymous_caller
from negotiator.base.errors import (
    Conflict,
    FieldError,
    Forbidden,
    NotFound,
    PreconditionFailed,
    Refusal,
    RequestAborted,
    Unavailable,
    ValidationFailed,
)
from negotiator.console.browser_sessions import AnySession, BrowserSessions, SignedInSession
from negotiator.console.guides_content import guide_of_page
from negotiator.console.page_renderer import PageRenderer
from negotiator.discovery.documents import PublicDocument, serve_document
from negotiator.http.input import FIELDS, parse_form, read_body, read_headers
from negotiator.http.limits import RateLimits, too_many_requests
from negotiator.runtime.telemetry import logger, request_id
from negotiator.runtime.thread_pools import BuiltOnce
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
PageHandler = Callable[[Request, SignedInSession], Awaitable[Response]]
FormHandler = Callable[[Request, SignedInSession, FormFields], Awaitable[Response]]
OpenPageHandler = Callable[[Request, AnySession], Awaitable[Response]]
OpenFormHandler = Callable[[Request, AnySession, FormFields], Awaitable[Response]]


class UnreadFields(ValidationFailed):
    """Fields of a form that cannot be read; `faults` are the sentences by field, where an API would have pointers."""

    def __init__(self, faults: Mapping[str, str]) -> None:
        super().__init__([FieldError(f"/{name}", sentence) for name, sentence in faults.items()])
        self.faults = faults


@dataclass(frozen=True, slots=True)
class RefusedForm:
    """A form that a page shows again with what was typed, and why it was refused; `name` is the last part of its path.

    Without a refusal it was only looked at; `NO_FORM` stands for none.
    """

    name: str = ""
    typed: Mapping[str, str] = field(default_factory=dict[str, str])
    refusal: Refusal | None = None

    @property
    def status(self) -> int:
        return self.refusal.status if self.refusal else 200

    @property
    def said(self) -> str:
        """What the refusal says as a whole; empty where fields say it."""
        return "" if self.refusal is None or isinstance(self.refusal, UnreadFields) else self.refusal.description

    def faults(self, field_of: Callable[[str], str] = lambda pointer: pointer.removeprefix("/")) -> dict[str, str]:
        """The first sentence of each field, those of no field at ""; `field_of` finds the field of an API's pointer."""
        if isinstance(self.refusal, UnreadFields):
            return dict(self.refusal.faults)
        if not isinstance(self.refusal, ValidationFailed):
            return {"": self.refusal.description} if self.refusal else {}
        found: dict[str, str] = {}
        for error in self.refusal.errors:
            found.setdefault(field_of(error.pointer), error.description)
        return found


NO_FORM: Final = RefusedForm()
AgainHandler = Callable[[Request, SignedInSession, RefusedForm], Awaitable[Response]]
OpenAgainHandler = Callable[[Request, AnySession, RefusedForm], Awaitable[Response]]
_Session = TypeVar("_Session")


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

    def form(
        self,
        path: str,
        act: FormHandler,
        *,
        again: AgainHandler | None = None,
        back: str = "",
        size: FormSize = _USUAL_SIZE,
    ) -> Route:
        """A form for signed-in users; others sign in and return to the page it was on.

        A refused one is shown by `again` with what was typed; without it the refusal has a page of its own.
        """

        async def answer(request: Request, session: AnySession, form: FormFields) -> Response:
            if not isinstance(session, SignedInSession):
                return self.ask_to_sign_in(back or request.url.path)
            return await _kept(act, again, request, session, form)

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
        again: OpenAgainHandler | None = None,
        anonymous_needs_token: bool = True,
        user_needs_token: bool = True,
        size: FormSize = _USUAL_SIZE,
    ) -> Route:
        """A form that needs no sign-in, with `again` as in `form`.

        Without `anonymous_needs_token` an anonymous form must authenticate itself. Without `user_needs_token` the
        handler asks `has_token` before it changes anything. A foreign site's form is refused in any case.
        """

        async def receive(request: Request, session: AnySession) -> Response:
            length = request.headers.get("content-length")
            body = await read_body(request.receive, size.bytes, length)
            form = parse_form(body, most=size.fields)
            signed_in = isinstance(session, SignedInSession)
            token = user_needs_token if signed_in else anonymous_needs_token
            self.browser_sessions.check(request, session, form, token=token)
            _typed.set(_texts(form))
            return await _kept(act, again, request, session, form)

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


async def _kept(
    act: Callable[[Request, _Session, FormFields], Awaitable[Response]],
    again: Callable[[Request, _Session, RefusedForm], Awaitable[Response]] | None,
    request: Request,
    session: _Session,
    form: FormFields,
) -> Response:
    """The answer of a form; of one that may be mended the page `again`, if there is one."""
    try:
        return await act(request, session, form)
    except (Conflict, Forbidden, PreconditionFailed, Unavailable, ValidationFailed) as refusal:
        if again is None:
            raise
        shown = await again(request, session, RefusedForm(request.url.path.rpartition("/")[2], form, refusal))
        shown.headers.update(refusal.headers)
        return shown


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


def said_with_labels(form: RefusedForm, labels: Mapping[str, str]) -> str:
    """What a refusal says in one line; `labels` are the words before the sentences on members, by pointer."""
    errors = form.refusal.errors if isinstance(form.refusal, ValidationFailed) else ()
    return " ".join(f"{labels.get(each.pointer, '')}{each.description}" for each in errors) or form.said


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


_JSON: Final = "application/json"
_FIRST_REFUSAL: Final = 400
_NOT_FOUND: Final = 404
_PASSED_ON: Final = ("retry-after", "allow", "www-authenticate")


class RefusalPages:
    """ASGI middleware for requests of browsers; `router` renders the page, with the navigation of a signed-in user."""

    def __init__(self, app: ASGIApp, *, router: PageRouter) -> None:
        self._app = app
        self._router = router

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        held = _HeldRefusal(send)
        await self._app(scope, receive, held.send)
        if held.start is not None:
            page = await self._page(Request(scope, receive), held)
            await page(scope, receive, send)

    async def _page(self, request: Request, held: "_HeldRefusal") -> Response:
        path, status = request.url.path, held.status
        if status == _NOT_FOUND and request.method == "GET" and path != "/" and path.endswith("/"):
            return self._router.pages.see(path.rstrip("/") or "/")
        refused = held.body()
        try:
            session = await self._router.browser_sessions.find(request)
        except Refusal:  # the database is away
            session = None
        return self._router.render(
            "error.html",
            session,
            status,
            headers=held.passed_on(),
            heading=HEADINGS.get(status, OTHER_HEADING),
            reason=refused.get("error_description", ""),
            faults=[fault.get("description", "") for fault in refused.get("errors", ())],
            request=refused.get("request_id", ""),
        )


@dataclass(slots=True)
class _HeldRefusal:
    """Passes on everything but refusals in JSON, which it keeps."""

    pass_on: Send
    start: Message | None = None
    chunks: list[bytes] = field(default_factory=list[bytes])

    @property
    def status(self) -> int:
        return self.start["status"] if self.start else 0

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_refusal(message):
            self.start = message
        elif self.start is None:
            await self.pass_on(message)
        elif message["type"] == "http.response.body":
            self.chunks.append(message.get("body", b""))

    def body(self) -> dict[str, Any]:
        return orjson.loads(b"".join(self.chunks) or b"{}")

    def passed_on(self) -> dict[str, str]:
        """The headers of the refusal that a page keeps."""
        headers = Headers(raw=self.start["headers"] if self.start else [])
        return {name: headers[name] for name in _PASSED_ON if name in headers}


def _is_refusal(start: Message) -> bool:
    kind = Headers(raw=start["headers"]).get("content-type", "")
    return start["status"] >= _FIRST_REFUSAL and kind.startswith(_JSON)


_ROUTE: Final = "deferred_route"
"""The member of the scope with the route that takes a request."""


class DeferredPages(BaseRoute):
    """The routes that `build` makes, for requests that no other route takes; it has to be the last one.

    The first such request builds them on a thread and is then routed anew.
    """

    def __init__(self, build: Callable[[], Sequence[Route]]) -> None:
        self._routes = BuiltOnce(build)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if scope["type"] != "http":
            return Match.NONE, {}
        routes = self._routes.built
        if routes is None:
            return Match.FULL, {}
        found: tuple[Match, Scope] = Match.NONE, {}
        for route in routes:
            match, child = route.matches(scope)
            if match is Match.FULL or (match is Match.PARTIAL and found[0] is Match.NONE):
                found = match, {**child, _ROUTE: route}
            if match is Match.FULL:
                break
        return found

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        route: Route | None = scope.get(_ROUTE)
        if route is not None:
            await route.handle(scope, receive, send)
            return
        await self._routes.get()
        await scope["router"](scope, receive, send)

    def for_browsers(self, document: PublicDocument) -> Route:
        """The path of a document: its page for requests with a cookie, which only browsers send, else the document."""

        async def answer(request: Request) -> Response:
            if "cookie" in request.headers:
                for page in await self._routes.get():
                    if page.path == document.path:
                        return await page.endpoint(request)
            return serve_document(document, request)

        return Route(document.path, answer, methods=["GET"])
