"""What all admin pages share: only administrators open them, and each links to the others.

`/admin/services`: mail and models: whether they are set up, and a button that tries each. `/admin/audit`: who did what
and when, with filters.
"""

import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Concatenate, Final, ParamSpec
from urllib.parse import urlencode

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.agents import registration
from negotiator.base.errors import Forbidden, NotFound
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.page_router import (
    AgainHandler,
    FormFields,
    FormHandler,
    FormSize,
    NavigationEntry,
    PageHandler,
    PageRouter,
)
from negotiator.store import audit
from negotiator.store.audit import AuditEvent, AuditFilter
from negotiator.store.statement import Transaction
from negotiator.users import user_queries

ADMIN_PATH: Final = "/admin"
PEOPLE_PATH: Final = f"{ADMIN_PATH}/people"
ISSUERS_PATH: Final = f"{ADMIN_PATH}/issuers"
CLIENTS_PATH: Final = f"{ADMIN_PATH}/clients"
REGISTRATIONS_PATH: Final = f"{ADMIN_PATH}/registrations"
SERVICES_PATH: Final = f"{ADMIN_PATH}/services"
AUDIT_PATH: Final = f"{ADMIN_PATH}/audit"
_Rest = ParamSpec("_Rest")
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
        return self.router.page(path, _for_admins(show))

    def form(self, path: str, act: FormHandler, *, back: str, again: AgainHandler | None = None) -> Route:
        kept = _for_admins(again) if again else None
        return self.router.form(path, _for_admins(act), again=kept, back=back, size=_LARGE_FORM)

    def render(self, template: str, session: SignedInSession, tab: str, status: int = 200, **context: Any) -> Response:
        """An admin page; `tab` is the key of the one among them."""
        listed = any(entry.key == _DIRECTORY for entry in self.router.navigation)
        tabs = (*_TABS[:-1], _QUEUE, _TABS[-1]) if listed else _TABS
        return self.router.render(template, session, status, here="admin", tabs=tabs, tab=tab, **context)

    def see(self, path: str, notice: str) -> Response:
        """Redirect to a page that tells the notice of this key."""
        return self.router.pages.see(f"{path}?told={notice}")


def with_blanks(form: Mapping[str, str]) -> Mapping[str, str]:
    """The fields of a form for a template, where one that was not sent is empty."""
    return defaultdict(str, form)


def _for_admins(
    do: Callable[Concatenate[Request, SignedInSession, _Rest], Awaitable[Response]],
) -> Callable[Concatenate[Request, SignedInSession, _Rest], Awaitable[Response]]:
    """The same handler, which answers 403 to everybody else."""

    async def answer(request: Request, session: SignedInSession, *rest: _Rest.args, **named: _Rest.kwargs) -> Response:
        if not session.is_admin:
            raise Forbidden("This page is for administrators of this service.")
        return await do(request, session, *rest, **named)

    return answer


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
            self.admin.page(SERVICES_PATH, self.page),
            self.admin.form(f"{SERVICES_PATH}/{{key}}", self.attempt, back=SERVICES_PATH),
        ]

    async def attempt(self, request: Request, session: SignedInSession, _form: FormFields) -> Response:
        """Try one service now, and show what came back and in how long."""
        key: str = request.path_params["key"]
        service = next((each for each in self.services if each.key == key and each.button), None)
        if service is None:
            raise NotFound("There is nothing to try here.")
        began = time.perf_counter()
        result = await service.run(session)
        return await self.page(request, session, key, result, time.perf_counter() - began)

    async def page(
        self,
        _request: Request,
        session: SignedInSession,
        tried: str = "",
        result: TrialResult | None = None,
        seconds: float = 0,
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


_LONGEST = 300


@dataclass(frozen=True, slots=True)
class AdminAudit:
    """The audit trail, newest first."""

    admin: AdminRouter

    def routes(self) -> list[Route]:
        return [self.admin.page(AUDIT_PATH, self.show)]

    async def show(self, request: Request, session: SignedInSession) -> Response:
        query = request.query_params
        typed = {name: query.get(name, "").strip()[:_LONGEST] for name in ("who", "what", "from", "to")}
        since, until = _day(typed["from"]), _day(typed["to"])
        faults = {name: "Not a day." for name in ("from", "to") if typed[name] and not _day(typed[name])}
        before = query.get("before", "")

        def unit(tx: Transaction) -> tuple[list[AuditEvent], dict[str, str]]:
            """The events, and the names of the users and agents in them by id."""
            wanted = AuditFilter(
                party=_party(tx, typed["who"]),
                event=typed["what"] if typed["what"] in audit.EVENTS else "",
                since=_milliseconds(since) if since else None,
                until=_milliseconds(until + timedelta(days=1)) if until else None,
            )
            events = audit.search(tx, wanted, before=before, limit=PAGE_SIZE + 1)
            parties = {party for event in events for party in (event.actor, event.subject)}
            return events, {party: name for party in parties if (name := _name(tx, party))}

        events, names = await self.admin.router.store.read(unit)
        older = ""
        if len(events) > PAGE_SIZE:
            kept = {name: value for name, value in typed.items() if value}
            older = urlencode({**kept, "before": events[PAGE_SIZE - 1].id})
        return self.admin.render(
            "admin_audit.html",
            session,
            "audit",
            422 if faults else 200,
            events=[(event, orjson.loads(event.detail)) for event in events[:PAGE_SIZE]],
            names=names,
            in_words=in_words,
            older=older,
            is_filtered=any(typed.values()),
            typed=typed,
            faults=with_blanks(faults),
            kinds=[(name, in_words(name)) for name in sorted(audit.EVENTS)],
        )


def _name(tx: Transaction, party: str) -> str:
    """The name of a user or an agent; empty for one without."""
    if party.startswith("usr_"):
        user = user_queries.by_id(tx, party)
        return (user and (user.email or user.name)) or ""
    agent = registration.find(tx, party) if party.startswith("agt_") else None
    return f"{agent.name} (agent)" if agent and agent.name else ""


def in_words(event: str) -> str:
    """`user.sign_in_refused` as `User: sign in refused`."""
    subject, _, action = event.partition(".")
    return f"{subject.capitalize()}: {action.replace('_', ' ')}"


def _party(tx: Transaction, who: str) -> str:
    """The id of the user with this e-mail address; any other text stands for itself."""
    user = user_queries.by_email(tx, who.lower()) if "@" in who else None
    return user.id if user else who


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _milliseconds(day: date) -> int:
    return round(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp() * 1000)
