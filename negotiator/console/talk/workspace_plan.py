"""The part "Plan" of a negotiation's page, and the page that compares two versions of the plan."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from negotiator.base.errors import NotFound
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.negotiation_words import day_text, time_text
from negotiator.console.page_calls import PageCalls
from negotiator.console.page_router import PageRouter
from negotiator.console.talk.plan_text import plan_changes, plan_html
from negotiator.console.talk.workspace_history import TalkSoFar, history_row

MAX_VERSIONS: Final = 100
_SHOWN_CHANGES: Final = 6


@dataclass(frozen=True, slots=True)
class PlanView:
    """The newest plan as HTML, which versions there are, and what happened since it was made."""

    version: int
    made: str
    stale: bool
    html: str
    versions: Sequence[tuple[int, str]]
    since: Sequence[str]
    more_since: int


async def plan_part(
    calls: PageCalls, session: SignedInSession, view: dict[str, Any], talk: TalkSoFar, *, past: Mapping[str, Any]
) -> dict[str, Any]:
    """What the template of the part reads; `past` is what the history reads."""
    heads = await plan_heads(calls, session, view["id"])
    if not heads:
        return {"plan": None}
    newest = heads[0]
    text = await plan_markdown_of(calls, session, view["id"], newest["id"])
    since = [
        history_row(event, past["names"], talk).what
        for event in reversed(past["events"])
        if event["revision"] > newest["made_from_revision"]
    ]
    plan = PlanView(
        newest["version"],
        time_text(newest["created_at"]),
        newest["stale"],
        plan_html(text),
        [(head["version"], time_text(head["created_at"])) for head in heads],
        since[-_SHOWN_CHANGES:],
        max(0, len(since) - _SHOWN_CHANGES),
    )
    return {"plan": plan}


async def plan_heads(calls: PageCalls, session: SignedInSession, negotiation: str) -> list[dict[str, Any]]:
    """The versions of a negotiation's plan, newest first, without their sections."""
    members = {"id": negotiation, "limit": MAX_VERSIONS}
    found: list[dict[str, Any]] = (await calls.run(session, "list_battle_plans", members))["items"]
    return found


async def plan_markdown_of(calls: PageCalls, session: SignedInSession, negotiation: str, plan: str) -> str:
    """A version of the plan as the API prints it."""
    members = {"id": negotiation, "plan_id": plan}
    return await calls.text(session, "get_battle_plan", members, accept="text/markdown")


@dataclass(frozen=True, slots=True)
class PlanVersionsPage:
    """Two versions of a negotiation's plan, and what changed from one to the other."""

    router: PageRouter
    calls: PageCalls
    path: str

    def routes(self) -> list[Route]:
        return [self.router.page(self.path, self.show), self.router.page(f"{self.path}.md", self.markdown)]

    async def markdown(self, request: Request, session: SignedInSession) -> Response:
        """The newest plan as markdown."""
        negotiation: str = request.path_params["id"]
        newest, *_ = await self._heads(session, negotiation)
        text = await plan_markdown_of(self.calls, session, negotiation, newest["id"])
        return PlainTextResponse(text, headers={"cache-control": "no-store"})

    async def _heads(self, session: SignedInSession, negotiation: str) -> list[dict[str, Any]]:
        heads = await plan_heads(self.calls, session, negotiation)
        if not heads:
            raise NotFound("This negotiation has no plan yet.")
        return heads

    async def show(self, request: Request, session: SignedInSession) -> Response:
        """The versions `from` and `to` of the query; the last two without them."""
        negotiation: str = request.path_params["id"]
        view = await self.calls.run(session, "get_negotiation", {"id": negotiation})
        heads = await self._heads(session, negotiation)
        by_version = {head["version"]: head for head in heads}
        newest = heads[0]["version"]
        to = _version(request.query_params.get("to", ""), by_version, newest)
        before = _version(request.query_params.get("from", ""), by_version, max(1, to - 1))
        texts = [
            await plan_markdown_of(self.calls, session, negotiation, by_version[one]["id"]) for one in (before, to)
        ]
        return self.router.render(
            "plan_versions.html",
            session,
            negotiation=view,
            versions=[(one, day_text(head["created_at"])) for one, head in by_version.items()],
            before=before,
            to=to,
            changes=plan_changes(*texts),
            html=plan_html(texts[1]),
            here="home",
        )


def _version(text: str, known: Mapping[int, Any], otherwise: int) -> int:
    number = int(text) if text.isdecimal() and len(text) < 5 else otherwise
    if number in known:
        return number
    return otherwise if otherwise in known else max(known)
