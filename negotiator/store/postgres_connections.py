"""Connections to a PostgreSQL server: how they are opened, checked, shared and given up.

`?pooler=transaction` in the database's URL says that a pooler such as pgBouncer may give each transaction another
connection of the server: then nothing is prepared beyond a transaction, and single statements run in one as well.
"""

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any, Final

import asyncpg  # pyright: ignore[reportMissingTypeStubs]
from sqlalchemy import URL
from sqlalchemy.dialects.postgresql import asyncpg as dialect
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

from negotiator.base.errors import Unavailable
from negotiator.runtime.fault_log import FaultLog
from negotiator.store.waiting import ConnectionQueue

_connect: Any = getattr(asyncpg, "connect")  # noqa: B009  without types
DRIVER_FAULTS: Final = (*(OSError, asyncpg.PostgresError, asyncpg.InterfaceError), asyncpg.InternalClientError)
"""What the driver raises; the last one when the server ends a connection just before it is used."""
_UNUSABLE: Final = TimeoutError, asyncpg.InternalClientError
_POOLER: Final = "pooler"
_RESERVED: Final = 3
"""Connections of a process that only urgent requests and background work may take."""
_CONNECT_PATIENCE = 3.0
_PING_PATIENCE = 2.0
_STATEMENT_PATIENCE = 8.0
"""Seconds for a new connection, the check of an open one, and one statement: a database that hangs makes 503, not a
queue."""
_FRESH: Final = 1.0
"""Seconds after an answer in which a connection is used again unchecked."""
_GOODBYE: Final = 1.0
_STATEMENTS: Final = 400
"""Prepared statements of a connection; the whole package has about 300."""
_AWAY: Final = ("08", "53", "57P")  # connection exceptions, out of resources, shutting down


def is_pooled(url: str) -> bool:
    """Whether a pooler gives each transaction a connection of its own."""
    return make_url(url).query.get(_POOLER) == "transaction"


def _direct(url: str) -> URL:
    return make_url(url).difference_update_query([_POOLER])


@asynccontextmanager
async def one_transaction(url: str, **execution_options: Any) -> AsyncGenerator[AsyncConnection]:
    """A connection of SQLAlchemy in a transaction, for the seldom uses of a server: migrations and backups."""
    options: dict[str, Any] = {}
    if is_pooled(url):
        # The unnamed statement, which belongs to no connection of the pooler longer than a transaction.
        unnamed = {"prepared_statement_cache_size": 0, "prepared_statement_name_func": str}
        options["connect_args"] = {"statement_cache_size": 0, **unnamed}
    engine = create_async_engine(_direct(url), execution_options=execution_options, **options)
    try:
        async with engine.begin() as connection:
            yield connection
    finally:
        await engine.dispose()


class PostgresConnections:
    """At most `size` connections of one process; those who wait are served by priority."""

    def __init__(self, url: str, size: int, refused: Callable[[], None]) -> None:
        self.queue = ConnectionQueue(size, min(_RESERVED, size - 1), refused)
        self.faults = FaultLog("the database cannot be reached")
        self.pooled = is_pooled(url)
        _, self._arguments = dialect.dialect().create_connect_args(_direct(url))
        self._idle: list[tuple[Any, float]] = []
        """With the monotonic time of its last answer; the most recently used one last."""
        self._closed = False

    @asynccontextmanager
    async def one(self) -> AsyncGenerator[Any]:
        """asyncpg's connection, alone; `Unavailable` when there is none in a second or the database cannot be reached.

        One that fails, that did not answer in time or that is left in a transaction is not used again.
        """
        async with self.queue.turn():
            connection = None
            try:
                connection = await self._take()
                yield connection
            except DRIVER_FAULTS as failure:
                if isinstance(failure, _UNUSABLE) and connection is not None:
                    connection.terminate()
                if _is_away(failure, connection):
                    raise self._away(failure) from failure
                self.faults.worked()
                raise
            except BaseException as ended:
                # A statement that was cancelled may still run.
                if not isinstance(ended, Exception) and connection is not None:
                    connection.terminate()
                raise
            else:
                self.faults.worked()
            finally:
                if connection is not None:
                    self._give(connection)

    async def open(self, *, patience: float | None = None) -> Any:
        """A new connection, whose statements may take so many seconds; None: as long as they take."""
        size = 0 if self.pooled else _STATEMENTS
        return await _connect(
            **{
                **self._arguments,
                "timeout": _CONNECT_PATIENCE,
                "command_timeout": patience,
                "statement_cache_size": size,
                "max_cached_statement_lifetime": 0,
            }
        )

    @asynccontextmanager
    async def unhurried(self) -> AsyncGenerator[Any]:
        """A connection beside the others, for one statement that takes as long as it takes."""
        try:
            connection = await self.open()
        except DRIVER_FAULTS as failure:
            raise self._away(failure) from failure
        try:
            yield connection
        finally:
            connection.terminate()

    async def close(self) -> None:
        self._closed = True
        while self._idle:
            connection, _ = self._idle.pop()
            try:
                await connection.close(timeout=_GOODBYE)
            except DRIVER_FAULTS:
                connection.terminate()

    async def _take(self) -> Any:
        while self._idle:
            connection, answered = self._idle.pop()
            if connection.is_closed():
                continue
            if time.monotonic() - answered < _FRESH:
                return connection
            try:
                await connection.execute("select 1", timeout=_PING_PATIENCE)
            except BaseException as silent:
                connection.terminate()
                if not isinstance(silent, Exception):
                    raise
                while self._idle:  # they will not answer either
                    self._idle.pop()[0].terminate()
            else:
                return connection
        return await self.open(patience=_STATEMENT_PATIENCE)

    def _give(self, connection: Any) -> None:
        if connection.is_closed():
            return
        if self._closed or connection.is_in_transaction():
            connection.terminate()
        else:
            self._idle.append((connection, time.monotonic()))

    def _away(self, fault: Exception) -> Unavailable:
        self.faults.failed(next(iter(str(fault).splitlines()), "") or "no answer in time")
        return Unavailable("The database cannot be reached now.")


def _is_away(failure: Exception, connection: Any) -> bool:
    """Whether the driver's error means that the database cannot be reached."""
    if isinstance(failure, OSError) or connection is None or connection.is_closed():
        return True
    return (getattr(failure, "sqlstate", None) or "").startswith(_AWAY)
