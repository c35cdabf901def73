"""Vosk with the operator's model folder."""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

from negotiator.teleprompter.speech.engine import Decoder, Transcription
from negotiator.teleprompter.speech.events import TranscriptWord
from negotiator.teleprompter.speech.recognizer import SAMPLE_RATE


def load(model: Path | None) -> "VoskEngine":
    """The engine; OSError when there is no such folder."""
    if model is None:
        raise ValueError("vosk needs a model path")
    if not model.is_dir():
        raise FileNotFoundError(f"{model} is no folder")
    package: Any = import_module("vosk")
    package.SetLogLevel(-1)
    return VoskEngine(package, package.Model(str(model)))


class VoskEngine:
    """One model for all channels of the worker."""

    def __init__(self, package: Any, model: Any) -> None:
        self._package = package
        self._model = model

    def decoder(self, _language: str) -> "VoskDecoder":
        """A decoder that makes a new recogniser for each utterance."""
        return VoskDecoder(self._package, self._model)

    def give_back(self, decoder: Decoder) -> None:
        """Do nothing: a decoder holds no loaded model."""

    def prepare(self) -> None:
        """Do nothing: the model is loaded."""


class VoskDecoder:
    """Makes a new recogniser for each utterance, and joins the parts into which the model itself cuts it."""

    def __init__(self, package: Any, model: Any) -> None:
        self._package = package
        self._model = model
        self._recognizer: Any = None
        self._settled: list[dict[str, Any]] = []

    def begin(self) -> None:
        self._recognizer = self._package.KaldiRecognizer(self._model, SAMPLE_RATE)
        self._recognizer.SetWords(True)
        self._settled = []

    def feed(self, pcm: bytes) -> None:
        if self._recognizer.AcceptWaveform(pcm):
            self._settled.append(json.loads(self._recognizer.Result()))

    def partial(self) -> Transcription:
        """The finished parts and the text of the current one."""
        last = json.loads(self._recognizer.PartialResult()).get("partial", "")
        return Transcription(_joined([*(piece.get("text", "") for piece in self._settled), last]))

    def end(self) -> Transcription:
        """The text of all parts, with the confidences of their words."""
        pieces = [*self._settled, json.loads(self._recognizer.FinalResult())]
        self._recognizer = None
        words = tuple(
            TranscriptWord(row["word"], round(row["start"] * 1000), round(row["end"] * 1000), round(row["conf"], 3))
            for piece in pieces
            for row in piece.get("result", ())
        )
        known = [word.confidence for word in words if word.confidence is not None]
        confidence = round(sum(known) / len(known), 3) if known else None
        return Transcription(_joined([piece.get("text", "") for piece in pieces]), words, confidence)


def _joined(texts: list[str]) -> str:
    return " ".join(text for text in texts if text)
