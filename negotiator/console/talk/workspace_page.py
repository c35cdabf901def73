"""`/negotiations/{id}`: what to do now, the offers, who needs the deal more, the plan and the history."""

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.base.errors import Conflict, Refusal, Unavailable, ValidationFailed
from negotiator.base.values import DAY
from negotiator.console.browser_sessions import BrowserCookies, SignedInSession
from negotiator.console.negotiation_words import STATES, NegotiationWords
from negotiator.console.page_calls import PageCalls
from negotiator.console.page_router import PageRouter
from negotiator.console.talk.workspace_charts import offer_charts
from negotiator.console.talk.workspace_end import end_part
from negotiator.console.talk.workspace_history import TalkSoFar, history_part
from negotiator.console.talk.workspace_limits import limits_form
from negotiator.console.talk.workspace_now import (
    advice,
    last_offer_worth,
    ledger,
    live_offer,
    offers_as_said,
    stricter_limit,
)
from negotiator.console.talk.workspace_offer_form import AGREED, offer_form
from negotiator.console.talk.workspace_plan import plan_part
from negotiator.console.talk.workspace_power import power

LIFE: Final = 90 * DAY // 1000
MAX_KEPT: Final = 40
"""Questions of all negotiations; the oldest is forgotten first."""


@dataclass(frozen=True, slots=True)
class AskedLater:
    """Reads and writes the cookie; its text is `negotiation.question`, joined by `~`."""

    cookies: BrowserCookies

    def read(self, request: Request, negotiation: str) -> Set[str]:
        """The names of the questions that were put away."""
        kept = (one.partition(".") for one in self._kept(request))
        return {question for named, _, question in kept if named == negotiation}

    def write(self, request: Request, response: Response, negotiation: str, question: str) -> None:
        """Put one more question away; without one, all of the negotiation are asked again."""
        kept = self._kept(request)
        if question and question.replace("/", "").replace("_", "").isalnum() and question.isascii():
            kept = [*(one for one in kept if one != f"{negotiation}.{question}"), f"{negotiation}.{question}"]
        elif not question:
            kept = [one for one in kept if not one.startswith(f"{negotiation}.")]
        self.cookies.write(response, "asked-later", "~".join(kept[-MAX_KEPT:]), life=LIFE)

    def _kept(self, request: Request) -> list[str]:
        return [one for one in self.cookies.read(request, "asked-later").split("~") if one]


WORKSPACE_PATH: Final = "/negotiations/{id}"
MAX_OFFERS: Final = 100
_TALKING: Final = frozenset({"draft", "planned", "active", "awaiting_approval"})
_UNREAD: Final = 422
"""The status of a form in which a field cannot be read."""


@dataclass(frozen=True, slots=True)
class RefusedForm:
    """A form that was not accepted: what was typed, the sentences by field, and the API's refusal if there was one.

    A form that was only looked at is not `unread`.
    """

    part: Literal["offer", "fact", "limits", "win", "other"]
    typed: Mapping[str, str] = field(default_factory=dict[str, str])
    faults: Mapping[str, str] = field(default_factory=dict[str, str])
    refusal: Refusal | None = None
    unread: bool = True

    @property
    def status(self) -> int:
        if self.refusal:
            return self.refusal.status
        return _UNREAD if self.unread else 200


_NOTHING: Final = RefusedForm("other")


