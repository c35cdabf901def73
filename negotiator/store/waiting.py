"""How long a request may wait in a queue: by its priority, and by an estimate from the queue's measured pace.

The worker's queue of requests (`http.admission`) and the queues of the store use the same numbers. Work that belongs
to no request has no priority; it waits as long as it takes, and there is little of it.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from contextvars import Context, ContextVar
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final, NamedTuple, TypeVar, cast

from negotiator.base.errors import Unavailable
from negotiator.store.statement import Transaction

T = TypeVar("T")
UnitOutcome = tuple[Any, BaseException | None]
Batch = Sequence[Callable[[Transaction], Any]]

LONGEST_WAIT: Final = 1.0
"""Seconds; a request that would wait longer is refused at once."""
_WEIGHT: Final = 0.1
"""Of a new measurement in the average."""
_FIRST_PACE: Final = 0.001
"""Seconds assumed before the first measurement: the first requests of a process load things and say little."""
_SLOWEST: Final = 0.1
"""Seconds that one measurement counts at most: one long unit, such as an import, says little about those after it."""
_SHARE: Final = 4
_LATE_EVERY: Final = 0.25
"""Seconds between looks for units that have waited too long."""
_NEVER: Final = float("inf")


class Priority(IntEnum):
    """Which requests come first: health and revocation, then what only reads, then changes."""

    URGENT = 0
    READ = 1
    CHANGE = 2


request_priority: ContextVar[Priority | None] = ContextVar("priority of the request", default=None)
"""None outside a request."""


class StoreLoad(NamedTuple):
    """The units that are being committed, or the connections in use; and those that wait for either."""

    running: int
    waiting: int


class QueuePace:
    """The average seconds in which a queue moves on by one."""

    __slots__ = ("each",)

    def __init__(self) -> None:
        self.each = _FIRST_PACE

    def moved(self, count: int, seconds: float) -> None:
        """Note that `count` left the queue in this time, while others waited."""
        self.each += (min(seconds / count, _SLOWEST) - self.each) * _WEIGHT


def too_late() -> Unavailable:
    """The refusal of a request that would wait, or has waited, too long."""
    return Unavailable("Too many requests are waiting; try again soon.", retry_after=1)


class ConnectionQueue:
    """Limits how many hold a database connection at a time; those who wait are served by priority.

    `reserved` of the `size` connections are for urgent requests and for work that belongs to no request.
    """

    def __init__(self, size: int, reserved: int, refused: Callable[[], None]) -> None:
        self._size = self._free = size
        self._reserved = reserved
        self._refused = refused
        self._waiting: tuple[deque[asyncio.Future[None]], ...] = tuple(deque() for _ in Priority)
        self._pace = QueuePace()
        self._handed = 0
        self._moved_at = 0.0
        """When a connection was last handed to one who waited, or the queue began."""

    @property
    def load(self) -> StoreLoad:
        return StoreLoad(self._size - self._free, sum(map(len, self._waiting)))

    def expected_wait(self, priority: Priority) -> float:
        """Seconds that a new request of this priority would wait for a connection."""
        ahead = sum(len(line) for line in self._waiting[: priority + 1])
        if not ahead and self._is_free(priority):
            return 0.0
        still = time.monotonic() - self._moved_at if ahead else 0.0
        return max((ahead + 1) * self._pace.each, still)

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[None]:
        """Wait for a connection and hold it; `Unavailable` when that would take a request longer than a second."""
        priority = request_priority.get()
        await self._acquire(Priority.URGENT if priority is None else priority, priority is None)
        try:
            yield
        finally:
            self._free += 1
            self._hand_over()

    async def _acquire(self, priority: Priority, patient: bool) -> None:
        if self._is_free(priority):
            self._free -= 1
            return
        if not patient and self.expected_wait(priority) > LONGEST_WAIT:
            self._refused()
            raise too_late()
        if not any(self._waiting):
            self._moved_at = time.monotonic()
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[priority].append(turn)
        try:
            async with asyncio.timeout(None if patient else LONGEST_WAIT):
                await turn
        except BaseException as ended:
            if turn.done() and not turn.cancelled():
                self._free += 1
                self._hand_over()
            else:
                turn.cancel()
                with suppress(ValueError):  # it is not in line any more
                    self._waiting[priority].remove(turn)
            if isinstance(ended, TimeoutError):
                self._refused()
                raise too_late() from None
            raise

    def _is_free(self, priority: Priority) -> bool:
        return self._free > (0 if priority == Priority.URGENT else self._reserved)

    def _hand_over(self) -> None:
        self._handed += 1
        # One of four goes to the lowest priority first, so that changes do not starve.
        for priority in Priority if self._handed % _SHARE else reversed(Priority):
            line = self._waiting[priority]
            while line and self._is_free(priority):
                turn = line.popleft()
                if turn.done():
                    continue
                self._free -= 1
                turn.set_result(None)
                now = time.monotonic()
                self._pace.moved(1, now - self._moved_at)
                self._moved_at = now


@dataclass(frozen=True, slots=True)
class _PendingUnit:
    """A unit that waits; `late_at` is the monotonic time at which its request is refused instead."""

    unit: Callable[[Transaction], Any]
    future: "asyncio.Future[Any]"
    late_at: float


class UnitQueue:
    """Passes units to `perform` in batches of up to `size`, `at_once` batches at a time.

    Units that arrive while a batch is under way share the next one.

    `perform` gives the outcome of each unit, and the seconds in which they ran: a batch waits for its turn and for the
    disk once, however many units it has.
    """

    def __init__(
        self,
        perform: Callable[[Batch], Awaitable[tuple[Sequence[UnitOutcome], float]]],
        refused: Callable[[], None],
        *,
        size: int,
        at_once: int = 1,
    ) -> None:
        self._run_batch = perform
        self._refused = refused
        self._size = size
        self._at_once = at_once
        self._urgent: list[_PendingUnit] = []
        self._pending: list[_PendingUnit] = []
        self._running = 0
        """The number of units in the batches of now."""
        self._batch_began = 0.0
        """When the newest batch began."""
        self._pace = QueuePace()
        self._late: asyncio.TimerHandle | None = None
        self._flushing: set[asyncio.Task[None]] = set()

    @property
    def load(self) -> StoreLoad:
        return StoreLoad(self._running, len(self._urgent) + len(self._pending))

    async def run(self, unit: Callable[[Transaction], T]) -> T:
        """The unit's result once its batch is done; `Unavailable` when a request would wait too long."""
        loop = asyncio.get_running_loop()
        priority, late_at = request_priority.get(), _NEVER
        if priority is not None:
            if self.expected_wait(Priority.CHANGE) > LONGEST_WAIT and priority != Priority.URGENT:
                self._refused()
                raise too_late()
            late_at = time.monotonic() + LONGEST_WAIT
            if self._late is None:
                self._late = loop.call_later(_LATE_EVERY, self._refuse_late)
        future: asyncio.Future[T] = loop.create_future()
        line = self._urgent if priority == Priority.URGENT else self._pending
        line.append(_PendingUnit(unit, future, late_at))
        if len(self._flushing) < self._at_once:
            # An empty context: the task serves other requests than the one that starts it.
            self._flushing.add(asyncio.create_task(self._flush(), context=Context()))
        return await future

    def expected_wait(self, priority: Priority) -> float:
        is_free = len(self._flushing) < self._at_once or not self._running
        if priority != Priority.CHANGE or is_free:
            return 0.0
        stalled = time.monotonic() - self._batch_began
        if stalled > LONGEST_WAIT:
            return stalled
        waiting = len(self._urgent) + len(self._pending) + self._running
        return waiting * self._pace.each / self._at_once

    async def close(self) -> None:
        """Wait until every unit is done."""
        while self._flushing:
            await asyncio.wait(self._flushing)
        if self._late is not None:
            self._late.cancel()

    def _refuse_late(self) -> None:
        """Refuse the units that have waited too long for the batch before theirs."""
        self._late = None
        now = time.monotonic()
        for line in (self._urgent, self._pending):
            late = [each for each in line if each.late_at <= now]
            if late:
                line[:] = [each for each in line if each.late_at > now]
            for each in late:
                if not each.future.done():
                    self._refused()
                    each.future.set_exception(too_late())
        if self._urgent or self._pending:
            loop = asyncio.get_running_loop()
            self._late = loop.call_later(_LATE_EVERY, self._refuse_late)

    async def _flush(self) -> None:
        try:
            while waiting := [*self._urgent, *self._pending]:
                self._urgent, self._pending = [], waiting[self._size :]
                await self._perform(waiting[: self._size])
        finally:
            self._flushing.discard(cast("asyncio.Task[None]", asyncio.current_task()))

    async def _perform(self, batch: Sequence[_PendingUnit]) -> None:
        self._running += len(batch)
        self._batch_began = time.monotonic()
        outcomes: Sequence[UnitOutcome]
        try:
            outcomes, seconds = await self._run_batch([pending.unit for pending in batch])
            self._pace.moved(len(batch), seconds)
        except Exception as fault:
            outcomes = [(None, fault)] * len(batch)
        finally:
            self._running -= len(batch)
        for pending, (result, raised) in zip(batch, outcomes, strict=True):
            future = pending.future
            if future.done():
                continue
            if raised is None:
                future.set_result(result)
            else:
                future.set_exception(raised)
