"""`/api/teleprompter/sessions`: open, find, pause, end and delete sessions; utterances, events and transcripts.

The event stream is server-sent events (WHATWG HTML §9.2): `id` is the event's number; comments keep proxies awake.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import orjson

from negotiator.base import values
from negotiator.base.errors import FieldError, InsufficientScope, NotFound, Unavailable, ValidationFailed
from negotiator.base.scopes import NEGOTIATIONS_READ, TELEPROMPTER_STREAM
from negotiator.http.cursors import Cursors
from negotiator.http.operation import Answer, Call, Operation, ToolOffer
from negotiator.negotiations import queries as negotiations
from negotiator.store.statement import Transaction
from negotiator.store.store import Store
from negotiator.teleprompter import queries, session_transitions
from negotiator.teleprompter.cues import policy
from negotiator.teleprompter.cues.catalogue import cue_catalogue
from negotiator.teleprompter.cues.matcher import text_pieces
from negotiator.teleprompter.event_log import EventBatch
from negotiator.teleprompter.queries import LiveSession, NumberedEvent, label_from_feedback
from negotiator.teleprompter.schemas import (
    EngineView,
    EventPage,
    Feedback,
    FeedbackAction,
    FollowSession,
    HeardView,
    JudgedView,
    ListSessions,
    OpenSession,
    SessionId,
    SessionList,
    SessionView,
    TranscriptView,
    Utterance,
)
from negotiator.teleprompter.session_transitions import EventBuilder, Transition, TransitionResult
from negotiator.teleprompter.session_view import SESSIONS_PATH, TELEPROMPTER_BUDGET, TEXT_SOURCE, session_view
from negotiator.teleprompter.utterances import UtteranceService

EVENT_STREAM_TYPE: Final = "text/event-stream"
_EXPIRED: Final = b'event: error\ndata: {"type":"error","code":"token_expired"}\n\n'


async def event_stream(batches: AsyncIterator[EventBatch]) -> AsyncIterator[bytes]:
    """The chunks of the stream; the first is a comment, so that the client knows that it is connected."""
    yield b": following\n\n"
    async for batch in batches:
        chunks = [_event(event.type, event.line, number=event.seq) for event in batch.events]
        chunks += [_event(_type(message), message) for message in batch.volatile]
        if batch.over == "expired":
            chunks.append(_EXPIRED)
        yield b"".join(chunks) or b": still here\n\n"


def _event(kind: str, data: bytes, *, number: int | None = None) -> bytes:
    name = b"" if number is None else b"id: %d\n" % number
    return b"%bevent: %b\ndata: %b\n\n" % (name, kind.encode(), data)


def _type(message: bytes) -> str:
    body: dict[str, Any] = orjson.loads(message)
    return str(body["type"])


SESSION_PATH: Final = "/api/teleprompter/sessions/{id}"
_SHOWN: Final = (
    *("id", "state", "language", "negotiation_id", "role", "consent", "keep", "last_seq", "created_at", "ended_at"),
    *("ends_at", "forget_at", "notice_text", "practice", "cues"),
)
"""What a tool tells of a session: all but what streams and other programs read."""
_operation: Final = partial(Operation, scopes=frozenset({TELEPROMPTER_STREAM}), tag="teleprompter")


@dataclass(frozen=True, slots=True)
class SessionRoutes:
    """Sessions, their utterances, events, transcripts and the feedback on cards, over HTTP and MCP.

    `base` is the URL of the service, `engine` describes the speech recogniser that audio sessions use.
    """

    store: Store
    cursors: Cursors
    listening: UtteranceService
    base: str
    engine: EngineView

    def operations(self) -> list[Operation]:
        return [
            _operation(
                name="hear_utterance",
                method="POST",
                path="/api/teleprompter/sessions/{id}/utterances",
                summary="Send what was said, whole or growing; the cards it raises are answered",
                run=self.hear,
                input=Utterance,
                output=HeardView,
                budget=lambda _said: TELEPROMPTER_BUDGET,
                refusals=(400, 404, 409, 422, 503),
                tool=ToolOffer(
                    "Hear an utterance",
                    hint=(
                        "Use it for each utterance of a call, after open_teleprompter_session; what the cards `say` "
                        "is for the user."
                    ),
                    leave_out=("start_ms", "end_ms"),
                ),
            ),
            _operation(
                name="follow_session",
                method="GET",
                path="/api/teleprompter/sessions/{id}/events",
                summary="The events of a session after a number: utterances, cards, notices",
                run=self.follow,
                input=FollowSession,
                output=EventPage,
                budget=lambda _asked: TELEPROMPTER_BUDGET,
                media_type=EVENT_STREAM_TYPE,
                refusals=(204, 400, 404, 422),
                tool=ToolOffer(
                    "Follow a teleprompter session",
                    hint="Use it when another program sends the call and you watch for cards.",
                    foreign=True,
                    leave_out=("limit",),
                ),
            ),
            _operation(
                name="get_transcript",
                method="GET",
                path="/api/teleprompter/sessions/{id}/transcript",
                summary="What was said in a session, as far as it is kept",
                run=self.transcript,
                input=SessionId,
                output=TranscriptView,
                refusals=(404,),
                tool=ToolOffer("Read a transcript", hint="Use it to sum up a call.", foreign=True),
            ),
            _operation(
                name="open_teleprompter_session",
                method="POST",
                path=SESSIONS_PATH,
                summary="Open a session for a call, with the consent it is listened to under",
                run=self.open,
                input=OpenSession,
                output=SessionView,
                status=201,
                creates=True,
                refusals=(400, 404, 409, 422, 503),
                tool=ToolOffer(
                    "Open a teleprompter session",
                    hint=(
                        "Use it before a live call, with who agreed to be listened to; hear_utterance then takes "
                        "each utterance."
                    ),
                    leave_out=(
                        *("source", "language", "role", "consent.at", "consent.jurisdiction"),
                        *("practice", "cues", "idempotency_key"),
                    ),
                    brief=_SHOWN,
                ),
            ),
            _operation(
                name="delete_teleprompter_session",
                method="DELETE",
                path=SESSION_PATH,
                summary="Erase a session with all that was said in it, so that no byte of it is left",
                run=self.delete,
                input=SessionId,
                status=204,
                refusals=(404,),
            ),
            _operation(
                name="list_teleprompter_sessions",
                method="GET",
                path=SESSIONS_PATH,
                summary="List your sessions, newest first",
                run=self.list,
                input=ListSessions,
                output=SessionList,
                refusals=(400, 422),
            ),
            _operation(
                name="get_teleprompter_session",
                method="GET",
                path=SESSION_PATH,
                summary="Read one session: its state, who hears, and until when it is kept",
                run=self.get,
                input=SessionId,
                output=SessionView,
                refusals=(404,),
            ),
            self._switch(
                "pause_teleprompter_session",
                "/api/teleprompter/sessions/{id}/pause",
                "Stop listening for a while; the gap is marked",
                session_transitions.pause_session,
            ),
            self._switch(
                "resume_teleprompter_session",
                "/api/teleprompter/sessions/{id}/resume",
                "Listen again",
                session_transitions.resume_session,
            ),
            self._switch(
                "end_teleprompter_session",
                "/api/teleprompter/sessions/{id}/end",
                "End a teleprompter session",
                partial(session_transitions.end_session, reason="asked"),
                tool=ToolOffer("End a teleprompter session", hint="Use it when the call is over.", brief=_SHOWN),
            ),
            _operation(
                name="judge_cue",
                method="POST",
                path="/api/teleprompter/sessions/{id}/cues/{cue}/feedback",
                summary="Say what became of a card: your own later cards learn from it",
                run=self.judge,
                input=Feedback,
                output=JudgedView,
                refusals=(400, 404, 422, 503),
                tool=ToolOffer("Judge a card", hint="Use it when the user took or refused a card."),
            ),
        ]

    def _switch(
        self, name: str, path: str, summary: str, change: Transition, *, tool: ToolOffer | None = None
    ) -> Operation:
        async def switch(call: Call[SessionId]) -> SessionView:
            return self._view(await self.listening.change(call.caller, call.input.id, change))

        return _operation(
            name=name,
            method="POST",
            path=path,
            summary=summary,
            run=switch,
            input=SessionId,
            output=SessionView,
            refusals=(400, 404, 409),
            tool=tool,
        )

    def _view(self, session: LiveSession) -> SessionView:
        return session_view(session, base=self.base, engine=self.engine)

    async def hear(self, call: Call[Utterance]) -> Any:
        return await self.listening.hear(call.caller, call.input)

    async def follow(self, call: Call[FollowSession]) -> Any:
        """A page of events, or an event stream; 204, at which an EventSource stops, when nothing can follow."""
        owner, asked, log = call.caller.principal, call.input, self.listening.log
        if EVENT_STREAM_TYPE in call.headers.get("accept", ""):
            last = call.headers.get("last-event-id", "")
            after = int(last[:18]) if last.isascii() and last.isdigit() else asked.after
            session = await self.store.read(lambda tx: queries.find(tx, owner, asked.id))
            if session.state == "ended" and after >= session.seq:
                return Answer(None, 204)
            batches = log.follow(call.caller, asked.id, after)
            return Answer(event_stream(batches), media_type=EVENT_STREAM_TYPE)
        session, events = await log.after(owner, asked.id, asked.after, asked.limit)
        if not events and asked.wait and session.state != "ended":
            session, events = await log.wait(call.caller, asked.id, asked.after, limit=asked.limit, seconds=asked.wait)
        return {
            "items": [event.shown for event in events],
            "last_seq": session.seq,
            "state": session.state,
            "more": bool(events) and events[-1].seq < session.seq,
        }

    async def transcript(self, call: Call[SessionId]) -> TranscriptView:
        owner, asked = call.caller.principal, call.input

        def unit(tx: Transaction) -> tuple[LiveSession, list[NumberedEvent]]:
            return queries.find(tx, owner, asked.id), queries.transcript_events(tx, asked.id)

        session, spoken = await self.store.scan(unit)
        return {"id": session.id, "keep": session.given["keep"], "lines": [_line(event.shown) for event in spoken]}

    async def open(self, call: Call[OpenSession]) -> SessionView:
        """Open a session; a bound negotiation must be the caller's own, and they must be allowed to read it."""
        asked, owner, now = call.input, call.caller.principal, values.now()
        named = asked.negotiation_id
        if asked.source == "audio" and self.engine["id"] == TEXT_SOURCE:
            raise Unavailable(self.engine["quality_note"], error="no_engine")
        heard = self.engine["languages"]
        if asked.source == "audio" and heard and asked.language not in heard:
            known = ", ".join(heard)
            raise ValidationFailed([FieldError("/language", f"The speech engine hears: {known}.")])
        if named is not None and NEGOTIATIONS_READ not in call.caller.scopes:
            raise InsufficientScope([NEGOTIATIONS_READ, TELEPROMPTER_STREAM])
        given = asked.model_dump(mode="json")
        given["consent"]["at"] = given["consent"]["at"] or values.timestamp(now)

        def unit(tx: Transaction) -> SessionView:
            if named is not None:
                talk = negotiations.load_for_writing(tx, owner, named)
                given["role"] = given["role"] or talk.terms.role
            session = LiveSession(
                id=values.new_id("live"),
                owner=owner,
                negotiation=named,
                state="ready",
                given=given,
                created_at=now,
                active_at=now,
                ends_at=now + session_transitions.IDLE_MS,
            )
            return self._view(session_transitions.open_session(tx, session))

        opened = await self.store.write(call.once(unit))
        self.listening.analyser.prepare()
        return opened

    async def list(self, call: Call[ListSessions]) -> Any:
        asked, owner = call.input, call.caller.principal
        bound = ("teleprompter sessions", owner, asked.state)
        before = None if asked.cursor is None else self.cursors.open(asked.cursor, *bound)
        found = await self.store.read(
            lambda tx: queries.page(tx, owner, state=asked.state, before=before, limit=asked.limit + 1)
        )
        listed, cursor = self.cursors.page(found, asked.limit, lambda session: session.id, *bound)
        return {"items": [self._view(each) for each in listed], "next_cursor": cursor, "engine": self.engine}

    async def get(self, call: Call[SessionId]) -> SessionView:
        owner, asked = call.caller.principal, call.input
        return self._view(await self.store.read(lambda tx: queries.find(tx, owner, asked.id)))

    async def delete(self, call: Call[SessionId]) -> Answer:
        """Delete a session; its followers receive nothing more."""
        owner, asked = call.caller.principal, call.input
        await self.store.write(lambda tx: queries.remove(tx, owner, asked.id))
        self.listening.log.bus.tell(asked.id)
        await self.store.scrub()
        return Answer(None, 204)

    async def judge(self, call: Call[Feedback]) -> JudgedView:
        """Note what became of a card and let its owner's head learn from it, once for each action in a row.

        A card of a figure, of a memory or of practice teaches nothing, nor does one whose words are not there any more.
        """
        asked, owner, log = call.input, call.caller.principal, self.listening.log
        heads = self.listening.analyser.heads

        def find(tx: Transaction) -> tuple[JudgedCard, bool]:
            session = queries.find(tx, owner, asked.id)
            card = find_card(tx, session, asked.cue, log.unkept(asked.id))
            return card, session.is_practice

        judged, is_practice = await self.store.read(find)
        is_example = judged.cue in cue_catalogue().cues and judged.sentence != ""
        teaches = is_example and not is_practice
        vector = await heads.vector(judged.sentence) if teaches else None

        def change(tx: Transaction, session: queries.LiveSession) -> TransitionResult:
            outcome, is_news = record_feedback(tx, session, judged, asked.action)
            if is_news and vector is not None:
                heads.teach(tx, owner, label_from_feedback(asked.action, judged.cue), vector=vector)
            return outcome

        await self.listening.change(call.caller, asked.id, change)
        return {"id": judged.id, "action": asked.action, "taught": vector is not None}


