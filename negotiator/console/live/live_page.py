"""`/live`: calls are begun here, with their consent, and listed; `/live/{id}`: one call, and what came of it."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, cast

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from negotiator.base.errors import Conflict, NotFound, ValidationFailed
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.live.call_events import (
    GAPS,
    Lesson,
    call_events,
    call_minutes,
    heard_figures,
    last_named,
    lessons,
    tactics,
)
from negotiator.console.negotiation_words import RUNNING, NegotiationWords
from negotiator.console.owned.memories_page import KEPT_FROM_CALL
from negotiator.console.page_calls import Members, PageCalls
from negotiator.console.page_router import (
    LIVE_PATH,
    NO_FORM,
    FormFields,
    FormSize,
    PageRouter,
    RefusedForm,
    UnreadFields,
)
from negotiator.console.talk.workspace_fields import MAX_OFFERS, read_negotiation, read_offers
from negotiator.console.talk.workspace_now import confirmation, heard_words
from negotiator.negotiations.schemas_negotiations import NegotiationView
from negotiator.negotiations.schemas_offers import OfferView
from negotiator.teleprompter.schemas import CallEventView, EngineView, EventPage, SessionList, SessionView
from negotiator.teleprompter.session_view import notice_text

LANGUAGES: Final = {"en": "English", "de": "Deutsch", "fr": "Français", "es": "Español"}
"""The languages in which figures are read; cards are raised in English."""
PRACTICE_BASIS: Final = "test"
MAX_LISTED: Final = 50
MICROPHONE_POLICY: Final = {"permissions-policy": "camera=(), geolocation=(), microphone=(self)"}
_NOT_AGREED: Final = "Read the notice to them and tick this once everybody has agreed."


@dataclass(frozen=True, slots=True)
class LivePage:
    """The page on which a call begins."""

    router: PageRouter
    calls: PageCalls

    def routes(self) -> list[Route]:
        return [self.router.page(LIVE_PATH, self.page), self.router.form(LIVE_PATH, self.begin, again=self.page)]

    async def begin(self, _request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Open a session and show it."""
        if form.get("basis") == "all_parties" and form.get("agreed") != "on":
            raise UnreadFields({"agreed": _NOT_AGREED})
        here = form.get("hears") == "microphone" and form.get("local") == "on"
        members: Members = {
            "source": "audio" if form.get("hears") == "microphone" and not here else "text",
            "language": form.get("language", "en"),
            "consent": {"basis": form.get("basis", ""), "confirmed_by": session.greeting},
            "keep": form.get("keep", "session"),
            "practice": form.get("basis") == PRACTICE_BASIS,
            "negotiation_id": form.get("negotiation") or None,
        }
        opened = await self.calls.run(session, "open_teleprompter_session", members, key=form.get("key") or None)
        hears = "?hears=browser" if here else ""
        return self.router.pages.see(f"{LIVE_PATH}/{opened['id']}{hears}")

    async def page(self, request: Request, session: SignedInSession, form: RefusedForm = NO_FORM) -> Response:
        """The form, for the negotiation of the query if it names one, and the earlier calls."""
        asked = request.query_params
        typed = form.typed or {name: asked.get(name, "") for name in ("negotiation", "language")}
        run = self.calls.run
        found = (await run(session, "list_negotiations", {"limit": MAX_LISTED}))["items"]
        listed = cast("SessionList", await run(session, "list_teleprompter_sessions", {"limit": MAX_LISTED}))
        titles = {one["id"]: one["title"] for one in found}
        return self.router.render(
            "live.html",
            session,
            form.status,
            headers=MICROPHONE_POLICY,
            typed=typed,
            language=typed.get("language") if typed.get("language") in LANGUAGES else "en",
            refused=form.faults(lambda pointer: pointer.rpartition("/")[2]),
            negotiations=[(one["id"], one["title"]) for one in found if one["state"] in RUNNING],
            engine=listed["engine"],
            notices=_notices(listed["engine"]),
            languages=LANGUAGES,
            titles=titles,
            calls=listed["items"],
            key=secrets.token_urlsafe(16),
            here="live",
        )


