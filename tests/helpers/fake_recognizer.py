"""A recogniser for tests, which hears what is written: sound whose bytes are a sentence, and silence after it."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Final

import pytest

from negotiator.teleprompter.speech.events import FinalTranscript, PartialTranscript, RecognitionEvent
from negotiator.teleprompter.speech.recognizer import (
    BYTES_PER_MS,
    EngineCapabilities,
    RecognizerBusy,
    SpeechRecognition,
)

SILENCE: Final = bytes(320)
_CAPS: Final = EngineCapabilities("written", interim=True, languages=("en",), quality_note="Reads.")


def sentence_as_audio(text: str) -> bytes:
    """A sentence as sound, for who hears what is written; 100 ms of it."""
    return text.encode().ljust(3200)


@dataclass(slots=True)
class FakeRecognition:
    """One channel: every piece is a word more, silence ends the sentence."""

    told: asyncio.Queue[RecognitionEvent | None] = field(default_factory=asyncio.Queue[RecognitionEvent | None])
    taken: list[bytes] = field(default_factory=list[bytes])
    text: str = ""
    count: int = 1
    ms: int = 0
    closed: bool = False

    async def push(self, pcm16k: bytes) -> None:
        self.taken.append(pcm16k)
        self.ms += len(pcm16k) // BYTES_PER_MS
        if not pcm16k.strip(b"\0"):
            self._end()
            return
        self.text = f"{self.text} {pcm16k.decode(errors='replace').strip()}".strip()
        self.told.put_nowait(PartialTranscript(f"u{self.count}", self.text, 0, self.ms))

    async def finish(self) -> None:
        self._end()
        await self.close()

    async def close(self) -> None:
        self.closed = True
        self.told.put_nowait(None)

    async def events(self) -> AsyncIterator[RecognitionEvent]:
        while (event := await self.told.get()) is not None:
            yield event

    def say(self, event: RecognitionEvent) -> None:
        self.told.put_nowait(event)

    def _end(self) -> None:
        if self.text:
            self.told.put_nowait(FinalTranscript(f"u{self.count}", self.text, 0, self.ms, confidence=0.9))
            self.text, self.count = "", self.count + 1


@dataclass(slots=True)
class FakeRecognizer:
    """A recogniser of those; `room` is how many channels it takes."""

    room: int = 100
    opened: list[FakeRecognition] = field(default_factory=list[FakeRecognition])

    fault = ""

    @property
    def caps(self) -> EngineCapabilities:
        return _CAPS

    async def open(self, language: str) -> SpeechRecognition:
        assert language == "en"
        if len([each for each in self.opened if not each.closed]) >= self.room:
            raise RecognizerBusy("every stream is taken")
        self.opened.append(FakeRecognition())
        return self.opened[-1]

    async def close(self) -> None:
        """It holds nothing."""


@pytest.fixture
def fake_recognizer(monkeypatch: pytest.MonkeyPatch) -> FakeRecognizer:
    """The recogniser of the application that is made next."""
    made = FakeRecognizer()

    def choose(_settings: Any) -> FakeRecognizer:
        return made

    monkeypatch.setattr("negotiator.compose.assistant.make_recognizer", choose)
    return made
