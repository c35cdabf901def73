"""A store on a full disk, what is still kept there, and its end."""

import shutil
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from typing import Final

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
async def test_a_unit_that_changes_nothing_ends_no_fault(store: SqliteStore) -> None:
    store.write_faults.failed("database or disk is full")
    await store.write(lambda _tx: None)
    assert store.write_faults.error
    await store.write(lambda tx: atomic_updates.spend(tx, "test", "code", expires_at=1 << 50))
    assert not store.write_faults.error


_FULL_DISK: Final = """
import asyncio, os, sys
from pathlib import Path
from negotiator.base.errors import Unavailable
from negotiator.store import atomic_updates
from negotiator.store.sqlite import SqliteStore
from negotiator.store.waiting import Priority, request_priority

folder = Path(sys.argv[1])

def fill():
    block = bytes(65536)
    with (folder / "filling").open("ab", buffering=0) as file:
        while len(block) > 1:
            try:
                file.write(block)
            except OSError:
                block = block[: len(block) // 2]

async def spend(store, code, priority):
    request_priority.set(priority)
    return await store.write(lambda tx: atomic_updates.spend(tx, "test", code, expires_at=1 << 50))

async def is_refused(store, code):
    try:
        await spend(store, code, Priority.CHANGE)
    except Unavailable:
        return True
    return False

async def reserve_is_whole():
    while os.stat(folder / "full.db.reserve").st_size < 1 << 20:
        await asyncio.sleep(0.05)

async def main():
    store = SqliteStore(f"sqlite+aiosqlite:///{folder / 'full.db'}")
    await store.start()
    await reserve_is_whole()
    fill()
    assert any([await is_refused(store, f"change {number}" * 500) for number in range(20)])
    for number in range(20):
        assert await spend(store, f"revocation {number}" * 100, Priority.URGENT)
    assert store.write_faults.error, "the disk is still full"
    assert await is_refused(store, "later" * 2000), "a change took the space of the reserve"
    (folder / "filling").unlink()
    assert await spend(store, "at last", Priority.CHANGE)
    assert not store.write_faults.error
    await reserve_is_whole()
    await store.close()
    print("ok")

asyncio.run(main())
"""


def test_on_a_full_disk_a_revocation_is_kept_and_a_change_is_not(tmp_path: Path, migrated: Path) -> None:
    place = tmp_path / "disk"
    place.mkdir()
    script = (
        f"""mount -t tmpfs -o size=4m tmpfs {place} && cp {migrated} {place}/full.db && exec "$0" -c "$1" {place}"""
    )
    command = ["unshare", "--map-root-user", "--mount", "sh", "-c", script, sys.executable, _FULL_DISK]
    if not shutil.which("unshare") or subprocess.run([*command[:3], "true"], check=False).returncode:
        pytest.skip("needs a mount namespace of its own")
    said = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert said.stdout.endswith("ok\n"), said.stderr
