"""An OpenAI-compatible endpoint: `POST {url}/audio/transcriptions` with one utterance as a WAV made in memory."""

import asyncio
import json
import struct
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlsplit

import httpx2

from negotiator.teleprompter.speech.endpointing.cutter import Cutter
from negotiator.teleprompter.speech.endpointing.detector import Detector, detectors
from negotiator.teleprompter.speech.endpointing.endpointer import Endpointer
from negotiator.teleprompter.speech.engines.engine import Heard
from negotiator.teleprompter.speech.engines.invented import spoken
from negotiator.teleprompter.speech.kinds import WHOLE_MS
from negotiator.teleprompter.speech.recognizer import RATE, Busy, Caps, Recognition, StreamConfig
from negotiator.teleprompter.speech.streams.channel import Channel
from negotiator.teleprompter.speech.streams.driven import Deaf, Driven
from negotiator.teleprompter.speech.streams.segmented import Segmented

SECONDS: Final = 10.0
_MOST_RECEIVED: Final = 256 * 1024
_LOST: Final = "The speech service did not answer; what was just said is missing."


class Transcriptions:
    """Hears by asking `url`, for example `https://host/v1`, one utterance at a time on each channel."""

    def __init__(self, url: str, *, key: str, model: str, hangover_ms: int, streams: int) -> None:
        host = urlsplit(url).hostname or url
        self._caps = Caps(
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
        self._url = f"{url.rstrip('/')}/audio/transcriptions"
        self._model = model
        self._hangover_ms = hangover_ms
        self._most = streams
        self._open: set[Driven] = set()
        self._detector: Callable[[], Detector] | None = None
        headers = {"authorization": f"Bearer {key}"} if key else {}
        self._client = httpx2.AsyncClient(
            follow_redirects=False, trust_env=False, timeout=SECONDS, headers=headers
        )

    @property
    def caps(self) -> Caps:
        """What it is."""
        return self._caps

    async def open(self, config: StreamConfig) -> Recognition:
        """A new channel; nothing is sent before somebody speaks."""
        if len(self._open) >= self._most:
            raise Busy("every speech stream is taken")
        if self._detector is None:
            self._detector = await asyncio.to_thread(detectors)
        endpointer = Endpointer(
            self._detector(), hangover_ms=self._hangover_ms, longest_ms=WHOLE_MS
        )
        language = config.language.partition("-")[0].lower()
        segmented = Segmented(Cutter(endpointer), partial(self._transcribe, language))
        driven = Driven(Channel(again_ms=0), segmented.hear, self._open.discard)
        self._open.add(driven)
        return driven

    async def close(self) -> None:
        """End every channel and the connections."""
        for driven in list(self._open):
            await driven.close()
        await self._client.aclose()

    async def _transcribe(self, language: str, pcm: bytes) -> Heard:
        try:
            async with asyncio.timeout(SECONDS):
                answer = await self._ask(language, pcm)
            return Heard(spoken(str(answer["text"])))
        except (httpx2.HTTPError, OSError, TimeoutError, ValueError, KeyError, TypeError) as fault:
            raise Deaf(_LOST, detail=str(fault)) from fault

    async def _ask(self, language: str, pcm: bytes) -> Any:
        form = {"model": self._model, "language": language, "response_format": "json"}
        files = {"file": ("utterance.wav", wav(pcm), "audio/wav")}
        received = b""
        async with self._client.stream("POST", self._url, data=form, files=files) as reply:
            async for chunk in reply.aiter_bytes():
                received += chunk
                if len(received) > _MOST_RECEIVED:
                    raise ValueError("the answer is too large")
            if reply.status_code != HTTPStatus.OK:
                raise ValueError(f"status {reply.status_code}")
        return json.loads(received)


def wav(pcm: bytes) -> bytes:
    """16 kHz mono s16le with the 44 bytes of a RIFF header in front."""
    head = struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        *(b"RIFF", 36 + len(pcm), b"WAVE", b"fmt ", 16, 1, 1, RATE, RATE * 2, 2, 16),
        *(b"data", len(pcm)),
    )
    return head + pcm
