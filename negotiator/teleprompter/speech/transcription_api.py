"""A client of an OpenAI-compatible endpoint: `POST {url}/audio/transcriptions` with one utterance as a WAV.

The endpointer cuts the audio into utterances. While one is transcribed the next one is gathered; later audio waits in
the backlog and counts as lag. Together they hold at most ten seconds, in memory only.
"""

import asyncio
import json
import struct
from collections.abc import Awaitable, Callable
from functools import partial
from http import HTTPStatus
from typing import Any, Final

import httpx2

from negotiator.base.errors import Unavailable
from negotiator.runtime import thread_pools
from negotiator.runtime.tracing import SpanBlock, outgoing_headers
from negotiator.teleprompter.speech.endpointer import (
    Endpointer,
    EndpointEvent,
    UtteranceAudio,
    UtteranceCutter,
    UtteranceEnd,
    UtteranceStart,
    VoiceDetector,
    detector_factory,
)
from negotiator.teleprompter.speech.engine import MAX_WHOLE_UTTERANCE_MS, Transcription, without_inventions
from negotiator.teleprompter.speech.events import RecognitionProblem
from negotiator.teleprompter.speech.recognition_channel import MAX_HELD_MS, SAMPLES_PER_MS, RecognitionChannel
from negotiator.teleprompter.speech.recognizer import SAMPLE_RATE, EngineCapabilities, SpeechRecognition, StreamConfig
from negotiator.teleprompter.speech.remote_recognition import (
    RecognitionFailed,
    RemoteRecognition,
    RemoteRecognizer,
    host_of,
)

_PIECE: Final = 500 * SAMPLES_PER_MS
_FAILURES: Final = 3
"""The recognition ends after so many failed utterances in a row."""

Transcribe = Callable[[bytes, SpanBlock], Awaitable[Transcription]]
"""Turns one utterance (16 kHz s16le) into text, with its call in a span; raises `RecognitionFailed`."""


class UtteranceTranscriber:
    """Recognises one channel; `RemoteRecognition` runs `hear`."""

    def __init__(self, cutter: UtteranceCutter, transcribe: Transcribe) -> None:
        self._cutter = cutter
        self._transcribe = transcribe
        self._name = ""
        self._utterance = bytearray()
        self._asked: asyncio.Task[None] | None = None
        self._asked_samples = 0
        self._failures = 0

    async def hear(self, driven: RemoteRecognition) -> None:
        """Run until the channel is finished."""
        backlog = driven.channel.backlog
        try:
            while await driven.more() and backlog.untaken:
                if self._held() + _PIECE > MAX_HELD_MS * SAMPLES_PER_MS:
                    await self._answered()
                at, pcm = backlog.take(_PIECE)
                # The voice detector releases the interpreter lock while it computes.
                cuts = await thread_pools.LIVE.run_unhurried(self._cutter.hear, at, pcm)
                await self._follow(cuts, driven)
                driven.channel.heard(at + len(pcm) // 2)
            await self._follow(self._cutter.finish(), driven)
            await self._answered()
        finally:
            if self._asked is not None:
                self._asked.cancel()
                await asyncio.gather(self._asked, return_exceptions=True)

    async def _follow(self, cuts: list[EndpointEvent], driven: RemoteRecognition) -> None:
        for cut in cuts:
            match cut:
                case UtteranceStart(at_ms):
                    self._name = driven.channel.telling.began(at_ms)
                case UtteranceAudio(pcm):
                    self._utterance += pcm
                case UtteranceEnd(at_ms, forced):
                    driven.channel.telling.voice_ended(self._name, at_ms, forced=forced)
                    await self._answered()
                    self._ask(driven, at_ms)
        driven.channel.holds(self._held())

    def _ask(self, driven: RemoteRecognition, until: int) -> None:
        pcm, name = bytes(self._utterance), self._name
        self._utterance.clear()
        self._asked_samples = len(pcm) // 2
        self._asked = asyncio.create_task(self._tell(driven, name, pcm=pcm, until=until))

    async def _tell(self, driven: RemoteRecognition, name: str, *, pcm: bytes, until: int) -> None:
        heard = Transcription("")
        try:
            heard = await self._transcribe(pcm, driven.call_span("transcription", name))
            self._failures = 0
        except RecognitionFailed as deaf:
            self._failures += 1
            if self._failures >= _FAILURES:
                raise
            driven.channel.telling.say(RecognitionProblem("utterance_lost", str(deaf)))
        finally:
            self._asked_samples = 0
            driven.channel.holds(self._held())
        driven.channel.telling.final(name, heard, until)

    async def _answered(self) -> None:
        """Wait for the transcription that is running."""
        if self._asked is not None:
            await self._asked
            self._asked = None

    def _held(self) -> int:
        return len(self._utterance) // 2 + self._asked_samples


TIMEOUT_SECONDS: Final = 10.0
_FAULTS: Final = (httpx2.HTTPError, OSError, ValueError, KeyError, TypeError)
_MOST_RECEIVED: Final = 256 * 1024
_LOST: Final = "The speech service did not answer; what was just said is missing."


class TranscriptionApiRecognizer(RemoteRecognizer):
    """Sends utterances to `url`, for example `https://host/v1`, one at a time for each channel."""

    def __init__(self, url: str, *, key: str, model: str, hangover_ms: int, streams: int) -> None:
        host = host_of(url)
        caps = EngineCapabilities(
            "openai-compatible",
            "segmented",
            interim=False,
            word_times=False,
            languages=(),
            offline=False,
            quality_note=(
                f"Audio goes to {host} ({model}) after each pause: quality is that model's, words come late, and it may"
                " invent some in noise."
            ),
            third_party=host,
        )
        super().__init__(caps, streams, seconds=TIMEOUT_SECONDS, faults=_FAULTS)
        self._url = f"{url.rstrip('/')}/audio/transcriptions"
        self._model = model
        self._hangover_ms = hangover_ms
        self._detector: Callable[[], VoiceDetector] | None = None
        headers = {"authorization": f"Bearer {key}"} if key else {}
        self._client = httpx2.AsyncClient(
            follow_redirects=False, trust_env=False, timeout=TIMEOUT_SECONDS, headers=headers
        )

    async def open(self, config: StreamConfig) -> SpeechRecognition:
        """A new channel; nothing is sent before a voice is detected. `RecognizerBusy` when all streams are in use.

        `Unavailable` while the service keeps failing.
        """
        self._check_free()
        if self._breaker.is_open:
            self._breaker.require()
        if self._detector is None:
            self._detector = await thread_pools.FILES.run_unhurried(detector_factory)
        endpointer = Endpointer(self._detector(), hangover_ms=self._hangover_ms, longest_ms=MAX_WHOLE_UTTERANCE_MS)
        language = config.language.partition("-")[0].lower()
        segmented = UtteranceTranscriber(UtteranceCutter(endpointer), partial(self._transcribe, language))
        return self._recognise(RecognitionChannel(again_ms=0), segmented.hear)

    async def close(self) -> None:
        """End every channel and the connections."""
        await super().close()
        await self._client.aclose()

    async def _transcribe(self, language: str, pcm: bytes, span: SpanBlock) -> Transcription:
        try:
            with span:
                async with self._breaker.call():
                    answer = await self._ask(language, pcm)
                    heard = str(answer["text"])
        except (*_FAULTS, Unavailable) as fault:
            raise RecognitionFailed(_LOST, detail=str(fault)) from fault
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
