"""sherpa-onnx with the operator's streaming transducer: a folder with tokens.txt, encoder, decoder and joiner."""

from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np

from negotiator.teleprompter.speech.engine import Decoder, Transcription
from negotiator.teleprompter.speech.recognizer import SAMPLE_RATE

_TAIL: Final = np.zeros(SAMPLE_RATE // 2, np.float32)
"""Half a second of silence, after which the model returns its last words."""


def load(model: Path | None) -> "SherpaEngine":
    """The engine; OSError when the folder lacks a file."""
    if model is None:
        raise ValueError("sherpa-onnx needs a model path")
    package: Any = import_module("sherpa_onnx")
    parts = {part: str(_part(model, part)) for part in ("encoder", "decoder", "joiner")}
    tokens = model / "tokens.txt"
    if not tokens.is_file():
        raise FileNotFoundError(f"{tokens} is missing")
    made = package.OnlineRecognizer.from_transducer(
        tokens=str(tokens),
        **parts,
        num_threads=1,
        sample_rate=SAMPLE_RATE,
        feature_dim=80,
        enable_endpoint_detection=False,
        decoding_method="greedy_search",
        provider="cpu",
    )
    return SherpaEngine(made)


def _part(model: Path, part: str) -> Path:
    """The 8-bit form of a part where there is one."""
    found = sorted(model.glob(f"{part}*.onnx"), key=lambda path: ("int8" not in path.name, path))
    if not found:
        raise FileNotFoundError(f"{model / part}*.onnx is missing")
    return found[0]


class SherpaEngine:
    """One model for all channels of the worker."""

    def __init__(self, recognizer: Any) -> None:
        self._recognizer = recognizer

    def decoder(self, _language: str) -> "SherpaDecoder":
        """A decoder that opens a new stream for each utterance."""
        return SherpaDecoder(self._recognizer)

    def give_back(self, decoder: Decoder) -> None:
        """Do nothing: a decoder holds no loaded model."""

    def prepare(self) -> None:
        """Do nothing: the model is loaded."""


class SherpaDecoder:
    """Opens a new stream for each utterance."""

    def __init__(self, recognizer: Any) -> None:
        self._recognizer = recognizer
        self._stream: Any = None

    def begin(self) -> None:
        self._stream = self._recognizer.create_stream()

    def feed(self, pcm: bytes) -> None:
        """Decode as far as the audio allows."""
        self._accept(np.frombuffer(pcm, "<i2").astype(np.float32) / 32768)

    def partial(self) -> Transcription:
        return Transcription(_plain(self._recognizer.get_result(self._stream)))

    def end(self) -> Transcription:
        """Decode the rest and return the text."""
        self._accept(_TAIL)
        self._stream.input_finished()
        self._decode()
        heard = self.partial()
        self._stream = None
        return heard

    def _accept(self, samples: Any) -> None:
        self._stream.accept_waveform(SAMPLE_RATE, samples)
        self._decode()

    def _decode(self) -> None:
        while self._recognizer.is_ready(self._stream):
            self._recognizer.decode_stream(self._stream)


def _plain(text: str) -> str:
    """The text in lower case if it is all capitals, as many published models write it."""
    text = text.strip()
    return text.lower() if text.isupper() else text
