"""`/live`: a call is begun here, with its consent, and earlier calls are listed; the words for what was heard."""

import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.base.errors import Refusal, ValidationFailed
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.negotiation_words import RUNNING, NegotiationWords, time_text
from negotiator.console.page_calls import PageCalls
from negotiator.console.page_router import LIVE_PATH, FormFields, PageRouter
from negotiator.console.talk.workspace_now import heard_words
from negotiator.teleprompter.consent import SessionConsent, notice_text

LANGUAGES: Final = {"en": "English", "de": "Deutsch", "fr": "Français", "es": "Español"}
"""The languages in which figures are read; cards are raised in English."""
PRACTICE_BASIS: Final = "test"
BASES: Final = {
    "all_parties": ("Everybody", "You read the notice aloud and everybody agrees."),
    "own_side_only": ("Only me", "Their words are not used, so fewer cards appear."),
    PRACTICE_BASIS: ("Practice", "No real call: you or a friend play the other side. No figure becomes an offer."),
}
RETENTION_WORDS: Final = {
    "session": "For a day after the call",
    "30_days": "For 30 days",
    "until_deleted": "Until I erase it",
    "none": "Not at all",
}
GAPS: Final = {
    "paused": "Paused",
    "resumed": "Listening again",
    "gap": "Some sound was lost here",
    "not_heard": "The server was too busy to hear this",
    "engine_restarted": "Recognition restarted here",
}
"""The notices of a session that a reader of its transcript needs."""
_ENDED: Final = "ended"
_UNBOUND: Final = "A call without a negotiation"
_MINUTE: Final = 60
_LETTERS_A_SIZE: Final = 45
_SMALLEST: Final = 4


@dataclass(frozen=True, slots=True)
class EngineWords:
    """Who hears a call when the browser does not, and how well; empty where no recogniser is installed."""

    who: str = ""
    note: str = ""


def engine_words(engine: Mapping[str, Any]) -> EngineWords:
    """The words for the engine of a session or of the list of sessions."""
    if engine["id"] in {"text", "none"}:
        return EngineWords()
    if engine["processor"]:
        who = f"The sound goes to {engine['processor']}, which recognises the words."
    else:
        who = "This server recognises the words. The sound stays on it and is not stored."
    return EngineWords(who, engine["quality_note"])


@dataclass(frozen=True, slots=True)
class PastCall:
    """One call of the list."""

    id: str
    title: str
    at: str
    kept: str
    is_open: bool


def past_call(view: Mapping[str, Any], titles: Mapping[str, str]) -> PastCall:
    """The call as the list shows it; `titles` are the negotiations' by id."""
    return PastCall(
        view["id"],
        call_title(view, titles.get(view["negotiation_id"] or "", "")),
        time_text(view["created_at"]),
        _kept(view),
        view["state"] != _ENDED,
    )


def call_title(view: Mapping[str, Any], negotiation: str) -> str:
    """What the call is about."""
    if view["practice"]:
        return f"Practice: {negotiation}" if negotiation else "A practice call"
    return negotiation or _UNBOUND


def _kept(view: Mapping[str, Any]) -> str:
    if view["keep"] == "none":
        return "Its words were not kept"
    if view["forget_at"]:
        return f"Kept until {time_text(view['forget_at'])}"
    return "Kept until you erase it"


@dataclass(frozen=True, slots=True)
class CallLine:
    """A line of the transcript; `who` is `me`, `them` or empty for a gap, `quote` an anchor for cards."""

    seq: int
    utterance: str
    who: str
    text: str


