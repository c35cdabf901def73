"""After a scrub, what was deleted is in none of the database's files."""

import asyncio
from pathlib import Path

import pytest

from negotiator.base import values
from negotiator.store import atomic_updates
from negotiator.store.sqlite import SqliteStore
from negotiator.store.statement import Transaction
from tests.helpers.sweep import sweep

_WORD = "zanzibar-" * 12
_LATER = 1 << 50


def _spend(tx: Transaction) -> None:
    for number in range(200):
        atomic_updates.spend(tx, "test", f"{_WORD}{number}", expires_at=_LATER)


def _files(path: Path) -> bytes:
    return b"".join(each.read_bytes() for each in path.parent.glob(f"{path.name}*"))


@pytest.mark.asyncio
async def test_a_scrub_leaves_no_byte_of_what_was_deleted(store: SqliteStore, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    await store.write(_spend)
    await store.write(lambda tx: sweep(tx, _LATER + values.DAY))
    assert _WORD.encode() in _files(path), "the log still has it"
    await store.scrub()
    assert _WORD.encode() not in _files(path)


@pytest.mark.asyncio
async def test_a_scrub_that_a_reader_holds_up_is_made_good_when_he_is_done(tmp_path: Path, migrated: Path) -> None:
    path = tmp_path / "scrub.db"
    path.write_bytes(migrated.read_bytes())
    url = f"sqlite+aiosqlite:///{path}"
    store, other = SqliteStore(url), SqliteStore(url)
    await store.start()
    await other.start()
    await store.write(_spend)
    done = asyncio.Event()
    loop = asyncio.get_running_loop()

    def hold(tx: Transaction) -> None:
        atomic_updates.read_budget(tx, "anything")
        loop.call_soon_threadsafe(done.set)
        asyncio.run_coroutine_threadsafe(release.wait(), loop).result()

    release = asyncio.Event()
    reading = asyncio.create_task(other.scan(hold))
    await done.wait()
    await store.write(lambda tx: sweep(tx, _LATER + values.DAY))
    await store.scrub()
    assert _WORD.encode() in _files(path), "a reader still needs the log"
    release.set()
    await reading
    await other.close()
    await store.close()
    assert _WORD.encode() not in _files(path)
