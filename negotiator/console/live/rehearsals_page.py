"""`/negotiations/{id}/rehearsals`: practise a negotiation: whom to meet, the talk, and what it was worth."""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from negotiator.base import values
from negotiator.base.errors import Conflict, NotFound, ValidationFailed
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.live import debrief_view
from negotiator.console.live.live_page import MICROPHONE_POLICY, PRACTICE_BASIS
from negotiator.console.negotiation_words import NegotiationWords
from negotiator.console.owned.memories_page import KEPT_FROM_PRACTICE, MEMORIES_PAGE_PATH
from negotiator.console.page_calls import Members, PageCalls
from negotiator.console.page_router import LIVE_PATH, FormFields, FormSize, PageRouter
from negotiator.console.talk.workspace_fields import NO_FORM, RefusedForm, form_key, read_negotiation
from negotiator.console.talk.workspace_offer_form import offer_form, read_offer
from negotiator.console.talk.workspace_page import WORKSPACE_PATH
from negotiator.terms.plain_text import capitalise, sentence

REHEARSALS_PAGE_PATH: Final = f"{WORKSPACE_PATH}/rehearsals"
REHEARSAL_PAGE_PATH: Final = f"{REHEARSALS_PAGE_PATH}/{{rehearsal_id}}"
MAX_LISTED: Final = 25
_TALK_SIZE: Final = FormSize(32 * 1024)
_NOTICES: Final = {"deleted": "Deleted."}
_SAYS_NOTHING: Final = "Write a figure, or what you say."


