"""Stores of rate budgets: a file shared by one machine's workers, the database, Redis."""

import asyncio
import contextlib
import fcntl
import hashlib
import mmap
import struct
import time
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from contextvars import Context
from functools import cached_property, partial
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple, TypeVar

from opentelemetry.trace import SpanKind

from negotiator.http.limits import BudgetState, RateBudget, take_one
from negotiator.runtime.fault_log import FaultLog
from negotiator.runtime.metrics import map_file
from negotiator.runtime.redis_client import redis_client
from negotiator.runtime.telemetry import logger
from negotiator.runtime.tracing import span
from negotiator.store import atomic_updates
from negotiator.store.store import Store

T = TypeVar("T")

log = logger(__name__)

_SLOT: Final = struct.Struct("<qq")
_WAYS: Final = 8
_BUCKET: Final = _SLOT.size * _WAYS
_BUCKETS: Final = 1 << 15


def _microseconds() -> int:
    return time.time_ns() // 1000


class FileLimitStore:
    """A memory-mapped file that all workers of this machine share; one file lock per call keeps it exact.

    Each key hashes to a bucket of eight slots, whose byte range is locked while one is changed; the hash is keyed by
    the pepper, so that clients cannot choose their buckets. A slot whose arrival time has passed is free; when all
    eight are in use, the slot with the earliest arrival time is reused. The file has 262,144 slots and is never synced
    to disk: limits survive the process but not the machine.
    """

    def __init__(self, path: Path, pepper: bytes) -> None:
        self._path = path
        self._hash_key = hashlib.blake2b(pepper, digest_size=32, person=b"limits").digest()

    @cached_property
    def _file(self) -> BinaryIO:
        self._path.touch(mode=0o600)
        return self._path.open("r+b")

    @cached_property
    def _map(self) -> mmap.mmap:
        try:
            return map_file(self._file.fileno(), _BUCKET * _BUCKETS)
        except OSError as fault:
            log.error("rate limits of this worker are counted in memory only", error=str(fault))
            return mmap.mmap(-1, _BUCKET * _BUCKETS)

    async def take(self, budget: RateBudget, key: str) -> BudgetState:
        """Take one call; waits only while another worker holds the lock of the same bucket."""
        return self._locked(key, partial(self._take, budget))

    def ahead(self, budget: RateBudget, key: str) -> int:
        """Microseconds by which the key's arrival time is ahead of now; nothing is taken."""

        def read(tag: int, start: int) -> int:
            now = _microseconds()
            return self._find(budget, tag, start, now)[1] - now

        return self._locked(key, read)

    def note(self, budget: RateBudget, key: str, ahead: int) -> None:
        """Move the key's arrival time to `ahead` microseconds from now, unless it is later already."""

        def change(tag: int, start: int) -> None:
            now = _microseconds()
            slot, arrival = self._find(budget, tag, start, now)
            _SLOT.pack_into(self._map, slot, tag, max(arrival, now + ahead))

        self._locked(key, change)

    def state(self) -> str:
        return "ok"

    async def close(self) -> None:
        if "_file" in self.__dict__:
            self._map.close()
            self._file.close()

    def _locked(self, key: str, use: Callable[[int, int], T]) -> T:
        """Call `use` with the key's tag and the start of its bucket, while no other process uses the bucket."""
        hashed = hashlib.blake2b(key.encode(), digest_size=16, key=self._hash_key).digest()
        tag = int.from_bytes(hashed[:8], "little", signed=True) or 1
        bucket = int.from_bytes(hashed[8:], "little") % _BUCKETS
        fcntl.lockf(self._file, fcntl.LOCK_EX, 1, bucket)
        try:
            return use(tag, bucket * _BUCKET)
        finally:
            fcntl.lockf(self._file, fcntl.LOCK_UN, 1, bucket)

    def _find(self, budget: RateBudget, tag: int, start: int, now: int) -> tuple[int, int]:
        """The slot of a tag, or the one to reuse for it, and its arrival time, at least now."""
        slot, earliest = start, 1 << 62
        for offset in range(start, start + _BUCKET, _SLOT.size):
            slot_tag, arrival = _SLOT.unpack_from(self._map, offset)
            if slot_tag == tag:
                # Further ahead than a burst can be: stored before the clock was set back.
                possible = arrival <= now + budget.interval * budget.burst
                return offset, max(arrival, now) if possible else now
            if arrival < earliest:
                slot, earliest = offset, arrival
        return slot, now

    def _take(self, budget: RateBudget, tag: int, start: int) -> BudgetState:
        now = _microseconds()
        slot, arrival = self._find(budget, tag, start, now)
        state = take_one(budget, arrival, now)
        if state.taken:
            _SLOT.pack_into(self._map, slot, tag, state.arrival)
        return state


