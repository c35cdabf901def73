"""`/` for a signed-in user: what waits for them, what runs, and what was won; `/negotiations`: the list of all.

`/go`: one search over pages, negotiations, tools, what the user knows, and the guides; ⌘K shows it over any page.
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib import resources
from typing import Any, Final
from urllib.parse import quote_plus, urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.agents import registration
from negotiator.base.errors import Refusal
from negotiator.base.search_terms import stemmed_terms
from negotiator.console import charts as drawing
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.charts import Bar
from negotiator.console.guides_content import search_guides
from negotiator.console.negotiation_words import (
    RUNNING,
    STATES,
    NegotiationWords,
    asked_verb,
    beyond_text,
    days_left,
    month_name,
    short_amount,
)
from negotiator.console.page_calls import Members, PageCalls
from negotiator.console.page_router import GO_PATH, FormFields, PageRouter
from negotiator.discovery.public_pages import GUIDES_PATH, MANUAL_PATH
from negotiator.store.statement import Transaction
from negotiator.users import approval_queries

MAX_WAITING: Final = 8
_WAITS: Final[Mapping[str, Callable[[Members], object]]] = {
    "approval": lambda view: view["pending_approval"],
    "heard": lambda view: view["latest"]["unconfirmed"],
    "agreed": lambda view: view["state"] == "agreed" and not view.get("example"),
    "stale": lambda view: (
        view["latest"]["plan"] and view["latest"]["plan"]["stale"] and view["state"] in {"planned", "active"}
    ),
}
"""What waits for the user in a negotiation of `list_negotiations` with `latest`, the most urgent first."""


def listing(now: datetime) -> Members:
    """What the template of a list of negotiations puts them in words with."""
    return {
        "words_of": NegotiationWords.of,
        "days_left": partial(days_left, now=now),
        "states": STATES,
        "running_states": RUNNING,
    }


def yearly_charts(main: Members, year: int, month: int) -> list[str]:
    """The savings in one currency by month of the year up to `month`, for a wide and a narrow page."""
    by_month = {one["month"]: one for one in main["months"]}
    bars: list[Bar] = []
    for number in range(1, month + 1):
        one = by_month.get(f"{year}-{number:02}")
        saved = one["savings"] if one else "0"
        bars.append(Bar(month_name(number), float(saved), short_amount(saved) if one else ""))
    title = f"Savings by month of {year} in {main['currency']}"
    return [drawing.column_chart(title, bars, width=width, height=150) for width in (400, 340)]


_DAYS_LEFT: Final = 18
_EXAMPLE: Final[Members] = tomllib.loads((resources.files("negotiator.console") / "example.toml").read_text("utf-8"))
EXAMPLE_PATH: Final = "/example"
MAX_RUNNING: Final = 8
_READ: Final = 50
_MEMORIES: Final = 100


@dataclass(frozen=True, slots=True)
class HomePage:
    """The first page of a signed-in user, and the example that it offers."""

    router: PageRouter
    calls: PageCalls

    def routes(self) -> list[Route]:
        return [self.router.form(EXAMPLE_PATH, self.open_example, back="/")]

    async def show(self, _request: Request, session: SignedInSession) -> Response:
        now = datetime.now(UTC)
        listed = await self.calls.run(
            session, "list_negotiations", {"phase": "running", "sort": "changed", "latest": True, "limit": _READ}
        )
        running = sorted(listed["items"], key=lambda one: RUNNING.index(one["state"]))
        won = await self._won(session, now)
        real = [view for view in running if not view.get("example")]
        requests = await self.router.store.read(lambda tx: approval_queries.open_requests(tx, session.email or ""))
        waiting: list[tuple[str, Any]] = [("request", each) for each in requests]
        waiting += [(kind, view) for kind, waits in _WAITS.items() for view in running if waits(view)]
        memories, more_memories = await self._memories(session)
        waiting += [("memories", memories)] if memories else []
        return self.router.render(
            "home.html",
            session,
            waiting=waiting[:MAX_WAITING],
            more_waiting=max(0, len(waiting) - MAX_WAITING),
            more_memories=more_memories,
            agents=await self._agents(session, running),
            asked_verb=asked_verb,
            beyond_text=beyond_text,
            running=running[:MAX_RUNNING],
            **listing(now),
            more=len(running) > MAX_RUNNING or listed["next_cursor"] is not None,
            won=won,
            year=str(now.year),
            month=now.month,
            charts=yearly_charts(won[0], now.year, now.month) if won else [],
            month_name=month_name,
            is_new=not (real or won or await self._has_ended(session)),
            example=next((view["id"] for view in running if view.get("example")), ""),
            here="home",
        )

    async def open_example(self, _request: Request, session: SignedInSession, _form: FormFields) -> Response:
        """Open the example, or show the one that is there."""
        listed = await self.calls.run(session, "list_negotiations", {"limit": _MEMORIES})
        found = next((view["id"] for view in listed["items"] if view.get("example")), None)
        if found is None:
            found = await self._make_example(session)
        return self.router.pages.see(f"/negotiations/{found}")

    async def _make_example(self, session: SignedInSession) -> str:
        deadline = (datetime.now(UTC) + timedelta(days=_DAYS_LEFT)).isoformat(timespec="seconds")
        opened = await self.calls.run(session, "open_negotiation", {**_EXAMPLE["terms"], "deadline": deadline})
        named = {"id": opened["id"]}
        await self.calls.run(session, "make_battle_plan", named)
        for offer in _EXAMPLE["offers"]:
            await self.calls.run(session, "record_offer", {**named, **offer})
        return opened["id"]

    async def _agents(self, session: SignedInSession, views: list[Members]) -> dict[str, str]:
        """The names of the agents that ask to pass a limit, by id."""
        ids = {
            view["pending_approval"]["asked_by"]["id"]
            for view in views
            if view["pending_approval"] and view["pending_approval"].get("asked_by")
        }

        def unit(tx: Transaction) -> dict[str, str]:
            found = [registration.find(tx, one) for one in sorted(ids)]
            return {one.id: one.name for one in found if one and one.user_id == session.user_id}

        return await self.router.store.read(unit) if ids else {}

    async def _memories(self, session: SignedInSession) -> tuple[int, bool]:
        """How many memories the user has not looked over, and whether there are more than were counted."""
        run, most = self.calls.run, {"limit": _MEMORIES}
        unread = await run(session, "list_memories", {"trust": 0, **most})
        held = await run(session, "list_memories", {"status": "quarantined", **most})
        found = {one["id"] for one in (*unread["items"], *held["items"]) if one["status"] != "superseded"}
        more = unread["next_cursor"] is not None or held["next_cursor"] is not None
        return len(found), more

    async def _won(self, session: SignedInSession, now: datetime) -> list[Members]:
        """What was won this year in each currency, that of most deals first."""
        since = datetime(now.year, 1, 1, tzinfo=UTC).isoformat()
        return (await self.calls.run(session, "get_win_totals", {"since": since}))["items"]

    async def _has_ended(self, session: SignedInSession) -> bool:
        """Whether any negotiation has ended."""
        members = {"phase": "ended", "limit": 1}
        return bool((await self.calls.run(session, "list_negotiations", members))["items"])


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
            negotiations=found["items"],
            **listing(now),
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

    async def erase(self, request: Request, session: SignedInSession, _form: FormFields) -> Response:
        """Erase a negotiation with its offers, plans and history."""
        await self.calls.run(session, "delete_negotiation", {"id": request.path_params["id"]})
        return self.router.pages.see("/")


LONGEST_QUERY: Final = 100
EACH: Final = 5
"""Results of one kind."""
_LONGEST_TEXT: Final = 90
_PREPARE: Final = ("Prepare a negotiation", "/negotiations/new")
_PRACTISING: Final = ("practi", "rehears")
"""How words begin that ask for the rehearsals of a negotiation."""
_ACCOUNT: Final = ("Your account", "/account")


@dataclass(frozen=True, slots=True)
class Destination:
    """One result: its title, a few words about it, and its path."""

    title: str
    detail: str
    path: str


@dataclass(frozen=True, slots=True)
class GoPage:
    """The page, and its results alone for the box that ⌘K opens."""

    router: PageRouter
    calls: PageCalls

    def routes(self) -> list[Route]:
        return [self.router.page(GO_PATH, self.show)]

    async def show(self, request: Request, session: SignedInSession) -> Response:
        query = request.query_params.get("q", "").strip()[:LONGEST_QUERY]
        groups = await self._find(session, query)
        template = "go_results.html" if "hx-request" in request.headers else "go.html"
        return self.router.render(template, session, query=query, groups=groups)

    async def _find(self, session: SignedInSession, query: str) -> dict[str, Sequence[Destination]]:
        """What was found, by the title of its kind."""
        asked = {"limit": EACH, **({"query": query} if query else {})}
        groups: dict[str, Sequence[Destination]] = {"Pages": self._pages(session, query)}
        if query:
            groups["Practise"] = await self._rehearsals(session, query)
        groups["Negotiations"] = _negotiations(await self._answer(session, "list_negotiations", asked))
        if query:
            groups["What you know"] = _memories(
                await self._answer(session, "search_memories", {**asked, "mode": "keyword"})
            )
            groups["Guides"] = [
                Destination(guide.title, "Guide", f"{GUIDES_PATH}/{guide.name}")
                for guide in search_guides(query, whole=True)[:EACH]
            ]
            groups["Tools"] = _tools(await self._answer(session, "list_tools", asked), query)
        return {title: found for title, found in groups.items() if found}

    async def _rehearsals(self, session: SignedInSession, query: str) -> tuple[Destination, ...]:
        """The pages on which a negotiation is practised, where a word of the query asks for that."""
        asked = query.lower().split()
        rest = [word for word in asked if not word.startswith(_PRACTISING)]
        if len(rest) == len(asked) or not self.calls.offers("start_rehearsal"):
            return ()
        members = {"limit": EACH, **({"query": " ".join(rest)} if rest else {})}
        found = await self._answer(session, "list_negotiations", members)
        return tuple(
            Destination(f"Practise: {one['title']}", "", f"/negotiations/{one['id']}/rehearsals")
            for one in found
            if one["state"] in RUNNING
        )

    def _pages(self, session: SignedInSession, query: str) -> tuple[Destination, ...]:
        offered = [
            (entry.title, entry.path) for entry in self.router.navigation if session.is_admin or not entry.admins_only
        ]
        if self.calls.offers("open_negotiation"):
            offered.append(_PREPARE)
        words = query.lower().split()
        return tuple(
            Destination(title, "", path)
            for title, path in (*offered, _ACCOUNT, ("Guides", MANUAL_PATH))
            if all(word in title.lower() for word in words)
        )

    async def _answer(self, session: SignedInSession, operation: str, members: Members) -> Sequence[Members]:
        """The items that the operation answers; none where it is not offered or refuses such a query."""
        if not self.calls.offers(operation):
            return ()
        try:
            return (await self.calls.run(session, operation, members))["items"]
        except Refusal:
            return ()


def _negotiations(items: Sequence[Members]) -> tuple[Destination, ...]:
    return tuple(
        Destination(
            one["title"], f"{NegotiationWords.of(one).them} · {STATES[one['state']]}", f"/negotiations/{one['id']}"
        )
        for one in items
    )


def _memories(items: Sequence[Members]) -> tuple[Destination, ...]:
    return tuple(
        Destination(_shortened(text), "", f"/memories?query={quote_plus(text[:LONGEST_QUERY])}")
        for text in (" ".join(one["memory"]["text"].split()) for one in items)
    )


def _tools(items: Sequence[Members], query: str) -> tuple[Destination, ...]:
    """The tools that have every word in their name or summary; a mere likeness is no place to go to."""
    asked = stemmed_terms(query)
    return tuple(
        Destination(one["name"], _shortened(one["summary"] or ""), f"/tools/{one['slug']}")
        for one in items
        if _has_all(stemmed_terms(f"{one['name']} {one['summary'] or ''}"), asked)
    )


def _has_all(terms: Sequence[str], asked: Sequence[str]) -> bool:
    return all(any(term.startswith(one) for term in terms) for one in asked)


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT].rsplit(' ', 1)[0]} …"
