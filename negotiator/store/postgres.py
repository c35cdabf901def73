"""PostgreSQL through asyncpg: serializable transactions, retried, so that units behave as on SQLite.

The unit is synchronous; SQLAlchemy's `run_sync` bridges its statements to the asynchronous driver.
"""

import asyncio
import random
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

from sqlalchemy import Connection, event
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.exc import DBAPIError, InvalidatePoolError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from negotiator.errors import Unavailable
from negotiator.fault_log import FaultLog
from negotiator.store.statement import (
    Query,
    Row,
    Statement,
    Transaction,
    WriteCondition,
    current_write_condition,
)
from negotiator.store.waiting import ConnectionQueue, Priority, StoreLoad

T = TypeVar("T")

_CONDITIONAL = "lock table spent in row share mode"
"""The first statement of a conditional write, as every request's is. LOCK takes no snapshot (PostgreSQL manual, LOCK),
so the check sees every commit before `_ALONE`, or `_ALONE` waits for this write."""
_ALONE = "lock table spent in exclusive mode"
"""Waits for conditional writes, then lets none begin; plain reads go on. A unit that lost a race begins with it, so no
other request changes what it reads, and it does not lose again."""
_ALONE_FROM = 1
"""The attempt from which a unit runs alone."""

_CLOCK = "select cast(extract(epoch from clock_timestamp()) * 1000 as bigint)"
_CONNECTIONS, _RESERVED = 16, 3
"""A process's connections, and those of them that only urgent requests and background work may take."""
CONNECTIONS_PER_PROCESS: Final = _CONNECTIONS + 1
"""With the one for vacuums."""
_ALLOWED = "select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int"
_POOL_PATIENCE = 2.0
_CONNECT_PATIENCE = 3.0
_PING_PATIENCE = 2.0
_STATEMENT_PATIENCE = 8.0
"""Seconds for a free connection, a new one, the check of an open one, and one statement: a database that hangs makes
503, not a queue."""
_ATTEMPTS = 12
_VACUUM_EVERY = 60.0
_AWAY = ("08", "53", "57P")  # connection exceptions, out of resources, shutting down
_RACED = "23505"  # unique_violation: two units numbered a row alike
_AGAIN = {"40001", "40P01", _RACED}  # serialization_failure, deadlock_detected


class SqlTransaction:
    """A transaction on a SQLAlchemy connection."""

    __slots__ = ("_connection", "announced")

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.announced: list[str] = []

    def run(self, statement: Statement, /, **values: Any) -> int:
        return self._connection.exec_driver_sql(*statement.positional(values)).rowcount

    def one(self, query: Query[Row], /, **values: Any) -> Row | None:
        rows = self.all(query, **values)
        return rows[0] if rows else None

    def all(self, query: Query[Row], /, **values: Any) -> list[Row]:
        result = self._connection.exec_driver_sql(*query.positional(values))
        return [query.shape(row) for row in result]

    def announce(self, subject: str) -> None:
        self.announced.append(subject)


