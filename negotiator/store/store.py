"""The store's interface, which every slice uses, and the function that opens a store."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from negotiator.runtime.fault_log import FaultLog
from negotiator.store.sqlite import SqliteStore
from negotiator.store.statement import Transaction
from negotiator.store.waiting import Priority, StoreLoad

T = TypeVar("T")
Unit = Callable[[Transaction], T]


class Store(Protocol):
    """One database. The changes of a unit are durable when the call returns; a unit that raises changes nothing."""

    faults: FaultLog
    """The log of a database that does not answer, for whoever notices."""
    write_faults: FaultLog
    """Its `error` is not empty while the database answers but takes no changes: a full or read-only disk."""

    @property
    def load(self) -> StoreLoad:
        """What runs and what waits in this process now."""
        ...

    async def start(self) -> None:
        """Open the database; it must have been migrated."""
        ...

    async def read(self, unit: Unit[T]) -> T:
        """Run a short, indexed read. It may run on the event loop and so must take microseconds only."""
        ...

    async def scan(self, unit: Unit[T]) -> T:
        """Run a longer read off the event loop, on one snapshot."""
        ...

    async def write(self, unit: Unit[T]) -> T:
        """Run one atomic change, serializable to all others; durable when this returns.

        Within a request, `Unavailable` when it would wait longer than a second (`waiting`).

        Inside `write_condition` the condition is checked in the same transaction. When a write that announces something
        returns, every write whose condition was checked before it has ended, in any process.
        """
        ...

    def listen(self, listener: Callable[[Sequence[str]], None]) -> None:
        """Call `listener` with the announced subjects after each commit, before its writes return."""
        ...

    async def write_unserialized(self, unit: Unit[T]) -> T:
        """Run a change whose every statement is exact by itself, like `charge_budget`; many may change one row at once.

        Unlike `write`, what the unit read may have changed before it writes.
        """
        ...

    async def clock(self) -> int:
        """The database's own clock, in milliseconds since the epoch; SQLite has the machine's."""
        ...

    def expected_wait(self, priority: Priority) -> float:
        """Seconds that a request of this priority would wait for the database now."""
        ...

    async def scrub(self) -> None:
        """Remove deleted rows from the database's files, as far as the engine allows.

        SQLite: done when this returns, or when the longest current read has ended. PostgreSQL: the space is freed for
        other rows; console/guides/operations.md says what remains, and for how long.
        """
        ...

    async def close(self) -> None:
        """Finish the pending writes and close the database."""
        ...


def make_store(
    url: str,
    *,
    committed: Callable[[int], None] = lambda _units: None,
    refused: Callable[[], None] = lambda: None,
    connections: int = 16,
) -> Store:
    """The store of this SQLAlchemy URL, not yet started.

    `committed` is called with each commit's number of units, `refused` for each request that would wait too long.
    `connections` is the most that a PostgreSQL server gets from this process.
    """
    if url.startswith("sqlite"):
        return SqliteStore(url, committed, refused)
    from negotiator.store.postgres import PostgresStore  # imported here: a file needs none

    return PostgresStore(url, committed, refused, connections)
