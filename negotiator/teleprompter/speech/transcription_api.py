"""A client of an OpenAI-compatible endpoint: `POST {url}/audio/transcriptions` with one utterance as a WAV.

The endpointer cuts the audio into utterances. While one is transcribed the next one is gathered; later audio waits in
the backlog and counts as lag. Together they hold at most ten seconds, in memory only.
"""

import asyncio
import contextlib
import json
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlsplit

import httpx2
from opentelemetry.trace import SpanKind

from negotiator.base.errors import Unavailable
from negotiator.runtime import thread_pools
from negotiator.runtime.circuit_breaker import CircuitBreaker
from negotiator.runtime.telemetry import logger
from negotiator.runtime.tracing import NEW_TRACE, outgoing_headers, span
from negotiator.teleprompter.speech.endpointer import (
    EndpointEvent,
    UtteranceAudio,
    UtteranceCutter,
    UtteranceEnd,
    UtteranceStart,
    VoiceDetector,
    detector_factory,
)
from negotiator.teleprompter.speech.events import RecognitionEvent, RecognitionProblem, Transcription
from negotiator.teleprompter.speech.recognition_channel import MAX_HELD_MS, SAMPLES_PER_MS, RecognitionChannel
from negotiator.teleprompter.speech.recognizer import (
    MAX_WHOLE_UTTERANCE_MS,
    SAMPLE_RATE,
    EngineCapabilities,
    RecognizerBusy,
    SpeechRecognition,
    without_inventions,
)

_PIECE: Final = 500 * SAMPLES_PER_MS
_FAILURES: Final = 3
"""The recognition ends after so many failed utterances in a row."""
TIMEOUT_SECONDS: Final = 10.0
_FAULTS: Final = (httpx2.HTTPError, OSError, ValueError, KeyError, TypeError)
_MOST_RECEIVED: Final = 256 * 1024
_LOST: Final = "The speech service did not answer; what was just said is missing."
log = logger(__name__)


class TranscriptionFailed(Exception):
    """One utterance got no text; the message is for the user, `detail` for the log."""

    def __init__(self, description: str, *, detail: str = "") -> None:
        super().__init__(description)
        self.detail = detail


