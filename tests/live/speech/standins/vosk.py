"""What is used of vosk 0.3: one word for each half second, its own endpoint after every four."""
# ruff: noqa: N802 the real package is written so

import json
from pathlib import Path
from typing import Any

HALF = 16_000


def SetLogLevel(level: int) -> None:
    """Quiet below zero."""
    assert level < 0


class Model:
    """A folder."""

    def __init__(self, model_path: str) -> None:
        assert Path(model_path).is_dir()


class KaldiRecognizer:
    """Times count from its first sample."""

    def __init__(self, model: Model, rate: float) -> None:
        assert isinstance(model, Model)
        assert rate == 16_000
        self._bytes = self._told = 0
        self._words = False

    def SetWords(self, enable_words: bool) -> None:
        """Results have words."""
        self._words = enable_words

    def AcceptWaveform(self, data: bytes) -> int:
        """1 at an endpoint."""
        self._bytes += len(data)
        return int(self._bytes // HALF - self._told >= 4)

    def PartialResult(self) -> str:
        """Words since the last endpoint."""
        return json.dumps({"partial": " ".join(self._open())})

    def Result(self) -> str:
        """The same, settled."""
        return self.FinalResult()

    def FinalResult(self) -> str:
        """All that is left."""
        words = self._open()
        rows: list[dict[str, Any]] = [
            {"word": word, "conf": 0.75, "start": at / 2, "end": (at + 1) / 2}
            for at, word in enumerate(words, self._told)
        ]
        self._told += len(words)
        told: dict[str, Any] = {"text": " ".join(words)}
        return json.dumps(told | ({"result": rows} if rows and self._words else {}))

    def _open(self) -> list[str]:
        return [f"w{at}" for at in range(self._told, self._bytes // HALF)]
