"""The bus over Redis: one channel for all sessions, published to by pub/sub."""

import asyncio
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from negotiator.teleprompter.bus import (
    BusMessageCodec,
    BusSubscription,
    LocalBus,
    SendQueue,
    cancel_and_wait,
    keep_running,
)

_CHANNEL: Final = "negotiator:teleprompter"
_LOOK: Final = 5.0


class RedisBus:
    """A bus over every machine that shares the Redis server."""

    def __init__(self, url: str) -> None:
        # A worker that shares nothing need not carry the client.
        from redis.asyncio import Redis

        self._here = LocalBus()
        self._words = BusMessageCodec()
        self._client: Any = Redis.from_url(url)  # pyright: ignore[reportUnknownMemberType]
        self._sending = SendQueue(self._publish)
        self._tasks: list[asyncio.Task[None]] = []

    def tell(self, session: str, message: bytes = b"") -> None:
        """Tell those here, then everybody."""
        self._here.tell(session, message)
        self._start()
        self._sending.tell(self._words.write(session, message))

    @contextmanager
    def following(self, *names: str) -> Generator[BusSubscription]:
        """Ears that hear every machine."""
        self._start()
        with self._here.following(*names) as ears:
            yield ears

    async def close(self) -> None:
        """Send what waits, then close the connections."""
        await self._sending.settle()
        for task in self._tasks:
            await cancel_and_wait(task)
        self._tasks = []
        await self._client.aclose()

    def _start(self) -> None:
        if not self._tasks:
            running = (("redis", self._listen), ("redis", self._sending.run))
            self._tasks = [keep_running(name, live) for name, live in running]

    async def _publish(self, words: Sequence[bytes]) -> None:
        async with self._client.pipeline(transaction=False) as pipe:
            for word in words:
                pipe.publish(_CHANNEL, word)
            await pipe.execute()

    async def _listen(self) -> None:
        async with self._client.pubsub(ignore_subscribe_messages=True) as heard:
            await heard.subscribe(_CHANNEL)
            while True:
                told = await heard.get_message(timeout=_LOOK)
                if told is not None and (word := self._words.read(told["data"])) is not None:
                    self._here.tell(*word)
