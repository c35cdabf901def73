"""The forms of a negotiation's page: offers and answers, limits, facts of power, states, and the win."""

from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.advice.leverage.factor_words import size_of_shift
from negotiator.base.errors import Conflict, PreconditionFailed, Refusal, ValidationFailed
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.negotiation_words import NegotiationWords
from negotiator.console.page_router import FormFields, read_whole
from negotiator.console.talk.workspace_end import win_members
from negotiator.console.talk.workspace_history import TalkSoFar, actor_names, history_row
from negotiator.console.talk.workspace_limits import limits_patch
from negotiator.console.talk.workspace_now import live_offer, offers_as_said
from negotiator.console.talk.workspace_offer_form import AGREED, offer_key, past_limits_conflict, read_offer
from negotiator.console.talk.workspace_page import MAX_OFFERS, WORKSPACE_PATH, RefusedForm, WorkspacePage
from negotiator.console.talk.workspace_plan import PlanVersionsPage
from negotiator.console.talk.workspace_power import fact_patches, faulty_fact

_UNCHANGED: Final = 204
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
            *(router.form(f"{WORKSPACE_PATH}/{name}", act, back="/") for name, act in forms.items()),
            router.page(f"{WORKSPACE_PATH}/changes", self.changes),
            *PlanVersionsPage(router, self.workspace.calls, plan).routes(),
        ]

    async def record_offer(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Record what a side did; a refused form keeps what was typed, each fault at its field.

        The same form sent twice from one page records once.
        """
        page, negotiation = self.workspace, request.path_params["id"]
        view = await page.calls.run(session, "get_negotiation", {"id": negotiation})
        read = read_offer(form, NegotiationWords.of(view))
        if read.faults:
            refused = RefusedForm("offer", form, read.faults)
            return await page.page(request, session, refused=refused)
        shown = {**view, "revision": form.get("revision") or view["revision"]}
        key = offer_key(shown, read.members)
        try:
            await self._ask_past_limits(session, view, read.members, agreed=form.get("kind") == AGREED)
            if form.get("kind") == AGREED:
                await self._agree(session, view, read.members, key)
            else:
                members = {"id": negotiation, **read.members}
                await page.calls.run(session, "record_offer", members, key=key)
        except (Conflict, ValidationFailed) as refusal:
            refused = RefusedForm("offer", form, refusal=refusal)
            return await page.page(request, session, refused=refused)
        place = "end" if form.get("kind") == AGREED else "now"
        return page.router.pages.see(f"/negotiations/{negotiation}#{place}")

    async def _ask_past_limits(
        self, session: SignedInSession, view: dict[str, Any], members: dict[str, Any], *, agreed: bool
    ) -> None:
        """Raise 409 where the user would pass a limit on an issue and has not insisted."""
        accepted: dict[str, Any] | None = members["package"] if agreed else None
        if members["by"] == "me" and members["kind"] == "acceptance":
            found = await self.workspace.calls.run(session, "list_offers", {"id": view["id"], "limit": 100})
            answered = (one for one in found["items"] if one["id"] == members["in_reply_to"])
            accepted = next((one["package"] for one in answered), None)
        if refusal := past_limits_conflict(members, accepted, NegotiationWords.of(view)):
            raise refusal

    async def _agree(self, session: SignedInSession, view: dict[str, Any], members: dict[str, Any], key: str) -> None:
        """Record that the standing offer was accepted; where none is what was agreed on, as the user's offer first.

        An offer of the user's own is held to their limits, so nothing is recorded of what they have to insist on.
        """
        run, named = self.workspace.calls.run, {"id": view["id"]}
        insisted = {name: members[name] for name in ("override", "reason") if name in members}
        words = NegotiationWords.of(view)
        offers = (await run(session, "list_offers", {**named, "limit": 100}))["items"]
        said = words.package(members["package"])
        standing = [one for by in ("them", "me") if (one := live_offer(offers, by))]
        agreed = next((one for one in standing if words.package(one["package"]) == said), None)
        if agreed is None:
            offered = {**named, **members, "by": "me", "kind": "offer"}
            agreed = await run(session, "record_offer", offered, key=key)
        by = "me" if agreed["by"] == "them" else "them"
        acceptance = {"by": by, "kind": "acceptance", "in_reply_to": agreed["id"]}
        await run(session, "record_offer", {**named, **acceptance, **(insisted if by == "me" else {})})

    async def confirm(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Confirm a figure that was heard on a call, or say that it was not offered."""
        page, negotiation = self.workspace, request.path_params["id"]
        heard = await self._heard(session, negotiation, form.get("offer", ""))
        if heard is None:
            return page.router.pages.see(f"/negotiations/{negotiation}#offers")
        members = {"id": negotiation, "by": heard["by"]} | (
            {"package": heard["package"], "conditions": heard["conditions"], "confirms": heard["id"]}
            if form.get("answer") == "yes"
            else {"kind": "withdrawal", "in_reply_to": heard["id"]}
        )
        try:
            await page.calls.run(session, "record_offer", members)
        except Refusal as refusal:
            return await page.page(request, session, refused=RefusedForm("other", refusal=refusal))
        return page.router.pages.see(f"/negotiations/{negotiation}#offers")

    async def put_away(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Ask a question later, or ask again all that were put away; this is remembered by the browser alone."""
        page, negotiation = self.workspace, request.path_params["id"]
        await page.calls.run(session, "get_negotiation", {"id": negotiation})
        response = page.router.pages.see(f"/negotiations/{negotiation}#now")
        page.asked_later.write(request, response, negotiation, form.get("question", ""))
        return response

    async def _heard(self, session: SignedInSession, negotiation: str, offer: str) -> dict[str, Any] | None:
        found = await self.workspace.calls.run(session, "list_offers", {"id": negotiation, "limit": 100})
        open_ones = (one for one in found["items"] if one["status"] == "unconfirmed")
        return next((one for one in open_ones if one["id"] == offer), None)

    async def change(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Change the limits on the revision that the page showed; what was typed stays where that is refused."""
        page, named = self.workspace, {"id": request.path_params["id"]}
        view = await page.calls.run(session, "get_negotiation", named)
        patch, faults = limits_patch(form, view, NegotiationWords.of(view))
        if faults:
            refused = RefusedForm("limits", form, faults)
            return await page.page(request, session, refused=refused)
        shown = read_whole(form.get("revision", ""))
        try:
            if patch or shown != view["revision"]:
                members = {**named, **patch}
                await page.calls.run(session, "edit_negotiation", members, revision=shown)
        except (Conflict, PreconditionFailed, ValidationFailed) as refusal:
            refused = RefusedForm("limits", form, refusal=refusal)
            return await page.page(request, session, refused=refused)
        return page.router.pages.see(f"/negotiations/{named['id']}#now")

    async def changes(self, request: Request, session: SignedInSession) -> Response:
        """What is new since the `revision` that the page shows: 204, or the parts in which nobody types."""
        page, named = self.workspace, {"id": request.path_params["id"]}
        view = await page.calls.run(session, "get_negotiation", named)
        shown = request.query_params.get("revision", "")
        if shown == str(view["revision"]):
            return Response(status_code=_UNCHANGED, headers={"cache-control": "no-store"})
        context = await page.talk(request, session, view)
        said = TalkSoFar(context["offers"], context["words"])
        news = await self._news(session, view, said, read_whole(shown))
        moved_on = request.query_params.get("state", "") != view["state"]
        return page.router.render("workspace_changes.html", session, news=news, moved_on=moved_on, **context)

    async def _news(self, session: SignedInSession, view: dict[str, Any], said: TalkSoFar, shown: int) -> list[str]:
        """What others did since a revision, newest first."""
        members = {"id": view["id"], "limit": 20}
        found = await self.workspace.calls.run(session, "list_negotiation_events", members)
        theirs = [
            event for event in found["items"] if event["revision"] > shown and event["actor"]["id"] != session.user_id
        ]
        store = self.workspace.router.store
        names = await actor_names(store, session, [event["actor"] for event in theirs])
        return [history_row(event, names, said).what for event in theirs[:_MOST_NEWS]]

    async def answer(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Take every answer that is new. A script gets the part anew, with the focus on the next question."""
        page, named = self.workspace, {"id": request.path_params["id"]}
        run = page.calls.run
        view = await run(session, "get_negotiation", named)
        before = await self._share(session, named)
        patch, faults = fact_patches(form, view, NegotiationWords.of(view))
        try:
            if patch and not faults:
                view = await run(session, "edit_negotiation", {**named, **patch})
        except ValidationFailed as refusal:
            faults = {faulty_fact(error.pointer): error.description for error in refusal.errors}
        except Refusal as refusal:
            faults = {faulty_fact(""): refusal.description}
        refused = RefusedForm("fact", form if faults else {}, faults)
        if "hx-request" not in request.headers:
            if faults:
                return await page.page(request, session, refused=refused)
            return page.router.pages.see(f"/negotiations/{named['id']}#power")
        standing = await run(session, "get_leverage", named)
        after: float = standing["power"]["alpha"]
        words, moved = NegotiationWords.of(view), "" if faults else _moved(before, after)
        context = page.power_part(view, words, standing, refused, moved=moved)
        asked = context["power"].questions
        context["focus"] = f"fact-{next(iter(faults)).replace('.', '-')}" if faults else asked[0].id if asked else ""
        return page.router.render("workspace_power.html", session, **context)

    async def _share(self, session: SignedInSession, named: dict[str, Any]) -> float:
        standing = await self.workspace.calls.run(session, "get_leverage", named)
        share: float = standing["power"]["alpha"]
        return share

    async def move(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Move the negotiation to another state; what was learned is remembered."""
        names = ("to", "reason", "offer_id")
        members = {name: form[name] for name in names if form.get(name)}
        act = self.workspace.act
        answer = await act(request, session, "move_negotiation", members, anchor="end", typed=form)
        if answer.status_code < 400 and form.get("lesson", "").strip():
            await self._remember(session, request.path_params["id"], form["lesson"])
        return answer

    async def make_plan(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        del form
        return await self.workspace.act(request, session, "make_battle_plan", {}, anchor="plan")

    async def decide(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Allow or refuse what waits for the user's approval."""
        members: dict[str, Any] = {"to": "active", "approved": form.get("decision") == "allow"}
        members |= {name: form[name] for name in ("package_sha256", "reason") if form.get(name, "").strip()}
        act = self.workspace.act
        return await act(request, session, "move_negotiation", members, anchor="now", typed=form)

    async def record_win(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Show what the figures come to, or keep the record and close the negotiation as won."""
        negotiation: str = request.path_params["id"]
        run, named = self.workspace.calls.run, {"id": request.path_params["id"]}
        view = await run(session, "get_negotiation", named)
        if view["state"] not in {"agreed", "won"}:
            raise Conflict("Only an agreed negotiation has a record of what it brought.")
        found = await run(session, "list_offers", {**named, "limit": MAX_OFFERS})
        offers = offers_as_said(found["items"])
        members = win_members(view, TalkSoFar(offers, NegotiationWords.of(view)), form)
        is_kept = form.get("do") == "save"
        if not is_kept or members is None:
            shown = RefusedForm("win", form, unread=is_kept)
            return await self.workspace.page(request, session, refused=shown)
        try:
            await run(session, "record_win", members)
        except (Conflict, ValidationFailed) as refusal:
            other = RefusedForm("other", form, refusal=refusal)
            return await self.workspace.page(request, session, refused=other)
        if form.get("lesson", "").strip():
            await self._remember(session, negotiation, form["lesson"])
        if view["state"] == "agreed":
            await run(session, "move_negotiation", {**named, "to": "won"})
        return self.workspace.router.pages.see(f"/negotiations/{negotiation}#end")

    async def _remember(self, session: SignedInSession, negotiation: str, lesson: str) -> None:
        """Keep what was learned as a memory about the other side; what is known already is not stored twice."""
        run = self.workspace.calls.run
        view = await run(session, "get_negotiation", {"id": negotiation})
        party: dict[str, Any] = view["counterparty"] or {}
        members = {
            "text": lesson.strip(),
            "kind": "lesson",
            "category": view["category"],
            "counterparty": party.get("organisation") or party.get("name"),
            "negotiation_id": negotiation,
        }
        await run(session, "remember", {name: value for name, value in members.items() if value})


def _moved(before: float, after: float) -> str:
    """What the answer did to the user's share of the power, in words."""
    if round(before, 2) == round(after, 2):
        return "Saved. It changes nothing in who needs the deal more."
    way = "strengthens" if after > before else "weakens"
    return f"Saved. It {way} your side {size_of_shift(after - before)}."
