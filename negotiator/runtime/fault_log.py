"""The log of a neighbour's faults: one line when it fails and one when it works again, however often it is asked.

`close_all` tells of what could not be closed.
"""

import time
from collections.abc import Awaitable, Callable
from typing import Final

from negotiator.runtime.telemetry import logger

_BETWEEN: Final = 60.0
"""Seconds from one fault's line to the next one's: a fault that comes and goes has few lines."""

log = logger(__name__)


class FaultLog:
    """The log of one neighbour's faults: `what` is the words of its lines, `error` the newest fault or empty.

    A fault that lasts less than `patience` seconds has no line; for a neighbour whose faults another log tells first.
    """

    def __init__(self, what: str, *, patience: float = 0.0) -> None:
        self._what = what
        self._patience = patience
        self._told = False
        self._told_at = -_BETWEEN
        self._began = 0.0
        self._failures = 0
        self.error = ""

    def failed(self, error: str) -> None:
        """Note a failure."""
        now = time.monotonic()
        if not self.error:
            self._began, self._failures, self._told = now, 0, False
        self._failures += 1
        if not self._told and now >= max(self._began + self._patience, self._told_at + _BETWEEN):
            log.error(self._what, error=error)
            self._told, self._told_at = True, now
        self.error = error or self._what

    def worked(self) -> None:
        """Note a success."""
        if self.error and self._told:
            seconds = round(time.monotonic() - self._began)
            log.warning(f"{self._what}: over", failures=self._failures, seconds=seconds)
        self.error = ""


async def close_all(*closes: Callable[[], Awaitable[None]]) -> None:
    """Call these one after the other; a failure is a line of the log, and the next one is called all the same."""
    for close in closes:
        try:
            await close()
        except Exception as fault:
            log.error("could not close everything", part=getattr(close, "__qualname__", repr(close)), error=str(fault))
