"""The interface of the engines inside a worker, the engines that settings can name, and a filter for Whisper's
inventions.

All calls block; a worker is single-threaded and has no event loop.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from negotiator.teleprompter.speech.events import TranscriptWord
from negotiator.teleprompter.speech.recognizer import EngineCapabilities


@dataclass(frozen=True, slots=True)
class Transcription:
    """The text of one utterance; the times of its words count from its beginning."""

    text: str
    words: tuple[TranscriptWord, ...] = ()
    confidence: float | None = None


class Decoder(Protocol):
    """Recognises one channel, utterance by utterance."""

    def begin(self) -> None:
        """Begin an utterance; nothing of earlier ones may influence it."""
        ...

    def feed(self, pcm: bytes) -> None:
        """Add audio to the utterance, 16 kHz s16le."""
        ...

    def partial(self) -> str:
        """The text so far; always empty for an engine that recognises whole utterances only."""
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
"""The function `load` of every engine's module: from the operator's model to an engine; raises OSError or ValueError.
"""


def words_from_rows(rows: list[Any]) -> tuple[TranscriptWord, ...]:
    """Words from rows of [text, start_ms, end_ms, confidence], the form in which they are sent through a pipe."""
    return tuple(TranscriptWord(*row) for row in rows)


_MARK: Final = re.compile(r"[\[(*♪][^\])*♪]{0,80}[\])*♪]")
_CREDIT: Final = re.compile(
    r"(?:thanks?(?: you)?(?: so much)? for watching|subtitles? by .*|subscribe to .*|you)[.!]*",
    re.I,
)


def without_inventions(text: str) -> str:
    """The text without marks such as `[BLANK_AUDIO]` or `(music)`; empty when the whole text is a known invention."""
    kept = " ".join(_MARK.sub(" ", text).split())
    return "" if _CREDIT.fullmatch(kept) or not any(map(str.isalnum, kept)) else kept


@dataclass(frozen=True, slots=True)
class EngineKind:
    """An engine that settings can name: its capabilities, the package it needs and the module that loads it.

    `longest_ms` is the greatest length of an utterance.
    """

    caps: EngineCapabilities
    package: str
    module: str
    longest_ms: int
    doubtful: float | None = None
    """The confidence below which a final is likely wrong, where that was measured."""


_ENGLISH: Final = ("en",)
MAX_WHOLE_UTTERANCE_MS: Final = 6_000
"""Greatest length of an utterance for engines that recognise it whole and so hold it in memory meanwhile."""
_STREAM_MS: Final = 15_000

ENGINE_KINDS: Final[dict[str, EngineKind]] = {
    "pocketsphinx": EngineKind(
        EngineCapabilities(
            "pocketsphinx",
            "streaming",
            interim=True,
            word_times=True,
            languages=_ENGLISH,
            offline=True,
            quality_note=(
                "Embedded pocketsphinx: English, one clear voice in a quiet room, for trying out and tests; in noise"
                " or a lively call most words are wrong, so name a better engine before relying on it."
            ),
        ),
        "pocketsphinx",
        "pocketsphinx_engine",
        _STREAM_MS,
        doubtful=0.35,
    ),
    "sherpa-onnx": EngineKind(
        EngineCapabilities(
            "sherpa-onnx",
            "streaming",
            interim=True,
            word_times=False,
            languages=(),
            offline=True,
            quality_note=(
                "sherpa-onnx with the operator's streaming model, on this machine:"
                " language and quality are the model's."
            ),
        ),
        "sherpa_onnx",
        "sherpa_engine",
        _STREAM_MS,
    ),
    "vosk": EngineKind(
        EngineCapabilities(
            "vosk",
            "streaming",
            interim=True,
            word_times=True,
            languages=(),
            offline=True,
            quality_note=(
                "Vosk with the operator's model, on this machine: small models miss about one word in eight."
            ),
        ),
        "vosk",
        "vosk_engine",
        _STREAM_MS,
    ),
    "faster-whisper": EngineKind(
        EngineCapabilities(
            "faster-whisper",
            "segmented",
            interim=False,
            word_times=True,
            languages=(),
            offline=True,
            quality_note=(
                "Whisper with the operator's model, on this machine: good with accents, but words come only after a"
                " pause, and it may invent some in noise."
            ),
        ),
        "faster_whisper",
        "whisper_engine",
        MAX_WHOLE_UTTERANCE_MS,
    ),
}


def engine_module(kind: EngineKind) -> str:
    """The module that loads the engine."""
    return f"{__package__}.{kind.module}"
