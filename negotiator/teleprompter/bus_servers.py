"""Buses over a server that several machines share: PostgreSQL (LISTEN and NOTIFY) and Redis (pub/sub)."""

import asyncio
import contextlib
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import Context
from functools import partial
from typing import Any, Final

from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from negotiator import telemetry
from negotiator.settings import Settings
from negotiator.teleprompter.bus import (
    Bus,
    BusMessageCodec,
    BusSubscription,
    DatagramBus,
    LocalBus,
)

_WAITING: Final = 1024
_BATCH: Final = 64
_RETRY_SECONDS: Final = 1.0
_SETTLED_WITHIN: Final = 2.0
_SETTLE_STEP: Final = 0.01
log = telemetry.logger(__name__)


class SendQueue:
    """Messages waiting for the network, sent in batches of up to 64. The oldest are lost when more than 1,024 wait."""

    def __init__(self, send: Callable[[Sequence[bytes]], Awaitable[None]]) -> None:
        self._send = send
        self._waiting: deque[bytes] = deque(maxlen=_WAITING)
        self._news = asyncio.Event()
        self._under_way = 0

    def add(self, line: bytes) -> None:
        self._waiting.append(line)
        self._news.set()

    async def settle(self) -> None:
        """Wait until all messages are sent, at most `_SETTLED_WITHIN` seconds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_SETTLED_WITHIN):
                while self._waiting or self._under_way:
                    await asyncio.sleep(_SETTLE_STEP)

    async def run(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            while self._waiting:
                self._under_way = min(len(self._waiting), _BATCH)
                await self._send([self._waiting.popleft() for _ in range(self._under_way)])
            self._under_way = 0


def keep_running(name: str, live: Callable[[], Awaitable[None]]) -> "asyncio.Task[None]":
    """A task that runs `live`, and again a second after it ended or failed, until it is cancelled."""
    # An empty context: the task outlives the request that happens to start it.
    return asyncio.create_task(_run_forever(name, live), context=Context())


async def _run_forever(name: str, live: Callable[[], Awaitable[None]]) -> None:
    while True:
        try:
            await live()
        except Exception as fault:
            log.warning("a bus is away", bus=name, detail=repr(fault))
        await asyncio.sleep(_RETRY_SECONDS)


async def cancel_and_wait(task: "asyncio.Task[None] | None") -> None:
    """Cancel a task and wait for its end."""
    if task is not None:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


class ServerBus(ABC):
    """What the buses over a server share: a message goes to this process at once and to the others by a queue."""

    def __init__(self) -> None:
        self._local = LocalBus()
        self._codec = BusMessageCodec()
        self._queue = SendQueue(self._send)
        self._tasks: list[asyncio.Task[None]] = []

    def tell(self, session: str, message: bytes = b"") -> None:
        self._local.tell(session, message)
        self._start()
        self._queue.add(self._codec.write(session, message))

    @contextmanager
    def following(self, *names: str) -> Generator[BusSubscription]:
        self._start()
        with self._local.following(*names) as subscription:
            yield subscription

    async def close(self) -> None:
        """Send what waits, then close the connections."""
        await self._queue.settle()
        for task in self._tasks:
            await cancel_and_wait(task)
        self._tasks = []
        await self._disconnect()

    def _receive(self, line: bytes) -> None:
        if (received := self._codec.read(line)) is not None:
            self._local.tell(*received)

    def _start(self) -> None:
        if not self._tasks:
            self._tasks = [keep_running(type(self).__name__, each) for each in self._loops()]

    @abstractmethod
    def _loops(self) -> Sequence[Callable[[], Awaitable[None]]]:
        """What runs as long as the bus is open; each is started again when it fails."""

    @abstractmethod
    async def _send(self, lines: Sequence[bytes]) -> None: ...

    @abstractmethod
    async def _disconnect(self) -> None: ...


_POSTGRES_CHANNEL: Final = "negotiator_teleprompter"
_NOTIFY: Final = "select pg_notify($1, word) from unnest($2::text[]) as word"


class PostgresBus(ServerBus):
    """LISTEN and NOTIFY on one connection of each process.

    The connection does not come from the store's pool: NOTIFY does not work through a pooler in transaction mode.
    """

    def __init__(self, url: str) -> None:
        super().__init__()
        self._engine = create_async_engine(url, poolclass=NullPool)
        self._driver: Any = None

    def _loops(self) -> Sequence[Callable[[], Awaitable[None]]]:
        return [self._listen_and_send]

    async def _listen_and_send(self) -> None:
        """Listen and notify on one connection, until it breaks."""
        async with self._engine.connect() as connection:
            raw = await connection.get_raw_connection()
            self._driver = raw.driver_connection
            lost = asyncio.Event()
            self._driver.add_termination_listener(partial(_set, lost))
            await self._driver.add_listener(_POSTGRES_CHANNEL, self._notified)
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._queue.run())
                tasks.create_task(_fail(lost))

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
        # A late import: a worker without Redis does not load its client.
        from redis.asyncio import Redis

        super().__init__()
        self._client: Any = Redis.from_url(url)  # pyright: ignore[reportUnknownMemberType]

    def _loops(self) -> Sequence[Callable[[], Awaitable[None]]]:
        return [self._listen, self._queue.run]

    async def _listen(self) -> None:
        async with self._client.pubsub(ignore_subscribe_messages=True) as subscription:
            await subscription.subscribe(_REDIS_CHANNEL)
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
    if settings.redis_url:
        return RedisBus(settings.redis_url)
    if settings.database_url.startswith("sqlite"):
        return DatagramBus(settings.data_dir / "bus")
    return PostgresBus(settings.database_url)
