"""What is used of sherpa-onnx 2: one word for each half second, decoded in steps."""

from pathlib import Path
from typing import Any

STEP = 8_000


class OnlineStream:
    """What an utterance gave so far."""

    def __init__(self) -> None:
        self.samples = self.decoded = 0
        self.over = False

    def accept_waveform(self, sample_rate: int, waveform: Any) -> None:
        """Floats in -1..1."""
        assert sample_rate == 16_000
        assert not self.over
        assert waveform.dtype == "float32"
        assert abs(waveform).max(initial=0) <= 1
        self.samples += len(waveform)

    def input_finished(self) -> None:
        """No more comes."""
        self.over = True


class OnlineRecognizer:
    """Made from a transducer's files."""

    @classmethod
    def from_transducer(
        cls,
        tokens: str,
        encoder: str,
        decoder: str,
        joiner: str,
        num_threads: int = 2,
        sample_rate: float = 16_000,
        feature_dim: int = 80,
        enable_endpoint_detection: bool = False,
        decoding_method: str = "greedy_search",
        provider: str = "cpu",
    ) -> "OnlineRecognizer":
        """The files must be there."""
        assert all(Path(path).is_file() for path in (tokens, encoder, decoder, joiner))
        assert ".int8." in encoder
        assert (num_threads, sample_rate, feature_dim) == (1, 16_000, 80)
        assert (enable_endpoint_detection, provider) == (False, "cpu")
        assert decoding_method == "greedy_search"
        return cls()

    def create_stream(self) -> OnlineStream:
        """A fresh one."""
        return OnlineStream()

    def is_ready(self, stream: OnlineStream) -> bool:
        """Whether a step can be decoded."""
        return stream.samples - stream.decoded >= STEP

    def decode_stream(self, stream: OnlineStream) -> None:
        """One step."""
        stream.decoded += STEP

    def get_result(self, stream: OnlineStream) -> str:
        """Published models write capitals."""
        return " ".join(f"W{at}" for at in range(stream.decoded // STEP))
