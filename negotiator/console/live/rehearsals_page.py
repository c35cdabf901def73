"""`/negotiations/{id}/rehearsals`: practise a negotiation: whom to meet, the talk, and what it was worth."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from negotiator.base import values
from negotiator.base.errors import Conflict, NotFound, ValidationFailed
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.live.live_page import MICROPHONE_POLICY, PRACTICE_BASIS
from negotiator.console.negotiation_words import NegotiationWords, object_member
from negotiator.console.offers_chart import (
    BEST,
    DrawnChart,
    Line,
    OffersChart,
    Point,
    drawn_for_widths,
    level_lines,
    told_offers,
)
from negotiator.console.owned.memories_page import KEPT_FROM_PRACTICE, MEMORIES_PAGE_PATH
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
from negotiator.console.talk.workspace_fields import form_key, read_negotiation
from negotiator.console.talk.workspace_offer_form import offer_form, read_offer
from negotiator.console.talk.workspace_page import WORKSPACE_PATH
from negotiator.negotiations.schemas_negotiations import NegotiationView
from negotiator.terms.plain_text import capitalise, sentence


def offers_in_words(turns: Sequence[Mapping[str, Any]], words: NegotiationWords) -> Iterator[str]:
    """The offer of each turn, empty without one; of one that follows another of its side, only what is new in it."""
    before: dict[str, dict[str, Any]] = {"me": {}, "them": {}}
    for turn in turns:
        package = object_member(turn, "package")
        last = before[turn["by"]]
        new = {name: value for name, value in package.items() if last.get(name) != value}
        if not package:
            yield ""
        elif not last or not new or len(new) == len(package):
            yield words.package(package, with_total=False)
        else:
            yield f"{words.package(new, with_total=False)}, the rest as before"
        before[turn["by"]] = package or last


def debrief_chart(debrief: Mapping[str, Any], view: NegotiationView, words: NegotiationWords) -> DrawnChart | None:
    """The price over the turns where price is all that is talked about; else what each offer is worth to the user.

    `view` is the negotiation, for its target and limit.
    """
    points = debrief["ledger"]
    if not points:
        return None
    key = f"● and the full line: you. □ and the dashed line: {words.them}. The number below is the turn."
    least = [point["floor_price"] for point in points if point["floor_price"] is not None]
    price = words.terms.price
    if price is not None and len(words.terms.issues) == 1 and len(least) == len(points):
        lowest = min(least, key=Decimal)
        lines = [Line(float(lowest), "Their limit")]
        for goal, label in ((view["target"], "Target"), (view["walk_away"], "Your limit")):
            if price.name in (package := object_member(goal or {}, "package")):
                lines.append(Line(float(package[price.name]), label))
        levels = [f"{line.label} {words.money(Decimal(str(line.value)))}" for line in lines]
        drawn = [
            (point["by"], Point(place, at := float(said), at, words.amount(said), str(point["turn"])))
            for place, point in enumerate(points)
            if (said := point["price"]) is not None
        ]
        caption = f"{words.label(price.name)} by turn. Their limit was {words.value(price.name, lowest)}. {key}"
    else:
        named = {"target": "Target", "walk_away": "Your limit", "best_deal": "Best possible"}
        lines = level_lines(debrief["levels"], named)
        levels = [line.label for line in lines]
        drawn = [
            (point["by"], Point(place, at := point["utility"] * BEST, at, str(round(at)), str(point["turn"])))
            for place, point in enumerate(points)
        ]
        caption = (
            "What each offer is worth to you: 100 is the best you can think of, 0 the worst. "
            f"“Best possible” is the best deal for you that they would have signed. {key}"
        )
    mine, theirs = ([point for by, point in drawn if by == side] for side in ("me", "them"))
    title = f"Offers by turn: {told_offers(mine, theirs, words)}. {', '.join(levels)}"
    chart = OffersChart("debrief", title, mine, theirs, lines)
    return DrawnChart("Both sides, with their limit drawn in", caption, drawn_for_widths(chart))


def rough_amount(money: str | None, words: NegotiationWords) -> str:
    """An amount in all; of several points it stands for more than money, so that two figures of it are said."""
    if not money:
        return ""
    amount = Decimal(money)
    if len(words.terms.issues) == 1 or not amount:
        return words.money(amount)
    unit = Decimal(1).scaleb(amount.adjusted() - 1)
    rough = (amount / unit).to_integral_value() * unit
    return f"{'about ' if rough != amount else ''}{words.money(rough)}"


def attempts(debrief: Mapping[str, Any], rehearsal: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """All rehearsals with this person in their order; empty if this is the only one."""
    others = [one for one in debrief["attempts"] if one["id"] != rehearsal["id"]]
    this = {
        "id": rehearsal["id"],
        "created_at": rehearsal["created_at"],
        "score": debrief["score"],
        "money": debrief["left_on_table"]["money"],
        "state": rehearsal["state"],
    }
    return sorted([this, *others], key=lambda one: one["created_at"]) if others else []


REHEARSALS_PAGE_PATH: Final = f"{WORKSPACE_PATH}/rehearsals"
REHEARSAL_PAGE_PATH: Final = f"{REHEARSALS_PAGE_PATH}/{{rehearsal_id}}"
MAX_LISTED: Final = 25
_TALK_SIZE: Final = FormSize(32 * 1024)
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
            form(REHEARSALS_PAGE_PATH, self.start, again=self.show),
            page(REHEARSAL_PAGE_PATH, self.open),
            form(REHEARSAL_PAGE_PATH, self.play, size=_TALK_SIZE),
            form(f"{REHEARSAL_PAGE_PATH}/lesson", self.keep, again=self.open, back="/", size=_TALK_SIZE),
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
            refusal=refused.said,
            lacks_figures=isinstance(refusal, Conflict) and refusal.error == "missing_inputs",
            capitalise=capitalise,
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
        begun = await self.calls.run(session, "start_rehearsal", members, key=key)
        return self.router.pages.see(_place(named["id"], begun["id"]))

    async def open(self, request: Request, session: SignedInSession, form: RefusedForm = NO_FORM) -> Response:
        """The talk, or the debrief once it is over."""
        rehearsal = await self.calls.run(session, "get_rehearsal", _named(request))
        return await self._page(request, session, rehearsal, form)

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
        offers = offers_in_words(rehearsal["turns"], words)
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
            chart=debrief_chart(debrief, view, words),
            said=[*offers_in_words(debrief["ledger"], words)],
            attempts=attempts(debrief, rehearsal),
            rough_amount=rough_amount,
            capitalise=capitalise,
            sentence=sentence,
            once=values.new_id("once"),
            is_new=asked.get("told") == "over",
            lesson=refused.typed.get("lesson", debrief["lesson"]),
            lesson_refusal=refused.said,
            kept=await self._kept(session, asked.get("kept", "")),
            **common,
        )

    async def play(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Play a turn. The same form sent twice from one page plays once; a script gets the parts that changed."""
        in_place = "hx-request" in request.headers
        named = _named(request)
        words = NegotiationWords.of(await read_negotiation(self.calls, session, request.path_params["id"]))
        refused = NO_FORM
        try:
            members = _read_turn(form, words)
            key = form_key(f"{named['rehearsal_id']}.{form.get('shown', '')}", members)
            rehearsal = await self.calls.run(session, "play_turn", {**named, **members}, key=key)
        except (Conflict, ValidationFailed) as refusal:
            refused = RefusedForm("turn", form, refusal)
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
        named = _named(request)
        await self.calls.run(session, "get_rehearsal", named)
        members = {
            "text": form.get("lesson", "").strip(),
            "kind": "lesson",
            "tags": ["practice"],
            "attributes": KEPT_FROM_PRACTICE,
            "negotiation_id": named["id"],
        }
        made = await self.calls.run(session, "remember", members)
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


def _read_turn(form: Mapping[str, str], words: NegotiationWords) -> Members:
    """The members of `play_turn`: a figure makes it an offer. Raises `UnreadFields`."""
    text, do = form.get("said", "").strip(), form.get("do", "say")
    if do in {"wait", "accept", "leave"}:
        return {"action": do, "text": None if do == "wait" else text or None}
    if package := read_offer({**form, "kind": "offer"}, words)["package"]:
        return {"action": "offer", "package": package, "text": text or None}
    if not text:
        raise UnreadFields({"said": _SAYS_NOTHING})
    return {"action": "say", "text": text}
