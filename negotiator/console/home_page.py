"""`/` for a signed-in user: what waits for them, what runs, and what was won."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.negotiation_words import RUNNING, STATES, NegotiationWords, days_left
from negotiator.console.page_calls import PageCalls
from negotiator.console.page_router import PageRouter

MAX_RUNNING: Final = 8


@dataclass(frozen=True, slots=True)
class RunningNegotiation:
    """One negotiation that has not ended, in words."""

    id: str
    title: str
    counterparty: str
    state: str
    left: str
    last_offer: str
    gap: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """One thing that waits for the user: what, why, and the link that its button opens."""

    title: str
    detail: str
    action: str
    path: str


@dataclass(frozen=True, slots=True)
class HomePage:
    """The first page of a signed-in user."""

    router: PageRouter
    calls: PageCalls

    async def show(self, request: Request, session: SignedInSession) -> Response:
        del request
        found = (await self.calls.run(session, "list_negotiations", {"limit": 50}))["items"]
        open_ones = sorted(
            (one for one in found if one["state"] in RUNNING),
            key=lambda one: RUNNING.index(one["state"]),
        )
        running = [await self._running(session, one) for one in open_ones[:MAX_RUNNING]]
        return self.router.render(
            "home.html",
            session,
            waiting=[_approval(one) for one in open_ones if one["state"] == "awaiting_approval"],
            running=running,
            more=len(open_ones) > MAX_RUNNING,
            empty=not found,
            here="home",
        )

    async def _running(self, session: SignedInSession, view: dict[str, Any]) -> RunningNegotiation:
        offers = await self.calls.run(session, "list_offers", {"id": view["id"], "limit": 10})
        words = NegotiationWords.of(view)
        last = next((one for one in offers["items"] if one["package"]), None)
        theirs = next(
            (one for one in offers["items"] if one["package"] and one["by"] == "them"), None
        )
        target = words.price(view["target"]["package"] if view["target"] else None)
        asked = words.price(theirs["package"]) if theirs else None
        gap = "" if target is None or asked is None else words.money(abs(asked - target))
        return RunningNegotiation(
            view["id"],
            view["title"],
            words.them,
            STATES[view["state"]],
            days_left(view["deadline"], datetime.now(UTC)) if view["deadline"] else "",
            _offer_line(last, words),
            f"{gap} from your target" if gap else "",
        )


def _offer_line(offer: dict[str, Any] | None, words: NegotiationWords) -> str:
    if offer is None:
        return "No offers yet"
    said = words.package(offer["package"])
    return f"You offered {said}" if offer["by"] == "me" else f"They offered {said}"


def _approval(view: dict[str, Any]) -> Waiting:
    return Waiting(
        view["title"], "An agent asks for your approval.", "Decide", f"/negotiations/{view['id']}"
    )
