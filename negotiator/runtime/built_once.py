"""Engines that are built when they are first needed, off the event loop."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from negotiator.runtime import thread_pools

T = TypeVar("T")


class BuiltOnce(Generic[T]):
    """The value of `build`, which is called once, at the first use."""

    __slots__ = ("_build", "_built", "_lock")

    def __init__(self, build: Callable[[], T]) -> None:
        self._build = build
        self._lock = threading.Lock()
        self._built: tuple[T] | None = None

    @property
    def built(self) -> T | None:
        """The value if it was needed before."""
        return self._built[0] if self._built else None

    async def get(self) -> T:
        """The value; while it is built on a thread, the caller waits and the event loop does not."""
        return self._built[0] if self._built else await thread_pools.FILES.run_unhurried(self.now)

    def now(self) -> T:
        """The value; it is built on the caller's thread when it is missing."""
        if self._built is None:
            with self._lock:
                if self._built is None:
                    self._built = (self._build(),)
        return self._built[0]
