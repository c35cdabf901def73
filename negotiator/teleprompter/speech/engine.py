"""The seam to an engine inside a worker: everything here blocks, and no thread or loop is near.

What engines of the Whisper family write where nobody said anything.

The engines that can be named in the settings, and what each is good for.
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
    """What an utterance was; the words' times count from its beginning."""

    text: str
    words: tuple[TranscriptWord, ...] = ()
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

    def end(self) -> Transcription:
        """It is over: what was heard."""
        ...


class SpeechEngine(Protocol):
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


LoadEngine = Callable[[Path | None], SpeechEngine]
"""What every engine's file offers as `load`: the operator's model in, an engine out; raises OSError or ValueError."""


def words_from_rows(rows: list[Any]) -> tuple[TranscriptWord, ...]:
    """Words from rows of [text, start_ms, end_ms, confidence], as they cross a pipe."""
    return tuple(TranscriptWord(*row) for row in rows)


_MARK: Final = re.compile(r"[\[(*♪][^\])*♪]{0,80}[\])*♪]")
_CREDIT: Final = re.compile(
    r"(?:thanks?(?: you)?(?: so much)? for watching|subtitles? by .*|subscribe to .*|you)[.!]*",
    re.I,
)


def without_inventions(text: str) -> str:
    """The text without marks such as `[BLANK_AUDIO]` or `(music)`; empty when all of it is a known invention."""
    kept = " ".join(_MARK.sub(" ", text).split())
    return "" if _CREDIT.fullmatch(kept) or not any(map(str.isalnum, kept)) else kept


@dataclass(frozen=True, slots=True)
class EngineKind:
    """An engine that can be chosen: what it is, the package it needs, where its file is, and what it doubts."""

    caps: EngineCapabilities
    package: str
    module: str
    longest_ms: int
    doubtful: float | None = None
    """The confidence below which a final is likely wrong, where that was measured."""


_ENGLISH: Final = ("en",)
MAX_WHOLE_UTTERANCE_MS: Final = 6_000
"""Greatest utterance for engines that hear it whole: it is held meanwhile, and never are more than ten seconds."""
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
    """The module that loads it."""
    return f"{__package__}.{kind.module}"