def _line(event: dict[str, Any]) -> Any:
    """One line of the transcript; a notice is a gap described by its text."""
    spoken = event["type"] == "transcript.final"
    return {
        "seq": event["seq"],
        "at": event["at"],
        "speaker": event["speaker"] if spoken else None,
        "text": event["text"] if spoken else event["code"],
        "start_ms": event.get("start_ms"),
        "end_ms": event.get("end_ms"),
    }


_PREFIX: Final = "cue_"


@dataclass(frozen=True, slots=True)
class JudgedCard:
    """A card that was shown, its cue, and the sentence that raised it (empty when it is no longer known)."""

    id: str
    utterance_id: str
    cue: str
    sentence: str


def find_card(tx: Transaction, session: LiveSession, name: str, unkept: dict[int, NumberedEvent]) -> JudgedCard:
    """The card of this id; 404. `unkept` are events whose words are in this process's memory only."""
    number = name.removeprefix(_PREFIX)
    digits = number.isascii() and number.isdigit() and len(number) < 10
    event = queries.event_at(tx, session.id, int(number)) if digits and name.startswith(_PREFIX) else None
    if event is None or event.type != "cue":
        raise NotFound("There is no such card in this session.")
    card = event.shown["cue"]
    quote, utterance = card["evidence"]["quote"], card["evidence"]["utterance_id"]
    said = ""
    for each in queries.events_of_utterance(tx, session.id, utterance):
        if each.type == "transcript.final":
            said = unkept.get(each.seq, each).shown["text"] or ""
    held = [part for part in text_pieces(said) if quote.lower() in part.lower()] if said else []
    return JudgedCard(name, utterance, card["cue"], held[0] if held else said)


