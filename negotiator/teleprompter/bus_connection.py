"""A connection of the bus to a server that several machines share: it sends, listens, notices a loss and reconnects."""

import asyncio
import contextlib
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextvars import Context
from typing import Any, Final, cast

from negotiator.runtime.fault_log import FaultLog
from negotiator.teleprompter.bus import LocalBus

MAX_WAITING: Final = 1024
_BATCH: Final = 64
RETRY_SECONDS: Final = 0.5
PATIENCE: Final = 3.0
"""Seconds for a connection, for sending, and until a line of this process has come back to it."""
_BEAT_SECONDS: Final = 5.0
TOLD_AFTER: Final = 60.0
"""Seconds after which the log tells that a bus is away; limits and store have told of a server's fault before."""
_SETTLED_WITHIN: Final = 2.0
_SETTLE_STEP: Final = 0.01
_CANCEL_AGAIN: Final = 0.1


class SendQueue:
    """Messages waiting for the network, sent in batches of up to 64. The oldest are lost when more than 1,024 wait."""

    def __init__(self, send: Callable[[Sequence[bytes]], Awaitable[None]]) -> None:
        self._send = send
        self._waiting: deque[bytes] = deque(maxlen=MAX_WAITING)
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

    def clear(self) -> None:
        """Drop what waits."""
        self._waiting.clear()

    async def run(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            try:
                while self._waiting:
                    self._under_way = min(len(self._waiting), _BATCH)
                    async with asyncio.timeout(PATIENCE):
                        await self._send([self._waiting.popleft() for _ in range(self._under_way)])
            finally:
                self._under_way = 0


class ServerConnection(ABC):
    """Sends lines of this process to the other processes by a server, and hears theirs.

    Each process also sends lines to itself: one that does not come back means that the connection is lost, which a
    connection on which nothing happens does not show. While it is lost, lines are dropped. When it is back, every
    follower in this process is woken and reads what it missed. `what` is the words of the log.
    """

    def __init__(self, local: LocalBus, what: str) -> None:
        self._local = local
        self._codec = local.codec
        self._queue = SendQueue(self._send)
        self._heard = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._faults = FaultLog(what, patience=TOLD_AFTER)
        self._beat_topic = ""

    @property
    def is_away(self) -> bool:
        """Whether the connection is lost."""
        return bool(self._faults.error)

    def start(self) -> None:
        """Connect, and stay connected until `close`."""
        if self._task is None:
            # An empty context: the task outlives the request that happens to start it.
            self._task = asyncio.create_task(self._stay_connected(), context=Context())

    def send(self, line: bytes) -> None:
        """Send a line soon; dropped while the connection is lost."""
        if not self.is_away:
            self._queue.add(line)

    async def close(self) -> None:
        """Send what waits, then close the connections."""
        await self._queue.settle()
        if self._task is not None:
            await end_task(self._task)
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
                self._queue.clear()
            await asyncio.sleep(RETRY_SECONDS)

    async def _send_and_beat(self) -> None:
        """Send what waits, on a connection that listens; raises when sending fails or no line comes back."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._queue.run())
            tasks.create_task(self._beat())

    async def _beat(self) -> None:
        connected = False
        while True:
            self._heard.clear()
            self._queue.add(self._codec.write(self._beat_topic, b""))
            async with asyncio.timeout(PATIENCE):
                await self._heard.wait()
            if not connected:
                connected = True
                self._faults.worked()
                self._local.wake_all()
            await asyncio.sleep(_BEAT_SECONDS)

    def _receive(self, line: bytes) -> None:
        if self._codec.is_own(line):
            self._heard.set()
        elif (received := self._codec.read(line)) is not None:
            self._local.tell(*received)

    @abstractmethod
    async def _run_connection(self) -> None:
        """Connect, listen, and run `_send_and_beat`, until something fails."""

    @abstractmethod
    async def _send(self, lines: Sequence[bytes]) -> None: ...

    @abstractmethod
    async def _disconnect(self) -> None: ...


def make_redis_client(url: str) -> Any:
    """A client of one server, which tries once.

    The caller limits the time of a command: before Python 3.12 the client's own limit may lose a cancellation.
    """
    # Late imports: a worker without Redis does not load its client.
    from redis.asyncio import Redis
    from redis.asyncio.retry import Retry
    from redis.backoff import NoBackoff

    return Redis.from_url(  # pyright: ignore[reportUnknownMemberType]
        url, retry=Retry(NoBackoff(), 0), socket_connect_timeout=PATIENCE, socket_timeout=None
    )


async def end_task(task: asyncio.Task[None]) -> None:
    """Cancel the task until it has ended: before Python 3.13 a task group that fails may lose a cancellation."""
    while not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=_CANCEL_AGAIN)


def _first(fault: Exception) -> Exception:
    """The first of the faults in a group of tasks."""
    while isinstance(fault, ExceptionGroup):
        fault = cast("ExceptionGroup[Exception]", fault).exceptions[0]
    return fault
