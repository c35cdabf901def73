"""Reads that may lag: at a streaming replica of PostgreSQL while it follows closely, else at the primary."""

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from contextvars import Context
from typing import Any, Final, NamedTuple, TypeVar

from sqlalchemy import text as sql_text

from negotiator.base.errors import Unavailable
from negotiator.runtime.fault_log import FaultLog
from negotiator.store.statement import Query
from negotiator.store.store import Store, Unit

T = TypeVar("T")

CHECK_SECONDS: Final = 1.0
_PATIENCE: Final = 3.0
_SAME: Final = (
    "(select cast(system_identifier as text) from pg_control_system()) || '/' ||"
    " (select cast(oid as text) from pg_database where datname = current_database())"
)
"""Which database it is: the same at a primary and at its replicas."""


class LogPosition(NamedTuple):
    """How much of the write-ahead log a server has written or applied, in bytes, and of which database.

    `log` is None when a server is asked as a replica and is none.
    """

    log: int | None
    database: str


def _position(row: Sequence[Any]) -> LogPosition:
    return LogPosition(None if row[0] is None else int(row[0]), str(row[1]))


_WRITTEN: Final = Query(
    sql_text(f"select cast(pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0') as bigint), {_SAME}"), _position
)
_APPLIED: Final = Query(
    sql_text(
        "select case when pg_is_in_recovery()"
        f" then cast(pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0') as bigint) end, {_SAME}"
    ),
    _position,
)


async def compare_positions(primary: Store, replica: Store) -> tuple[int, int]:
    """How much the primary has written, and how much of that the replica has applied.

    ValueError when it is no replica of this database.
    """
    written = await _ask(primary, _WRITTEN)
    applied = await _ask(replica, _APPLIED)
    if applied.log is None or applied.database != written.database:
        raise ValueError("it is no replica of this database")
    return written.log or 0, applied.log


async def _ask(store: Store, query: Query[LogPosition]) -> LogPosition:
    async with asyncio.timeout(_PATIENCE):
        found = await store.read(lambda tx: tx.one(query))
    assert found is not None  # noqa: S101  the statement has one row
    return found


class LaggingReads:
    """Runs reads at the replica while it is at most `bound` seconds behind the primary, else at the primary.

    Every second the primary says how much it has written and the replica how much of that it has applied. So an idle
    primary does not look like a replica that lags, and a replica that has lost the primary does not look current.
    A read that fails at the replica runs at the primary.
    """

    def __init__(self, primary: Store, replica: Store | None = None, *, bound: float = 10) -> None:
        self._primary = primary
        self._replica = replica
        self._bound = bound
        self._written: deque[tuple[int, float]] = deque(maxlen=2 + int(bound / CHECK_SECONDS))
        """What the primary had written when; the newest last."""
        self._usable_until = 0.0
        self._late = f"it is more than {bound:.0f} s behind the primary"
        self._faults = FaultLog("reads that may lag go to the primary, the replica cannot be used")
        self._watching: asyncio.Task[None] | None = None

    async def start(self) -> None:
        if self._replica is not None:
            await self._replica.start()
            await self._check()
            self._watching = asyncio.create_task(self._watch(), context=Context())

    async def read(self, unit: Unit[T]) -> T:
        """As `Store.read`; what was written in the last `bound` seconds may be missing."""
        if (replica := self._usable()) is not None:
            try:
                return await replica.read(unit)
            except self._replica_faults() as fault:
                self._leave(fault)
        return await self._primary.read(unit)

    async def scan(self, unit: Unit[T]) -> T:
        """As `Store.scan`; what was written in the last `bound` seconds may be missing."""
        if (replica := self._usable()) is not None:
            try:
                return await replica.scan(unit)
            except self._replica_faults() as fault:
                self._leave(fault)
        return await self._primary.scan(unit)

    def state(self) -> str:
        """The health check."""
        if self._usable() is not None:
            return "ok"
        return f"lesser: reads go to the primary: {self._faults.error or self._late}"

    async def close(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait({self._watching})
        if self._replica is not None:
            await self._replica.close()

    def _usable(self) -> Store | None:
        return self._replica if time.monotonic() < self._usable_until else None

    def _leave(self, fault: Exception) -> None:
        self._usable_until = 0.0
        self._faults.failed(str(fault) or type(fault).__name__)

    def _replica_faults(self) -> tuple[type[Exception], ...]:
        # Imported where there is a replica: SQLite needs no driver of PostgreSQL.
        from negotiator.store.postgres_connections import DRIVER_FAULTS

        return (Unavailable, *DRIVER_FAULTS)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            await self._check()

    async def _check(self) -> None:
        assert self._replica is not None  # noqa: S101  else nothing is checked
        asked = time.monotonic()
        try:
            written, applied = await compare_positions(self._primary, self._replica)
        except Exception as fault:  # any fault means that it cannot be used
            self._leave(fault)
            return
        self._written.append((written, asked))
        seen = [at for earlier, at in self._written if earlier <= applied]
        self._usable_until = max(seen, default=-self._bound) + self._bound
        if self._usable() is None:
            self._faults.failed(self._late)
        else:
            self._faults.worked()
