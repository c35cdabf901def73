"""Words that wait to be sent, and the task that sends them: whoever tells never waits for the network."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextvars import Context
from typing import Final

from negotiator import telemetry

_WAITING: Final = 1024
_AT_ONCE: Final = 64
_AGAIN: Final = 1.0
_SETTLED_WITHIN: Final = 2.0
_SETTLING: Final = 0.01
log = telemetry.logger(__name__)


class Sending:
    """Sends words by `send`, some at once; the oldest are lost when too many wait, all that wait while it fails."""

    def __init__(self, send: Callable[[Sequence[bytes]], Awaitable[None]]) -> None:
        self._send = send
        self._waiting: deque[bytes] = deque(maxlen=_WAITING)
        self._news = asyncio.Event()
        self._under_way = 0

    def tell(self, word: bytes) -> None:
        """One more."""
        self._waiting.append(word)
        self._news.set()

    async def settle(self) -> None:
        """Wait until all words are sent, at most `_SETTLED_WITHIN` seconds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_SETTLED_WITHIN):
                while self._waiting or self._under_way:
                    await asyncio.sleep(_SETTLING)

    async def run(self) -> None:
        """Send, for ever."""
        while True:
            await self._news.wait()
            self._news.clear()
            while self._waiting:
                self._under_way = min(len(self._waiting), _AT_ONCE)
                await self._send([self._waiting.popleft() for _ in range(self._under_way)])
            self._under_way = 0


def keep_up(name: str, live: Callable[[], Awaitable[None]]) -> "asyncio.Task[None]":
    """Run `live` beside everything else, and again a moment after it failed, for ever."""
    # It belongs to no request, though one was the first to need it.
    return asyncio.create_task(_for_ever(name, live), context=Context())


async def _for_ever(name: str, live: Callable[[], Awaitable[None]]) -> None:
    while True:
        try:
            await live()
        except Exception as fault:
            log.warning("a bus is away", bus=name, detail=repr(fault))
        await asyncio.sleep(_AGAIN)


async def stop(task: "asyncio.Task[None] | None") -> None:
    """End a task that has no end of its own."""
    if task is not None:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
