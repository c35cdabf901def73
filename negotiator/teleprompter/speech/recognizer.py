"""The seam between audio and text: one recogniser for the process, one recognition for each speaking channel."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from negotiator.teleprompter.speech.events import RecognitionEvent

SAMPLE_RATE: Final = 16_000
"""Samples a second that every recogniser takes: mono, signed 16 bit, little endian."""
BYTES_PER_MS: Final = SAMPLE_RATE * 2 // 1000


class RecognizerBusy(Exception):
    """Every stream is taken, a piece is longer than the whole backlog, or the events are not read."""


@dataclass(frozen=True, slots=True)
class EngineCapabilities:
    """What an engine is and what it is good for, in words fit for the person who relies on it.

    `kind`: words come while somebody speaks (`streaming`), only after they stopped (`segmented`), or no audio is heard
    (`text`). `languages` are BCP 47 primary tags, empty when unknown. `third_party` is the host that hears the audio,
    empty when it stays on this machine.
    """

    id: str
    kind: Literal["streaming", "segmented", "text"]
    interim: bool
    word_times: bool
    languages: tuple[str, ...]
    offline: bool
    quality_note: str
    third_party: str = ""


@dataclass(frozen=True, slots=True)
class StreamConfig:
    """What a client may choose for a channel; models and hosts are the operator's and are not among it."""

    language: str = "en"
    interim: bool = True


class SpeechRecognition(Protocol):
    """One speaking channel, from its first sample to its last."""

    async def push(self, pcm16k: bytes) -> None:
        """Take audio and return at once; raises `Busy` (and takes nothing) instead of queueing without end.

        Past 2 s of unheard audio partials are skipped, past 4 s a Lag is told, past 8 s the oldest goes with a Gap.
        """
        ...

    async def caught_up(self, within_ms: int = 0) -> None:
        """Wait until at most `within_ms` of audio are unrecognised, or the recognition has ended."""
        ...

    async def finish(self) -> None:
        """No more audio: what is unheard is heard, an open utterance gets its Final, then the events end."""
        ...

    async def close(self) -> None:
        """Drop everything now; the events end."""
        ...

    def events(self) -> AsyncIterator[RecognitionEvent]:
        """What is heard, in order; for one reader. Of unread partials only the newest is kept."""
        ...


class Recognizer(Protocol):
    """An engine, chosen by the operator; one for the process."""

    @property
    def caps(self) -> EngineCapabilities:
        """The capabilities of the engine."""
        ...

    async def open(self, config: StreamConfig) -> SpeechRecognition:
        """A new channel; `RecognizerBusy` when all are taken, `Unavailable` (503) when the engine cannot be used."""
        ...

    async def close(self) -> None:
        """End every channel and let go of processes and connections."""
        ...
