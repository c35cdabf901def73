"""`/negotiations/{id}`: what to do now, the offers, who needs the deal more, the plan and the history."""

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any, Final, cast

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.base.errors import Conflict, Unavailable, ValidationFailed
from negotiator.base.values import DAY
from negotiator.console.browser_sessions import BrowserCookies, SignedInSession
from negotiator.console.home_view import beyond_text
from negotiator.console.negotiation_words import STATES, NegotiationWords
from negotiator.console.page_calls import Members, PageCalls
from negotiator.console.page_router import PageRouter
from negotiator.console.talk.workspace_charts import offer_charts
from negotiator.console.talk.workspace_end import end_part
from negotiator.console.talk.workspace_fields import NO_FORM, RefusedForm, read_negotiation, read_offers
from negotiator.console.talk.workspace_history import TalkSoFar, approval_wish, event_said
from negotiator.console.talk.workspace_limits import limits_form
from negotiator.console.talk.workspace_now import (
    advice,
    last_offer_worth,
    live_offer,
    offer_notes,
    offer_said,
    offers_as_said,
    stricter_limit,
    worth_text,
)
from negotiator.console.talk.workspace_offer_form import AGREED, KINDS, offer_form
from negotiator.console.talk.workspace_plan import plan_part
from negotiator.console.talk.workspace_power import power
from negotiator.negotiations.schemas_advice import LeverageView, NextMoveView
from negotiator.negotiations.schemas_negotiations import EventView, NegotiationView

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
MAX_EVENTS: Final = 100
_TALKING: Final = frozenset({"draft", "planned", "active", "awaiting_approval"})
_WORDS: Final = {"offer_said": offer_said, "offer_notes": offer_notes, "worth_text": worth_text, "offer_kinds": KINDS}
"""What the templates put offers in words with."""


@dataclass(frozen=True, slots=True)
class WorkspacePage:
    """The page of one negotiation; `workspace_forms` has its forms."""

    router: PageRouter
    calls: PageCalls

    @property
    def asked_later(self) -> AskedLater:
        return AskedLater(self.router.browser_sessions.cookies)

    def routes(self) -> list[Route]:
        return [self.router.page(WORKSPACE_PATH, self.page)]

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
            return await self.page(request, session, RefusedForm("other", typed or {}, refusal=refusal))
        return self.router.pages.see(f"/negotiations/{negotiation}#{anchor}")

    async def page(self, request: Request, session: SignedInSession, form: RefusedForm = NO_FORM) -> Response:
        """The whole page; a refused form keeps what was typed."""
        view = await read_negotiation(self.calls, session, request.path_params["id"])
        talk = await self.talk(request, session, view, form)
        said = TalkSoFar(talk["offers"], talk["words"])
        members = {"id": view["id"], "limit": MAX_EVENTS}
        events = cast("list[EventView]", (await self.calls.run(session, "list_negotiation_events", members))["items"])
        names = await self.calls.agent_names(session)
        history = [(event, event_said(event, session, names, said)) for event in events]
        refusal = form.refusal if form.part == "other" else None
        return self.router.render(
            "workspace.html",
            session,
            form.status,
            typed=form.typed,
            news=[],
            moved_on=False,
            refusal=refusal.description if refusal else "",
            faults=[fault.description for fault in refusal.errors] if isinstance(refusal, ValidationFailed) else [],
            history=history,
            wish=approval_wish(view, session, names, said.words),
            beyond_text=beyond_text,
            **talk,
            **await plan_part(self.calls, session, view["id"], history),
            **await end_part(self.calls, session, view, said, typed=form.typed),
        )

    async def talk(
        self, request: Request, session: SignedInSession, view: NegotiationView, form: RefusedForm = NO_FORM
    ) -> Members:
        """What the templates of Now, Offers and Who needs it more read."""
        words = NegotiationWords.of(view)
        offers = offers_as_said(await read_offers(self.calls, session, view["id"]))
        standing, _ = await self._advised(session, "get_leverage", view)
        talks = view["state"] in _TALKING
        move, lacking = await self._advised(session, "next_move", view) if talks else (None, "")
        live = {by: one["id"] for by in ("me", "them") if (one := live_offer(offers, by))}
        put_away = self.asked_later.read(request, view["id"])
        entered = form if form.part == "offer" else NO_FORM
        if form is NO_FORM and request.query_params.get("record") == AGREED:
            entered = RefusedForm("offer", {"kind": AGREED})
        leverage = cast("LeverageView", standing) if standing else None
        return {
            "offers": offers,
            "state": STATES[view["state"]],
            "talks": talks,
            "now": advice(cast("NextMoveView", move), offers, words, put_away) if move else None,
            "lacking": lacking,
            "their_worth": last_offer_worth(offers, leverage, view, words) if leverage else "",
            "stricter": stricter_limit(leverage, view, words) if leverage else "",
            "charts": offer_charts(offers, leverage, words) if leverage else [],
            "form": offer_form(view, words, live, entered),
            "limits": limits_form(view, words, form if form.part == "limits" else NO_FORM),
            **_WORDS,
            **self.power_part(
                view,
                words,
                leverage,
                form if form.part == "fact" else NO_FORM,
                asks_all=request.query_params.get("questions") == "all",
            ),
        }

    def power_part(
        self,
        view: NegotiationView,
        words: NegotiationWords,
        standing: LeverageView | None,
        form: RefusedForm = NO_FORM,
        *,
        moved: str = "",
        asks_all: bool = False,
    ) -> Members:
        """What the template of Who needs it more reads; `moved` says what an answer changed."""
        overview = power(standing, view, words, form, asks_all=asks_all) if standing else None
        return {"negotiation": view, "words": words, "power": overview, "moved": moved, "focus": ""}

    async def _advised(
        self, session: SignedInSession, operation: str, view: NegotiationView
    ) -> tuple[Members | None, str]:
        """The answer of an operation that advises; without it, what the operation says that it lacks."""
        try:
            return await self.calls.run(session, operation, {"id": view["id"]}), ""
        except Conflict as refusal:
            return None, refusal.description
