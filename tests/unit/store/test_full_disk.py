"""A store on a full disk, and its end."""

import sqlite3
import threading
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from negotiator.runtime import fault_log
from negotiator.store import atomic_updates, sqlite
from negotiator.store.sqlite import SqliteStore


@pytest.mark.asyncio
async def test_a_checkpoint_that_fails_at_the_end_is_a_log_line_and_everything_closes(
    tmp_path: Path, migrated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "full.db"
    path.write_bytes(migrated.read_bytes())
    before = set(threading.enumerate())

    def fail(_connection: sqlite3.Connection) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(sqlite, "_checkpoint", fail)
    monkeypatch.setattr(fault_log, "log", fault_log.logger(fault_log.__name__))
    store = SqliteStore(f"sqlite+aiosqlite:///{path}")
    await store.start()
    started = set(threading.enumerate()) - before
    assert started
    assert all(thread.daemon for thread in started), "none keeps a command from ending"
    with capture_logs() as lines:
        await store.close()
    assert [line["error"] for line in lines] == ["database or disk is full"]
    for thread in started:
        thread.join(10)
        assert not thread.is_alive()


@pytest.mark.asyncio
async def test_a_unit_that_changes_nothing_ends_no_fault(tmp_path: Path, migrated: Path) -> None:
    path = tmp_path / "full.db"
    path.write_bytes(migrated.read_bytes())
    store = SqliteStore(f"sqlite+aiosqlite:///{path}")
    await store.start()
    store.write_faults.failed("database or disk is full")
    await store.write(lambda _tx: None)
    assert store.write_faults.error
    await store.write(lambda tx: atomic_updates.spend(tx, "test", "code", expires_at=1 << 50))
    assert not store.write_faults.error
    await store.close()
