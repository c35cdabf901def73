"""SQLite: one writer thread with group commit, short reads on the event loop, long reads on a thread.

Units that arrive during a commit share the next one. WAL with `synchronous=FULL`: a write that has returned survives
SIGKILL and power loss. Reasons and measurements: docs/decisions/0001-store.md.
"""

import asyncio
import contextlib
import fcntl
import os
import sqlite3
import time
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import IO, Any, Final, Self, TypeVar, cast

import aiosqlite
from sqlalchemy.engine import make_url

from negotiator.base import values
from negotiator.base.errors import Unavailable
from negotiator.runtime.fault_log import FaultLog, close_all
from negotiator.runtime.tracing import traced
from negotiator.store.statement import Query, Row, Statement, Transaction, under_write_condition
from negotiator.store.waiting import Batch, Priority, StoreLoad, UnitOutcome, UnitQueue, request_priority

T = TypeVar("T")
Committed = tuple[list[UnitOutcome], list[str], float, bool]
"""The outcomes of a batch, the subjects its units announced, their seconds, and whether they changed anything."""

_PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=FULL",
    "busy_timeout=10000",
    "foreign_keys=ON",
    "cache_size=-2000",
    "temp_store=MEMORY",
    "secure_delete=ON",
    "wal_autocheckpoint=0",
)
_READER_CACHE: Final = -8000
"""KiB, negative as SQLite wants it. Its pages hold what a few hundred lists read; every commit empties it."""
_CHECKPOINT_EVERY = 0.2
_BATCH = 256
_RESERVE: Final = 1 << 20
"""Bytes of the disk that a file beside the database holds, for the revocations that come while the disk is full."""
_BLOCK: Final = 4096


class SqliteTransaction:
    """A transaction on a plain `sqlite3` connection."""

    __slots__ = ("_execute", "announced")

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._execute = connection.execute
        self.announced: list[str] = []

    def run(self, statement: Statement, /, **values: Any) -> int:
        return self._execute(*statement.named(values)).rowcount

    def one(self, query: Query[Row], /, **values: Any) -> Row | None:
        rows = self._execute(*query.named(values)).fetchall()
        return query.shape(rows[0]) if rows else None

    def all(self, query: Query[Row], /, **values: Any) -> list[Row]:
        rows = self._execute(*query.named(values)).fetchall()
        return rows if query.shape is tuple else list(map(query.shape, rows))

    def announce(self, subject: str) -> None:
        self.announced.append(subject)


class _Thread(aiosqlite.Connection):
    """aiosqlite's connection and thread; runs a whole function on the thread instead of one database call."""

    @classmethod
    async def open(cls, path: str) -> Self:
        thread = cls(lambda: _connect(path), 64)
        thread._thread.daemon = True  # one that could not be closed keeps no process from ending
        await thread
        return thread

    async def perform(self, function: Callable[..., T], *arguments: Any) -> T:
        return cast("T", await self._execute(function, self._conn, *arguments))  # pyright: ignore[reportUnknownMemberType]


def _connect(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, cached_statements=512)
    for pragma in _PRAGMAS:
        connection.execute(f"pragma {pragma}")
    return connection