class DatabaseLimitStore:
    """Budgets in the database: one conditional statement per call, exact over all machines that share it."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def take(self, budget: RateBudget, key: str) -> BudgetState:
        """Take one call in its own transaction."""
        now = _microseconds()
        interval, burst = budget.interval, budget.burst
        arrival = await self._store.write_unserialized(
            lambda tx: (
                atomic_updates.charge_budget(tx, key, now=now, interval=interval, burst=burst)
                or -(atomic_updates.read_budget(tx, key) or now)
            )
        )
        return BudgetState(budget, abs(arrival), now, taken=arrival > 0)

    def state(self) -> str:
        return "ok"

    async def close(self) -> None:
        """Do nothing: the application closes the database store."""


_BATCH: Final = 100
_PATIENCE: Final = 0.1
_LOOKS: Final = 10
"""Seconds that Redis has for an answer, and in how many waits: each lets the event loop run, so that a busy process is
not taken for a Redis that hangs."""
_RETRY_SECONDS: Final = 0.25
_PREFIX: Final = "negotiator:limit:"
_PROBE: Final = f"{_PREFIX}probe"
_GCRA: Final = """
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local answer = {string.format('%.0f', now)}
local asked = string.gmatch(ARGV[1], '%S+')
for place, key in ipairs(KEYS) do
  local interval, burst, ahead = tonumber(asked()), tonumber(asked()), tonumber(asked())
  local stored = tonumber(redis.call('GET', key) or now)
  local arrival = math.max(stored, now)
  if arrival > now + interval * burst then arrival = now end
  arrival = math.max(arrival, now + math.min(ahead, interval * burst))
  local taken = arrival <= now + interval * (burst - 1)
  if taken then arrival = arrival + interval end
  if arrival > now and arrival ~= stored then
    redis.call('SET', key, string.format('%.0f', arrival), 'PX', math.ceil((arrival - now) / 1000))
  end
  answer[2 * place], answer[2 * place + 1] = string.format('%.0f', arrival), taken and '1' or '0'
