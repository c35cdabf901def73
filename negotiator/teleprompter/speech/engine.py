"""The interface of the engines inside a worker, the engines that settings can name, and a filter for Whisper's
inventions.

All calls block; a worker is single-threaded and has no event loop.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Final, Protocol

from negotiator.teleprompter.speech.events import Transcription
from negotiator.teleprompter.speech.recognizer import EngineCapabilities
from negotiator.teleprompter.speech.whisper_weights import BASE_PACKAGES, TINY_PACKAGES


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
    longest_ms: int
    whole: bool = True
    loader: str = "load"
    doubtful: float | None = None


_ENGLISH: Final = ("en",)
_SEVERAL: Final = ("en", "de", "es", "fr", "it", "nl", "pt")
"""Of the languages that Whisper base knows, the ones it was trained on most; a session can name these."""
_WHISPER: Final = ("ctranslate2", "tokenizers")
MAX_WHOLE_UTTERANCE_MS: Final = 6_000
"""Greatest length of an utterance for services that recognise it whole and so hold it in memory meanwhile."""
_WINDOW_MS: Final = 9_000
"""The same for Whisper in a worker: what its window of ten seconds holds. At 6 s twice the words are wrong."""
_STREAM_MS: Final = 15_000

ENGINE_KINDS: Final[dict[str, EngineKind]] = {
    "pocketsphinx": EngineKind(
        EngineCapabilities(
            "pocketsphinx",
            interim=True,
            languages=_ENGLISH,
            quality_note=(
                "Embedded pocketsphinx: English, one clear voice in a quiet room, for trying out and tests; in noise"
                " or a lively call most words are wrong, so name a better engine before relying on it."
            ),
        ),
        ("pocketsphinx",),
        "pocketsphinx_engine",
        _STREAM_MS,
        whole=False,
        doubtful=0.35,
    ),
    "whisper": EngineKind(
        EngineCapabilities(
            "whisper",
            interim=True,
            languages=_SEVERAL,
            quality_note=(
                "Embedded Whisper base, on this machine: of English people read or said without noise it mistakes about"
                " one word in thirty, more in noise, and more in other languages; words come after each short pause."
            ),
        ),
        (*_WHISPER, *BASE_PACKAGES),
        "whisper_engine",
        _WINDOW_MS,
        loader="load_base",
        doubtful=0.5,
    ),
    "whisper-tiny": EngineKind(
        EngineCapabilities(
            "whisper-tiny",
            interim=True,
            languages=_ENGLISH,
            quality_note=(
                "Embedded Whisper tiny.en, on this machine: English only; about twice the wrong words of Whisper base,"
                " in less memory; words come after each short pause."
            ),
        ),
        (*_WHISPER, *TINY_PACKAGES),
        "whisper_engine",
        _WINDOW_MS,
        loader="load_tiny",
        doubtful=0.5,
    ),
    "whisper-folder": EngineKind(
        EngineCapabilities(
            "whisper-folder",
            interim=True,
            languages=(),
            quality_note=(
                "Whisper with the operator's model, on this machine: language and quality are the model's;"
                " words come after each short pause."
            ),
        ),
        _WHISPER,
        "whisper_engine",
        _WINDOW_MS,
    ),
}


def engine_loader(kind: EngineKind) -> LoadEngine:
    """The function that loads the engine; only now is its module imported."""
    return getattr(import_module(f"{__package__}.{kind.module}"), kind.loader)