def record_feedback(
    tx: Transaction, session: LiveSession, judged: JudgedCard, action: FeedbackAction
) -> tuple[TransitionResult, bool]:
    """Record feedback; returns the result and False when the last feedback on the card was the same."""
    before: Any = None
    for event in queries.events_of_utterance(tx, session.id, judged.utterance_id):
        if event.type == "cue.feedback" and event.shown["id"] == judged.id:
            before = event.shown["action"]
    if before == action:
        return TransitionResult(session), False
    telling = EventBuilder(session.seq, values.now(), silent=False)
    body = {"id": judged.id, "utterance_id": judged.utterance_id, "action": action}
    telling.tell("cue.feedback", body, utterance=judged.utterance_id)
    if action != "used":
        session = _off(session, judged.id)
    return TransitionResult(session_transitions.save_events(tx, session, telling), telling.told), True


def _off(session: LiveSession, name: str) -> LiveSession:
    """The session without the card on its screen; its family stays paused."""
    gone = {card for card, public in session.screen.get("ids", {}).items() if public == name}
    if not gone:
        return session
    standing = policy.restore_screen(session.screen)
    left = tuple(card for card in standing.cards if card.id not in gone)
    kept = policy.dump_screen(replace(standing, cards=left))
    return replace(session, screen={**session.screen, **kept})
