"""Voice by loudness alone: what stands well above the quietest of the last seconds. Lesser: steady noise fools it.

Used when silero-vad is not installed, and the engine's quality note then says so.
"""

import math
from collections import deque
from typing import Final

import numpy as np

_FLOOR_FRAMES: Final = 94
"""Frames over which the quietest is sought: three seconds."""
_QUIETEST_DB: Final = -60.0
_RISE_DB: Final = 12.0
"""A frame this far above the floor is as likely voice as not."""
_SLOPE_DB: Final = 3.0


class Energy:
    """A detector that remembers how loud the last seconds were."""

    def __init__(self) -> None:
        self._levels: deque[float] = deque(maxlen=_FLOOR_FRAMES)

    def voice(self, frame: bytes) -> float:
        """A logistic curve over the decibels above the floor."""
        samples = np.frombuffer(frame, "<i2") / 32768.0
        level = 10 * math.log10(float(samples @ samples) / len(samples) + 1e-10)
        self._levels.append(level)
        floor = max(min(self._levels), _QUIETEST_DB)
        return 1 / (1 + math.exp((floor + _RISE_DB - level) / _SLOPE_DB))

    def reset(self) -> None:
        """Forget the floor."""
        self._levels.clear()
