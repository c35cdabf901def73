"""A circuit breaker: calls to a neighbour that keeps failing are refused at once, except one trial now and then."""

import asyncio
import math
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from time import monotonic
from typing import Final

from negotiator.base.errors import Unavailable
from negotiator.runtime.fault_log import FaultLog

FAILURES: Final = 3
COOL_DOWN_SECONDS: Final = 5.0


class CircuitBreaker:
    """Bounds the calls to one neighbour outside this process.

    At most `at_once` calls run, each for at most `seconds`. After `failures` failed calls in a row, calls are refused
    for `cool_down` seconds. Then one call is a trial: its success lets all calls through, its failure refuses them for
    the same time again. A refused call raises `Unavailable` with the sentence `refusal`. `faults` are the exceptions
    that mean that the neighbour fails; after any other exception nothing is known about it. A cool-down is logged
    as `what`, or not at all where that is empty.
    """

    def __init__(
        self,
        what: str,
        refusal: str,
        *,
        seconds: float,
        at_once: int,
        faults: tuple[type[Exception], ...] = (OSError,),
        failures: int = FAILURES,
        cool_down: float = COOL_DOWN_SECONDS,
    ) -> None:
        self.error = ""
        """Why calls are refused or the last one failed; empty after a success."""
        self._log = FaultLog(what) if what else None
        self._refusal = refusal
        self._seconds = seconds
        self._at_once = at_once
        self._faults = (*faults, TimeoutError)
        self._most_failures = failures
        self._cool_down = cool_down
        self._failures = 0
        self._open_until = 0.0
        self._running = 0
        self._is_trial = False

    @property
    def is_open(self) -> bool:
        """Whether calls are refused, or one is being tried."""
        return self._failures >= self._most_failures

    @property
    def wait_seconds(self) -> int:
        """Whole seconds until a call may be tried; 0 when one may be made now."""
        if not self.is_open:
            return 1 if self._running >= self._at_once else 0
        if self._is_trial:
            return 1
        return max(0, math.ceil(self._open_until - monotonic()))

    @asynccontextmanager
    async def call(self, seconds: float | None = None) -> AsyncGenerator[None]:
        """Make one call in this context, within `seconds` if they are fewer than the breaker's.

        Raises `Unavailable` before the call when it is refused, and TimeoutError when it takes too long.
        """
        self.require()
        limit = self._seconds if seconds is None else min(seconds, self._seconds)
        is_trial = self._is_trial = self.is_open
        self._running += 1
        try:
            async with asyncio.timeout(limit):
                yield
        except self._faults as fault:
            late = isinstance(fault, TimeoutError)
            self.failed(f"no answer within {limit:g} s" if late else str(fault) or type(fault).__name__)
            raise
        else:
            self.worked()
        finally:
            self._running -= 1
            if is_trial:
                self._is_trial = False

    def require(self) -> None:
        """Raise `Unavailable` when a call would be refused now."""
        if not (wait := self.wait_seconds):
            return
        if self.is_open and self._log:
            self._log.failed(self.error)
        detail = self.error if self.is_open else f"{self._running} calls run at once"
        raise Unavailable(self._refusal, retry_after=wait, detail=detail)

    def failed(self, error: str) -> None:
        """Count a failure of the neighbour."""
        self.error = error
        self._failures += 1
        if self.is_open:
            self._open_until = monotonic() + self._cool_down
            if self._log:
                self._log.failed(error)

    def worked(self) -> None:
        """Note a success: all calls are let through."""
        self.error = ""
        self._failures = 0
        if self._log:
            self._log.worked()
