"""PostgreSQL behind pgBouncer in transaction mode, where each transaction may get another connection."""

import asyncio
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Final

import pytest
from sqlalchemy.engine import make_url

from negotiator.backup.database_copy import copy_database
from negotiator.base.errors import NotFound
from negotiator.store import atomic_updates
from negotiator.store.migrate import migrate
from negotiator.store.schema_upgrades import read_revisions
from negotiator.store.statement import Transaction
from negotiator.store.store import make_store
from negotiator.users import user_queries
from tests.conftest import connect, make_settings, running
from tests.helpers.application_journey import journey
from tests.helpers.live_server import PATIENCE, wait_for
from tests.helpers.neighbours import require

_PORT: Final = 6432
_SERVER_CONNECTIONS: Final = 2
"""Fewer than the store opens to the pooler, so that transactions change places all the time."""
_LATER: Final = 1 << 50


@pytest.fixture
def pooled(postgres: Callable[[], str]) -> Generator[str]:
    """The URL of a fresh, migrated database behind a pooler."""
    binary = require("pgbouncer")
    url = make_url(postgres())
    server = Path(str(url.query["host"]))
    folder = Path(tempfile.mkdtemp(prefix="pooler"))
    (folder / "pgbouncer.ini").write_text(
        f"[databases]\n* = host={server} user=postgres\n"
        f"[pgbouncer]\nunix_socket_dir = {folder}\nlisten_port = {_PORT}\nauth_type = any\n"
        f"pool_mode = transaction\ndefault_pool_size = {_SERVER_CONNECTIONS}\nmax_client_conn = 100\n"
    )
    command = [binary, str(folder / "pgbouncer.ini")]
    if os.geteuid() == 0:  # it refuses root
        owner = server.stat().st_uid
        for path in (folder, *folder.iterdir()):
            os.chown(path, owner, -1)
        command += ["--user", pwd.getpwuid(owner).pw_name]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    wait_for((folder / f".s.PGSQL.{_PORT}").exists)
    query = {"host": str(folder), "port": str(_PORT), "pooler": "transaction"}
    yield url.set(query=query).render_as_string()
    process.terminate()
    process.wait(PATIENCE)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.asyncio
async def test_units_mean_the_same_behind_a_pooler(pooled: str) -> None:
    stores = [make_store(pooled) for _ in range(2)]

    def spend(tx: Transaction, value: str) -> bool:
        return atomic_updates.spend(tx, "jti", value, expires_at=_LATER)

    def undone(tx: Transaction) -> None:
        assert spend(tx, "undone")
        raise NotFound("on purpose")

    won = await asyncio.gather(*(each.write(lambda tx: spend(tx, "once")) for each in stores for _ in range(25)))
    assert won.count(True) == 1
    with pytest.raises(NotFound):
        await stores[0].write(undone)
    seen = await asyncio.gather(
        *(
            call(lambda tx: atomic_updates.is_spent(tx, "jti", "once"))
            for each in stores
            for call in (each.read, each.scan)
            for _ in range(25)
        )
    )
    assert all(seen)
    assert not await stores[1].read(lambda tx: atomic_updates.is_spent(tx, "jti", "undone"))
    assert await stores[0].clock() > 0
    await stores[0].scrub()
    for each in stores:
        await each.close()


@pytest.mark.asyncio
async def test_migrations_and_backups_go_through_a_pooler(pooled: str, tmp_path: Path) -> None:
    await asyncio.gather(*(migrate(pooled) for _ in range(3)))
    found, newest = await read_revisions(pooled)
    assert found == newest
    await copy_database(pooled, tmp_path / "copy.db")
    copy = make_store(f"sqlite+aiosqlite:///{tmp_path / 'copy.db'}")
    await copy.start()
    assert await copy.read(user_queries.list_users) == []
    await copy.close()


@pytest.mark.asyncio
async def test_the_application_works_behind_a_pooler(
    pooled: str, redis_url: str, tmp_path: Path, signing_keys: Path
) -> None:
    settings = make_settings(tmp_path, signing_keys, database_url=pooled, redis_url=redis_url)
    async with running(settings) as application, connect(application) as client:
        await journey(client, settings)


def test_a_pooler_needs_redis_for_live_events(tmp_path: Path) -> None:
    url = "postgresql+asyncpg://db.internal/x?pooler=transaction"
    with pytest.raises(ValueError, match="pooler needs redis_url"):
        make_settings(tmp_path, tmp_path, database_url=url)
