"""What time brings: expired rows are deleted and overdue states change, by one process at a time, in short units."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final

from negotiator.base import values
from negotiator.base.errors import Unavailable
from negotiator.runtime import telemetry
from negotiator.store import atomic_updates
from negotiator.store.ownership import Chore
from negotiator.store.statement import Transaction
from negotiator.store.store import Store

JOB: Final = "housekeeping"
LEASE_LIFE: Final = 150_000
"""Milliseconds: two rounds and a half. The holder renews it each round, so a dead holder's work waits this long."""
UNIT_SECONDS: Final = 0.0025
"""What a unit is fitted to. Rows differ in cost, and a unit should stay below 5 ms so that others do not notice it."""
PAUSE: Final = 2
"""Pause after each unit, in lengths of that unit: other writes get at least two thirds of the writer."""
FEWEST: Final = 1
MOST: Final = 500
"""The fewest and the most rows of one unit."""
APART_WARNED: Final = 5_000
APART_REFUSED: Final = 60_000
"""Milliseconds between two clocks from which on a line is logged, and from which on nothing is deleted."""
STEP_PAUSE: Final = 3600.0
"""Seconds without deletions after this machine's clock was set by more than `APART_REFUSED`."""

log = telemetry.logger(__name__)


class ClockComparison:
    """Compares this machine's clock with the database's, and with the time that really passed since the last look."""

    def __init__(
        self, now: Callable[[], int] = lambda: values.now(), elapsed: Callable[[], float] = values.elapsed
    ) -> None:
        self._now, self._elapsed = now, elapsed
        self._last = (now(), elapsed())
        self._resumes = 0.0
        self._apart = 0
        self._step = 0

    @property
    def apart_seconds(self) -> float:
        """Seconds between this clock and the database's when they were compared last."""
        return abs(self._apart) / 1000

    def look(self, database: int) -> bool:
        """Whether rows may be deleted; `database` is the database's clock at this moment, in milliseconds."""
        now, elapsed = self._now(), self._elapsed()
        (was, since), self._last = self._last, (now, elapsed)
        step = now - was - round((elapsed - since) * 1000)
        if abs(step) > APART_REFUSED:
            self._step, self._resumes = step, elapsed + STEP_PAUSE
            log.warning("the clock was set; nothing is deleted for an hour", seconds=step // 1000)
        apart = database - now
        if abs(apart) > APART_WARNED >= abs(self._apart):
            log.warning("this clock differs from the database's", seconds=apart / 1000)
        self._apart = apart
        return abs(apart) <= APART_REFUSED and elapsed >= self._resumes

    def state(self) -> str:
        """`ok`, or a few words for the health check."""
        if self._elapsed() < self._resumes:
            return f"lesser: set by {self._step // 1000} s within the last hour"
        if abs(self._apart) > APART_WARNED:
            return f"lesser: {abs(self._apart) / 1000:.0f} s from the database's"
        return "ok"


class Housekeeping:
    """Does the chores each minute while this process holds the lease; `clocks` may forbid it.

    `finished` is called with the time, in milliseconds, of each round that came to its end.
    """

    def __init__(
        self,
        store: Store,
        chores: Sequence[Chore],
        clocks: ClockComparison,
        finished: Callable[[int], None] = lambda _now: None,
    ) -> None:
        self._finished = finished
        self._store = store
        self._chores = chores
        self._clocks = clocks
        self._holder = values.new_id("proc")
        self._limits = dict.fromkeys((chore.name for chore in chores), FEWEST)

    async def run(self) -> None:
        """One round: every chore until nothing is left of it, unless another process holds the lease."""
        now = await self._store.clock()
        if not self._clocks.look(now) or not await self._leads(now):
            return
        scrubs = False
        renewed = now
        for chore in self._chores:
            while True:
                limit = self._limits[chore.name]
                done, seconds = await self._store.write(partial(_timed, chore, now, limit))
                scrubs = scrubs or (chore.scrub and done > 0)
                self._limits[chore.name] = fitting_limit(limit, done, seconds)
                await asyncio.sleep(seconds * PAUSE)
                if done < limit:
                    break
                if (later := await self._store.clock()) > renewed + LEASE_LIFE // 3:
                    if not await self._leads(later):
                        return
                    renewed = later
        if scrubs:
            await self._store.scrub()
        self._finished(now)

    async def _leads(self, now: int) -> bool:
        return await self._store.write(
            lambda tx: atomic_updates.take_lease(tx, JOB, self._holder, now=now, life=LEASE_LIFE)
        )


def _timed(chore: Chore, now: int, limit: int, tx: Transaction) -> tuple[int, float]:
    """The rows that one unit handled, and the seconds it took inside the transaction."""
    began = time.perf_counter()
    return chore.run(tx, now, limit), time.perf_counter() - began


def fitting_limit(limit: int, done: int, seconds: float) -> int:
    """The limit of the chore's next unit, by what this one took: at most twice as many rows, up to 500."""
    if done == 0 or seconds <= 0:
        return limit
    fitting = round(done * UNIT_SECONDS / seconds)
    return max(FEWEST, min(MOST, 2 * limit, fitting))


async def run_each_minute(tasks: Sequence[Callable[[], Awaitable[None]]], every: float = 60) -> None:
    """Run the tasks in order, each minute, until cancelled; a task that fails is logged and the next one runs.

    A task that is refused, since its neighbour is away, has no line: the neighbour's own log tells of that.
    """
    while True:
        for task in tasks:
            try:
                await task()
            except Unavailable:
                continue
            except Exception as fault:
                log.error("periodic task failed", exc_info=fault)
        await asyncio.sleep(every)
