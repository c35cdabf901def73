"""Turns the recognition events of one channel into utterances and notices of the session."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from opentelemetry.trace import SpanKind

from negotiator.base.caller import Caller
from negotiator.base.errors import Refusal, Unavailable
from negotiator.runtime import telemetry
from negotiator.runtime.tracing import NEW_TRACE, span
from negotiator.teleprompter import session_transitions, websocket_messages
from negotiator.teleprompter.cues.catalogue import Speaker
from negotiator.teleprompter.schemas import Utterance
from negotiator.teleprompter.session_view import MAX_UTTERANCE_CHARACTERS
from negotiator.teleprompter.speech import events
from negotiator.teleprompter.speech.events import RecognitionEvent
from negotiator.teleprompter.speech.recognizer import SpeechRecognition
from negotiator.teleprompter.utterances import UtteranceService

_PATIENCE: Final = (0.2, 1.0, 3.0)
"""Seconds between attempts to store a final while the store is unavailable."""
log = telemetry.logger(__name__)


@dataclass(slots=True)
class AudioReader:
    """Reads one recognition. `name` is the prefix of its utterance ids, `base_ms` the channel time at its start."""

    listening: UtteranceService
    session: str
    who: Callable[[], Caller]
    channel: Speaker
    name: str
    base_ms: int
    _last: dict[str, str] = field(default_factory=dict[str, str])

    async def follow(self, recognition: SpeechRecognition) -> None:
        """Process the events until they end."""
        async for event in recognition.events():
            try:
                await self._take(event)
            except Refusal as refusal:
                # It is over, paused or gone; whoever did that knows, and what is heard now is not wanted.
                log.info("heard in vain", session=self.session, error=refusal.error)
            except Exception as fault:
                log.error("hearing failed", session=self.session, exc_info=fault)

    async def _take(self, event: RecognitionEvent) -> None:
        match event:
            case events.PartialTranscript():
                if self._last.get(event.utterance_id) != event.text and event.text.strip():
                    self._last[event.utterance_id] = event.text
                    await self._hear(event, final=False)
            case events.FinalTranscript():
                shown = self._last.pop(event.utterance_id, "")
                if event.text.strip():
                    with span("utterance", SpanKind.SERVER, parent=NEW_TRACE):
                        await self._finally(event)
                elif shown:
                    self._tell(websocket_messages.partial_message("", **self._about(event)))
            case events.RecognitionLag():
                self._tell(websocket_messages.lag_message(self.channel, event.behind_ms))
                await self._notice("lag", behind_ms=event.behind_ms)
            case events.AudioGap():
                await self._notice(
                    "gap", from_ms=self.base_ms + event.from_ms, to_ms=self.base_ms + event.to_ms, reason=event.reason
                )
            case events.RecognitionProblem():
                await self._notice(event.code, description=event.description, fatal=event.fatal)
            case _:
                """The times of start and end are in the utterance."""

    async def _finally(self, event: events.FinalTranscript) -> None:
        for wait in _PATIENCE:
            try:
                await self._hear(event, final=True, confidence=event.confidence)
            except Unavailable:
                await asyncio.sleep(wait)
            else:
                return
        await self._hear(event, final=True, confidence=event.confidence)

    async def _hear(
        self, event: events.PartialTranscript | events.FinalTranscript, *, final: bool, confidence: float | None = None
    ) -> None:
        said = Utterance(
            id=self.session, text=event.text[-MAX_UTTERANCE_CHARACTERS:], final=final, **self._about(event)
        )
        await self.listening.hear(self.who(), said, confidence=confidence)

    async def _notice(self, code: str, **detail: Any) -> None:
        told = partial(session_transitions.add_recognizer_notice, code=code, detail={"channel": self.channel, **detail})
        await self.listening.change(self.who(), self.session, told)

    def _tell(self, message: bytes) -> None:
        self.listening.log.bus.tell(self.session, message)

    def _about(self, event: events.PartialTranscript | events.FinalTranscript) -> dict[str, Any]:
        return {
            "utterance_id": f"{self.name}.{event.utterance_id.removeprefix('u')}",
            "speaker": self.channel,
            "start_ms": self.base_ms + event.start_ms,
            "end_ms": self.base_ms + event.end_ms,
        }
