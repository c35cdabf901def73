"""`/negotiations/{id}`: what to do now, the offers, who needs the deal more, the plan and the history.

Its forms take offers and answers, limits, facts of power, states, and the win.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Final, cast

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.advice.leverage.factor_words import size_of_shift
from negotiator.base.errors import Conflict, ValidationFailed
from negotiator.base.values import DAY
from negotiator.console.browser_sessions import BrowserCookies, SignedInSession
from negotiator.console.negotiation_words import STATES, NegotiationWords, asked_verb, beyond_text, table
from negotiator.console.offers_chart import offer_charts
from negotiator.console.page_calls import Members, PageCalls
from negotiator.console.page_router import NO_FORM, FormFields, FormSize, PageRouter, RefusedForm, read_whole
from negotiator.console.talk.workspace_end import EVENT_WORDS, end_part, win_members
from negotiator.console.talk.workspace_fields import form_key, limits_form, limits_patch, read_negotiation, read_offers
from negotiator.console.talk.workspace_now import (
    advice,
    confirmation,
    heard_words,
    last_offer_worth,
    live_offer,
    offers_as_said,
    stricter_limit,
    worth_text,
)
from negotiator.console.talk.workspace_offer_form import AGREED, KINDS, offer_form, past_limits_conflict, read_offer
from negotiator.console.talk.workspace_plan import PlanVersionsPage, plan_part
from negotiator.console.talk.workspace_power import fact_patches, faulty_fact, power
from negotiator.negotiations.schemas_advice import LeverageView, NextMoveView
from negotiator.negotiations.schemas_negotiations import EventView, NegotiationView
from negotiator.negotiations.schemas_offers import OfferView

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
_UNCHANGED: Final = 204
_SIZE: Final = FormSize(256 * 1024)
"""The form of limits has up to 30 facts of 2,000 characters."""
_MOST_NEWS: Final = 3
_IN_PLACE: Final = frozenset({"offers", "limits", "facts"})
"""Forms whose refusals stand in them, not above the page."""
_TALKING: Final = frozenset({"draft", "planned", "active", "awaiting_approval"})
_WORDS: Final = {
    "offer_deeds": table("offer_deeds"),
    "offer_kinds": KINDS,
    "heard_words": heard_words,
    "worth_text": worth_text,
}
"""What the templates put offers in words with."""


@dataclass(frozen=True, slots=True)
class WorkspacePage:
    """The page of one negotiation; by its forms a person records the talk and steers it."""

    router: PageRouter
    calls: PageCalls

    @property
    def asked_later(self) -> AskedLater:
        return AskedLater(self.router.browser_sessions.cookies)

    def routes(self) -> list[Route]:
        router, forms = (
            self.router,
            {
                "offers": self.record_offer,
                "heard": self.confirm,
                "later": self.put_away,
                "limits": self.change,
                "facts": self.answer,
                "state": self.move,
                "plan": self.make_plan,
                "approval": self.decide,
                "win": self.record_win,
            },
        )
        return [
            router.page(WORKSPACE_PATH, self.page),
            *(
                router.form(f"{WORKSPACE_PATH}/{name}", act, again=self.page, back="/", size=_SIZE)
                for name, act in forms.items()
            ),
            router.page(f"{WORKSPACE_PATH}/changes", self.changes),
            *PlanVersionsPage(router, self.calls, f"{WORKSPACE_PATH}/plan").routes(),
        ]

    async def page(self, request: Request, session: SignedInSession, form: RefusedForm = NO_FORM) -> Response:
        """The whole page; a refused form keeps what was typed."""
        view = await read_negotiation(self.calls, session, request.path_params["id"])
        talk = await self._talk(request, session, view, form)
        history = await self._events(session, view["id"], MAX_EVENTS)
        above = NO_FORM if form.name in _IN_PLACE else form
        faults = above.refusal.errors if above.said and isinstance(above.refusal, ValidationFailed) else ()
        return self.router.render(
            "workspace.html",
            session,
            form.status,
            typed=form.typed,
            news=[],
            moved_on=False,
            refusal=above.said,
            faults=[fault.description for fault in faults],
            history=history,
            agents=await self.calls.agent_names(session),
            asked_verb=asked_verb,
            beyond_text=beyond_text,
            **talk,
            **await plan_part(self.calls, session, view["id"], history),
            **await end_part(self.calls, session, view, talk["offers"], talk["words"], form),
        )

    async def _events(self, session: SignedInSession, negotiation: str, most: int) -> list[EventView]:
        """The last events, newest first."""
        members = {"id": negotiation, "limit": most}
        return cast("list[EventView]", (await self.calls.run(session, "list_negotiation_events", members))["items"])

    async def _talk(
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
        entered = form if form.name == "offers" else NO_FORM
        if form is NO_FORM and request.query_params.get("record") == AGREED:
            entered = RefusedForm("offers", {"kind": AGREED})
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
            "limits": limits_form(view, words, form if form.name == "limits" else NO_FORM),
            **_WORDS,
            **EVENT_WORDS,
            **self._power_part(
                view,
                words,
                leverage,
                form if form.name == "facts" else NO_FORM,
                asks_all=request.query_params.get("questions") == "all",
            ),
        }

    def _power_part(
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

    async def record_offer(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Record what a side did. The same form sent twice from one page records once."""
        negotiation: str = request.path_params["id"]
        view = await read_negotiation(self.calls, session, negotiation)
        words, is_agreed = NegotiationWords.of(view), form.get("kind") == AGREED
        members = read_offer(form, words)
        key = form_key(f"{negotiation}.{form.get('revision') or view['revision']}", members)
        offers = await read_offers(self.calls, session, negotiation)
        accepted = members["package"] if is_agreed else _accepted(members, offers)
        if refusal := past_limits_conflict(members, accepted, words):
            raise refusal
        if is_agreed:
            await self._agree(session, negotiation, members, key, offers, words)
        else:
            await self.calls.run(session, "record_offer", {"id": negotiation, **members}, key=key)
        return self._back(request, "end" if is_agreed else "now")

    async def _agree(
        self,
        session: SignedInSession,
        negotiation: str,
        members: Members,
        key: str,
        offers: list[OfferView],
        words: NegotiationWords,
    ) -> None:
        """Record that the standing offer was accepted; where none is what was agreed on, as the user's offer first.

        An offer of the user's own is held to their limits, so nothing is recorded of what they have to insist on.
        """
        run, named = self.calls.run, {"id": negotiation}
        insisted = {name: members[name] for name in ("override", "reason") if name in members}
        said = words.package(members["package"])
        standing = [one for by in ("them", "me") if (one := live_offer(offers, by))]
        agreed: Mapping[str, Any] | None = next(
            (one for one in standing if words.package(one["package"] or {}) == said), None
        )
        if agreed is None:
            offered = {**named, **members, "by": "me", "kind": "offer"}
            agreed = await run(session, "record_offer", offered, key=key)
        by = "me" if agreed["by"] == "them" else "them"
        acceptance = {"by": by, "kind": "acceptance", "in_reply_to": agreed["id"]}
        await run(session, "record_offer", {**named, **acceptance, **(insisted if by == "me" else {})})

    async def confirm(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Confirm a figure that was heard on a call, or say that it was not offered."""
        negotiation: str = request.path_params["id"]
        offers = await read_offers(self.calls, session, negotiation)
        heard = next((one for one in offers if one["status"] == "unconfirmed" and one["id"] == form.get("offer")), None)
        if heard is not None:
            members = confirmation(heard, is_right=form.get("answer") == "yes")
            await self.calls.run(session, "record_offer", {"id": negotiation, **members})
        return self._back(request, "offers")

    def _back(self, request: Request, anchor: str) -> Response:
        """Back to a part of the page."""
        return self.router.pages.see(f"/negotiations/{request.path_params['id']}#{anchor}")

    async def put_away(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Ask a question later, or ask again all that were put away; this is remembered by the browser alone."""
        negotiation: str = request.path_params["id"]
        await read_negotiation(self.calls, session, negotiation)
        response = self._back(request, "now")
        self.asked_later.write(request, response, negotiation, form.get("question", ""))
        return response

    async def change(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Change the limits on the revision that the page showed."""
        named = {"id": request.path_params["id"]}
        view = await read_negotiation(self.calls, session, named["id"])
        patch = limits_patch(form, view, NegotiationWords.of(view))
        shown = read_whole(form.get("revision", ""))
        if patch or shown != view["revision"]:
            await self.calls.run(session, "edit_negotiation", {**named, **patch}, revision=shown)
        return self._back(request, "now")

    async def changes(self, request: Request, session: SignedInSession) -> Response:
        """What is new since the `revision` that the page shows: 204, or the parts in which nobody types."""
        asked = request.query_params
        view = await read_negotiation(self.calls, session, request.path_params["id"])
        shown = asked.get("revision", "")
        if shown == str(view["revision"]):
            return Response(status_code=_UNCHANGED, headers={"cache-control": "no-store"})
        context = await self._talk(request, session, view)
        events = await self._events(session, view["id"], 20)
        since = [one for one in events if one["revision"] > read_whole(shown)]
        news = [one for one in since if one["actor"]["id"] != session.user_id][:_MOST_NEWS]
        agents = await self.calls.agent_names(session) if news else {}
        moved_on = asked.get("state", "") != view["state"]
        return self.router.render(
            "workspace_changes.html", session, news=news, agents=agents, moved_on=moved_on, **context
        )

    async def answer(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Take every answer that is new. A script gets the part anew, with the focus on the next question."""
        named, refused = {"id": request.path_params["id"]}, NO_FORM
        view = await read_negotiation(self.calls, session, named["id"])
        before = await self._leverage(session, named)
        try:
            if patch := fact_patches(form, view, NegotiationWords.of(view)):
                edited = await self.calls.run(session, "edit_negotiation", {**named, **patch})
                view = cast("NegotiationView", edited)
        except (Conflict, ValidationFailed) as refusal:
            refused = RefusedForm("facts", form, refusal)
        faults = refused.faults(faulty_fact)
        if "hx-request" not in request.headers:
            return await self.page(request, session, refused) if faults else self._back(request, "power")
        standing = await self._leverage(session, named)
        moved = "" if faults else _moved(before["power"]["alpha"], standing["power"]["alpha"])
        context = self._power_part(view, NegotiationWords.of(view), standing, refused, moved=moved)
        asked = context["power"].questions
        context["focus"] = f"fact-{next(iter(faults)).replace('.', '-')}" if faults else asked[0].id if asked else ""
        return self.router.render("workspace_power.html", session, **context)

    async def _leverage(self, session: SignedInSession, named: Members) -> LeverageView:
        return cast("LeverageView", await self.calls.run(session, "get_leverage", named))

    async def move(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Move the negotiation to another state; what was learned is remembered."""
        members = {name: form.get(name) or None for name in ("to", "reason", "offer_id")}
        await self.calls.run(session, "move_negotiation", {**request.path_params, **members})
        await self._remember(session, request.path_params["id"], form)
        return self._back(request, "end")

    async def make_plan(self, request: Request, session: SignedInSession, _form: FormFields) -> Response:
        await self.calls.run(session, "make_battle_plan", dict(request.path_params))
        return self._back(request, "plan")

    async def decide(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Allow or refuse what waits for the user's approval."""
        sent = {name: form.get(name, "").strip() or None for name in ("package_sha256", "reason")}
        members = {"to": "active", "approved": form.get("decision") == "allow", **sent}
        await self.calls.run(session, "move_negotiation", {**request.path_params, **members})
        return self._back(request, "now")

    async def record_win(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Show what the figures come to, or keep the record and close the negotiation as won."""
        negotiation: str = request.path_params["id"]
        view = await read_negotiation(self.calls, session, negotiation)
        if view["state"] not in {"agreed", "won"}:
            raise Conflict("Only an agreed negotiation has a record of what it brought.")
        if form.get("do") != "save":
            return await self.page(request, session, RefusedForm("win", form))
        offers = offers_as_said(await read_offers(self.calls, session, negotiation))
        await self.calls.run(session, "record_win", win_members(view, offers, NegotiationWords.of(view), form))
        await self._remember(session, negotiation, form)
        if view["state"] == "agreed":
            await self.calls.run(session, "move_negotiation", {"id": negotiation, "to": "won"})
        return self._back(request, "end")

    async def _remember(self, session: SignedInSession, negotiation: str, form: FormFields) -> None:
        """Keep what was learned as a memory about the other side; what is known already is not stored twice."""
        lesson = form.get("lesson", "").strip()
        if not lesson:
            return
        view = await read_negotiation(self.calls, session, negotiation)
        party = view["counterparty"] or {}
        members = {
            "text": lesson,
            "kind": "lesson",
            "category": view["category"],
            "counterparty": party.get("organisation") or party.get("name"),
            "negotiation_id": negotiation,
        }
        await self.calls.run(session, "remember", members)


def _accepted(members: Members, offers: Sequence[OfferView]) -> Members | None:
    """The package that an acceptance of the user's takes; None where it is none."""
    if (members["by"], members["kind"]) != ("me", "acceptance"):
        return None
    return next((one["package"] for one in offers if one["id"] == members["in_reply_to"]), None)


def _moved(before: float, after: float) -> str:
    """What the answer did to the user's share of the power, in words."""
    if round(before, 2) == round(after, 2):
        return "Saved. It changes nothing in who needs the deal more."
    way = "strengthens" if after > before else "weakens"
    return f"Saved. It {way} your side {size_of_shift(after - before)}."