@contextlib.contextmanager
def _alone(turn: IO[str]) -> Generator[None]:
    """While no other process is.

    SQLite waits for its own lock by sleeping for milliseconds; the kernel wakes the next waiter of a file lock at once.
    """
    fcntl.flock(turn, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(turn, fcntl.LOCK_UN)


def _in_turn(connection: sqlite3.Connection, turn: IO[str], batch: Batch) -> Committed:
    with _alone(turn):
        return _commit(connection, batch)


def _from_reserve(connection: sqlite3.Connection, turn: IO[str], batch: Batch, reserve: IO[bytes]) -> Committed:
    """Commit a batch in the space of the reserve; what it leaves is the reserve again before others can use it."""
    with _alone(turn):
        reserve.truncate(0)
        try:
            return _commit(connection, batch)
        finally:
            _allocate(reserve)


def _refill(_connection: sqlite3.Connection, turn: IO[str], reserve: IO[bytes]) -> None:
    with _alone(turn):
        _allocate(reserve)


def _allocate(reserve: IO[bytes]) -> None:
    """Let the reserve hold its space, or as much of it as the disk has."""
    step = _RESERVE
    while _is_short(reserve) and step >= _BLOCK:
        held = os.fstat(reserve.fileno()).st_size
        try:
            os.posix_fallocate(reserve.fileno(), held, min(step, _RESERVE - held))
        except OSError:
            step //= 2


def _is_short(reserve: IO[bytes]) -> bool:
    return os.fstat(reserve.fileno()).st_size < _RESERVE


def _commit(connection: sqlite3.Connection, batch: Batch) -> Committed:
    """Run a batch of units in one transaction, each in its own savepoint, and make it durable."""
    transaction = SqliteTransaction(connection)
    outcomes: list[UnitOutcome] = []
    connection.execute("begin immediate")
    began, changes = time.monotonic(), connection.total_changes
    try:
        for unit in batch:
            connection.execute("savepoint unit")
            before = len(transaction.announced)
            try:
                outcomes.append((unit(transaction), None))
            except Exception as raised:
                connection.execute("rollback to unit")
                del transaction.announced[before:]
                outcomes.append((None, raised))
            connection.execute("release unit")
        seconds = time.monotonic() - began
        connection.execute("commit")
    except BaseException:
        if connection.in_transaction:
            connection.execute("rollback")
        raise
    return outcomes, transaction.announced, seconds, connection.total_changes > changes


def _checkpoint(connection: sqlite3.Connection) -> None:
    connection.execute("pragma wal_checkpoint(passive)").fetchall()


def _truncate(connection: sqlite3.Connection, turn: IO[str]) -> bool:
    """Move the whole WAL into the database file and truncate it; False while a reader still needs it.

    Deleted rows are overwritten with zeros in the file (`secure_delete`), so only the WAL still has their content.
    """
    with _alone(turn):
        try:
            connection.execute("pragma busy_timeout=20")
            [busy, *_] = connection.execute("pragma wal_checkpoint(truncate)").fetchone()
            return not busy
        except sqlite3.Error:
            return False
        finally:
            connection.execute("pragma busy_timeout=10000")


def _snapshot(connection: sqlite3.Connection, unit: Callable[[Transaction], T]) -> T:
    connection.execute("begin")
    try:
        return unit(SqliteTransaction(connection))
    finally:
        connection.execute("rollback")


class SqliteStore:
    """A SQLite file, opened by this process's event loop."""

    def __init__(
        self,
        url: str,
        committed: Callable[[int], None] = lambda _units: None,
        refused: Callable[[], None] = lambda: None,
    ) -> None:
        self._committed = committed
        self._path = make_url(url).database or ""
        self._writes = UnitQueue(self._write_batch, refused, size=_BATCH)
        self._written = False
        self._unscrubbed = False
        self._listeners: list[Callable[[Sequence[str]], None]] = []
        self._checkpointing = asyncio.Lock()
        self.faults = FaultLog("the database does not answer")
        self.write_faults = FaultLog("the database takes no changes")

    @property
    def load(self) -> StoreLoad:
        return self._writes.load

    async def start(self) -> None:
        self._turn = Path(f"{self._path}.turn").open("w")  # noqa: SIM115  held until close
        self._reserve = Path(f"{self._path}.reserve").open("ab", buffering=0)  # noqa: SIM115  held until close
        self._writer = await _Thread.open(self._path)
        self._scanner = await _Thread.open(self._path)
        self._connection = _connect(self._path)
        self._connection.execute(f"pragma cache_size={_READER_CACHE}")
        self._reader = SqliteTransaction(self._connection)
        self._checkpoints = asyncio.create_task(self._checkpoint())

    @traced("read")
    async def read(self, unit: Callable[[Transaction], T]) -> T:
        return unit(self._reader)

    @traced("scan")
    async def scan(self, unit: Callable[[Transaction], T]) -> T:
        return await self._scanner.perform(_snapshot, unit)

    def listen(self, listener: Callable[[Sequence[str]], None]) -> None:
        self._listeners.append(listener)

    @traced("write")
    async def write(self, unit: Callable[[Transaction], T]) -> T:
        unit = under_write_condition(unit)
        try:
            return await self._writes.run(unit)
        except Unavailable:
            if request_priority.get() != Priority.URGENT or not self.write_faults.error:
                raise
        with self._reports_faults():
            [(result, raised)] = self._told(
                await self._writer.perform(_from_reserve, self._turn, [unit], self._reserve)
            )
        if raised is not None:
            raise raised
        return result

    @traced("write")
    async def write_unserialized(self, unit: Callable[[Transaction], T]) -> T:
        return await self._writes.run(unit)

    def expected_wait(self, priority: Priority) -> float:
        return self._writes.expected_wait(priority)

    async def clock(self) -> int:
        return values.now()

    async def scrub(self) -> None:
        self._unscrubbed = True
        await self._scrub()

    async def close(self) -> None:
        await self._writes.close()
        self._checkpoints.cancel()
        await asyncio.wait({self._checkpoints})
        self._connection.close()
        await close_all(self._scanner.close, self._scrub, self._last_checkpoint, self._writer.close)
        self._turn.close()
        self._reserve.close()

    async def _write_batch(self, batch: Batch) -> tuple[list[UnitOutcome], float]:
        with self._reports_faults():
            committed = await self._writer.perform(_in_turn, self._turn, batch)
        _, _, seconds, wrote = committed
        if wrote:  # a commit without changes works on a full disk too
            self.write_faults.worked()
        return self._told(committed), seconds

    @contextlib.contextmanager
    def _reports_faults(self) -> Generator[None]:
        self._written = True
        try:
            yield
        except sqlite3.Error as failure:
            self.write_faults.failed(str(failure))
            raise Unavailable("The database cannot take a change now.") from failure

    def _told(self, committed: Committed) -> list[UnitOutcome]:
        """The outcomes, after the listeners got what their units announced."""
        outcomes, announced, _, _ = committed
        self._committed(len(outcomes))
        if announced:
            for listener in self._listeners:
                listener(announced)
        return outcomes

    async def _scrub(self) -> None:
        # SQLite refuses a checkpoint at once while another one runs.
        async with self._checkpointing:
            if self._unscrubbed:
                self._unscrubbed = False
                if not await self._writer.perform(_truncate, self._turn):
                    self._unscrubbed = True

    async def _last_checkpoint(self) -> None:
        await self._writer.perform(_checkpoint)

    async def _checkpoint(self) -> None:
        """Checkpoint the WAL regularly on the scanner's thread, since SQLite's own checkpoint delays a commit."""
        while True:
            await asyncio.sleep(_CHECKPOINT_EVERY)
            await self._scrub()
            if _is_short(self._reserve):
                await self._writer.perform(_refill, self._turn, self._reserve)
            if self._written:
                self._written = False
                with contextlib.suppress(sqlite3.Error):
                    async with self._checkpointing:
                        await self._scanner.perform(_checkpoint)
