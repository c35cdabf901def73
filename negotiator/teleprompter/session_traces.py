"""Spans of live sessions: a message of a socket, an utterance in its sound, and what the bus carries to the followers.

Loaded only where traces are on; each class stands in for its base (docs/decisions/0028-traces.md).
"""

from collections import deque
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from negotiator.base.errors import Refusal
from negotiator.runtime.tracing import Span, SpanBlock, TraceSource, current_span, step
from negotiator.teleprompter.audio_reader import AudioReader
from negotiator.teleprompter.bus import BusMessageCodec, BusSubscription, LocalBus, message_line
from negotiator.teleprompter.cues.catalogue import Speaker
from negotiator.teleprompter.speech import events
from negotiator.teleprompter.speech.events import RecognitionEvent
from negotiator.teleprompter.speech.recognizer import SpeechRecognition
from negotiator.teleprompter.speech.remote_recognition import RemoteRecognition, unrecorded
from negotiator.teleprompter.utterance_analyser import UtteranceAnalyser, UtteranceAnalysis
from negotiator.teleprompter.websocket_handler import MessageHandler
from negotiator.teleprompter.websocket_messages import ClientMessage


@dataclass
class TracedMessageHandler(MessageHandler):
    """Each message but sound has a trace of its own: a socket is open for hours."""

    source: TraceSource = field(kw_only=True)

    async def _do(self, message: ClientMessage) -> None:
        with SpanBlock(self.source.begin(f"stream_session {message.type}", "server")) as span:
            try:
                await super()._do(message)
            except Refusal as refusal:
                if span is not None:
                    span.note({"negotiator.refusal": refusal.error})
                raise


class TracedUtteranceAnalyser(UtteranceAnalyser):
    """The analysis is a span of the message, the utterance or the request that it belongs to."""

    async def listen(self, owner: str, text: str, speaker: Speaker, **about: Any) -> UtteranceAnalysis:
        with step("analysis") as span:
            found = await super().listen(owner, text, speaker, **about)
            if span is not None:
                span.note({"negotiator.cues": len(found.matches)})
            return found


@dataclass
class _UtteranceSpans:
    """The spans of one utterance: `stage` is the voice, then the wait for the words."""

    whole: Span
    stage: Span


@dataclass
class TracedAudioReader(AudioReader):
    """Each utterance in the sound has a trace of its own, from its first sound to its cards."""

    source: TraceSource = field(kw_only=True)
    _traced: dict[str, _UtteranceSpans | None] = field(default_factory=dict[str, _UtteranceSpans | None])
    """By utterance; None for one that is not recorded."""

    async def follow(self, recognition: SpeechRecognition) -> None:
        remote = recognition if isinstance(recognition, RemoteRecognition) else None
        if remote:
            remote.span_of = self._whole_span_of
        try:
            await super().follow(recognition)
        finally:
            if remote:
                remote.span_of = unrecorded
            for spans in filter(None, self._traced.values()):
                spans.stage.end()
                spans.whole.end("Unfinished")

    async def _take(self, event: RecognitionEvent) -> None:
        with SpanBlock(self._span_of(event)):
            await super()._take(event)

    def _span_of(self, event: RecognitionEvent) -> Span | None:
        """The span of taking in an event, if its utterance is recorded and words came."""
        match event:
            case events.SpeechStart():
                self._spans_of(event.utterance_id)
            case events.SpeechEnd():
                if spans := self._traced.get(event.utterance_id):
                    spans.stage.end()
                    spans.stage = spans.whole.child("recognition")
            case events.PartialTranscript():
                if spans := self._spans_of(event.utterance_id):
                    return spans.whole.child("partial")
            case events.FinalTranscript():
                spans = self._spans_of(event.utterance_id)
                del self._traced[event.utterance_id]
                if spans is not None:
                    spans.stage.end()
                    return spans.whole
            case _:
                """A notice is of no utterance."""
        return None

    def _whole_span_of(self, utterance: str) -> Span | None:
        spans = self._spans_of(utterance)
        return None if spans is None else spans.whole

    def _spans_of(self, utterance: str) -> _UtteranceSpans | None:
        """The spans of an utterance, begun with its first event."""
        if utterance not in self._traced:
            whole = self.source.begin("utterance", "server")
            spans = None if whole is None else _UtteranceSpans(whole, whole.child("speech"))
            self._traced[utterance] = spans
        return self._traced[utterance]


_WAITING: Final = 32
"""Of the spans of one follower; the oldest are not recorded."""


class TracedMessage(bytes):
    """A message on the bus, and the `traceparent` of the span that sent it."""

    traceparent: str

    @classmethod
    def of(cls, message: bytes, traceparent: str) -> "TracedMessage":
        made = cls(message)
        made.traceparent = traceparent
        return made


class TracedBusCodec(BusMessageCodec):
    """Messages as `<process>;<traceparent> <session> <message>`, which a process without traces reads as well."""

    def write(self, session: str, message: bytes) -> bytes:
        if not (traceparent := _sender()):
            return super().write(session, message)
        return message_line(f"{self.me};{traceparent} {session} ", message)

    def is_own(self, line: bytes) -> bool:
        return super().is_own(line) or line.startswith(f"{self.me};".encode())

    def read(self, line: bytes) -> tuple[str, bytes] | None:
        sender, _, rest = line.partition(b" ")
        process, _, traceparent = sender.partition(b";")
        received = super().read(process + b" " + rest)
        if received is None or not traceparent:
            return received
        session, message = received
        return session, TracedMessage.of(message, traceparent.decode("latin-1"))


class TracedSubscription(BusSubscription):
    """What follows a message is a span of the message's trace, from its arrival until the follower listens again."""

    def __init__(self, source: TraceSource) -> None:
        super().__init__()
        self._source = source
        self._arrived: deque[Span] = deque(maxlen=_WAITING)
        self._answered: list[Span] = []
        self._before: Span | None = None

    def tell(self, message: bytes) -> None:
        if isinstance(message, TracedMessage):
            span = self._source.join("bus", "consumer", message.traceparent)
            if span is not None:
                self._arrived.append(span)
        super().tell(bytes(message))

    async def listen(self, seconds: float) -> list[bytes]:
        self.end()
        messages = await super().listen(seconds)
        self._answered = list(self._arrived)
        self._arrived.clear()
        outer = current_span.get()
        if self._answered and (outer is None or not outer.is_open):
            # Of several messages that one look answers, the first shows it.
            self._before = outer
            current_span.set(self._answered[0])
        return messages

    def end(self) -> None:
        """End the spans of the messages that the follower has answered."""
        if self._answered and current_span.get() is self._answered[0]:
            current_span.set(self._before)
        for span in self._answered:
            span.end()
        self._answered = []


class TracedLocalBus(LocalBus):
    """A bus whose messages have the span that sent them with them."""

    def __init__(self, source: TraceSource) -> None:
        super().__init__(TracedBusCodec())
        self._source = source

    def tell(self, session: str, message: bytes = b"") -> None:
        if not isinstance(message, TracedMessage) and (traceparent := _sender()):
            message = TracedMessage.of(message, traceparent)
        super().tell(session, message)

    @contextmanager
    def following(self, *names: str) -> Generator[BusSubscription]:
        with super().following(*names) as subscription:
            try:
                yield subscription
            finally:
                if isinstance(subscription, TracedSubscription):
                    subscription.end()

    def _new_subscription(self) -> BusSubscription:
        return TracedSubscription(self._source)


def _sender() -> str:
    """The `traceparent` of the span that is being recorded; empty for none."""
    span = current_span.get()
    return span.traceparent if span is not None and span.is_open else ""