@dataclass(frozen=True, slots=True)
class WorkspacePage:
    """The page of one negotiation; `workspace_forms` has its forms."""

    router: PageRouter
    calls: PageCalls

    @property
    def asked_later(self) -> AskedLater:
        return AskedLater(self.router.browser_sessions.cookies)

    def routes(self) -> list[Route]:
        return [self.router.page(WORKSPACE_PATH, self.show)]

    async def show(self, request: Request, session: SignedInSession) -> Response:
        return await self.page(request, session)

    async def act(
        self,
        request: Request,
        session: SignedInSession,
        operation: str,
        members: Mapping[str, Any],
        *,
        anchor: str,
        typed: Mapping[str, str] | None = None,
    ) -> Response:
        """Run an operation on the negotiation and return to a part of the page; a refusal keeps what was typed."""
        negotiation: str = request.path_params["id"]
        try:
            await self.calls.run(session, operation, {"id": negotiation, **members})
        except (Conflict, Unavailable, ValidationFailed) as refusal:
            form = RefusedForm("other", typed or {}, refusal=refusal)
            return await self.page(request, session, refused=form)
        return self.router.pages.see(f"/negotiations/{negotiation}#{anchor}")

    async def page(self, request: Request, session: SignedInSession, *, refused: RefusedForm | None = None) -> Response:
        """The whole page; with `refused`, that form keeps what was typed."""
        named = {"id": request.path_params["id"]}
        view = await self.calls.run(session, "get_negotiation", named)
        form = refused or _NOTHING
        other = form.refusal if form.part == "other" else None
        talk = await self.talk(request, session, view, form)
        said = TalkSoFar(talk["offers"], talk["words"])
        past = await history_part(self.calls, session, view, said, store=self.router.store)
        return self.router.render(
            "workspace.html",
            session,
            refused.status if refused else 200,
            typed=form.typed,
            news=[],
            moved_on=False,
            refusal=other.description if other else "",
            faults=[fault.description for fault in other.errors] if isinstance(other, ValidationFailed) else [],
            **talk,
            **past,
            **await plan_part(self.calls, session, view, said, past=past),
            **await end_part(self.calls, session, view, said, typed=form.typed),
        )

    async def talk(
        self, request: Request, session: SignedInSession, view: dict[str, Any], form: RefusedForm = _NOTHING
    ) -> dict[str, Any]:
        """What the templates of Now, Offers and Who needs it more read."""
        named, words = {"id": view["id"]}, NegotiationWords.of(view)
        found = await self.calls.run(session, "list_offers", {**named, "limit": MAX_OFFERS})
        offers = offers_as_said(found["items"])
        standing, _ = await self._advised(session, "get_leverage", named)
        talks = view["state"] in _TALKING
        move, lacking = await self._advised(session, "next_move", named) if talks else (None, "")
        live = {by: one["id"] for by in ("me", "them") if (one := live_offer(offers, by))}
        put_away = self.asked_later.read(request, view["id"])
        entered = form if form.part == "offer" else _NOTHING
        if form is _NOTHING and request.query_params.get("record") == AGREED:
            entered = RefusedForm("offer", {"kind": AGREED})
        limits = form if form.part == "limits" else _NOTHING
        return {
            "negotiation": view,
            "offers": offers,
            "state": STATES[view["state"]],
            "words": words,
            "talks": talks,
            "now": advice(move, offers, words, put_away) if move else None,
            "lacking": lacking,
            "their_worth": last_offer_worth(offers, standing, view, words) if standing else "",
            "stricter": stricter_limit(standing, view, words) if standing else "",
            "ledger": ledger(offers, words),
            "charts": offer_charts(offers, standing, view, words) if standing else [],
            "form": offer_form(view, words, live, typed=entered.typed, faults=entered.faults, refusal=entered.refusal),
            "limits": limits_form(view, words, typed=limits.typed, faults=limits.faults, refusal=limits.refusal),
            **self.power_part(
                view,
                words,
                standing,
                form if form.part == "fact" else _NOTHING,
                asks_all=request.query_params.get("questions") == "all",
            ),
        }

    def power_part(
        self,
        view: dict[str, Any],
        words: NegotiationWords,
        standing: dict[str, Any] | None,
        form: RefusedForm = _NOTHING,
        *,
        moved: str = "",
        focus: str = "",
        asks_all: bool = False,
    ) -> dict[str, Any]:
        """What the template of Who needs it more reads; `moved` says what an answer changed."""
        return {
            "negotiation": view,
            "words": words,
            "power": power(standing, view, words, typed=form.typed, faults=form.faults, asks_all=asks_all)
            if standing
            else None,
            "moved": moved,
            "focus": focus,
        }

    async def _advised(
        self, session: SignedInSession, operation: str, named: Mapping[str, Any]
    ) -> tuple[dict[str, Any] | None, str]:
        """The answer of an operation that advises; without it, what the operation says that it lacks."""
        try:
            return await self.calls.run(session, operation, named), ""
        except Conflict as refusal:
            return None, refusal.description
