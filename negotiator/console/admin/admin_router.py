"""What all admin pages share: only administrators open them, and each links to the others.

`/admin/services`: mail and models: whether they are set up, and a button that tries each.
"""

import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.base.errors import Forbidden, NotFound
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.page_router import FormFields, FormHandler, FormSize, NavigationEntry, PageHandler, PageRouter

ADMIN_PATH: Final = "/admin"
PEOPLE_PATH: Final = f"{ADMIN_PATH}/people"
ISSUERS_PATH: Final = f"{ADMIN_PATH}/issuers"
CLIENTS_PATH: Final = f"{ADMIN_PATH}/clients"
REGISTRATIONS_PATH: Final = f"{ADMIN_PATH}/registrations"
SERVICES_PATH: Final = f"{ADMIN_PATH}/services"
AUDIT_PATH: Final = f"{ADMIN_PATH}/audit"
QUEUE_PATH: Final = f"{ADMIN_PATH}/submissions"
ADMIN_ENTRY: Final = NavigationEntry("admin", ADMIN_PATH, "Admin", admins_only=True)
_TABS: Final = (
    NavigationEntry("people", PEOPLE_PATH, "People"),
    NavigationEntry("issuers", ISSUERS_PATH, "Issuers"),
    NavigationEntry("clients", CLIENTS_PATH, "Clients"),
    NavigationEntry("registrations", REGISTRATIONS_PATH, "Registrations"),
    NavigationEntry("services", SERVICES_PATH, "Mail and models"),
    NavigationEntry("audit", AUDIT_PATH, "Audit"),
)
_QUEUE: Final = NavigationEntry("submissions", QUEUE_PATH, "Submissions")
"""Only where the directory runs."""
_DIRECTORY: Final = "tools"
"""The key of the directory among the pages that every page links to."""
PAGE_SIZE: Final = 50
AFTER_EVERY_ID: Final = "~"
"""Sorts after every id."""
_LARGE_FORM: Final = FormSize(bytes=96 * 1024)
"""A form may carry a set of public keys."""


@dataclass(frozen=True, slots=True)
class AdminRouter:
    """Makes routes that answer 403 to everybody who is no administrator at that moment."""

    router: PageRouter

    def page(self, path: str, show: PageHandler) -> Route:
        async def answer(request: Request, session: SignedInSession) -> Response:
            _require_admin(session)
            return await show(request, session)

        return self.router.page(path, answer)

    def form(self, path: str, act: FormHandler, *, back: str) -> Route:
        async def answer(request: Request, session: SignedInSession, form: FormFields) -> Response:
            _require_admin(session)
            return await act(request, session, form)

        return self.router.form(path, answer, back=back, size=_LARGE_FORM)

    def render(self, template: str, session: SignedInSession, tab: str, status: int = 200, **context: Any) -> Response:
        """An admin page; `tab` is the key of the one among them."""
        listed = any(entry.key == _DIRECTORY for entry in self.router.navigation)
        tabs = (*_TABS[:-1], _QUEUE, _TABS[-1]) if listed else _TABS
        return self.router.render(template, session, status, here="admin", tabs=tabs, tab=tab, **context)

    def see(self, path: str, notice: str) -> Response:
        """Redirect to a page that tells the notice of this key."""
        return self.router.pages.see(f"{path}?told={notice}")


def with_blanks(form: FormFields | None) -> FormFields:
    """The fields of a form for a template, where one that was not sent is empty."""
    return defaultdict(str, form or {})


def _require_admin(session: SignedInSession) -> None:
    if not session.is_admin:
        raise Forbidden("This page is for administrators of this service.")


@dataclass(frozen=True, slots=True)
class TrialResult:
    """What came back from a trial; `said` is the text of a model, if there is one."""

    is_good: bool
    sentence: str
    said: str = ""


@dataclass(frozen=True, slots=True)
class TriedService:
    """A service outside of this process. `state` says how it is set up; without `button` there is nothing to try."""

    key: str
    title: str
    state: Callable[[], str]
    button: str
    run: Callable[[SignedInSession], Awaitable[TrialResult]]


@dataclass(frozen=True, slots=True)
class AdminServices:
    """The page with one panel a service."""

    admin: AdminRouter
    services: tuple[TriedService, ...]

    def routes(self) -> list[Route]:
        return [
            self.admin.page(SERVICES_PATH, self.show),
            self.admin.form(f"{SERVICES_PATH}/{{key}}", self.attempt, back=SERVICES_PATH),
        ]

    async def show(self, _request: Request, session: SignedInSession) -> Response:
        return self._page(session)

    async def attempt(self, request: Request, session: SignedInSession, _form: FormFields) -> Response:
        """Try one service now, and show what came back and in how long."""
        key: str = request.path_params["key"]
        service = next((each for each in self.services if each.key == key and each.button), None)
        if service is None:
            raise NotFound("There is nothing to try here.")
        began = time.perf_counter()
        result = await service.run(session)
        return self._page(session, key, result, time.perf_counter() - began)

    def _page(
        self, session: SignedInSession, tried: str = "", result: TrialResult | None = None, seconds: float = 0
    ) -> Response:
        return self.admin.render(
            "admin_services.html",
            session,
            "services",
            services=self.services,
            tried=tried,
            result=result,
            took=f"{seconds:.1f} seconds" if seconds >= 1 else f"{seconds * 1000:.0f} milliseconds",
        )
