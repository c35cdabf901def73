"""One line when a neighbour fails, one when it works again, and a count in between, at growing intervals.

The processes of one machine share a file: the first that locks a fault's byte of it tells of the fault, and the others
are silent. The lock ends with its process. `close_all` tells of what could not be closed.
"""

import contextlib
import fcntl
import os
import time
from collections.abc import Awaitable, Callable, Generator
from pathlib import Path
from typing import Final
from zlib import crc32

from negotiator.runtime.telemetry import logger

_FIRST_COUNT: Final = 60.0
"""Seconds until the first count; each further one comes after twice the time, so a long fault stays below ten lines."""
_AGAIN: Final = 60.0
"""Seconds after a fault within which the next one is told only if it lasts for some seconds, twice as many each time: a
fault that comes and goes has few lines."""
_FIRST_PAUSE: Final = 2.0
_LONGEST_PAUSE: Final = 16.0

_FILE: Final = "faults.lock"

log = logger(__name__)


class _SharedFile:
    """The file whose bytes are the faults of this machine; without it every process tells of each."""

    descriptor: int | None = None

    def open(self, folder: Path) -> None:
        self.close()
        with contextlib.suppress(OSError):
            self.descriptor = os.open(folder / _FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def close(self) -> None:
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None

    def take(self, what: str) -> bool:
        """Whether this process tells of the fault from now on."""
        if self.descriptor is None:
            return True
        try:
            fcntl.lockf(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, crc32(what.encode()))
        except BlockingIOError:
            return False
        except OSError:  # a file system without locks
            return True
        return True

    def give_back(self, what: str) -> None:
        if self.descriptor is not None:
            with contextlib.suppress(OSError):
                fcntl.lockf(self.descriptor, fcntl.LOCK_UN, 1, crc32(what.encode()))


_shared = _SharedFile()


@contextlib.contextmanager
def told_once_a_machine(folder: Path) -> Generator[None]:
    """Let the processes that use this data folder tell of each fault once, by one of them."""
    _shared.open(folder)
    try:
        yield
    finally:
        _shared.close()


class FaultLog:
    """The log of one neighbour's faults: `what` is the words of its lines, `error` the newest fault or empty.

    A fault that lasts less than `patience` seconds has no line; for a neighbour whose faults another log tells first.
    """

    def __init__(self, what: str, *, patience: float = 0.0) -> None:
        self._what = what
        self._patience = patience
        self._told = False
        self._began = 0.0
        self._ended = -_AGAIN
        self._pause = 0.0
        self._next_count = 0.0
        self._failures = 0
        self.error = ""

    def failed(self, error: str) -> None:
        """Note a failure."""
        now = time.monotonic()
        if not self.error:
            again = now - self._ended < _AGAIN
            pause = min(max(_FIRST_PAUSE, 2 * self._pause), _LONGEST_PAUSE)
            self._pause = pause if again else 0.0
            self._began, self._failures, self._told = now, 0, False
            self._next_count = max(self._patience, self._pause)
        self._failures += 1
        if now - self._began >= self._next_count:
            if self._told:
                log.error(f"{self._what}, still", error=error, failures=self._failures)
            elif _shared.take(self._what):
                log.error(self._what, error=error)
                self._told = True
            self._next_count = max(_FIRST_COUNT, 2 * self._next_count)
        self.error = error or self._what

    def worked(self) -> None:
        """Note a success."""
        if not self.error:
            return
        self._ended = time.monotonic()
        if self._told:
            seconds = round(self._ended - self._began)
            log.warning(f"{self._what}: over", failures=self._failures, seconds=seconds)
            _shared.give_back(self._what)
        self.error = ""


async def close_all(*closes: Callable[[], Awaitable[None]]) -> None:
    """Call these one after the other; a failure is a line of the log, and the next one is called all the same."""
    for close in closes:
        try:
            await close()
        except Exception as fault:
            log.error("could not close everything", part=getattr(close, "__qualname__", repr(close)), error=str(fault))
