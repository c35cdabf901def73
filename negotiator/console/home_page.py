"""`/` for a signed-in user: what waits for them, what runs, and what was won this year; an example to look at."""

import tomllib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib import resources
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.agents import registration
from negotiator.console import home_view
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.home_view import Waiting
from negotiator.console.negotiation_words import RUNNING, month_name
from negotiator.console.page_calls import Members, PageCalls
from negotiator.console.page_router import FormFields, PageRouter
from negotiator.store.statement import Transaction
from negotiator.users import approval_queries

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

    async def show(self, request: Request, session: SignedInSession) -> Response:
        del request
        now = datetime.now(UTC)
        listed = await self.calls.run(
            session, "list_negotiations", {"phase": "running", "sort": "changed", "latest": True, "limit": _READ}
        )
        running = sorted(listed["items"], key=lambda one: RUNNING.index(one["state"]))
        won = await self._won(session, now)
        real = [view for view in running if not view.get("example")]
        waiting = [
            *await self._requests(session),
            *home_view.waiting_in(running, await self._agents(session, running)),
            *await self._memories(session),
        ]
        return self.router.render(
            "home.html",
            session,
            waiting=waiting[: home_view.MAX_WAITING],
            more_waiting=max(0, len(waiting) - home_view.MAX_WAITING),
            running=[home_view.listed_line(view, now) for view in running[:MAX_RUNNING]],
            more=len(running) > MAX_RUNNING or listed["next_cursor"] is not None,
            won=won,
            year=str(now.year),
            month=now.month,
            charts=home_view.yearly_charts(won[0], now.year, now.month) if won else [],
            month_name=month_name,
            is_new=not (real or won or await self._has_ended(session)),
            example=next((view["id"] for view in running if view.get("example")), ""),
            here="home",
        )

    async def open_example(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Open the example, or show the one that is there."""
        del request, form
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

    async def _requests(self, session: SignedInSession) -> list[Waiting]:
        """Agents and sign-ins that ask to be bound to the user's account."""
        found = await self.router.store.read(lambda tx: approval_queries.open_requests(tx, session.email or ""))
        return [
            Waiting(
                f"{each.agent_name or 'A sign-in'} asks to work for you",
                "You decide what it may do, or you let it wait.",
                "Look at it",
                f"/approvals/{each.id}",
            )
            for each in found
        ]

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

    async def _memories(self, session: SignedInSession) -> list[Waiting]:
        run, most = self.calls.run, {"limit": _MEMORIES}
        unread = await run(session, "list_memories", {"trust": 0, **most})
        held = await run(session, "list_memories", {"status": "quarantined", **most})
        found = {one["id"] for one in (*unread["items"], *held["items"]) if one["status"] != "superseded"}
        more = unread["next_cursor"] is not None or held["next_cursor"] is not None
        return home_view.memories_waiting(len(found), more=more)

    async def _won(self, session: SignedInSession, now: datetime) -> list[Members]:
        """What was won this year in each currency, that of most deals first."""
        since = datetime(now.year, 1, 1, tzinfo=UTC).isoformat()
        return (await self.calls.run(session, "get_win_totals", {"since": since}))["items"]

    async def _has_ended(self, session: SignedInSession) -> bool:
        """Whether any negotiation has ended."""
        members = {"phase": "ended", "limit": 1}
        return bool((await self.calls.run(session, "list_negotiations", members))["items"])
