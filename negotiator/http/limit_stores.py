"""Stores of rate budgets: a file shared by one machine's workers, the database, Redis."""

import fcntl
import hashlib
import mmap
import struct
import time
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, Final

from negotiator.errors import Unavailable
from negotiator.fault_log import FaultLog
from negotiator.http.limits import BudgetState, RateBudget
from negotiator.mapped_file import map_file
from negotiator.store import atomic_updates
from negotiator.store.store import Store
from negotiator.telemetry import logger

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
        hashed = hashlib.blake2b(key.encode(), digest_size=16, key=self._hash_key).digest()
        tag = int.from_bytes(hashed[:8], "little", signed=True) or 1
        bucket = int.from_bytes(hashed[8:], "little") % _BUCKETS
        fcntl.lockf(self._file, fcntl.LOCK_EX, 1, bucket)
        try:
            return self._take(budget, tag, bucket * _BUCKET)
        finally:
            fcntl.lockf(self._file, fcntl.LOCK_UN, 1, bucket)

    async def close(self) -> None:
        if "_file" in self.__dict__:
            self._map.close()
            self._file.close()

    def _take(self, budget: RateBudget, tag: int, start: int) -> BudgetState:
        now = _microseconds()
        interval = budget.interval
        slot, earliest, arrival = start, 1 << 62, now
        for offset in range(start, start + _BUCKET, _SLOT.size):
            slot_tag, slot_arrival = _SLOT.unpack_from(self._map, offset)
            if slot_tag == tag:
                # Further ahead than a burst can be: stored before the clock was set back.
                possible = slot_arrival <= now + interval * budget.burst
                slot, arrival = offset, max(slot_arrival, now) if possible else now
                break
            if slot_arrival < earliest:
                slot, earliest = offset, slot_arrival
        if arrival > now + interval * (budget.burst - 1):
            return BudgetState(budget, arrival, now, taken=False)
        _SLOT.pack_into(self._map, slot, tag, arrival + interval)
        return BudgetState(budget, arrival + interval, now, taken=True)


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

    async def close(self) -> None:
        """Do nothing: the application closes the database store."""


_CONNECTIONS: Final = 16
_GCRA = """
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local interval, burst = tonumber(ARGV[1]), tonumber(ARGV[2])
local arrival = math.max(tonumber(redis.call('GET', KEYS[1]) or now), now)
if arrival > now + interval * burst then arrival = now end
if arrival > now + interval * (burst - 1) then return {now, arrival, 0} end
arrival = arrival + interval
redis.call('SET', KEYS[1], string.format('%.0f', arrival), 'PX', math.ceil((arrival - now) / 1000))
return {now, arrival, 1}
"""


class RedisLimitStore:
    """Budgets in Redis, by its clock: one script per call, exact over all machines that share it."""

    def __init__(self, url: str) -> None:
        # Imported here so that workers without Redis do not load the client.
        from redis.asyncio import BlockingConnectionPool, Redis
        from redis.exceptions import RedisError

        # The default pool raises when all connections are in use; this one waits for a free one.
        pool: Any = BlockingConnectionPool.from_url(url, max_connections=_CONNECTIONS)  # pyright: ignore[reportUnknownMemberType]
        self._client = Redis.from_pool(pool)
        self._script: Any = self._client.register_script(_GCRA)
        self._fault = RedisError
        self._faults = FaultLog("Redis cannot be reached, limits cannot be checked")

    async def take(self, budget: RateBudget, key: str) -> BudgetState:
        """Take one call in one round trip."""
        name, arguments = f"negotiator:limit:{key}", [budget.interval, budget.burst]
        try:
            now, arrival, taken = await self._script(keys=[name], args=arguments)
        except self._fault as fault:
            self._faults.failed(str(fault))
            raise Unavailable("Limits cannot be checked now.") from fault
        self._faults.worked()
        return BudgetState(budget, arrival, now, taken=bool(taken))

    async def close(self) -> None:
        await self._client.aclose()
