"""Two voice detectors: silero-vad's network, and one by loudness for servers without it.

`SileroDetector` runs the network by onnxruntime: 2.3 ms of CPU for a second of audio, and correct at a signal-to-noise
ratio of 10 dB. `EnergyDetector` takes for a voice whatever is well above the quietest of the last seconds; it also
reacts to noise, which the engine's quality note says.
"""

import math
from collections import deque
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from negotiator.runtime.onnx_runtime import make_session
from negotiator.teleprompter.speech.endpointer import VoiceDetector, silero_model_path
from negotiator.teleprompter.speech.recognizer import SAMPLE_RATE

_FLOOR_FRAMES: Final = 94
"""Frames among which the quietest is sought: three seconds."""
_QUIETEST_DB: Final = -60.0
_RISE_DB: Final = 12.0
"""Decibels above the quietest frame at which a voice has a probability of 0.5."""
_SLOPE_DB: Final = 3.0


class EnergyDetector:
    """Compares each frame with the quietest of the last seconds."""

    def __init__(self) -> None:
        self._levels: deque[float] = deque(maxlen=_FLOOR_FRAMES)

    def voice(self, frame: bytes) -> float:
        """A logistic function of the decibels above the quietest frame."""
        samples = np.frombuffer(frame, "<i2") / 32768.0
        level = 10 * math.log10(float(samples @ samples) / len(samples) + 1e-10)
        self._levels.append(level)
        floor = max(min(self._levels), _QUIETEST_DB)
        return 1 / (1 + math.exp((floor + _RISE_DB - level) / _SLOPE_DB))

    def reset(self) -> None:
        """Forget the earlier frames."""
        self._levels.clear()


CONTEXT_SAMPLES: Final = 64
"""Samples of the previous frame that the network needs before each frame."""
_STATE: Final = (2, 1, 128)
_FULL_SCALE: Final = 32768.0
_RATE: Final = np.array(SAMPLE_RATE, np.int64)


class SileroDetector:
    """Runs the network with the state of one channel."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self.reset()

    def voice(self, frame: bytes) -> float:
        """The network's output."""
        self._input[0, :CONTEXT_SAMPLES] = self._input[0, -CONTEXT_SAMPLES:]
        self._input[0, CONTEXT_SAMPLES:] = np.frombuffer(frame, "<i2") / _FULL_SCALE
        given = {"input": self._input, "state": self._state, "sr": _RATE}
        found, self._state = self._session.run(None, given)
        return float(found[0, 0])

    def reset(self) -> None:
        """Reset the network's state and context."""
        self._state = np.zeros(_STATE, np.float32)
        self._input = np.zeros((1, CONTEXT_SAMPLES + 512), np.float32)


def detector_factory() -> Callable[[], VoiceDetector]:
    """A factory of detectors, one for each channel, which share one loaded network."""
    if (path := silero_model_path()) is None:
        return EnergyDetector
    loaded = make_session(path)
    return lambda: SileroDetector(loaded)
