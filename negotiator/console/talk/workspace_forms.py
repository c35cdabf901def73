"""The forms of a negotiation's page: offers and answers, limits, facts of power, states, and the win."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.advice.leverage.factor_words import size_of_shift
from negotiator.base.errors import Conflict, PreconditionFailed, Refusal, ValidationFailed
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.negotiation_words import NegotiationWords
from negotiator.console.page_calls import Members
from negotiator.console.page_router import FormFields, FormSize, read_whole
from negotiator.console.talk.workspace_end import win_members
from negotiator.console.talk.workspace_fields import (
    NO_FORM,
    RefusedForm,
    form_key,
    read_negotiation,
    read_offers,
    refusal_faults,
)
from negotiator.console.talk.workspace_history import TalkSoFar, event_said
from negotiator.console.talk.workspace_limits import limits_patch
from negotiator.console.talk.workspace_now import confirmation, live_offer, offers_as_said
from negotiator.console.talk.workspace_offer_form import AGREED, past_limits_conflict, read_offer
from negotiator.console.talk.workspace_page import WORKSPACE_PATH, WorkspacePage
from negotiator.console.talk.workspace_plan import PlanVersionsPage
from negotiator.console.talk.workspace_power import fact_patches, faulty_fact
from negotiator.negotiations.schemas_advice import LeverageView
from negotiator.negotiations.schemas_negotiations import EventView, NegotiationView
from negotiator.negotiations.schemas_offers import OfferView

_UNCHANGED: Final = 204
_SIZE: Final = FormSize(256 * 1024)
"""The form of limits has up to 30 facts of 2,000 characters."""
_MOST_NEWS: Final = 3


@dataclass(frozen=True, slots=True)
class WorkspaceForms:
    """What a person records of the talk and how they steer it, and what others change meanwhile."""

    workspace: WorkspacePage

    def routes(self) -> list[Route]:
        router, plan = self.workspace.router, f"{WORKSPACE_PATH}/plan"
        forms = {
            "offers": self.record_offer,
            "heard": self.confirm,
            "later": self.put_away,
            "limits": self.change,
            "facts": self.answer,
            "state": self.move,
            "plan": self.make_plan,
            "approval": self.decide,
            "win": self.record_win,
        }
        return [
            *(router.form(f"{WORKSPACE_PATH}/{name}", act, back="/", size=_SIZE) for name, act in forms.items()),
            router.page(f"{WORKSPACE_PATH}/changes", self.changes),
            *PlanVersionsPage(router, self.workspace.calls, plan).routes(),
        ]

    async def record_offer(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Record what a side did; a refused form keeps what was typed, each fault at its field.

        The same form sent twice from one page records once.
        """
        page, calls, negotiation = self.workspace, self.workspace.calls, request.path_params["id"]
        view = await read_negotiation(calls, session, negotiation)
        words, is_agreed = NegotiationWords.of(view), form.get("kind") == AGREED
        members, faults = read_offer(form, words)
        if faults:
            return await page.page(request, session, RefusedForm("offer", form, faults))
        key = form_key(f"{negotiation}.{form.get('revision') or view['revision']}", members)
        offers = await read_offers(calls, session, negotiation)
        try:
            accepted = members["package"] if is_agreed else _accepted(members, offers)
            if refusal := past_limits_conflict(members, accepted, words):
                raise refusal
            if is_agreed:
                await self._agree(session, negotiation, members, key, offers, words)
            else:
                await calls.run(session, "record_offer", {"id": negotiation, **members}, key=key)
        except (Conflict, ValidationFailed) as refusal:
            return await page.page(request, session, RefusedForm("offer", form, refusal=refusal))
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
        run, named = self.workspace.calls.run, {"id": negotiation}
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
        calls, negotiation = self.workspace.calls, request.path_params["id"]
        offers = await read_offers(calls, session, negotiation)
        heard = next((one for one in offers if one["status"] == "unconfirmed" and one["id"] == form.get("offer")), None)
        if heard is not None:
            members = confirmation(heard, is_right=form.get("answer") == "yes")
            try:
                await calls.run(session, "record_offer", {"id": negotiation, **members})
            except Refusal as refusal:
                return await self.workspace.page(request, session, RefusedForm("other", refusal=refusal))
        return self._back(request, "offers")

    def _back(self, request: Request, anchor: str) -> Response:
        """Back to a part of the page."""
        return self.workspace.router.pages.see(f"/negotiations/{request.path_params['id']}#{anchor}")

    async def put_away(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Ask a question later, or ask again all that were put away; this is remembered by the browser alone."""
        page, negotiation = self.workspace, request.path_params["id"]
        await read_negotiation(page.calls, session, negotiation)
        response = self._back(request, "now")
        page.asked_later.write(request, response, negotiation, form.get("question", ""))
        return response

    async def change(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Change the limits on the revision that the page showed; what was typed stays where that is refused."""
        page, named = self.workspace, {"id": request.path_params["id"]}
        view = await read_negotiation(page.calls, session, named["id"])
        patch, faults = limits_patch(form, view, NegotiationWords.of(view))
        if faults:
            return await page.page(request, session, RefusedForm("limits", form, faults))
        shown = read_whole(form.get("revision", ""))
        try:
            if patch or shown != view["revision"]:
                await page.calls.run(session, "edit_negotiation", {**named, **patch}, revision=shown)
        except (Conflict, PreconditionFailed, ValidationFailed) as refusal:
            return await page.page(request, session, RefusedForm("limits", form, refusal=refusal))
        return self._back(request, "now")

    async def changes(self, request: Request, session: SignedInSession) -> Response:
        """What is new since the `revision` that the page shows: 204, or the parts in which nobody types."""
        page, asked = self.workspace, request.query_params
        view = await read_negotiation(page.calls, session, request.path_params["id"])
        shown = asked.get("revision", "")
        if shown == str(view["revision"]):
            return Response(status_code=_UNCHANGED, headers={"cache-control": "no-store"})
        context = await page.talk(request, session, view)
        said = TalkSoFar(context["offers"], context["words"])
        news = await self._news(session, view["id"], said, read_whole(shown))
        moved_on = asked.get("state", "") != view["state"]
        return page.router.render("workspace_changes.html", session, news=news, moved_on=moved_on, **context)

    async def _news(self, session: SignedInSession, negotiation: str, said: TalkSoFar, shown: int) -> list[str]:
        """What others did since a revision, newest first."""
        calls, members = self.workspace.calls, {"id": negotiation, "limit": 20}
        events = cast("list[EventView]", (await calls.run(session, "list_negotiation_events", members))["items"])
        theirs = [one for one in events if one["revision"] > shown and one["actor"]["id"] != session.user_id]
        agents = await calls.agent_names(session) if theirs else {}
        return [event_said(event, session, agents, said) for event in theirs[:_MOST_NEWS]]

    async def answer(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Take every answer that is new. A script gets the part anew, with the focus on the next question."""
        page, named = self.workspace, {"id": request.path_params["id"]}
        run = page.calls.run
        view = await read_negotiation(page.calls, session, named["id"])
        before = await self._leverage(session, named)
        patch, faults = fact_patches(form, view, NegotiationWords.of(view))
        try:
            if patch and not faults:
                view = cast("NegotiationView", await run(session, "edit_negotiation", {**named, **patch}))
        except Refusal as refusal:
            faults = refusal_faults(refusal, faulty_fact)
        refused = RefusedForm("fact", form, faults) if faults else NO_FORM
        if "hx-request" not in request.headers:
            return await page.page(request, session, refused) if faults else self._back(request, "power")
        standing = await self._leverage(session, named)
        moved = "" if faults else _moved(before["power"]["alpha"], standing["power"]["alpha"])
        context = page.power_part(view, NegotiationWords.of(view), standing, refused, moved=moved)
        asked = context["power"].questions
        context["focus"] = f"fact-{next(iter(faults)).replace('.', '-')}" if faults else asked[0].id if asked else ""
        return page.router.render("workspace_power.html", session, **context)

    async def _leverage(self, session: SignedInSession, named: Members) -> LeverageView:
        return cast("LeverageView", await self.workspace.calls.run(session, "get_leverage", named))

    async def move(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Move the negotiation to another state; what was learned is remembered."""
        members = {name: form.get(name) or None for name in ("to", "reason", "offer_id")}
        act = self.workspace.act
        answer = await act(request, session, "move_negotiation", members, anchor="end", typed=form)
        if answer.status_code < 400:
            await self._remember(session, request.path_params["id"], form)
        return answer

    async def make_plan(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        del form
        return await self.workspace.act(request, session, "make_battle_plan", {}, anchor="plan")

    async def decide(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Allow or refuse what waits for the user's approval."""
        sent = {name: form.get(name, "").strip() or None for name in ("package_sha256", "reason")}
        members = {"to": "active", "approved": form.get("decision") == "allow", **sent}
        act = self.workspace.act
        return await act(request, session, "move_negotiation", members, anchor="now", typed=form)

    async def record_win(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Show what the figures come to, or keep the record and close the negotiation as won."""
        page, calls, negotiation = self.workspace, self.workspace.calls, request.path_params["id"]
        view = await read_negotiation(calls, session, negotiation)
        if view["state"] not in {"agreed", "won"}:
            raise Conflict("Only an agreed negotiation has a record of what it brought.")
        offers = offers_as_said(await read_offers(calls, session, negotiation))
        members = win_members(view, TalkSoFar(offers, NegotiationWords.of(view)), form)
        is_kept = form.get("do") == "save"
        if not is_kept or members is None:
            return await page.page(request, session, RefusedForm("win", form, unread=is_kept))
        try:
            await calls.run(session, "record_win", members)
        except (Conflict, ValidationFailed) as refusal:
            return await page.page(request, session, RefusedForm("other", form, refusal=refusal))
        await self._remember(session, negotiation, form)
        if view["state"] == "agreed":
            await calls.run(session, "move_negotiation", {"id": negotiation, "to": "won"})
        return self._back(request, "end")

    async def _remember(self, session: SignedInSession, negotiation: str, form: FormFields) -> None:
        """Keep what was learned as a memory about the other side; what is known already is not stored twice."""
        lesson = form.get("lesson", "").strip()
        if not lesson:
            return
        view = await read_negotiation(self.workspace.calls, session, negotiation)
        party = view["counterparty"] or {}
        members = {
            "text": lesson,
            "kind": "lesson",
            "category": view["category"],
            "counterparty": party.get("organisation") or party.get("name"),
            "negotiation_id": negotiation,
        }
        await self.workspace.calls.run(session, "remember", members)


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