def _notices(engine: EngineView) -> dict[str, str]:
    """The sentence to read to the others, by language."""
    return {name: notice_text("all_parties", name, engine["processor"] or "") for name in LANGUAGES}


CALL_PATH: Final = f"{LIVE_PATH}/{{id}}"
_PAGE: Final = 1000
_SIZE: Final = FormSize(64 * 1024, 200)


@dataclass(frozen=True, slots=True)
class LiveCallPage:
    """The page of one call, its forms, and what its script asks for."""

    router: PageRouter
    calls: PageCalls

    def routes(self) -> list[Route]:
        form = self.router.form
        return [
            self.router.page(CALL_PATH, self.page),
            self.router.page(f"{CALL_PATH}/figures", self.figures),
            form(f"{CALL_PATH}/ticket", self.ticket, back=LIVE_PATH),
            form(f"{CALL_PATH}/words", self.hear, again=self.page, back=LIVE_PATH),
            form(f"{CALL_PATH}/cards", self.judge, back=LIVE_PATH),
            form(f"{CALL_PATH}/figures", self.decide, again=self.page, back=LIVE_PATH),
            form(f"{CALL_PATH}/state", self.switch, back=LIVE_PATH),
            form(f"{CALL_PATH}/lessons", self.remember, again=self.page, back=LIVE_PATH, size=_SIZE),
            form(f"{CALL_PATH}/erase", self.erase, back=LIVE_PATH),
        ]

    async def figures(self, request: Request, session: SignedInSession) -> Response:
        """The figures that were named, as a part of the page."""
        return await self._figures(session, await self._call(request, session))

    async def ticket(self, request: Request, session: SignedInSession, _form: FormFields) -> Response:
        """A ticket for the socket of the call."""
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
        await self.calls.run(session, "hear_utterance", members)
        return self._back(request, "#words")

    async def judge(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Say what became of a card."""
        members = {"id": request.path_params["id"], "cue": form.get("cue", ""), "action": form.get("action", "")}
        await self.calls.run(session, "judge_cue", members)
        return self._back(request)

    async def decide(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Confirm a figure that was heard, or say that it was misheard."""
        call = await self._call(request, session)
        heard = next((one for one in await self._offers(session, call) if one["id"] == form.get("offer")), None)
        if heard is None:
            raise NotFound("There is no such figure in this negotiation.")
        members = {"id": call["negotiation_id"], **confirmation(heard, is_right=form.get("word") == "confirm")}
        refused: dict[str, str] = {}
        try:
            await self.calls.run(session, "record_offer", members)
        except (Conflict, ValidationFailed) as refusal:
            refused = {heard["id"]: refusal.description}
        if "hx-request" in request.headers:
            return await self._figures(session, call, refused)
        if refused:
            raise UnreadFields(refused)
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
        call = await self._call(request, session)
        negotiation = await self._negotiation(session, call)
        offered = lessons(await self._events(session, call["id"]), negotiation, call)
        kept = [lesson for lesson in offered if form.get(f"keep:{lesson.name}") == "on"]
        if own := form.get("own", "").strip():
            kept.append(Lesson("own", own))
        known = await self._kept(session, call)
        for lesson in kept:
            if lesson.text in known:
                continue
            members: Members = {
                "text": lesson.text,
                "kind": "counterparty" if lesson.about else "lesson",
                "tags": ["call"],
                **({"attributes": KEPT_FROM_CALL} if lesson.name != "own" else {}),
                "negotiation_id": negotiation["id"] if negotiation else None,
                "counterparty": lesson.about or None,
            }
            await self.calls.run(session, "remember", members)
        return self._back(request, f"?told={'kept' if kept else 'none'}#lessons")

    async def erase(self, request: Request, session: SignedInSession, _form: FormFields) -> Response:
        """Erase the call with everything that was said."""
        call = {"id": request.path_params["id"]}
        await self.calls.run(session, "delete_teleprompter_session", call)
        return self.router.pages.see(f"{LIVE_PATH}?told=erased")

    def _back(self, request: Request, rest: str = "") -> Response:
        return self.router.pages.see(f"{LIVE_PATH}/{request.path_params['id']}{rest}")

    async def _call(self, request: Request, session: SignedInSession) -> SessionView:
        named = {"id": request.path_params["id"]}
        return cast("SessionView", await self.calls.run(session, "get_teleprompter_session", named))

    async def _negotiation(self, session: SignedInSession, call: SessionView) -> NegotiationView | None:
        """The negotiation that the call is about, as long as it is there."""
        if not call["negotiation_id"]:
            return None
        try:
            return await read_negotiation(self.calls, session, call["negotiation_id"])
        except NotFound:
            return None

    async def _kept(self, session: SignedInSession, call: SessionView) -> set[str]:
        """The texts of what the user has kept of this negotiation's calls, or of calls without one."""
        about = {"negotiation_id": call["negotiation_id"]} if call["negotiation_id"] else {}
        members = {**about, "query": "call", "limit": MAX_OFFERS}
        found = await self.calls.run(session, "list_memories", members)
        return {one["text"] for one in found["items"]}

    async def _offers(self, session: SignedInSession, call: SessionView) -> list[OfferView]:
        if not call["negotiation_id"] or call["practice"]:
            return []
        try:
            return await read_offers(self.calls, session, call["negotiation_id"])
        except NotFound:
            return []

    async def _events(self, session: SignedInSession, call: str) -> list[CallEventView]:
        """Every event of the call so far."""
        found: list[CallEventView] = []
        more = True
        while more:
            members = {"id": call, "after": found[-1]["seq"] if found else 0, "limit": _PAGE}
            page = cast("EventPage", await self.calls.run(session, "follow_session", members))
            found += page["items"]
            more = page["more"]
        return found

    async def _figures(
        self, session: SignedInSession, call: SessionView, refused: Mapping[str, str] | None = None
    ) -> Response:
        negotiation = await self._negotiation(session, call)
        offers = await self._offers(session, call) if negotiation else []
        return self.router.render(
            "live_figures.html",
            session,
            call=call,
            words=NegotiationWords.of(negotiation) if negotiation else None,
            figures=heard_figures(offers, since=call["created_at"]),
            heard_words=heard_words,
            refused=refused or {},
        )

    async def page(self, request: Request, session: SignedInSession, form: RefusedForm = NO_FORM) -> Response:
        """The call while it lasts, or its summary; the faults of a refused form stand at their figures."""
        call, now = await self._call(request, session), datetime.now(UTC)
        negotiation = await self._negotiation(session, call)
        words = NegotiationWords.of(negotiation) if negotiation else None
        told = await self._events(session, call["id"])
        events, offers = call_events(told, now), await self._offers(session, call)
        common: Members = {
            "call": call,
            "negotiation": negotiation["title"] if negotiation else "",
            "them": words.them if words else "They",
            "words": words,
            "events": events,
            "gaps": GAPS,
            "figures": heard_figures(offers, since=call["created_at"]) if words else [],
            "heard_words": heard_words,
            "refused": form.faults(),
            "refusal": form.said,
            "typed": form.typed,
            "here": "live",
        }
        if call["state"] == "ended":
            return self.router.render(
                "live_summary.html",
                session,
                form.status,
                **common,
                minutes=call_minutes(call, now),
                last_named=last_named(events, offers) if words else [],
                tactics=tactics(told),
                lessons=lessons(told, negotiation, call),
                kept=await self._kept(session, call),
            )
        by_browser = call["source"] == "text" and request.query_params.get("hears") == "browser"
        return self.router.render(
            "live_call.html",
            session,
            form.status,
            headers=MICROPHONE_POLICY,
            **common,
            hears="browser" if by_browser else "server" if call["source"] == "audio" else "typing",
            standing=events.standing,
            after=told[-1]["seq"] if told else 0,
            own_only=call["consent"]["basis"] == "own_side_only",
        )