end
return table.concat(answer, ' ')
"""
"""Takes and gives one text of numbers: the client needs a third of the time that as many values would take."""


class _Charge(NamedTuple):
    """One call that waits for Redis."""

    budget: RateBudget
    key: str
    reading: "asyncio.Future[BudgetState]"


class RedisLimitStore:
    """Budgets in Redis, by its clock: exact over all machines that share it; calls of one moment share a round trip.

    While Redis is away, the machine's file counts: no machine lets more through than one budget
    (docs/decisions/0025-redis-away.md). The file notes what Redis answered and Redis is told what the file knows, so
    neither an outage nor a flush fills a budget again on a machine where it was used.
    """

    def __init__(self, url: str, local: FileLimitStore) -> None:
        self._client = redis_client(url)
        self._local = local
        self._waiting: deque[_Charge] = deque()
        self._sending: asyncio.Task[None] | None = None
        self._returning: asyncio.Task[None] | None = None
        self._faults = FaultLog("Redis is away, each machine counts rate limits for itself")

    async def take(self, budget: RateBudget, key: str) -> BudgetState:
        """Take one call; at once while Redis is known to be away, within 0.1 seconds when it does not answer."""
        if self._returning is not None:
            return await self._local.take(budget, key)
        charge = _Charge(budget, key, asyncio.get_running_loop().create_future())
        self._waiting.append(charge)
        if self._sending is None:
            # An empty context: the task serves other requests than the one that starts it.
            self._sending = asyncio.create_task(self._send_waiting(), context=Context())
        with span("redis", SpanKind.CLIENT, {"db.system.name": "redis"}):
            return await charge.reading

    def state(self) -> str:
        if self._returning is not None:
            return "lesser: away, each machine counts rate limits for itself"
        return "ok"

    async def close(self) -> None:
        for task in (self._sending, self._returning):
            if task is not None:
                task.cancel()
        with contextlib.suppress(Exception):
            async with asyncio.timeout(_PATIENCE):
                await self._client.aclose()
        await self._local.close()

    async def _send_waiting(self) -> None:
        while self._waiting:
            batch = [self._waiting.popleft() for _ in range(min(len(self._waiting), _BATCH))]
            try:
                readings = await self._ask(batch)
            except Exception as fault:  # any error means that Redis cannot count
                self._away(fault)
                batch += self._waiting
                self._waiting.clear()
                await self._take_locally(batch)
            else:
                for charge, reading in zip(batch, readings, strict=True):
                    if not charge.reading.done():
                        charge.reading.set_result(reading)
        self._sending = None

    async def _take_locally(self, charges: Sequence[_Charge]) -> None:
        for budget, key, reading in charges:
            if reading.done():
                continue
            try:
                reading.set_result(await self._local.take(budget, key))
            except OSError as fault:
                reading.set_exception(fault)

    async def _ask(self, batch: Sequence[_Charge]) -> list[BudgetState]:
        keys = [f"{_PREFIX}{charge.key}" for charge in batch]
        # The way of an answer makes the file's arrival time later than Redis's; a refused call that told it back would
        # put off the next one.
        way = int(_PATIENCE * 1_000_000)
        arguments = [
            (budget.interval, budget.burst, max(0, self._local.ahead(budget, key) - way)) for budget, key, _ in batch
        ]
        answers = await _in_time(self._run_script(keys, arguments))
        readings: list[BudgetState] = []
        for (budget, key, _), (now, arrival, taken) in zip(batch, answers, strict=True):
            self._local.note(budget, key, arrival - now)
            readings.append(BudgetState(budget, arrival, now, taken=bool(taken)))
        return readings

    async def _run_script(
        self, keys: Sequence[str], arguments: Sequence[tuple[int, int, int]]
    ) -> list[tuple[int, int, int]]:
        """The time by Redis, the arrival time and whether the call was taken, for each key."""
        asked = " ".join(str(number) for numbers in arguments for number in numbers)
        answer = await self._client.eval(_GCRA, len(keys), *keys, asked)
        now, *answers = map(int, answer.split())
        return [(now, *pair) for pair in zip(answers[::2], answers[1::2], strict=True)]

    def _away(self, fault: Exception) -> None:
        self._faults.failed(str(fault))
        if self._returning is None:
            self._returning = asyncio.create_task(self._return(), context=Context())

    async def _return(self) -> None:
        """Ask Redis four times a second until it counts again."""
        while self._faults.error:
            await asyncio.sleep(_RETRY_SECONDS)
            try:
                await _in_time(self._run_script([_PROBE], [(1, 1, 0)]))
            except Exception as fault:
                self._faults.failed(str(fault))
            else:
                self._faults.worked()
        self._returning = None


async def _in_time(asked: Coroutine[Any, Any, T]) -> T:
    """The answer; TimeoutError when there is none within `_PATIENCE`."""
    asking = asyncio.create_task(asked)
    try:
        for _ in range(_LOOKS):
            done, _waiting = await asyncio.wait({asking}, timeout=_PATIENCE / _LOOKS)
            if done:
                return asking.result()
    finally:
        asking.cancel()
    raise TimeoutError(f"no answer within {_PATIENCE} s")
