"""PostgreSQL through asyncpg: serializable transactions, retried, so that units behave as on SQLite.

A unit is synchronous: it runs in a greenlet, which waits for each of its statements. Units that arrive during a commit
share the next one. Reasons and measurements: docs/decisions/0001-store.md.
"""

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, TypeVar

import asyncpg  # pyright: ignore[reportMissingTypeStubs]
from sqlalchemy import Insert, Select, Table, TextClause, text
from sqlalchemy.dialects.postgresql.asyncpg import PGCompiler_asyncpg, PGDialect_asyncpg
from sqlalchemy.util.concurrency import await_, greenlet_spawn

from negotiator.base.errors import Unavailable
from negotiator.runtime.fault_log import FaultLog
from negotiator.runtime.tracing import traced
from negotiator.store.postgres_connections import DRIVER_FAULTS, PostgresConnections
from negotiator.store.statement import (
    PositionalText,
    Query,
    Row,
    RowInsertion,
    Statement,
    Transaction,
    Values,
    under_write_condition,
)
from negotiator.store.waiting import Batch, Priority, StoreLoad, UnitOutcome, UnitQueue

T = TypeVar("T")

_BEGIN: Final = "begin isolation level serializable; lock table spent in row share mode"
"""How every write begins. LOCK takes no snapshot (PostgreSQL manual, LOCK), so the check of a conditional write sees
every commit before `_ALONE`, or `_ALONE` waits for this write."""
_ALONE: Final = "lock table spent in exclusive mode"
"""Waits for the other writes, then lets none begin; reads go on. Units that lost a race begin with it, so nobody
changes what they read, and they do not lose again."""
_BEGIN_ALONE: Final = f"begin isolation level serializable; {_ALONE}"
_BEGIN_SCAN: Final = "begin isolation level repeatable read read only"
_BEGIN_UNSERIALIZED: Final = "begin isolation level read committed"

_CLOCK: Final = Query(
    text("select cast(extract(epoch from clock_timestamp()) * 1000 as bigint)"), lambda row: int(row[0])
)
_BATCH: Final = 64
_BATCHES_AT_ONCE: Final = 2
"""More would be smaller and would lose more races to each other; one long unit should not make every other one wait."""
_ATTEMPTS = 12
_VACUUM_EVERY = 60.0
_RACED: Final = "23505"  # unique_violation: two units numbered a row alike
_TAKES_NO_CHANGES: Final = {"53100", "25006"}  # disk_full, read_only_sql_transaction
_AGAIN: Final = {"40001", "40P01", _RACED}  # serialization_failure, deadlock_detected


