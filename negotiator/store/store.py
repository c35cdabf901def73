"""The door: what every slice sees of the database, and how one is opened."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from negotiator.store.postgres import PostgresStore
from negotiator.store.sqlite import SqliteStore
from negotiator.store.statement import Transaction

T = TypeVar("T")
Unit = Callable[[Transaction], T]


class Store(Protocol):
    """One database. A unit that returns is durable when the call returns; a unit that raises left nothing."""

    async def start(self) -> None:
        """Open the database; it must have been migrated."""
        ...

    async def read(self, unit: Unit[T]) -> T:
        """Run a short, indexed read. It may run on the event loop: keep it in microseconds."""
        ...

    async def scan(self, unit: Unit[T]) -> T:
        """Run a read that takes its time, off the event loop, on one snapshot."""
        ...

    async def write(self, unit: Unit[T]) -> T:
        """Run one atomic change; durable when this returns. Never two at once on the same rows.

        Inside `conditions.require` the condition is checked in the same transaction. When a write that announces
        something returns, no write whose condition was checked before it is still under way, in any process.
        """
        ...

    def listen(self, listener: Callable[[Sequence[str]], None]) -> None:
        """Have `listener` called with the announced subjects after each commit, before its writers get their answer."""
        ...

    async def write_unserialized(self, unit: Unit[T]) -> T:
        """Run a change whose every statement is exact by itself, like `moves.bump`: many may be at one row at once.

        Unlike `write` it is not promised that what the unit read is still so when it writes.
        """
        ...

    async def scrub(self) -> None:
        """See to it that what was deleted so far is in none of the database's files, as far as its engine lets us.

        SQLite: exactly so when this returns, or as soon as the longest read that is under way has ended.
        PostgreSQL: space is made free for others' rows; docs/operations.md says what stays, and for how long.
        """
        ...

    async def close(self) -> None:
        """Finish what was begun and let go of the database."""
        ...


def make_store(url: str, *, committed: Callable[[int], None] = lambda _units: None) -> Store:
    """The store of this SQLAlchemy URL, not yet started; `committed` is told how many units each commit held."""
    kind = SqliteStore if url.startswith("sqlite") else PostgresStore
    return kind(url, committed)
