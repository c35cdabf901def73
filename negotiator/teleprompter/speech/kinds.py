"""The engines that can be named in the settings, and what each is good for."""

from dataclasses import dataclass
from typing import Final

from negotiator.teleprompter.speech.recognizer import Caps


@dataclass(frozen=True, slots=True)
class Kind:
    """An engine that can be chosen: what it is, the package it needs, where its file is, and what it doubts."""

    caps: Caps
    package: str
    module: str
    longest_ms: int
    doubtful: float | None = None
    """The confidence below which a final is likely wrong, where that was measured."""


_ENGLISH: Final = ("en",)
WHOLE_MS: Final = 6_000
"""Greatest utterance for engines that hear it whole: it is held meanwhile, and never are more than ten seconds."""
_STREAM_MS: Final = 15_000

KINDS: Final[dict[str, Kind]] = {
    "pocketsphinx": Kind(
        Caps(
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
        "sphinx",
        _STREAM_MS,
        doubtful=0.35,
    ),
    "sherpa-onnx": Kind(
        Caps(
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
        "sherpa",
        _STREAM_MS,
    ),
    "vosk": Kind(
        Caps(
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
        "vosk",
        _STREAM_MS,
    ),
    "faster-whisper": Kind(
        Caps(
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
        "whisper",
        WHOLE_MS,
    ),
}


def module(kind: Kind) -> str:
    """The module that loads it."""
    return f"{__package__}.engines.{kind.module}"