@dataclass(frozen=True, slots=True)
class CallCard:
    """A card as the page shows it."""

    id: str
    title: str
    say: str
    why: str
    quote: str
    family: str
    left_ms: int
    verdict: str

    @property
    def size(self) -> int:
        """The size of its type without script, the largest 0; a script fits the card to the window."""
        return min(len(self.say) // _LETTERS_A_SIZE, _SMALLEST)


@dataclass(frozen=True, slots=True)
class CallEvents:
    """What a call's events lead to: its lines, its cards, the newest first, the ids of figures, and the last number.

    `passed` are the ids of cards that were raised before one that was judged.
    """

    lines: Sequence[CallLine]
    cards: Sequence[CallCard]
    passed: Collection[str]
    offers: Sequence[str]
    last_seq: int

    @property
    def standing(self) -> list[CallCard]:
        """The cards to show now: those of limits first, then the newest, two at most."""
        shown = [card for card in self.cards if card.left_ms > 0 and not card.verdict and card.id not in self.passed]
        return sorted(shown, key=lambda card: not card.family.startswith("figure:"))[:2]


def call_events(events: Sequence[Mapping[str, Any]], now: datetime) -> CallEvents:
    """The state of a call after all its events, oldest first."""
    lines: list[CallLine] = []
    cards: dict[str, CallCard] = {}
    verdicts: dict[str, str] = {}
    offers: list[str] = []
    passed: set[str] = set()
    for event in events:
        match event["type"]:
            case "transcript.final":
                said = event["text"] or "(not kept)"
                line = CallLine(event["seq"], event["utterance_id"], event["speaker"], said)
                lines.append(line)
            case "notice" if event["code"] in GAPS:
                lines.append(CallLine(event["seq"], "", "", GAPS[event["code"]]))
            case "cue" | "cue.update":
                card = _card(event["cue"], event["at"], now)
                cards[card.id] = card
                passed.discard(card.id)
            case "cue.retract":
                cards.pop(event["id"], None)
            case "cue.feedback":
                verdicts[event["id"]] = event["action"]
                if event["id"] in cards:
                    raised = list(cards)
                    passed.update(raised[: raised.index(event["id"])])
            case "offer":
                offers.append(event["offer_id"])
            case _:
                """Marks and the end are not shown."""
    judged = [replace(card, verdict=verdicts.get(card.id, "")) for card in cards.values()]
    last = events[-1]["seq"] if events else 0
    return CallEvents(lines, judged[::-1], passed, offers, last)


def _card(cue: Mapping[str, Any], at: str, now: datetime) -> CallCard:
    age = (now - datetime.fromisoformat(at)).total_seconds() * 1000
    quote = cue["evidence"]["quote"]
    left = int(cue["ttl_ms"] - age)
    return CallCard(cue["id"], cue["title"], cue["say"], cue["why"], quote, cue["family"], left, "")


@dataclass(frozen=True, slots=True)
class HeardFigure:
    """A figure that was heard; it waits for the user's word unless it is confirmed."""

    id: str
    who: str
    said: str
    quote: str
    is_confirmed: bool


def heard_figures(offers: Sequence[Mapping[str, Any]], words: NegotiationWords, *, since: str) -> list[HeardFigure]:
    """The offers of a negotiation that wait to be confirmed, and those heard `since` and confirmed, oldest first.

    `offers` are newest first.
    """
    return [
        HeardFigure(
            offer["id"],
            "You said" if offer["by"] == "me" else f"{words.them} said",
            words.package(offer["package"]),
            heard_words(offer),
            offer["status"] == "confirmed",
        )
        for offer in reversed(offers)
        if offer["package"]
        and (
            offer["status"] == "unconfirmed"
            or (offer["status"] == "confirmed" and _moment(offer["at"]) >= _moment(since))
        )
    ]


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def length_words(view: Mapping[str, Any]) -> str:
    """How long a call took."""
    began = datetime.fromisoformat(view["created_at"])
    ended = datetime.fromisoformat(view["ended_at"]) if view["ended_at"] else datetime.now(UTC)
    minutes = round((ended - began).total_seconds() / _MINUTE)
    if minutes < 1:
        return "less than a minute"
    return "1 minute" if minutes == 1 else f"{minutes} minutes"


MAX_LISTED: Final = 50
MICROPHONE_POLICY: Final = {"permissions-policy": "camera=(), geolocation=(), microphone=(self)"}
_NOTICES: Final = {"erased": "Erased, with every word of it."}
_NOT_AGREED: Final = "Read the notice to them and tick this once everybody has agreed."


@dataclass(frozen=True, slots=True)
class LivePage:
    """The page on which a call begins."""

    router: PageRouter
    calls: PageCalls

    def routes(self) -> list[Route]:
        return [self.router.page(LIVE_PATH, self.show), self.router.form(LIVE_PATH, self.begin)]

    async def show(self, request: Request, session: SignedInSession) -> Response:
        """The form, for the negotiation of the query if it names one, and the earlier calls."""
        asked = request.query_params
        typed = {"negotiation": asked.get("negotiation", ""), "language": asked.get("language", "")}
        notice = _NOTICES.get(asked.get("told", ""), "")
        return await self._page(session, typed, notice=notice)

    async def begin(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Open a session and show it. The form again, with what was typed, where something is missing or refused."""
        del request
        if form.get("basis") == "all_parties" and form.get("agreed") != "on":
            return await self._page(session, form, status=422, refused={"agreed": _NOT_AGREED})
        here = form.get("hears") == "microphone" and form.get("local") == "on"
        members: dict[str, Any] = {
            "source": "audio" if form.get("hears") == "microphone" and not here else "text",
            "language": form.get("language", "en"),
            "consent": {"basis": form.get("basis", ""), "confirmed_by": session.greeting},
            "keep": form.get("keep", "session"),
            "practice": form.get("basis") == PRACTICE_BASIS,
        }
        if form.get("negotiation"):
            members["negotiation_id"] = form["negotiation"]
        try:
            opened = await self.calls.run(session, "open_teleprompter_session", members, key=form.get("key") or None)
        except ValidationFailed as refusal:
            faults = {fault.pointer.strip("/").split("/")[-1]: fault.description for fault in refusal.errors}
            return await self._page(session, form, status=422, refused=faults)
        except Refusal as refusal:
            refused = {"": refusal.description}
            return await self._page(session, form, status=refusal.status, refused=refused)
        hears = "?hears=browser" if here else ""
        return self.router.pages.see(f"{LIVE_PATH}/{opened['id']}{hears}")

    async def _page(
        self,
        session: SignedInSession,
        typed: Mapping[str, str],
        *,
        status: int = 200,
        refused: Mapping[str, str] | None = None,
        notice: str = "",
    ) -> Response:
        run = self.calls.run
        found = (await run(session, "list_negotiations", {"limit": MAX_LISTED}))["items"]
        listed = await run(session, "list_teleprompter_sessions", {"limit": MAX_LISTED})
        engine: dict[str, Any] = listed["engine"]
        titles = {one["id"]: one["title"] for one in found}
        past = [past_call(one, titles) for one in listed["items"]]
        return self.router.render(
            "live.html",
            session,
            status,
            headers=MICROPHONE_POLICY,
            typed=typed,
            language=typed.get("language") if typed.get("language") in LANGUAGES else "en",
            refused=refused or {},
            notice=notice,
            negotiations=[(one["id"], one["title"]) for one in found if one["state"] in RUNNING],
            engine=engine_words(engine),
            notices=_notices(engine),
            languages=LANGUAGES,
            bases=BASES,
            retentions=RETENTION_WORDS,
            open_calls=[one for one in past if one.is_open],
            past=[one for one in past if not one.is_open],
            key=secrets.token_urlsafe(16),
            here="live",
        )


def _notices(engine: Mapping[str, Any]) -> dict[str, str]:
    """The sentence to read to the others, by language."""
    consent = SessionConsent("all_parties", "", 0)
    return {name: notice_text(consent, name, engine["processor"] or "") for name in LANGUAGES}
