"""Words that wait to be sent, and the task that sends them: whoever tells never waits for the network."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from negotiator import telemetry

_WAITING: Final = 1024
_AT_ONCE: Final = 64
_AGAIN: Final = 1.0
log = telemetry.logger(__name__)


class Sending:
    """Sends words by `send`, some at once; the oldest are lost when too many wait, all that wait while it fails."""

    def __init__(self, send: Callable[[Sequence[bytes]], Awaitable[None]]) -> None:
        self._send = send
        self._waiting: deque[bytes] = deque(maxlen=_WAITING)
        self._news = asyncio.Event()

    def tell(self, word: bytes) -> None:
        """One more."""
        self._waiting.append(word)
        self._news.set()

    async def run(self) -> None:
        """Send, for ever."""
        while True:
            await self._news.wait()
            self._news.clear()
            while self._waiting:
                count = min(len(self._waiting), _AT_ONCE)
                await self._send([self._waiting.popleft() for _ in range(count)])


async def keep_up(name: str, live: Callable[[], Awaitable[None]]) -> None:
    """Run `live` again a moment after it failed, for ever; says so once for each outage."""
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
