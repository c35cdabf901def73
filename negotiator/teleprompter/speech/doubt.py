"""Whether an engine doubts most of what it hears, so that the person on the call can be told.

Measured with pocketsphinx: the median confidence of a final is 0.8 for a clear voice, 0.24 at 20 dB of noise (47 % of
words wrong) and 0.11 at 10 dB (97 %).
"""

from collections import deque
from statistics import median
from typing import Final

from negotiator.teleprompter.speech.events import Problem

_FINALS: Final = 5
HARD: Final = Problem(
    "hard_to_hear",
    "Most of what is said is not heard well: noise, or a voice this engine does not know. Do not rely on it.",
)


class Doubt:
    """Of one channel; below `threshold` a final is likely wrong, and None is for engines where nobody measured it."""

    def __init__(self, threshold: float | None) -> None:
        self._threshold = threshold
        self._last: deque[float] = deque(maxlen=_FINALS)
        self._told = False

    def heard(self, confidence: float | None) -> Problem | None:
        """What to tell after one more final: said once, and again only after it was better in between."""
        if self._threshold is None or confidence is None:
            return None
        self._last.append(confidence)
        if len(self._last) < _FINALS:
            return None
        before, self._told = self._told, median(self._last) < self._threshold
        return HARD if self._told and not before else None
