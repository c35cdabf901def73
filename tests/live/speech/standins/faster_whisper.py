"""What is used of faster-whisper 1: two segments for an utterance, of which it invented the second."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass
class Word:
    """Seconds."""

    start: float
    end: float
    word: str
    probability: float


@dataclass
class Segment:
    """Seconds, and how sure it is."""

    start: float
    end: float
    text: str
    avg_logprob: float
    no_speech_prob: float
    words: list[Word] | None


class WhisperModel:
    """A folder; a name would be fetched."""

    def __init__(
        self,
        model_size_or_path: str,
        device: str,
        compute_type: str,
        *,
        cpu_threads: int,
        local_files_only: bool,
    ) -> None:
        assert Path(model_size_or_path).is_dir()
        assert (device, compute_type, cpu_threads) == ("cpu", "int8", 1)
        assert local_files_only

    def transcribe(
        self,
        audio: Any,
        language: str | None = None,
        *,
        beam_size: int = 5,
        word_timestamps: bool = False,
        condition_on_previous_text: bool = True,
        vad_filter: bool = False,
    ) -> tuple[Iterator[Segment], None]:
        """Segments, made while they are asked for."""
        assert language == "en"
        assert beam_size == 1
        assert word_timestamps
        assert not condition_on_previous_text
        assert not vad_filter
        seconds = len(audio) / 16_000
        word = Word(0.0, seconds, " heard", 0.8)
        real = Segment(0.0, seconds, f" heard {seconds:.2f} s", -0.2, 0.01, [word])
        invented = Segment(seconds, seconds, " Thank you.", -1.5, 0.9, [])
        return iter([real, invented]), None
