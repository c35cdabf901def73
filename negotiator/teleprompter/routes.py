"""`/api/teleprompter/sessions`: a call that is listened to, and what it is told."""

from dataclasses import dataclass
from typing import Any, Final

from negotiator.edge.operation import Answer, Call, Operation, Tool
from negotiator.store.statement import Transaction
from negotiator.store.store import Store
from negotiator.teleprompter.listening import Listening
from negotiator.teleprompter.sessions import rows
from negotiator.teleprompter.sessions.schemas import (
    EventPage,
    FollowSession,
    HeardView,
    SessionId,
    TranscriptView,
    Utterance,
)
from negotiator.teleprompter.sessions.view import PATH
from negotiator.teleprompter.streams import sse

STREAM: Final = frozenset({"teleprompter:stream"})
ONE: Final = f"{PATH}/{{id}}"
BUDGET: Final = "teleprompter"


@dataclass(frozen=True, slots=True)
class Teleprompter:
    """What is said in a session and what it led to, over HTTP and MCP; the socket is in `streams`."""

    store: Store
    listening: Listening

    def operations(self) -> list[Operation]:
        """What this slice offers; the hottest first."""
        return [*self._hearing(), *self._after()]

    def _hearing(self) -> list[Operation]:
        return [
            Operation(
                name="hear_utterance",
                method="POST",
                path=f"{ONE}/utterances",
                summary="Send what was said, whole or growing; the cards it raises are answered",
                run=self.hear,
                input=Utterance,
                output=HeardView,
                scopes=STREAM,
                budget=lambda _said: BUDGET,
                refusals=(400, 404, 409, 422, 503),
                tool=Tool(
                    "Hear an utterance",
                    hint=(
                        "Use it for each utterance of a call, after open_teleprompter_session; show the user what "
                        "the cards `say`."
                    ),
                    leave_out=("start_ms", "end_ms"),
                ),
                tag="teleprompter",
            ),
            Operation(
                name="follow_session",
                method="GET",
                path=f"{ONE}/events",
                summary="The events of a session after a number: utterances, cards, notices",
                run=self.follow,
                input=FollowSession,
                output=EventPage,
                scopes=STREAM,
                budget=lambda _asked: BUDGET,
                media_type=sse.MEDIA_TYPE,
                refusals=(400, 404, 422),
                tool=Tool(
                    "Follow a teleprompter session",
                    hint="Use it when another program sends the call and you watch for cards.",
                    foreign=True,
                    leave_out=("limit",),
                ),
                tag="teleprompter",
            ),
        ]

    def _after(self) -> list[Operation]:
        return [
            Operation(
                name="get_transcript",
                method="GET",
                path=f"{ONE}/transcript",
                summary="What was said in a session, as far as it is kept",
                run=self.transcript,
                input=SessionId,
                output=TranscriptView,
                scopes=STREAM,
                refusals=(404,),
                tool=Tool("Read a transcript", hint="Use it to sum up a call.", foreign=True),
                tag="teleprompter",
            ),
        ]

    async def hear(self, call: Call[Utterance]) -> Any:
        """Take in what was said."""
        return await self.listening.hear(call.caller, call.input)

    async def follow(self, call: Call[FollowSession]) -> Any:
        """A page of events, or the stream of them."""
        owner, asked, log = call.caller.principal, call.input, self.listening.log
        if sse.MEDIA_TYPE in call.headers.get("accept", ""):
            last = call.headers.get("last-event-id", "")
            after = int(last[:18]) if last.isascii() and last.isdigit() else asked.after
            await self.store.read(lambda tx: rows.find(tx, owner, asked.id))
            batches = log.follow(call.caller, asked.id, after)
            return Answer(sse.written(batches), media_type=sse.MEDIA_TYPE)
        session, events = await log.after(owner, asked.id, asked.after, asked.limit)
        if not events and asked.wait and session.state != "ended":
            session, events = await log.wait(
                call.caller, asked.id, asked.after, limit=asked.limit, seconds=asked.wait
            )
        return {
            "items": [event.shown for event in events],
            "last_seq": session.seq,
            "state": session.state,
            "more": bool(events) and events[-1].seq < session.seq,
        }

    async def transcript(self, call: Call[SessionId]) -> TranscriptView:
        """The finals in their order, with the gaps between."""
        owner, asked = call.caller.principal, call.input

        def unit(tx: Transaction) -> tuple[rows.Session, list[rows.Event]]:
            return rows.find(tx, owner, asked.id), rows.spoken(tx, asked.id)

        session, spoken = await self.store.scan(unit)
        return {
            "id": session.id,
            "keep": session.given["keep"],
            "lines": [_line(event.shown) for event in spoken],
        }


def _line(event: dict[str, Any]) -> Any:
    """One line of the transcript; a notice is a gap, whose text says which."""
    spoken = event["type"] == "transcript.final"
    return {
        "seq": event["seq"],
        "at": event["at"],
        "speaker": event["speaker"] if spoken else None,
        "text": event["text"] if spoken else event["code"],
        "start_ms": event.get("start_ms"),
        "end_ms": event.get("end_ms"),
    }
