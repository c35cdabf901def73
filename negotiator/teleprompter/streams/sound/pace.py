"""A pace that may be exceeded for a moment, not for long: a bucket that fills as time passes. Pure."""

from dataclasses import dataclass


@dataclass(slots=True)
class Pace:
    """`rate` a second, and `burst` beyond that at once; `at` is the clock's time at the start, seconds."""

    rate: float
    burst: float
    at: float
    _left: float = -1.0

    def take(self, amount: float, now: float) -> bool:
        """Whether there was still so much; nothing is taken otherwise."""
        left = self.burst if self._left < 0 else self._left
        left = min(self.burst, left + max(0.0, now - self.at) * self.rate)
        self.at = max(self.at, now)
        fits = amount <= left
        self._left = left - amount if fits else left
        return fits
