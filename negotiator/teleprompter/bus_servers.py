"""Buses over a server that several machines share: PostgreSQL (LISTEN and NOTIFY) and Redis (pub/sub)."""

import asyncio
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

from negotiator.config.settings import Settings
from negotiator.teleprompter.bus import Bus, BusSubscription, DatagramBus, LocalBus
from negotiator.teleprompter.bus_connection import PATIENCE, ServerConnection, make_redis_client
from negotiator.teleprompter.redis_cluster_bus import RedisClusterBus


class ServerBus(ServerConnection):
    """A bus over one server: a message goes to this process at once and to the others by the server."""

    def __init__(self) -> None:
        words = "live events of other processes come up to two seconds late"
        super().__init__(LocalBus(), words)

    def tell(self, session: str, message: bytes = b"") -> None:
        self._local.tell(session, message)
        self.start()
        self.send(self._codec.write(session, message))

    @contextmanager
    def following(self, *names: str) -> Generator[BusSubscription]:
        self.start()
        with self._local.following(*names) as subscription:
            yield subscription


_POSTGRES_CHANNEL: Final = "negotiator_teleprompter"
_NOTIFY: Final = "select pg_notify($1, word) from unnest($2::text[]) as word"


class PostgresBus(ServerBus):
    """LISTEN and NOTIFY on one connection of each process.

    The connection does not come from the store's pool: NOTIFY does not work through a pooler in transaction mode.
    """

    def __init__(self, url: str) -> None:
        from sqlalchemy.ext.asyncio import create_async_engine  # imported here: a file needs none
        from sqlalchemy.pool import NullPool

        super().__init__()
        self._engine = create_async_engine(url, poolclass=NullPool, connect_args={"timeout": PATIENCE})
        self._driver: Any = None

    async def _run_connection(self) -> None:
        async with self._engine.connect() as connection:
            raw = await connection.get_raw_connection()
            self._driver = raw.driver_connection
            try:
                async with asyncio.timeout(PATIENCE):
                    await self._driver.add_listener(_POSTGRES_CHANNEL, self._notified)
                lost = asyncio.Event()
                self._driver.add_termination_listener(partial(_set, lost))
                async with asyncio.TaskGroup() as tasks:
                    tasks.create_task(self._send_and_beat())
                    tasks.create_task(_fail(lost))
            finally:
                # Without a word to the server: one that hangs would not answer it.
                self._driver.terminate()

    async def _send(self, lines: Sequence[bytes]) -> None:
        await self._driver.execute(_NOTIFY, _POSTGRES_CHANNEL, [line.decode() for line in lines])

    def _notified(self, _connection: Any, _process: int, _channel: str, line: str) -> None:
        self._receive(line.encode())

    async def _disconnect(self) -> None:
        await self._engine.dispose()


def _set(lost: asyncio.Event, _connection: Any) -> None:
    lost.set()


async def _fail(lost: asyncio.Event) -> None:
    await lost.wait()
    raise ConnectionError("the connection that listens was lost")


_REDIS_CHANNEL: Final = "negotiator:teleprompter"
_POLL_SECONDS: Final = 5.0


class RedisBus(ServerBus):
    """One pub/sub channel of a Redis server for all sessions."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._client = make_redis_client(url)

    async def _run_connection(self) -> None:
        async with self._client.pubsub(ignore_subscribe_messages=True) as subscription:
            async with asyncio.timeout(PATIENCE):
                await subscription.subscribe(_REDIS_CHANNEL)
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._send_and_beat())
                tasks.create_task(self._listen(subscription))

    async def _listen(self, subscription: Any) -> None:
        while True:
            message = await subscription.get_message(timeout=_POLL_SECONDS)
            if message is not None:
                self._receive(message["data"])

    async def _send(self, lines: Sequence[bytes]) -> None:
        async with self._client.pipeline(transaction=False) as pipe:
            for line in lines:
                pipe.publish(_REDIS_CHANNEL, line)
            await pipe.execute()

    async def _disconnect(self) -> None:
        await self._client.aclose()


def make_bus(settings: Settings) -> Bus:
    """The bus that reaches every process which shares the store: by Redis if it is set, else by the database."""
    if settings.is_redis_cluster:
        return RedisClusterBus(settings.redis_server_url)
    if settings.redis_url:
        return RedisBus(settings.redis_url)
    if settings.database_url.startswith("sqlite"):
        return DatagramBus(settings.data_dir / "bus")
    return PostgresBus(settings.database_url)