class TranscribedRecognition:
    """Recognises one channel in a task of this process, which calls `over` once when it ends.

    `transcribe` turns one utterance (16 kHz s16le) into text, or raises `TranscriptionFailed`.
    """

    def __init__(
        self,
        cutter: UtteranceCutter,
        transcribe: Callable[[bytes], Awaitable[Transcription]],
        over: Callable[["TranscribedRecognition"], None],
    ) -> None:
        self.channel = RecognitionChannel(again_ms=0)
        self._cutter = cutter
        self._transcribe = transcribe
        self._over = over
        self._name = ""
        self._utterance = bytearray()
        self._asked: asyncio.Task[None] | None = None
        self._asked_samples = 0
        self._failures = 0
        self._finishing = False
        self._more = asyncio.Event()
        self._task = asyncio.create_task(self._run())

    async def push(self, pcm16k: bytes) -> None:
        """As `SpeechRecognition.push`."""
        self.channel.put(pcm16k)
        self._more.set()

    async def finish(self) -> None:
        self._finishing = True
        self._more.set()

    async def close(self) -> None:
        self.channel.drop()
        await asyncio.sleep(0)  # a task that is cancelled before its first step runs no `finally`
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task

    def events(self) -> AsyncIterator[RecognitionEvent]:
        return self.channel.telling.events()

    async def _run(self) -> None:
        try:
            await self._hear()
        except TranscriptionFailed as failed:
            log.warning("a speech service cannot be used", reason=str(failed), detail=failed.detail)
            self.channel.telling.say(RecognitionProblem("engine_failed", str(failed), fatal=True))
        finally:
            if self._asked is not None:
                self._asked.cancel()
                await asyncio.gather(self._asked, return_exceptions=True)
            self.channel.end()
            self._over(self)

    async def _hear(self) -> None:
        backlog = self.channel.backlog
        while await self._has_audio():
            if backlog.elsewhere + _PIECE > MAX_HELD_MS * SAMPLES_PER_MS:
                await self._answered()
            at, pcm = backlog.take(_PIECE)
            # The voice detector releases the interpreter lock while it computes.
            await self._follow(await thread_pools.LIVE.run_unhurried(self._cutter.hear, at, pcm))
            self.channel.heard(at + len(pcm) // 2)
        await self._follow(self._cutter.finish())
        await self._answered()

    async def _has_audio(self) -> bool:
        """Wait for audio; False at the end of the channel."""
        while not self.channel.backlog.untaken and not self._finishing:
            self._more.clear()
            await self._more.wait()
        return self.channel.backlog.untaken > 0

    async def _follow(self, cuts: list[EndpointEvent]) -> None:
        telling = self.channel.telling
        for cut in cuts:
            match cut:
                case UtteranceStart(at_ms):
                    self._name = telling.began(at_ms)
                case UtteranceAudio(pcm):
                    self._utterance += pcm
                case UtteranceEnd(at_ms):
                    await self._answered()
                    self._ask(at_ms)
        self._count_held()

    def _ask(self, until: int) -> None:
        pcm = bytes(self._utterance)
        self._utterance.clear()
        self._asked_samples = len(pcm) // 2
        self._asked = asyncio.create_task(self._tell(self._name, pcm, until))

    async def _tell(self, name: str, pcm: bytes, until: int) -> None:
        heard = Transcription("")
        try:
            heard = await self._transcribe(pcm)
            self._failures = 0
        except TranscriptionFailed as failed:
            self._failures += 1
            if self._failures >= _FAILURES:
                raise
            self.channel.telling.say(RecognitionProblem("utterance_lost", str(failed)))
        finally:
            self._asked_samples = 0
            self._count_held()
        self.channel.telling.final(name, heard, until)

    async def _answered(self) -> None:
        if self._asked is not None:
            await self._asked
            self._asked = None

    def _count_held(self) -> None:
        self.channel.backlog.elsewhere = len(self._utterance) // 2 + self._asked_samples


class TranscriptionApiRecognizer:
    """Sends utterances to `url`, for example `https://host/v1`, one at a time for each channel."""

    def __init__(self, url: str, *, key: str, model: str, hangover_ms: int, streams: int) -> None:
        host = urlsplit(url).hostname or url
        self.caps = EngineCapabilities(
            "openai-compatible",
            interim=False,
            languages=(),
            quality_note=(
                f"Audio goes to {host} ({model}) after each pause: quality is that model's, words come late, and it may"
                " invent some in noise."
            ),
            third_party=host,
        )
        self._breaker = CircuitBreaker(
            "the speech service does not answer",
            "The speech service cannot be used now.",
            seconds=TIMEOUT_SECONDS,
            at_once=streams,
            faults=_FAULTS,
        )
        self._url = f"{url.rstrip('/')}/audio/transcriptions"
        self._model = model
        self._hangover_ms = hangover_ms
        self._streams = streams
        self._open: set[TranscribedRecognition] = set()
        self._detector: Callable[[], VoiceDetector] | None = None
        headers = {"authorization": f"Bearer {key}"} if key else {}
        self._client = httpx2.AsyncClient(
            follow_redirects=False, trust_env=False, timeout=TIMEOUT_SECONDS, headers=headers
        )

    @property
    def fault(self) -> str:
        return "the speech service does not answer" if self._breaker.is_open else ""

    async def open(self, language: str) -> SpeechRecognition:
        """A new channel; nothing is sent before a voice is detected. `RecognizerBusy` when all streams are in use.

        `Unavailable` while the service keeps failing.
        """
        if len(self._open) >= self._streams:
            raise RecognizerBusy("every speech stream is taken")
        if self._breaker.is_open:
            self._breaker.require()
        if self._detector is None:
            self._detector = await thread_pools.FILES.run_unhurried(detector_factory)
        cutter = UtteranceCutter(self._detector(), hangover_ms=self._hangover_ms, longest_ms=MAX_WHOLE_UTTERANCE_MS)
        transcribe = partial(self._transcribe, language.partition("-")[0].lower())
        recognition = TranscribedRecognition(cutter, transcribe, self._open.discard)
        self._open.add(recognition)
        return recognition

    async def close(self) -> None:
        for recognition in list(self._open):
            await recognition.close()
        await self._client.aclose()

    async def _transcribe(self, language: str, pcm: bytes) -> Transcription:
        try:
            with span("transcription", SpanKind.CLIENT, parent=NEW_TRACE):
                async with self._breaker.call():
                    answer = await self._ask(language, pcm)
                    heard = str(answer["text"])
        except (*_FAULTS, Unavailable) as fault:
            raise TranscriptionFailed(_LOST, detail=str(fault)) from fault
        return Transcription(without_inventions(heard))

    async def _ask(self, language: str, pcm: bytes) -> Any:
        form = {"model": self._model, "language": language, "response_format": "json"}
        files = {"file": ("utterance.wav", wav_bytes(pcm), "audio/wav")}
        received = b""
        async with self._client.stream("POST", self._url, data=form, files=files, headers=outgoing_headers()) as reply:
            async for chunk in reply.aiter_bytes():
                received += chunk
                if len(received) > _MOST_RECEIVED:
                    raise ValueError("the answer is too large")
            if reply.status_code != HTTPStatus.OK:
                raise ValueError(f"status {reply.status_code}")
        return json.loads(received)


def wav_bytes(pcm: bytes) -> bytes:
    """The audio, 16 kHz mono s16le, after a RIFF header of 44 bytes."""
    head = struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        *(b"RIFF", 36 + len(pcm), b"WAVE", b"fmt ", 16, 1, 1, SAMPLE_RATE, SAMPLE_RATE * 2, 2, 16),
        *(b"data", len(pcm)),
    )
    return head + pcm
