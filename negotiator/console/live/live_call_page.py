"""`/live/{id}`: the call itself while it lasts, and what came of it afterwards."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from negotiator.base.errors import Conflict, NotFound, Refusal, ValidationFailed
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.live import live_page
from negotiator.console.live.live_page import GAPS, MICROPHONE_POLICY, CallEvents, call_events, call_title, length_words
from negotiator.console.negotiation_words import NegotiationWords, day_text, time_text
from negotiator.console.owned.memories_view import KEPT_FROM_CALL
from negotiator.console.page_calls import PageCalls
from negotiator.console.page_router import LIVE_PATH, FormFields, FormSize, PageRouter

MAX_LESSONS: Final = 8
_LONGEST: Final = 300


@dataclass(frozen=True, slots=True)
class CallSummary:
    """A call in a few lines."""

    at: str
    length: str
    facts: Sequence[str]
    tactics: Sequence[tuple[str, str]]
    kept: str


@dataclass(frozen=True, slots=True)
class Lesson:
    """A sentence that the user may keep; `name` is stable for the same call, `about` the other side it concerns."""

    name: str
    kind: str
    text: str
    about: str = ""


def call_summary(
    view: Mapping[str, Any],
    told: Sequence[Mapping[str, Any]],
    events: CallEvents,
    offers: Sequence[Mapping[str, Any]],
    words: NegotiationWords | None,
) -> CallSummary:
    """The summary; `told` are all events, `offers` the negotiation's, newest first."""
    mine = sum(line.who == "me" for line in events.lines)
    theirs = sum(line.who == "them" for line in events.lines)
    facts = [f"You spoke {_times(mine)}, they {_times(theirs)}."]
    if words is not None:
        facts += _named(events.offers, offers, words)
    if events.cards:
        used = sum(card.verdict == "used" for card in events.cards)
        count = len(events.cards)
        cards = "1 card was shown" if count == 1 else f"{count} cards were shown"
        facts.append(f"{cards}; you used {used or 'none'}.")
    return CallSummary(time_text(view["created_at"]), length_words(view), facts, _tactics(told), _kept(view))


def _times(count: int) -> str:
    return {0: "not at all", 1: "once", 2: "twice"}.get(count, f"{count} times")


def _named(heard: Sequence[str], offers: Sequence[Mapping[str, Any]], words: NegotiationWords) -> list[str]:
    """The last figure of each side that the call named, misheard ones left out."""
    found: list[str] = []
    for side, who in (("them", words.them), ("me", "You")):
        last = next(
            (one for one in offers if one["id"] in heard and one["by"] == side and one["status"] != "dismissed"), None
        )
        if last is not None:
            confirmed = "" if last["status"] == "confirmed" else " (not confirmed yet)"
            found.append(f"{who} named {words.package(last['package'])}{confirmed}.")
    return found


def _kept(view: Mapping[str, Any]) -> str:
    if view["keep"] == "none":
        return "The words of this call were not kept."
    if view["forget_at"]:
        return f"The words of this call are erased on {time_text(view['forget_at'])}."
    return "The words of this call stay until you erase them."


