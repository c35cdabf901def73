"""One line when a neighbour fails, one when it works again, and a count in between, at growing intervals."""

import time
from typing import Final

from negotiator.telemetry import logger

_FIRST_COUNT: Final = 60.0
"""Seconds until the first count; each further one comes after twice the time, so a long fault stays below ten lines."""

log = logger(__name__)


class FaultLog:
    """The log of one neighbour's faults: `what` is the words of its lines, `error` the newest fault or empty.

    A fault that lasts less than `patience` seconds has no line; for a neighbour whose faults another log tells first.
    """

    def __init__(self, what: str, *, patience: float = 0.0) -> None:
        self._what = what
        self._patience = patience
        self._told = False
        self._began = 0.0
        self._next_count = 0.0
        self._failures = 0
        self.error = ""

    def failed(self, error: str) -> None:
        """Note a failure."""
        now = time.monotonic()
        if not self.error:
            self._began, self._next_count, self._failures = now, self._patience, 0
            self._told = False
        self._failures += 1
        if now - self._began >= self._next_count:
            if self._told:
                log.error(f"{self._what}, still", error=error, failures=self._failures)
            else:
                log.error(self._what, error=error)
            self._told = True
            self._next_count = max(_FIRST_COUNT, 2 * self._next_count)
        self.error = error or self._what

    def worked(self) -> None:
        """Note a success."""
        if self.error and self._told:
            seconds = round(time.monotonic() - self._began)
            log.warning(f"{self._what}: over", failures=self._failures, seconds=seconds)
        self.error = ""
