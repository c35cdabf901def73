"""The interface of speech recognition: one recogniser for the process, one recognition for each channel."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final, Protocol

from negotiator.teleprompter.speech.events import RecognitionEvent

SAMPLE_RATE: Final = 16_000
"""Samples a second that every recogniser takes: mono, signed 16 bit, little endian."""
BYTES_PER_MS: Final = SAMPLE_RATE * 2 // 1000


class RecognizerBusy(Exception):
    """All streams are in use, a piece is longer than the whole backlog, or the client does not read the events."""


@dataclass(frozen=True, slots=True)
class EngineCapabilities:
    """The capabilities of an engine, with a note on its quality for the user who relies on it.

    `interim` when it reports partial texts. `languages` are BCP 47 primary tags, empty when unknown. `third_party` is
    the host that receives the audio, empty when it stays on this machine.
    """

    id: str
    interim: bool
    languages: tuple[str, ...]
    quality_note: str
    third_party: str = ""


class SpeechRecognition(Protocol):
    """The recognition of one channel, from its first sample to its last."""

    async def push(self, pcm16k: bytes) -> None:
        """Take audio and return at once; raises `RecognizerBusy`, and takes nothing, when the backlog cannot hold it.

        Beyond 2 s of unrecognised audio partials are skipped, beyond 4 s a lag is reported, beyond 8 s the oldest audio
        is dropped and a gap reported.
        """
        ...

    async def finish(self) -> None:
        """End the audio: the rest is recognised, an open utterance gets its final, then the events end."""
        ...

    async def close(self) -> None:
        """Drop everything now and end the events."""
        ...

    def events(self) -> AsyncIterator[RecognitionEvent]:
        """The events in order, for one reader. Of unread partials only the newest is kept."""
        ...


class Recognizer(Protocol):
    """The engine that the operator chose; one for the process."""

    @property
    def caps(self) -> EngineCapabilities: ...

    @property
    def fault(self) -> str:
        """Why channels are refused or hear nothing now, for the health check; empty when all is well."""
        ...

    async def open(self, language: str) -> SpeechRecognition:
        """A new channel in a language, as a BCP 47 tag.

        `RecognizerBusy` when all are in use, `Unavailable` (503) when the engine cannot be used.
        """
        ...

    async def close(self) -> None:
        """End every channel and release processes and connections."""
        ...