class PostgresStore:
    """A PostgreSQL database, shared by any number of processes."""

    def __init__(
        self,
        url: str,
        committed: Callable[[int], None] = lambda _units: None,
        refused: Callable[[], None] = lambda: None,
    ) -> None:
        self._committed = committed
        self._queue = ConnectionQueue(_CONNECTIONS, _RESERVED, refused)
        self._engine = create_async_engine(
            url,
            pool_size=_CONNECTIONS // 2,
            max_overflow=_CONNECTIONS - _CONNECTIONS // 2,
            pool_timeout=_POOL_PATIENCE,
            connect_args={"timeout": _CONNECT_PATIENCE, "command_timeout": _STATEMENT_PATIENCE},
        )
        event.listen(self._engine.sync_engine, "checkout", _ping)
        event.listen(self._engine.sync_engine, "handle_error", _sever)
        self._serializable = self._engine.execution_options(isolation_level="SERIALIZABLE")
        self._read_committed = self._engine.execution_options(isolation_level="READ COMMITTED")
        self._autocommit = self._engine.execution_options(isolation_level="AUTOCOMMIT")
        # A vacuum takes as long as it takes.
        self._unhurried = create_async_engine(url, poolclass=NullPool, isolation_level="AUTOCOMMIT")
        self._vacuumed = -_VACUUM_EVERY
        self._listeners: list[Callable[[Sequence[str]], None]] = []
        self.faults = FaultLog("the database cannot be reached")
        self._repeatable_read = self._engine.execution_options(isolation_level="REPEATABLE READ")

    @property
    def load(self) -> StoreLoad:
        return self._queue.load

    async def start(self) -> None:
        """Do nothing: connections are opened when they are needed."""

    async def read(self, unit: Callable[[Transaction], T]) -> T:
        async with self._queue.turn(), self._reachable(), self._engine.connect() as connection:
            return await connection.run_sync(lambda inner: unit(SqlTransaction(inner)))

    async def scan(self, unit: Callable[[Transaction], T]) -> T:
        async with (
            self._queue.turn(),
            self._reachable(),
            self._repeatable_read.connect() as connection,
        ):
            return await connection.run_sync(lambda inner: unit(SqlTransaction(inner)))

    def listen(self, listener: Callable[[Sequence[str]], None]) -> None:
        self._listeners.append(listener)

    async def write(self, unit: Callable[[Transaction], T]) -> T:
        """Run a unit, again after each serialization failure; 503 after the last attempt.

        A duplicate key is retried too, since PostgreSQL may report a serialization failure so (PostgreSQL manual,
        "Serialization Failure Handling"); if it persists, it is the unit's own error and is raised.
        """
        check = current_write_condition()
        raced: DBAPIError | None = None
        for attempt in range(_ATTEMPTS):
            try:
                async with (
                    self._queue.turn(),
                    self._reachable(),
                    self._serializable.begin() as connection,
                ):
                    if attempt >= _ALONE_FROM:
                        await connection.exec_driver_sql(_ALONE)
                    result, announced = await connection.run_sync(_run, unit, check)
                self._committed(1)
            except DBAPIError as failure:
                state = getattr(failure.orig, "sqlstate", None)
                if state not in _AGAIN:
                    raise
                raced = failure if state == _RACED else None
                await asyncio.sleep(random.uniform(0, 0.002 * 2**attempt))  # noqa: S311  jitter, not a secret
            else:
                if announced:
                    await self._announce(announced)
                return result
        if raced is not None:
            raise raced
        raise Unavailable("The database is too busy to take a change now.")

    async def write_unserialized(self, unit: Callable[[Transaction], T]) -> T:
        """Run at READ COMMITTED, which waits for a locked row; serializable units on one row mostly fail."""
        async with (
            self._queue.turn(),
            self._reachable(),
            self._read_committed.begin() as connection,
        ):
            result = await connection.run_sync(lambda inner: unit(SqlTransaction(inner)))
        self._committed(1)
        return result

    def expected_wait(self, priority: Priority) -> float:
        return self._queue.expected_wait(priority)

    async def _announce(self, announced: Sequence[str]) -> None:
        """Wait for the conditional writes that began before the commit, then call the listeners."""
        async with (
            self._queue.turn(),
            self._reachable(),
            self._read_committed.begin() as connection,
        ):
            await connection.exec_driver_sql(_ALONE)
        for listener in self._listeners:
            listener(announced)

    async def clock(self) -> int:
        async with self._queue.turn(), self._reachable(), self._autocommit.connect() as connection:
            return int((await connection.exec_driver_sql(_CLOCK)).scalar_one())

    async def scrub(self) -> None:
        """`VACUUM`: frees the space of deleted rows for others. Nothing overwrites them or the WAL at once.

        At most once a minute; rows deleted in between are left to the next run or to autovacuum.
        """
        now = asyncio.get_running_loop().time()
        if now < self._vacuumed + _VACUUM_EVERY:
            return
        self._vacuumed = now
        async with self._reachable(), self._unhurried.connect() as connection:
            await connection.exec_driver_sql("vacuum (skip_locked)")

    async def close(self) -> None:
        await self._engine.dispose()

    @asynccontextmanager
    async def _reachable(self) -> AsyncGenerator[None]:
        """Raise `Unavailable` when the database cannot be reached, and log when that begins and ends."""
        try:
            yield
        except (OSError, PoolTimeout) as away:
            raise self._away(away) from away
        except DBAPIError as failure:
            if _is_away(failure):
                raise self._away(failure) from failure
            self.faults.worked()
            raise
        else:
            self.faults.worked()

    def _away(self, fault: Exception) -> Unavailable:
        self.faults.failed(next(iter(str(fault).splitlines()), "") or "no answer in time")
        return Unavailable("The database cannot be reached now.")


async def allowed_connections(url: str) -> int:
    """How many connections of services the database allows."""
    engine = create_async_engine(url, poolclass=NullPool)
    async with engine.connect() as connection:
        return int((await connection.exec_driver_sql(_ALLOWED)).scalar_one())


def _ping(connection: Any, _record: object, _proxy: object) -> None:
    """Called with each connection that the pool hands out: if it does not answer, the pool opens new ones.

    SQLAlchemy's own check opens and closes a transaction around it, and waits as long as for a statement.
    """

    def ask(driver: Any) -> Any:
        return driver.execute("select 1", timeout=_PING_PATIENCE)

    try:
        connection.run_async(ask)
    except Exception as away:
        connection.driver_connection.terminate()
        raise InvalidatePoolError from away


def _sever(context: ExceptionContext) -> None:
    """Called with each error: a connection that did not answer in time is not used again, even to roll back."""
    if isinstance(context.original_exception, TimeoutError):
        context.is_disconnect, context.invalidate_pool_on_disconnect = True, False


def _run(
    connection: Connection, unit: Callable[[Transaction], T], check: WriteCondition | None
) -> tuple[T, list[str]]:
    """The unit's result and the subjects it announced."""
    transaction = SqlTransaction(connection)
    if check is not None:
        connection.exec_driver_sql(_CONDITIONAL)
        check(transaction)
    return unit(transaction), transaction.announced


def _is_away(failure: DBAPIError) -> bool:
    """Whether the driver's error means that the database cannot be reached."""
    state = getattr(failure.orig, "sqlstate", None) or ""
    return failure.connection_invalidated or state.startswith(_AWAY)
