"""Buses over a server that several machines share: PostgreSQL (LISTEN and NOTIFY) and Redis (pub/sub)."""

import asyncio
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from contextvars import Context
from typing import Any, Final, cast

from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from negotiator.config.settings import Settings
from negotiator.runtime.fault_log import FaultLog
from negotiator.runtime.redis_client import redis_client
from negotiator.teleprompter.bus import Bus, BusSubscription, DatagramBus

_MAX_WAITING: Final = 1024
_BATCH: Final = 64
_RETRY_SECONDS: Final = 0.5
_PATIENCE: Final = 3.0
"""Seconds for a connection, for sending, and until a line of this process has come back to it."""
_BEAT_SECONDS: Final = 5.0
_TOLD_AFTER: Final = 60.0
"""Seconds after which the log tells that a bus is away; limits and store have told of a server's fault before."""
_SETTLED_WITHIN: Final = 2.0
_SETTLE_STEP: Final = 0.01
_CANCEL_AGAIN: Final = 0.1


class ServerBus(Bus, ABC):
    """A bus over one server: a message goes to this process at once and to the others by the server.

    Each process also sends lines to itself: one that does not come back means that the connection is lost, which a
    connection on which nothing happens does not show. While it is lost, lines are dropped. When it is back, every
    follower in this process is woken and reads what it missed.

    Lines are sent in batches of up to 64. The oldest are lost when more than 1,024 wait.
    """

    def __init__(self) -> None:
        super().__init__()
        self._waiting: deque[bytes] = deque(maxlen=_MAX_WAITING)
        self._news = asyncio.Event()
        self._under_way = 0
        self._heard = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._faults = FaultLog("live events of other processes come up to two seconds late", patience=_TOLD_AFTER)

    def tell(self, session: str, message: bytes = b"") -> None:
        super().tell(session, message)
        self._start()
        if not self._faults.error:
            self._add(self.line(session, message))

    @contextmanager
    def following(self, *names: str) -> Generator[BusSubscription]:
        self._start()
        with super().following(*names) as subscription:
            yield subscription

    def _add(self, line: bytes) -> None:
        self._waiting.append(line)
        self._news.set()

    def _start(self) -> None:
        if self._task is None:
            # An empty context: the task outlives the request that happens to start it.
            self._task = asyncio.create_task(self._stay_connected(), context=Context())

    async def close(self) -> None:
        """Send what waits, for at most `_SETTLED_WITHIN` seconds, then close the connections."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_SETTLED_WITHIN):
                while self._waiting or self._under_way:
                    await asyncio.sleep(_SETTLE_STEP)
        if self._task is not None:
            await _end(self._task)
            self._task = None
        await self._disconnect()

    async def _stay_connected(self) -> None:
        while True:
            try:
                # In a task of its own: before Python 3.13 a task group that fails leaves its task marked as cancelled,
                # and the next timeout ends such a task.
                await asyncio.create_task(self._run_connection())
            except Exception as fault:
                self._faults.failed(repr(_first(fault)))
                self._waiting.clear()
            await asyncio.sleep(_RETRY_SECONDS)

    async def _send_and_beat(self) -> None:
        """Send what waits, on a connection that listens; raises when sending fails or no line comes back."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._send_waiting())
            tasks.create_task(self._beat())

    async def _send_waiting(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            try:
                while self._waiting:
                    self._under_way = min(len(self._waiting), _BATCH)
                    async with asyncio.timeout(_PATIENCE):
                        await self._send([self._waiting.popleft() for _ in range(self._under_way)])
            finally:
                self._under_way = 0

    async def _beat(self) -> None:
        connected = False
        while True:
            self._heard.clear()
            self._add(self.line(""))
            async with asyncio.timeout(_PATIENCE):
                await self._heard.wait()
            if not connected:
                connected = True
                self._faults.worked()
                self.wake_all()
            await asyncio.sleep(_BEAT_SECONDS)

    def _receive(self, line: bytes) -> None:
        if self.hear(line):
            self._heard.set()

    @abstractmethod
    async def _run_connection(self) -> None:
        """Connect, listen, and run `_send_and_beat`, until something fails."""

    @abstractmethod
    async def _send(self, lines: Sequence[bytes]) -> None: ...

    @abstractmethod
    async def _disconnect(self) -> None: ...


async def _end(task: asyncio.Task[None]) -> None:
    """Cancel the task until it has ended: before Python 3.13 a task group that fails may lose a cancellation."""
    while not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=_CANCEL_AGAIN)


def _first(fault: Exception) -> Exception:
    while isinstance(fault, ExceptionGroup):
        fault = cast("ExceptionGroup[Exception]", fault).exceptions[0]
    return fault


_POSTGRES_CHANNEL: Final = "negotiator_teleprompter"
_NOTIFY: Final = "select pg_notify($1, word) from unnest($2::text[]) as word"


class PostgresBus(ServerBus):
    """LISTEN and NOTIFY on one connection of each process.

    The connection does not come from the store's pool: NOTIFY does not work through a pooler in transaction mode.
    """

    def __init__(self, url: str) -> None:
        super().__init__()
        self._engine = create_async_engine(url, poolclass=NullPool, connect_args={"timeout": _PATIENCE})
        self._driver: Any = None

    async def _run_connection(self) -> None:
        async with self._engine.connect() as connection:
            raw = await connection.get_raw_connection()
            self._driver = raw.driver_connection
            try:
                async with asyncio.timeout(_PATIENCE):
                    await self._driver.add_listener(_POSTGRES_CHANNEL, self._notified)
                lost = asyncio.Event()

                def note_loss(_connection: Any) -> None:
                    lost.set()

                self._driver.add_termination_listener(note_loss)
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


async def _fail(lost: asyncio.Event) -> None:
    await lost.wait()
    raise ConnectionError("the connection that listens was lost")


_REDIS_CHANNEL: Final = "negotiator:teleprompter"
_POLL_SECONDS: Final = 5.0


class RedisBus(ServerBus):
    """One pub/sub channel of a Redis server for all sessions."""

    def __init__(self, url: str) -> None:
        super().__init__()
        # Commands are limited here: before Python 3.12 the client's own limit may lose a cancellation.
        self._client = redis_client(url, socket_connect_timeout=_PATIENCE, socket_timeout=None)

    async def _run_connection(self) -> None:
        async with self._client.pubsub(ignore_subscribe_messages=True) as subscription:
            async with asyncio.timeout(_PATIENCE):
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
    if settings.redis_url:
        return RedisBus(settings.redis_url)
    if settings.database_url.startswith("sqlite"):
        return DatagramBus(settings.data_dir / "bus")
    return PostgresBus(settings.database_url)