class _Compiler(PGCompiler_asyncpg):
    """Takes SQLite's `ON CONFLICT`, which names columns and never a constraint, and notes the tables."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.tables: set[str] = set()
        self.has_text = False
        self._untyped: Any = super()  # SQLAlchemy's compilers have no types
        super().__init__(*arguments, **options)

    def visit_table(self, table: Table, *arguments: Any, **options: Any) -> str:
        self.tables.add(table.name)
        return self._untyped.visit_table(table, *arguments, **options)

    def visit_insert(self, insert_stmt: Insert, *arguments: Any, **options: Any) -> str:
        found: Any = insert_stmt.table
        self.tables |= {found.name, *(key.column.table.name for key in found.foreign_keys)}
        return self._untyped.visit_insert(insert_stmt, *arguments, **options)

    def visit_textclause(self, textclause: TextClause, *arguments: Any, **options: Any) -> str:
        self.has_text = True
        return self._untyped.visit_textclause(textclause, *arguments, **options)

    def visit_on_conflict_do_nothing(self, on_conflict: Any, **options: Any) -> str:
        on_conflict.constraint_target = None
        return self._untyped.visit_on_conflict_do_nothing(on_conflict, **options)

    def visit_on_conflict_do_update(self, on_conflict: Any, **options: Any) -> str:
        on_conflict.constraint_target = None
        return self._untyped.visit_on_conflict_do_update(on_conflict, **options)


class PostgresDialect(PGDialect_asyncpg):
    """The dialect of the statements."""

    statement_compiler = _Compiler
    supports_statement_cache = True


_DIALECT: Final = PostgresDialect()


def positional_text(statement: Statement) -> PositionalText:
    """The statement as PostgreSQL gets it; compiled when it first runs."""
    if statement.positional is None:
        made: Any = statement.compiled(_DIALECT)
        tables = None if made.has_text else frozenset(made.tables)
        statement.positional = PositionalText(str(made), tuple(made.positiontup or ()), tables)
    return statement.positional


class UnitUndone(Exception):
    """A unit raised after it had changed something: its transaction has to be rolled back."""

    def __init__(self, raised: Exception) -> None:
        super().__init__()
        self.raised = raised


class PostgresTransaction:
    """A transaction on an asyncpg connection; used in a greenlet.

    With `defers`, rows to insert are sent when a statement names their table or the transaction ends, together with
    those of other units for the same table.
    """

    __slots__ = (*("_changed", "_connection", "_deferred", "_defers", "_kept", "_told"), "announced")

    def __init__(self, connection: Any, *, defers: bool = False) -> None:
        self._connection = connection
        self._defers = defers
        self._deferred: list[tuple[RowInsertion, tuple[Any, ...]]] = []
        self.announced: list[str] = []
        self._changed = False
        """Whether the current unit has changed something in the database."""
        self._kept = 0
        """The number of deferred rows of the units before it."""
        self._told = 0

    def run(self, statement: Statement, /, **values: Any) -> int:
        text, arguments = _prepared(statement, values)
        if self._defers and isinstance(statement, RowInsertion) and not statement.table.foreign_keys:
            self._deferred.append((statement, arguments))
            return 1
        self._send_named(statement)
        self._changed = True
        status = await_(self._connection.execute(text, *arguments))
        return int(status.rpartition(" ")[2])

    def one(self, query: Query[Row], /, **values: Any) -> Row | None:
        rows = self._fetch(query, values)
        return query.shape(rows[0]) if rows else None

    def all(self, query: Query[Row], /, **values: Any) -> list[Row]:
        return list(map(query.shape, self._fetch(query, values)))

    def announce(self, subject: str) -> None:
        self.announced.append(subject)

    def begin_unit(self) -> None:
        self._changed, self._kept, self._told = False, len(self._deferred), len(self.announced)

    def undo_unit(self) -> bool:
        """Drop what the current unit deferred and announced; False when more has to be undone."""
        del self._deferred[self._kept :], self.announced[self._told :]
        return not self._changed

    def send_deferred(self) -> None:
        """Insert the deferred rows: one round trip for each statement, in the order in which they were first used."""
        if len(self._deferred) > self._kept:
            self._changed = True
        rows: dict[RowInsertion, list[tuple[Any, ...]]] = {}
        for statement, arguments in self._deferred:
            rows.setdefault(statement, []).append(arguments)
        self._deferred.clear()
        self._kept = 0
        for statement, each in rows.items():
            text = positional_text(statement).text
            if len(each) == 1:
                await_(self._connection.execute(text, *each[0]))
            else:
                await_(self._connection.executemany(text, each))

    def _fetch(self, query: Query[Any], values: Values) -> list[Any]:
        text, arguments = _prepared(query, values)
        self._send_named(query)
        if not isinstance(query.clause, Select):
            self._changed = True
        return await_(self._connection.fetch(text, *arguments))

    def _send_named(self, statement: Statement) -> None:
        """Send the deferred rows if the statement may see them."""
        if self._deferred:
            tables = positional_text(statement).tables
            if tables is None or any(each.table.name in tables for each, _ in self._deferred):
                self.send_deferred()


def _prepared(statement: Statement, values: Values) -> tuple[str, tuple[Any, ...]]:
    text, names, _ = positional_text(statement)
    bound = statement.bound(values)
    return text, tuple(bound[name] for name in names)


class PostgresStore:
    """A PostgreSQL database, shared by any number of processes."""

    def __init__(
        self,
        url: str,
        committed: Callable[[int], None] = lambda _units: None,
        refused: Callable[[], None] = lambda: None,
        connections: int = 16,
    ) -> None:
        self._committed = committed
        self._connections = PostgresConnections(url, connections, refused)
        self._writes = UnitQueue(self._write_batch, refused, size=_BATCH, at_once=min(_BATCHES_AT_ONCE, connections))
        self._vacuumed = -_VACUUM_EVERY
        self._listeners: list[Callable[[Sequence[str]], None]] = []
        self.faults = self._connections.faults
        self.write_faults = FaultLog("the database takes no changes")

    @property
    def load(self) -> StoreLoad:
        return self._connections.queue.load

    async def start(self) -> None:
        """Do nothing: connections are opened when they are needed."""

    @traced("read")
    async def read(self, unit: Callable[[Transaction], T]) -> T:
        """Each statement is a transaction of its own, as on SQLite, and one round trip."""
        if self._connections.pooled:
            return await self._run(_BEGIN_UNSERIALIZED, unit)
        async with self._connections.one() as connection:
            return await greenlet_spawn(unit, PostgresTransaction(connection))

    @traced("scan")
    async def scan(self, unit: Callable[[Transaction], T]) -> T:
        return await self._run(_BEGIN_SCAN, unit)

    def listen(self, listener: Callable[[Sequence[str]], None]) -> None:
        self._listeners.append(listener)

    @traced("write")
    async def write(self, unit: Callable[[Transaction], T]) -> T:
        return await self._writes.run(under_write_condition(unit))

    @traced("write")
    async def write_unserialized(self, unit: Callable[[Transaction], T]) -> T:
        """Run at READ COMMITTED, which waits for a locked row; serializable units on one row mostly fail."""
        result = await self._run(_BEGIN_UNSERIALIZED, unit)
        self._committed(1)
        return result

    def expected_wait(self, priority: Priority) -> float:
        return max(self._connections.queue.expected_wait(priority), self._writes.expected_wait(priority))

    async def clock(self) -> int:
        return await self.read(lambda tx: tx.one(_CLOCK)) or 0

    async def scrub(self) -> None:
        """`VACUUM`: frees the space of deleted rows for others. Nothing overwrites them or the WAL at once.

        At most once a minute; rows deleted in between are left to the next run or to autovacuum.
        """
        now = asyncio.get_running_loop().time()
        if now < self._vacuumed + _VACUUM_EVERY:
            return
        self._vacuumed = now
        async with self._connections.unhurried() as driver:
            await driver.execute("vacuum (skip_locked)")

    async def close(self) -> None:
        await self._writes.close()
        await self._connections.close()

    async def _run(self, begin: str, unit: Callable[[Transaction], T]) -> T:
        """Run a unit in a transaction of its own."""
        return await self._transact(begin, lambda connection: unit(PostgresTransaction(connection)))

    async def _transact(self, begin: str, work: Callable[[Any], T]) -> T:
        async with self._connections.one() as connection:
            try:
                await connection.execute(begin)
                result = await greenlet_spawn(work, connection)
                await connection.execute("commit")
            except Exception as failure:
                await _roll_back(connection, failure)
                raise
            return result

    async def _write_batch(self, batch: Batch) -> tuple[list[UnitOutcome], float]:
        """Commit units together; when one of several cannot be kept, each by itself."""
        began = time.monotonic()
        try:
            return await self._commit(batch), time.monotonic() - began
        except UnitUndone as undone:
            if len(batch) == 1:
                return [(None, undone.raised)], time.monotonic() - began
        except asyncpg.PostgresError:
            if len(batch) == 1:
                raise
        outcomes: list[UnitOutcome] = []
        for unit in batch:
            try:
                outcomes += await self._commit([unit])
            except UnitUndone as undone:
                outcomes.append((None, undone.raised))
            except asyncpg.PostgresError as failure:
                outcomes.append((None, failure))
            except Exception as failure:
                # The database is away; it would be for every further unit, each in its own time-out.
                outcomes += [(None, failure)] * (len(batch) - len(outcomes))
                break
        return outcomes, time.monotonic() - began

    async def _commit(self, batch: Batch) -> list[UnitOutcome]:
        """Run units in one transaction, again after each serialization failure; 503 after the last attempt.

        A duplicate key of a unit that runs by itself is retried too, since PostgreSQL may report a serialization
        failure so (PostgreSQL manual, "Serialization Failure Handling"); if it persists, it is the unit's own error.
        """
        raced: asyncpg.PostgresError | None = None
        for attempt in range(_ATTEMPTS):
            try:
                begin = _BEGIN_ALONE if attempt else _BEGIN
                outcomes, announced = await self._transact(begin, partial(_run_batch, batch))
            except asyncpg.PostgresError as failure:
                state = getattr(failure, "sqlstate", None)
                if state in _TAKES_NO_CHANGES:
                    self.write_faults.failed(str(failure))
                    raise Unavailable("The database cannot take a change now.") from failure
                if state not in _AGAIN or (state == _RACED and len(batch) > 1):
                    raise
                raced = failure if state == _RACED else None
                await asyncio.sleep(random.uniform(0, 0.002 * 2**attempt))  # noqa: S311  jitter, not a secret
            else:
                self.write_faults.worked()
                self._committed(len(batch))
                if announced:
                    await self._announce(announced)
                return outcomes
        if raced is not None:
            raise raced
        raise Unavailable("The database is too busy to take a change now.")

    async def _announce(self, announced: Sequence[str]) -> None:
        """Wait for the writes that began before the commit, then call the listeners."""
        async with self._connections.one() as connection:
            await connection.execute(f"begin; {_ALONE}; commit")
        for listener in self._listeners:
            listener(announced)


def _run_batch(batch: Batch, connection: Any) -> tuple[list[UnitOutcome], list[str]]:
    """The outcomes of the units and the subjects that they announced."""
    transaction = PostgresTransaction(connection, defers=True)
    outcomes: list[UnitOutcome] = []
    for unit in batch:
        transaction.begin_unit()
        try:
            outcomes.append((unit(transaction), None))
        except DRIVER_FAULTS:
            raise
        except Exception as raised:
            if not transaction.undo_unit():
                raise UnitUndone(raised) from raised
            outcomes.append((None, raised))
    transaction.send_deferred()
    return outcomes, transaction.announced


async def _roll_back(connection: Any, failure: Exception) -> None:
    """Undo the transaction, unless the connection did not answer in time: to ask it again would take as long again."""
    if isinstance(failure, TimeoutError):
        connection.terminate()
    elif not connection.is_closed() and connection.is_in_transaction():
        await connection.execute("rollback")
