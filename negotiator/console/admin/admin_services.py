"""`/admin/services`: mail and models: whether they are set up, and a button that tries each."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.base.errors import NotFound
from negotiator.console.admin.admin_router import SERVICES_PATH, AdminRouter
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.page_router import FormFields


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
