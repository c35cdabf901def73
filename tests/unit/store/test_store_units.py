"""Units on SQLite: returning keeps, raising undoes, and no unit of a shared commit touches another."""

import asyncio
from pathlib import Path

import pytest

from negotiator.base import values
from negotiator.base.errors import Conflict
from negotiator.store import atomic_updates
from negotiator.store.sqlite import SqliteStore
from negotiator.store.statement import Transaction
from tests.helpers.sweep import sweep

LATER = 1 << 50


def spent(tx: Transaction, value: str) -> bool:
    """Spend `value`; False when it was spent before."""
    return atomic_updates.spend(tx, "test", value, expires_at=LATER)


def failing(tx: Transaction, value: str) -> None:
    """Spend `value`, then refuse."""
    assert spent(tx, value)
    raise Conflict("No.")


@pytest.mark.asyncio
async def test_returning_keeps_what_a_unit_did(store: SqliteStore) -> None:
    assert await store.write(lambda tx: spent(tx, "a"))
    assert not await store.write(lambda tx: spent(tx, "a"))


@pytest.mark.asyncio
async def test_raising_undoes_what_a_unit_did(store: SqliteStore) -> None:
    with pytest.raises(Conflict):
        await store.write(lambda tx: failing(tx, "a"))
    assert await store.write(lambda tx: spent(tx, "a"))


@pytest.mark.asyncio
async def test_units_of_one_commit_are_undone_one_by_one(store: SqliteStore) -> None:
    jobs = [
        store.write(lambda tx, n=number: failing(tx, f"{n}") if n % 2 else spent(tx, f"{n}")) for number in range(20)
    ]
    outcomes = await asyncio.gather(*jobs, return_exceptions=True)
    assert [isinstance(outcome, Conflict) for outcome in outcomes] == [bool(number % 2) for number in range(20)]
    again = [await store.write(lambda tx, n=number: spent(tx, f"{n}")) for number in range(20)]
    assert again == [bool(number % 2) for number in range(20)]


@pytest.mark.asyncio
async def test_a_unit_sees_what_the_one_before_it_in_the_same_commit_did(store: SqliteStore) -> None:
    outcomes = await asyncio.gather(*(store.write(lambda tx: spent(tx, "a")) for _ in range(50)))
    assert outcomes.count(True) == 1


@pytest.mark.asyncio
async def test_of_many_stores_on_one_file_one_spends(store: SqliteStore, tmp_path: Path) -> None:
    other = SqliteStore(f"sqlite+aiosqlite:///{tmp_path / 'store.db'}")
    await other.start()
    both = [door.write(lambda tx: spent(tx, "a")) for door in (store, other) * 10]
    outcomes = await asyncio.gather(*both)
    await other.close()
    assert outcomes.count(True) == 1


@pytest.mark.asyncio
async def test_what_was_written_is_read_at_once_and_survives_the_store(store: SqliteStore, tmp_path: Path) -> None:
    def bump(tx: Transaction) -> int | None:
        return atomic_updates.charge_budget(tx, "key", now=1000, interval=10, burst=2)

    assert [await store.write(bump) for _ in range(3)] == [1010, 1020, None]
    assert await store.read(lambda tx: atomic_updates.read_budget(tx, "key")) == 1020
    assert await store.scan(lambda tx: atomic_updates.read_budget(tx, "key")) == 1020
    other = SqliteStore(f"sqlite+aiosqlite:///{tmp_path / 'store.db'}")
    await other.start()
    assert await other.read(lambda tx: atomic_updates.read_budget(tx, "key")) == 1020
    await other.close()


@pytest.mark.asyncio
async def test_the_sweep_forgets_what_is_over_and_nothing_else(store: SqliteStore) -> None:
    await store.write(lambda tx: atomic_updates.spend(tx, "test", "old", expires_at=10))
    await store.write(lambda tx: atomic_updates.spend(tx, "test", "new", expires_at=LATER))
    await store.write(lambda tx: sweep(tx, 10 + values.DAY))
    assert await store.write(lambda tx: spent(tx, "old"))
    assert not await store.write(lambda tx: spent(tx, "new"))
