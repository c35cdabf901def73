"""`/negotiations`: all negotiations of the user, searched, filtered and sorted; and erasing one."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.console import home_view
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.negotiation_words import RUNNING, STATES
from negotiator.console.page_calls import PageCalls
from negotiator.console.page_router import FormFields, PageRouter

LIST_PATH: Final = "/negotiations"
PAGE_SIZE: Final = 20
PHASES: Final = {"running": "In progress", "ended": "Ended"}
SORTS: Final = {"newest": "Newest first", "changed": "Last changed first", "deadline": "Nearest deadline first"}
_MAX_QUERY: Final = 100


@dataclass(frozen=True, slots=True)
class NegotiationsPage:
    """The list of all negotiations, and the form that erases one."""

    router: PageRouter
    calls: PageCalls

    def routes(self) -> list[Route]:
        return [
            self.router.page(LIST_PATH, self.show),
            self.router.form(f"{LIST_PATH}/{{id}}/erase", self.erase, back=LIST_PATH),
        ]

    async def show(self, request: Request, session: SignedInSession) -> Response:
        """A page of the list; an unknown filter or order is taken for none."""
        query = request.query_params
        words = query.get("query", "").strip()[:_MAX_QUERY]
        state, sort = query.get("state", ""), query.get("sort", "")
        asked = {
            "query": words,
            "state": state if state in STATES or state in PHASES else "",
            "sort": sort if sort in SORTS else "newest",
        }
        members = {
            "latest": True,
            "limit": PAGE_SIZE,
            "sort": asked["sort"],
            "query": words or None,
            "phase": state if state in PHASES else None,
            "state": state if state in STATES else None,
            "cursor": query.get("after") or None,
        }
        found = await self.calls.run(session, "list_negotiations", members)
        now, after = datetime.now(UTC), found["next_cursor"]
        given = {name: value for name, value in asked.items() if value}
        return self.router.render(
            "negotiations.html",
            session,
            lines=[home_view.listed_line(view, now) for view in found["items"]],
            asked=asked,
            is_narrowed=bool(words or asked["state"]),
            is_later="after" in query,
            first=f"{LIST_PATH}?{urlencode(given)}",
            next_page=f"{LIST_PATH}?{urlencode({**given, 'after': after})}" if after else "",
            phases=PHASES,
            running=[(name, STATES[name]) for name in RUNNING],
            ended=[(name, words) for name, words in STATES.items() if name not in RUNNING],
            sorts=SORTS,
            here="home",
        )

    async def erase(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Erase a negotiation with its offers, plans and history."""
        del form
        await self.calls.run(session, "delete_negotiation", {"id": request.path_params["id"]})
        return self.router.pages.see("/")