def _tactics(told: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """The tactics of the other side, each once, with the words that showed it first."""
    found: dict[str, str] = {}
    for event in told:
        for one in event.get("tactics") or ():
            found.setdefault(one["tactic"]["name"], one["quote"])
    return list(found.items())


def lessons(
    told: Sequence[Mapping[str, Any]], negotiation: Mapping[str, Any] | None, view: Mapping[str, Any]
) -> list[Lesson]:
    """Sentences that may be worth keeping: the words that raised cards or showed a tactic. None is kept unasked.

    Practice has none: nobody on the other side said anything.
    """
    if view["practice"]:
        return []
    them: Mapping[str, Any] = (negotiation["counterparty"] if negotiation else None) or {}
    about = str(them.get("name") or "")
    who, day = about or "The other side", day_text(view["created_at"])
    tactics = _tactics(told)
    quotes: dict[str, tuple[int, str]] = {}
    for event in told:
        cue = event.get("cue")
        if cue and event["type"] == "cue" and _is_lesson(cue, tactics):
            quotes.setdefault(cue["evidence"]["quote"], (event["seq"], cue["title"]))
    found = [
        Lesson(
            f"card{seq}",
            "counterparty" if about else "lesson",
            f"{who} said on a call on {day}: “{quote}” ({title}).",
            about,
        )
        for quote, (seq, title) in quotes.items()
    ]
    found += [
        Lesson(
            f"tactic{place}",
            "counterparty" if about else "lesson",
            f"{who} may have used “{name}” on a call on {day}" + (f": “{quote}”." if quote else "."),
            about,
        )
        for place, (name, quote) in enumerate(tactics)
    ]
    return [one for one in found if len(one.text) <= _LONGEST][:MAX_LESSONS]


def _is_lesson(cue: Mapping[str, Any], tactics: Sequence[tuple[str, str]]) -> bool:
    """Whether a card's words say more than a figure, which the ledger has, or a tactic, which is named by itself."""
    quote = str(cue["evidence"]["quote"])
    is_theirs = cue["kind"] != "coaching" and not cue["family"].startswith("figure:")
    named = any(quote in said or said in quote for _, said in tactics if said)
    return bool(quote) and is_theirs and not named


CALL_PATH: Final = f"{LIVE_PATH}/{{id}}"
MAX_OFFERS: Final = 100
_PAGE: Final = 1000
_ENDED: Final = "ended"
_SIZE: Final = FormSize(64 * 1024, 200)
_SAID: Final = {
    "kept": "Kept. It will come back when it bears on a negotiation.",
    "none": "Nothing was ticked, so nothing is kept.",
}


@dataclass(frozen=True, slots=True)
class LiveCallPage:
    """The page of one call, its forms, and what its script asks for."""

    router: PageRouter
    calls: PageCalls

    def routes(self) -> list[Route]:
        form = self.router.form
        return [
            self.router.page(CALL_PATH, self.show),
            self.router.page(f"{CALL_PATH}/figures", self.figures),
            form(f"{CALL_PATH}/ticket", self.ticket, back=LIVE_PATH),
            form(f"{CALL_PATH}/words", self.hear, back=LIVE_PATH),
            form(f"{CALL_PATH}/cards", self.judge, back=LIVE_PATH),
            form(f"{CALL_PATH}/figures", self.decide, back=LIVE_PATH),
            form(f"{CALL_PATH}/state", self.switch, back=LIVE_PATH),
            form(f"{CALL_PATH}/lessons", self.remember, back=LIVE_PATH, size=_SIZE),
            form(f"{CALL_PATH}/erase", self.erase, back=LIVE_PATH),
        ]

    async def show(self, request: Request, session: SignedInSession) -> Response:
        return await self._page(request, session)

    async def figures(self, request: Request, session: SignedInSession) -> Response:
        """The figures that were named, as a part of the page."""
        view = await self._view(request, session)
        return await self._figures(session, view)

    async def ticket(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """A ticket for the socket of the call."""
        del form
        call = {"id": request.path_params["id"]}
        made = await self.calls.run(session, "make_stream_ticket", call)
        return JSONResponse(made, headers={"cache-control": "no-store"})

    async def hear(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Take in a typed line; the page of a browser without script sends it here."""
        members = {
            "id": request.path_params["id"],
            "utterance_id": f"typed-{secrets.token_hex(6)}",
            "speaker": form.get("speaker", "them"),
            "text": form.get("text", ""),
        }
        try:
            await self.calls.run(session, "hear_utterance", members)
        except (Conflict, ValidationFailed) as refusal:
            return await self._page(request, session, refusal=refusal, typed=form)
        return self._back(request, "#words")

    async def judge(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Say what became of a card."""
        members = {"id": request.path_params["id"], "cue": form.get("cue", ""), "action": form.get("action", "")}
        await self.calls.run(session, "judge_cue", members)
        return self._back(request)

    async def decide(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Confirm a figure that was heard, or say that it was misheard."""
        view = await self._view(request, session)
        refused: dict[str, str] = {}
        try:
            await self._decide(session, view, form)
        except (Conflict, ValidationFailed) as refusal:
            refused = {form.get("offer", ""): refusal.description}
        if "hx-request" in request.headers:
            return await self._figures(session, view, refused)
        if refused:
            return await self._page(request, session, refused=refused)
        return self._back(request, "#figures")

    async def switch(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Pause, go on or end."""
        named = form.get("to", "")
        if named not in {"pause", "resume", "end"}:
            raise NotFound("A call is paused, resumed or ended.")
        call = {"id": request.path_params["id"]}
        await self.calls.run(session, f"{named}_teleprompter_session", call)
        return self._back(request)

    async def remember(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Keep the lessons that are ticked, and the one that was written."""
        view = await self._view(request, session)
        negotiation = await self._negotiation(session, view)
        offered = lessons(await self._events(session, view["id"]), negotiation, view)
        kept = [lesson for lesson in offered if form.get(f"keep:{lesson.name}") == "on"]
        own = form.get("own", "").strip()
        if own:
            kept.append(Lesson("own", "lesson", own))
        known = await self._kept(session, view)
        for lesson in kept:
            if lesson.text in known:
                continue
            members: dict[str, Any] = {
                "text": lesson.text,
                "kind": lesson.kind,
                "tags": ["call"],
                **({"attributes": KEPT_FROM_CALL} if lesson.name != "own" else {}),
                **({"negotiation_id": negotiation["id"]} if negotiation else {}),
                **({"counterparty": lesson.about} if lesson.about else {}),
            }
            try:
                await self.calls.run(session, "remember", members)
            except (Conflict, ValidationFailed) as refusal:
                return await self._page(request, session, refusal=refusal, typed=form)
        return self._back(request, f"?told={'kept' if kept else 'none'}#lessons")

    async def erase(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Erase the call with everything that was said."""
        del form
        call = {"id": request.path_params["id"]}
        await self.calls.run(session, "delete_teleprompter_session", call)
        return self.router.pages.see(f"{LIVE_PATH}?told=erased")

    def _back(self, request: Request, rest: str = "") -> Response:
        return self.router.pages.see(f"{LIVE_PATH}/{request.path_params['id']}{rest}")

    async def _decide(self, session: SignedInSession, view: Mapping[str, Any], form: Mapping[str, str]) -> None:
        negotiation = {"id": view["negotiation_id"] or ""}
        offers = await self._offers(session, view)
        heard = next((one for one in offers if one["id"] == form.get("offer")), None)
        if heard is None:
            raise NotFound("There is no such figure in this negotiation.")
        members: dict[str, Any] = {"by": heard["by"], "channel": heard["channel"]}
        if form.get("word") == "confirm":
            members |= {"kind": "offer", "package": heard["package"], "confirms": heard["id"]}
        else:
            members |= {"kind": "withdrawal", "in_reply_to": heard["id"]}
        await self.calls.run(session, "record_offer", {**negotiation, **members})

    async def _view(self, request: Request, session: SignedInSession) -> dict[str, Any]:
        call = {"id": request.path_params["id"]}
        return await self.calls.run(session, "get_teleprompter_session", call)

    async def _negotiation(self, session: SignedInSession, view: Mapping[str, Any]) -> dict[str, Any] | None:
        """The negotiation that the call is about, as long as it is there."""
        if not view["negotiation_id"]:
            return None
        try:
            return await self.calls.run(session, "get_negotiation", {"id": view["negotiation_id"]})
        except NotFound:
            return None

    async def _kept(self, session: SignedInSession, view: Mapping[str, Any]) -> set[str]:
        """The texts of what the user has kept of this negotiation's calls, or of calls without one."""
        about = {"negotiation_id": view["negotiation_id"]} if view["negotiation_id"] else {}
        members = {**about, "query": "call", "limit": MAX_OFFERS}
        found = await self.calls.run(session, "list_memories", members)
        return {one["text"] for one in found["items"]}

    async def _offers(self, session: SignedInSession, view: Mapping[str, Any]) -> list[dict[str, Any]]:
        if not view["negotiation_id"] or view["practice"]:
            return []
        members = {"id": view["negotiation_id"], "limit": MAX_OFFERS}
        try:
            return (await self.calls.run(session, "list_offers", members))["items"]
        except NotFound:
            return []

    async def _events(self, session: SignedInSession, call: str) -> list[dict[str, Any]]:
        """Every event of the call so far."""
        found: list[dict[str, Any]] = []
        more = True
        while more:
            after = found[-1]["seq"] if found else 0
            members = {"id": call, "after": after, "limit": _PAGE}
            page = await self.calls.run(session, "follow_session", members)
            found += page["items"]
            more = page["more"]
        return found

    async def _figures(
        self, session: SignedInSession, view: Mapping[str, Any], refused: Mapping[str, str] | None = None
    ) -> Response:
        negotiation = await self._negotiation(session, view)
        return self.router.render(
            "live_figures.html",
            session,
            call=view,
            figures=live_page.heard_figures(
                await self._offers(session, view), NegotiationWords.of(negotiation), since=view["created_at"]
            )
            if negotiation
            else [],
            refused=refused or {},
        )

    async def _page(
        self,
        request: Request,
        session: SignedInSession,
        *,
        refusal: Refusal | None = None,
        typed: Mapping[str, str] | None = None,
        refused: Mapping[str, str] | None = None,
    ) -> Response:
        view = await self._view(request, session)
        negotiation = await self._negotiation(session, view)
        words = NegotiationWords.of(negotiation) if negotiation else None
        told = await self._events(session, view["id"])
        events = call_events(told, datetime.now(UTC))
        offers = await self._offers(session, view)
        common: dict[str, Any] = {
            "call": view,
            "title": call_title(view, negotiation["title"] if negotiation else ""),
            "them": words.them if words else "They",
            "events": events,
            "figures": live_page.heard_figures(offers, words, since=view["created_at"]) if words else [],
            "refused": refused or {},
            "refusal": refusal.description if refusal else "",
            "typed": typed or {},
            "here": "live",
        }
        status = refusal.status if refusal else 409 if refused else 200
        if view["state"] == _ENDED:
            return self.router.render(
                "live_summary.html",
                session,
                status,
                **common,
                summary=call_summary(view, told, events, offers, words),
                lessons=lessons(told, negotiation, view),
                kept=await self._kept(session, view),
                notice=_SAID.get(request.query_params.get("told", ""), ""),
            )
        return self._live(request, session, view, events, common, status)

    def _live(
        self,
        request: Request,
        session: SignedInSession,
        view: Mapping[str, Any],
        events: CallEvents,
        common: Mapping[str, Any],
        status: int,
    ) -> Response:
        by_browser = view["source"] == "text" and request.query_params.get("hears") == "browser"
        hears = "browser" if by_browser else {"audio": "server"}.get(view["source"], "typing")
        return self.router.render(
            "live_call.html",
            session,
            status,
            headers=MICROPHONE_POLICY,
            **common,
            hears=hears,
            standing=events.standing,
            after=max(events.last_seq, 0),
            gaps=GAPS,
            engine=live_page.engine_words(view["engine"]),
            own_only=view["consent"]["basis"] == "own_side_only",
        )