@dataclass(frozen=True, slots=True)
class RehearsalsPage:
    """The pages of one negotiation's rehearsals, and their forms."""

    router: PageRouter
    calls: PageCalls

    def routes(self) -> list[Route]:
        page, form = self.router.page, self.router.form
        return [
            page(REHEARSALS_PAGE_PATH, self.show),
            form(REHEARSALS_PAGE_PATH, self.start),
            page(REHEARSAL_PAGE_PATH, self.open),
            form(REHEARSAL_PAGE_PATH, self.play, size=_TALK_SIZE),
            form(f"{REHEARSAL_PAGE_PATH}/lesson", self.keep, back="/", size=_TALK_SIZE),
            form(f"{REHEARSAL_PAGE_PATH}/delete", self.delete, back="/"),
            form(f"{REHEARSAL_PAGE_PATH}/voice", self.speak, back="/"),
        ]

    async def show(self, request: Request, session: SignedInSession, refused: RefusedForm = NO_FORM) -> Response:
        """Whom to meet, and the earlier rehearsals."""
        asked, refusal = request.query_params, refused.refusal
        view = await read_negotiation(self.calls, session, request.path_params["id"])
        members = {"id": view["id"], "limit": MAX_LISTED, "cursor": asked.get("cursor") or None}
        found = await self.calls.run(session, "list_rehearsals", members)
        return self.router.render(
            "rehearsals.html",
            session,
            refused.status,
            negotiation=view,
            words=NegotiationWords.of(view),
            chosen={"kind": "fair", "hardness": "normal", "person": "", **refused.typed},
            rows=found["items"],
            cursor=found["next_cursor"] or "",
            is_continued="cursor" in asked,
            once=values.new_id("once"),
            refusal=refusal.description if refusal else "",
            lacks_figures=isinstance(refusal, Conflict) and refusal.error == "missing_inputs",
            capitalise=capitalise,
            notice=_NOTICES.get(asked.get("told", ""), ""),
        )

    async def start(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Begin one; `again` repeats an earlier rehearsal, `person` meets its person as chosen."""
        named = {"id": request.path_params["id"]}
        members = {**named, "kind": form.get("kind", ""), "hardness": form.get("hardness", "")}
        if earlier := form.get("again") or form.get("person"):
            met = await self.calls.run(session, "get_rehearsal", {**named, "rehearsal_id": earlier})
            members["seed"] = met["seed"]
            if form.get("again"):
                members |= {"kind": met["kind"], "hardness": met["hardness"]}
        key = form_key(form.get("once", ""), members) if form.get("once") else None
        try:
            begun = await self.calls.run(session, "start_rehearsal", members, key=key)
        except (Conflict, ValidationFailed) as refusal:
            return await self.show(request, session, RefusedForm("other", form, refusal=refusal))
        return self.router.pages.see(_place(named["id"], begun["id"]))

    async def open(self, request: Request, session: SignedInSession) -> Response:
        """The talk, or the debrief once it is over."""
        rehearsal = await self.calls.run(session, "get_rehearsal", _named(request))
        return await self._page(request, session, rehearsal)

    async def _page(
        self,
        request: Request,
        session: SignedInSession,
        rehearsal: Members,
        refused: RefusedForm = NO_FORM,
        *,
        in_place: bool = False,
    ) -> Response:
        """The page; a refused turn or lesson keeps what was typed. `in_place`: a script takes parts of it."""
        view = await read_negotiation(self.calls, session, request.path_params["id"])
        words = NegotiationWords.of(view)
        offers = debrief_view.offers_in_words(rehearsal["turns"], words)
        common: Members = {
            "negotiation": view,
            "words": words,
            "rehearsal": rehearsal,
            "talk": [*zip(rehearsal["turns"], offers, strict=True)],
        }
        if rehearsal["state"] == "running":
            listed = await self.calls.run(session, "list_teleprompter_sessions", {"limit": 1})
            return self.router.render(
                "rehearsal.html",
                session,
                200 if in_place else refused.status,
                headers=MICROPHONE_POLICY,
                form=offer_form(view, words, {}, refused),
                in_place=in_place,
                engine=listed["engine"],
                calls_path=LIVE_PATH,
                **common,
            )
        debrief = await self.calls.run(session, "get_debrief", _named(request))
        asked = request.query_params
        return self.router.render(
            "rehearsal_debrief.html",
            session,
            refused.status,
            debrief=debrief,
            chart=debrief_view.debrief_chart(debrief, view, words),
            offers=debrief_view.debrief_offers(debrief["ledger"], words),
            attempts=debrief_view.attempts(debrief, rehearsal),
            rough_amount=debrief_view.rough_amount,
            capitalise=capitalise,
            sentence=sentence,
            once=values.new_id("once"),
            is_new=asked.get("told") == "over",
            lesson=refused.typed.get("lesson", debrief["lesson"]),
            lesson_refusal=refused.refusal.description if refused.refusal else "",
            kept=await self._kept(session, asked.get("kept", "")),
            notice=_NOTICES.get(asked.get("told", ""), ""),
            **common,
        )

    async def play(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Play a turn. The same form sent twice from one page plays once; a script gets the parts that changed."""
        in_place = "hx-request" in request.headers
        named = _named(request)
        words = NegotiationWords.of(await read_negotiation(self.calls, session, request.path_params["id"]))
        members, faults = _read_turn(form, words)
        refused = RefusedForm("offer", form, faults) if faults else NO_FORM
        rehearsal: Members = {}
        if not faults:
            key = form_key(f"{named['rehearsal_id']}.{form.get('shown', '')}", members)
            try:
                rehearsal = await self.calls.run(session, "play_turn", {**named, **members}, key=key)
            except (Conflict, ValidationFailed) as refusal:
                refused = RefusedForm("offer", form, refusal=refusal)
        if refused is not NO_FORM:
            rehearsal = await self.calls.run(session, "get_rehearsal", named)
        place = _place(**named)
        if rehearsal["state"] != "running":
            over = f"{place}?told=over"
            if in_place:
                base = self.router.pages.base
                return Response(status_code=204, headers={"hx-redirect": f"{base}{over}"})
            return self.router.pages.see(over)
        if in_place or refused is not NO_FORM:
            return await self._page(request, session, rehearsal, refused, in_place=in_place)
        return self.router.pages.see(place)

    async def keep(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Keep the lesson as it was typed, as the user's own memory."""
        named, text = _named(request), form.get("lesson", "").strip()
        rehearsal = await self.calls.run(session, "get_rehearsal", named)
        members = {
            "text": text,
            "kind": "lesson",
            "tags": ["practice"],
            "attributes": KEPT_FROM_PRACTICE,
            "negotiation_id": named["id"],
        }
        try:
            made = await self.calls.run(session, "remember", members)
        except (Conflict, ValidationFailed) as refusal:
            return await self._page(
                request, session, rehearsal, RefusedForm("other", {"lesson": text}, refusal=refusal)
            )
        return self.router.pages.see(f"{_place(**named)}?kept={made['id']}#lesson-part")

    async def delete(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Delete one; without a script that let it be taken back, after a second question."""
        named = _named(request)
        if form.get("sure") != "yes":
            head = await self.calls.run(session, "get_rehearsal", named)
            return self.router.render("rehearsal_delete.html", session, row=head)
        await self.calls.run(session, "delete_rehearsal", named)
        return self.router.pages.see(f"/negotiations/{named['id']}/rehearsals?told=deleted")

    async def speak(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Speech in a rehearsal: nobody else is on the call, and no word of it is kept.

        The answer has the id of a new practice session and the path of its socket; cards are raised if asked for.
        """
        named = _named(request)
        await self.calls.run(session, "get_rehearsal", named)
        members = {
            "source": "audio" if form.get("hears") == "server" else "text",
            "negotiation_id": named["id"],
            "consent": {"basis": PRACTICE_BASIS, "confirmed_by": session.greeting},
            "keep": "none",
            "practice": True,
            "cues": form.get("cards") == "on",
        }
        opened = await self.calls.run(session, "open_teleprompter_session", members)
        made = {"session": opened["id"], "socket": urlsplit(str(opened["stream_url"])).path}
        return JSONResponse(made, headers={"cache-control": "no-store"})

    async def _kept(self, session: SignedInSession, memory: str) -> str:
        """The path of the memory that was just kept; empty for none."""
        if not memory:
            return ""
        with contextlib.suppress(NotFound, ValidationFailed):
            found = await self.calls.run(session, "get_memory", {"id": memory})
            return f"{MEMORIES_PAGE_PATH}/{found['id']}"
        return ""


def _named(request: Request) -> dict[str, str]:
    return {name: request.path_params[name] for name in ("id", "rehearsal_id")}


def _place(id: str, rehearsal_id: str) -> str:
    return f"/negotiations/{id}/rehearsals/{rehearsal_id}"


def _read_turn(form: Mapping[str, str], words: NegotiationWords) -> tuple[Members, dict[str, str]]:
    """The members of `play_turn`, and a sentence for each field that cannot be read: a figure makes it an offer."""
    text, do = form.get("said", "").strip(), form.get("do", "say")
    if do in {"wait", "accept", "leave"}:
        return {"action": do, "text": None if do == "wait" else text or None}, {}
    members, faults = read_offer({**form, "kind": "offer"}, words)
    if package := members["package"]:
        return {"action": "offer", "package": package, "text": text or None}, faults
    if not text and not faults:
        return {}, {"said": _SAYS_NOTHING}
    return {"action": "say", "text": text or None}, faults
