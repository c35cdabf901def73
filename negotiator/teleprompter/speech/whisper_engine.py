"""faster-whisper with the operator's CTranslate2 model folder; recognises whole utterances only."""

from importlib import import_module
from math import exp
from pathlib import Path
from typing import Any, Final

import numpy as np

from negotiator.teleprompter.speech.engine import Decoder, Transcription, without_inventions
from negotiator.teleprompter.speech.events import TranscriptWord

_SILENT: Final = 0.6
_DOUBTFUL: Final = -1.0
"""A segment is invented if its probability of silence is above the one and that of its words below the other (Radford
et al. 2022).
"""


def load(model: Path | None) -> "WhisperEngine":
    """The engine; OSError when there is no such folder, since the library would download a model of that name."""
    if model is None:
        raise ValueError("faster-whisper needs a model path")
    if not model.is_dir():
        raise FileNotFoundError(f"{model} is no folder")
    package: Any = import_module("faster_whisper")
    made = package.WhisperModel(
        str(model), device="cpu", compute_type="int8", cpu_threads=1, local_files_only=True
    )
    return WhisperEngine(made)


class WhisperEngine:
    """One model for all channels of the worker."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def decoder(self, language: str) -> "WhisperDecoder":
        """A decoder that gathers one utterance at a time."""
        return WhisperDecoder(self._model, language)

    def give_back(self, decoder: Decoder) -> None:
        """Do nothing: a decoder holds no loaded model."""

    def prepare(self) -> None:
        """Do nothing: the model is loaded."""


class WhisperDecoder:
    """Gathers an utterance, then recognises it; the model gets no text of earlier utterances."""

    def __init__(self, model: Any, language: str) -> None:
        self._model = model
        self._language = language
        self._audio = bytearray()

    def begin(self) -> None:
        self._audio.clear()

    def feed(self, pcm: bytes) -> None:
        self._audio += pcm

    def partial(self) -> str:
        """Always empty: this engine recognises whole utterances only."""
        return ""

    def end(self) -> Transcription:
        """Recognise the whole utterance."""
        samples = np.frombuffer(bytes(self._audio), "<i2").astype(np.float32) / 32768
        self._audio.clear()
        segments, _ = self._model.transcribe(
            samples,
            language=self._language,
            beam_size=1,
            word_timestamps=True,
            condition_on_previous_text=False,
            vad_filter=False,
        )
        said = [
            segment
            for segment in segments
            if not (segment.no_speech_prob > _SILENT and segment.avg_logprob < _DOUBTFUL)
        ]
        text = without_inventions(" ".join(segment.text.strip() for segment in said))
        if not text:
            return Transcription("")
        words = tuple(_word(word) for segment in said for word in segment.words or ())
        doubt = sum(segment.avg_logprob for segment in said) / len(said)
        return Transcription(text, words, round(exp(min(doubt, 0.0)), 3))


def _word(row: Any) -> TranscriptWord:
    return TranscriptWord(
        row.word.strip(), round(row.start * 1000), round(row.end * 1000), round(row.probability, 3)
    )
