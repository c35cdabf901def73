"""One line when a neighbour fails, one when it works again, and a count in between, at growing intervals."""

import time
from typing import Final

from negotiator.telemetry import logger

_FIRST_COUNT: Final = 60.0
"""Seconds until the first count; each further one comes after twice the time, so a long fault stays below ten lines."""

log = logger(__name__)


class FaultLog:
    """The log of one neighbour's faults: `what` is the words of its lines, `error` the newest fault or empty."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._began = 0.0
        self._next_count = 0.0
        self._failures = 0
        self.error = ""

    def failed(self, error: str) -> None:
        """Note a failure."""
        now = time.monotonic()
        self._failures += 1
        if not self.error:
            self._began, self._next_count, self._failures = now, _FIRST_COUNT, 1
            log.error(self._what, error=error)
        elif now - self._began >= self._next_count:
            self._next_count *= 2
            log.error(f"{self._what}, still", error=error, failures=self._failures)
        self.error = error or self._what

    def worked(self) -> None:
        """Note a success."""
        if self.error:
            seconds = round(time.monotonic() - self._began)
            log.warning(f"{self._what}: over", failures=self._failures, seconds=seconds)
            self.error = ""
