"""Shared by the clients of remote speech services: a coroutine of this process recognises each channel."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from urllib.parse import urlsplit

from negotiator.runtime.circuit_breaker import CircuitBreaker
from negotiator.runtime.telemetry import logger
from negotiator.runtime.tracing import Span, SpanBlock, current_span
from negotiator.teleprompter.speech.events import RecognitionEvent, RecognitionProblem
from negotiator.teleprompter.speech.recognition_channel import RecognitionChannel
from negotiator.teleprompter.speech.recognizer import EngineCapabilities, RecognizerBusy

log = logger(__name__)


class RecognitionFailed(Exception):
    """Nothing more can be recognised; the message is for the user, `detail` for the log."""

    def __init__(self, description: str, *, detail: str = "") -> None:
        super().__init__(description)
        self.detail = detail


def unrecorded(_utterance: str) -> Span | None:
    """The span of any utterance while traces are off."""
    return None


class RemoteRecognition:
    """Runs `hear` until it returns (when `finishing` is set and no audio is left), then calls `over` once."""

    def __init__(
        self,
        channel: RecognitionChannel,
        hear: Callable[["RemoteRecognition"], Awaitable[None]],
        over: Callable[["RemoteRecognition"], None],
    ) -> None:
        self.channel = channel
        self.finishing = False
        self.span_of: Callable[[str], Span | None] = unrecorded
        """The span of an utterance, by its id."""
        self._over = over
        self._more = asyncio.Event()
        self._task = asyncio.create_task(self._run(hear))

    async def push(self, pcm16k: bytes) -> None:
        """As `SpeechRecognition.push`."""
        self.channel.put(pcm16k)
        self._more.set()

    async def caught_up(self, within_ms: int = 0) -> None:
        await self.channel.caught_up(within_ms)

    async def finish(self) -> None:
        """Recognise the audio that is left, then end the events."""
        self.finishing = True
        self._more.set()

    async def close(self) -> None:
        self.channel.drop()
        await asyncio.sleep(0)  # a task that is cancelled before its first step runs no `finally`
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task

    def events(self) -> AsyncIterator[RecognitionEvent]:
        return self.channel.telling.events()

    async def more(self, seconds: float | None = None) -> bool:
        """Wait for audio or for the end of the channel; False when neither came within `seconds`."""
        try:
            async with asyncio.timeout(seconds):
                while not self.channel.backlog.untaken and not self.finishing:
                    self._more.clear()
                    await self._more.wait()
        except TimeoutError:
            return False
        return True

    def call_span(self, name: str, utterance: str) -> SpanBlock:
        """A span of a call to the service inside the utterance's, for a `with` block; none without an utterance."""
        span = self.span_of(utterance) if utterance else None
        return SpanBlock(None if span is None else span.child(name, "client"))

    async def _run(self, hear: Callable[["RemoteRecognition"], Awaitable[None]]) -> None:
        current_span.set(None)  # that of the message that opened the channel, which has ended
        try:
            await hear(self)
        except RecognitionFailed as deaf:
            log.warning("a speech service cannot be used", reason=str(deaf), detail=deaf.detail)
            self.channel.telling.say(RecognitionProblem("engine_failed", str(deaf), fatal=True))
        finally:
            self.channel.end()
            self._over(self)


class RemoteRecognizer:
    """The capabilities of a remote service and its open channels, at most `streams`; `faults` mean that it fails."""

    def __init__(
        self, caps: EngineCapabilities, streams: int, *, seconds: float, faults: tuple[type[Exception], ...]
    ) -> None:
        self._caps = caps
        self._breaker = CircuitBreaker(
            "the speech service does not answer",
            "The speech service cannot be used now.",
            seconds=seconds,
            at_once=streams,
            faults=faults,
        )
        self._most = streams
        self._open: set[RemoteRecognition] = set()

    @property
    def caps(self) -> EngineCapabilities:
        return self._caps

    @property
    def fault(self) -> str:
        """As `Recognizer.fault`."""
        return "the speech service does not answer" if self._breaker.is_open else ""

    async def close(self) -> None:
        """End every channel."""
        for recognition in list(self._open):
            await recognition.close()

    def _check_free(self) -> None:
        if len(self._open) >= self._most:
            raise RecognizerBusy("every speech stream is taken")

    def _recognise(
        self, channel: RecognitionChannel, hear: Callable[[RemoteRecognition], Awaitable[None]]
    ) -> RemoteRecognition:
        recognition = RemoteRecognition(channel, hear, self._open.discard)
        self._open.add(recognition)
        return recognition


def host_of(url: str) -> str:
    """The host of a URL, or all of it when it names none."""
    return urlsplit(url).hostname or url
