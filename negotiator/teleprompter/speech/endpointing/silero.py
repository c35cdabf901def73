"""silero-vad's network by onnxruntime: 2.3 ms of CPU for a second of audio, and right at 10 dB of noise."""

from typing import Any, Final

import numpy as np

from negotiator.teleprompter.speech.recognizer import RATE

CONTEXT: Final = 64
"""Samples of the frame before that the network wants in front of each frame."""
_STATE: Final = (2, 1, 128)
_FULL_SCALE: Final = 32768.0
_RATE: Final = np.array(RATE, np.int64)


class Silero:
    """A detector with the network's memory of one channel."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self.reset()

    def voice(self, frame: bytes) -> float:
        """The network's own probability."""
        self._input[0, :CONTEXT] = self._input[0, -CONTEXT:]
        self._input[0, CONTEXT:] = np.frombuffer(frame, "<i2") / _FULL_SCALE
        given = {"input": self._input, "state": self._state, "sr": _RATE}
        found, self._state = self._session.run(None, given)
        return float(found[0, 0])

    def reset(self) -> None:
        """Empty memory, silent context."""
        self._state = np.zeros(_STATE, np.float32)
        self._input = np.zeros((1, CONTEXT + 512), np.float32)
