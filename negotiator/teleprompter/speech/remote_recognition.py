"""A recognition whose channel is heard by a coroutine of this process: the form that all remote adapters have."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable

from negotiator.telemetry import logger
from negotiator.teleprompter.speech.events import RecognitionEvent, RecognitionProblem
from negotiator.teleprompter.speech.recognition_channel import RecognitionChannel

log = logger(__name__)


class RecognitionFailed(Exception):
    """Nothing more can be heard; the message is for the person on the call, `detail` for the log."""

    def __init__(self, description: str, *, detail: str = "") -> None:
        super().__init__(description)
        self.detail = detail


class RemoteRecognition:
    """Runs `hear` until it returns, which it does when `finishing` and nothing is left; then calls `over` once."""

    def __init__(
        self,
        channel: RecognitionChannel,
        hear: Callable[["RemoteRecognition"], Awaitable[None]],
        over: Callable[["RemoteRecognition"], None],
    ) -> None:
        self.channel = channel
        self.finishing = False
        self._over = over
        self._more = asyncio.Event()
        self._task = asyncio.create_task(self._run(hear))

    async def push(self, pcm16k: bytes) -> None:
        """Take audio; see `Recognition`."""
        self.channel.put(pcm16k)
        self._more.set()

    async def caught_up(self, within_ms: int = 0) -> None:
        """Wait until it was heard."""
        await self.channel.caught_up(within_ms)

    async def finish(self) -> None:
        """Have the rest heard; the events end after it."""
        self.finishing = True
        self._more.set()

    async def close(self) -> None:
        """Drop everything."""
        self.channel.drop()
        await asyncio.sleep(0)  # a task that is cancelled before its first step tidies nothing up
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task

    def events(self) -> AsyncIterator[RecognitionEvent]:
        """What is heard."""
        return self.channel.telling.events()

    async def more(self, seconds: float | None = None) -> bool:
        """Wait for audio or for the end; False when neither came in time."""
        try:
            async with asyncio.timeout(seconds):
                while not self.channel.backlog.untaken and not self.finishing:
                    self._more.clear()
                    await self._more.wait()
        except TimeoutError:
            return False
        return True

    async def _run(self, hear: Callable[["RemoteRecognition"], Awaitable[None]]) -> None:
        try:
            await hear(self)
        except RecognitionFailed as deaf:
            log.warning("a speech service cannot be used", reason=str(deaf), detail=deaf.detail)
            self.channel.telling.say(RecognitionProblem("engine_failed", str(deaf), fatal=True))
        finally:
            self.channel.end()
            self._over(self)
