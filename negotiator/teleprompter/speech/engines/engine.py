"""The seam to an engine inside a worker: everything here blocks, and no thread or loop is near."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from negotiator.teleprompter.speech.events import Word


@dataclass(frozen=True, slots=True)
class Heard:
    """What an utterance was; the words' times count from its beginning."""

    text: str
    words: tuple[Word, ...] = ()
    confidence: float | None = None


class Decoder(Protocol):
    """Hears one channel, utterance by utterance."""

    def begin(self) -> None:
        """A new utterance; nothing of earlier ones may be heard in it."""
        ...

    def feed(self, pcm: bytes) -> None:
        """More of it, 16 kHz s16le."""
        ...

    def partial(self) -> str:
        """What it sounds like so far; always empty for an engine that only hears whole utterances."""
        ...

    def end(self) -> Heard:
        """It is over: what was heard."""
        ...


class Engine(Protocol):
    """One loaded model."""

    def decoder(self, language: str) -> Decoder:
        """A decoder for a channel in this language that carries nothing of another's."""
        ...

    def give_back(self, decoder: Decoder) -> None:
        """The channel is over."""
        ...

    def prepare(self) -> None:
        """Called when there is nothing to hear: the time to load what the next channel will want."""
        ...


Load = Callable[[Path | None], Engine]
"""What every engine's file offers as `load`: the operator's model in, an engine out; raises OSError or ValueError."""


def named(rows: list[Any]) -> tuple[Word, ...]:
    """Words from rows of [text, start_ms, end_ms, confidence], as they cross a pipe."""
    return tuple(Word(*row) for row in rows)
