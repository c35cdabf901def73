"""What is not said: a silence of theirs after my figure is told while it lasts, whoever breaks it ends the wait."""

import asyncio
from collections.abc import Awaitable, Callable

from negotiator.teleprompter.cues.matcher import LULL_SECONDS


class Silences:
    """The waits of this process, one a session. A wait that is lost with its process costs one card."""

    def __init__(self) -> None:
        self._waiting: dict[str, asyncio.Task[None]] = {}

    def broken(self, session: str) -> None:
        """Somebody spoke."""
        if (waiting := self._waiting.pop(session, None)) is not None:
            waiting.cancel()

    def begun(self, session: str, tell: Callable[[], Awaitable[object]]) -> None:
        """A figure of mine was said: `tell` once nobody has spoken for a while."""
        self.broken(session)

        async def wait() -> None:
            await asyncio.sleep(LULL_SECONDS)
            self._waiting.pop(session, None)
            await tell()

        self._waiting[session] = asyncio.create_task(wait())

    async def close(self) -> None:
        """Wait for nobody any more."""
        waiting = list(self._waiting.values())
        for session in list(self._waiting):
            self.broken(session)
        await asyncio.gather(*waiting, return_exceptions=True)
