"""The bus over PostgreSQL: LISTEN and NOTIFY on one connection of each process.

The connection is its own: NOTIFY does not survive a pooler in transaction mode, and the store's may go through one.
"""

import asyncio
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from negotiator.teleprompter.bus import (
    BusMessageCodec,
    BusSubscription,
    LocalBus,
    SendQueue,
    cancel_and_wait,
    keep_running,
)

_CHANNEL: Final = "negotiator_teleprompter"
_NOTIFY: Final = "select pg_notify($1, word) from unnest($2::text[]) as word"


class PostgresBus:
    """A bus over every process that shares the database."""

    def __init__(self, url: str) -> None:
        self._here = LocalBus()
        self._words = BusMessageCodec()
        self._engine = create_async_engine(url, poolclass=NullPool)
        self._sending = SendQueue(self._notify)
        self._task: asyncio.Task[None] | None = None
        self._driver: Any = None

    def tell(self, session: str, message: bytes = b"") -> None:
        """Tell those here, then everybody."""
        self._here.tell(session, message)
        self._start()
        self._sending.tell(self._words.write(session, message))

    @contextmanager
    def following(self, *names: str) -> Generator[BusSubscription]:
        """Ears that hear every process."""
        self._start()
        with self._here.following(*names) as ears:
            yield ears

    async def close(self) -> None:
        """Send what waits, then close the connection."""
        await self._sending.settle()
        await cancel_and_wait(self._task)
        self._task = None
        await self._engine.dispose()

    def _start(self) -> None:
        if self._task is None:
            self._task = keep_running("postgresql", self._live)

    async def _live(self) -> None:
        """Listen and notify on one connection, until it breaks."""
        async with self._engine.connect() as connection:
            raw = await connection.get_raw_connection()
            self._driver = raw.driver_connection
            lost = asyncio.Event()
            self._driver.add_termination_listener(partial(_set, lost))
            await self._driver.add_listener(_CHANNEL, self._hear)
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._sending.run())
                tasks.create_task(_fail(lost))

    async def _notify(self, words: Sequence[bytes]) -> None:
        await self._driver.execute(_NOTIFY, _CHANNEL, [word.decode() for word in words])

    def _hear(self, _connection: Any, _process: int, _channel: str, word: str) -> None:
        if (heard := self._words.read(word.encode())) is not None:
            self._here.tell(*heard)


def _set(lost: asyncio.Event, _connection: Any) -> None:
    lost.set()


async def _fail(lost: asyncio.Event) -> None:
    await lost.wait()
    raise ConnectionError("the connection that listens was lost")
