"""The interface of the engines inside a worker, the engines that settings can name, and a filter for Whisper's
inventions.

All calls block; a worker is single-threaded and has no event loop.
"""

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Protocol

from negotiator.teleprompter.speech.events import Transcription
from negotiator.teleprompter.speech.recognizer import EngineCapabilities


class Decoder(Protocol):
    """Recognises one channel, utterance by utterance."""

    def begin(self) -> None:
        """Begin an utterance; nothing of earlier ones may influence it."""
        ...

    def feed(self, pcm: bytes) -> None:
        """Add audio to the utterance, 16 kHz s16le."""
        ...

    def partial(self) -> Transcription:
        """The text so far; where utterances are recognised whole, what `end` would give now, for as much work."""
        ...

    def end(self) -> Transcription:
        """End the utterance and return its text."""
        ...


class SpeechEngine(Protocol):
    def decoder(self, language: str) -> Decoder:
        """A decoder for a channel in this language, without any state of other channels."""
        ...

    def give_back(self, decoder: Decoder) -> None:
        """Take back the decoder of a channel that has ended."""
        ...

    def prepare(self) -> None:
        """Load in advance what the next channel needs; called while no audio waits."""
        ...


LoadEngine = Callable[[Path | None], SpeechEngine]
"""The function of an engine's module that loads it, from the operator's model; raises OSError or ValueError."""


_MARK: Final = re.compile(r"[\[(*♪][^\])*♪]{0,80}[\])*♪]")
_CREDIT: Final = re.compile(
    r"(?:thanks?(?: you)?(?: so much)? for watching|subtitles? by .*|subscribe to .*|you)[.!]*", re.I
)


def without_inventions(text: str) -> str:
    """The text without marks such as `[BLANK_AUDIO]` or `(music)`; empty when the whole text is a known invention."""
    kept = " ".join(_MARK.sub(" ", text).split())
    return "" if _CREDIT.fullmatch(kept) or not any(map(str.isalnum, kept)) else kept


@dataclass(frozen=True, slots=True)
class EngineKind:
    """An engine: its capabilities, the packages it needs, and the module and its function that load it.

    `whole` when it recognises utterances whole instead of hearing along, `longest_ms` is their greatest length, and
    `doubtful` the confidence below which a final is likely wrong, where that was measured.
    """

    caps: EngineCapabilities
    packages: tuple[str, ...]
    module: str
    loader: str
    longest_ms: int
    whole: bool
    doubtful: float | None = None


MAX_WHOLE_UTTERANCE_MS: Final = 6_000
"""Greatest length of an utterance for services that recognise it whole and so hold it in memory meanwhile."""


@cache
def engine_kinds() -> dict[str, EngineKind]:
    """The embedded engines by name, from `engines.toml`."""
    content = tomllib.loads(files(__package__ or __name__).joinpath("engines.toml").read_text("utf-8"))
    return {name: _kind(name, row) for name, row in content.items()}


def _kind(name: str, row: dict[str, Any]) -> EngineKind:
    languages, note = tuple(row.pop("languages")), row.pop("quality_note")
    caps = EngineCapabilities(name, interim=True, languages=languages, quality_note=note)
    return EngineKind(caps, tuple(row.pop("packages")), **row)


def engine_loader(kind: EngineKind) -> LoadEngine:
    """The function that loads the engine; only now is its module imported."""
    return getattr(import_module(f"{__package__}.{kind.module}"), kind.loader)
