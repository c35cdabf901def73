"""A backup of either engine, made while others write, restores into either engine, also when it is killed."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Final

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from negotiator.backup.database_copy import copy_database, count_rows, open_file
from negotiator.backup.making import write_backup
from negotiator.backup.restoring import RestoreResult, finish_interrupted_restore, restore_backup
from negotiator.base import values
from negotiator.base.errors import Conflict, Unavailable
from negotiator.compose import ownership
from negotiator.config.settings import Settings
from negotiator.keys.keyring import FolderKeyring
from negotiator.store import atomic_updates
from negotiator.store.statement import Transaction
from negotiator.store.store import make_store
from negotiator.trust import revocations
from negotiator.users import user_queries
from tests.conftest import bearer, connect, make_settings, running
from tests.helpers.application_journey import journey
from tests.helpers.backup_keys import BACKUP_KEY
from tests.helpers.live_server import ROUNDS

pytestmark = pytest.mark.asyncio
LATER: Final = values.now() + 3_600_000


async def made(settings: Settings) -> BytesIO:
    target = BytesIO()
    await write_backup(settings, target, BACKUP_KEY)
    target.seek(0)
    return target


async def put_back(settings: Settings, backup: BytesIO, *, replace: bool = False) -> list[str]:
    return (await restored(settings, backup, replace=replace)).set_aside


async def restored(settings: Settings, backup: BytesIO, *, replace: bool) -> RestoreResult:
    backup.seek(0)
    return await restore_backup(
        settings, backup, BACKUP_KEY, replace=replace, erase_again=ownership.erase_again, keep_tokens=True
    )


async def emails(settings: Settings) -> list[str | None]:
    store = make_store(settings.database_url)
    await store.start()
    try:
        return [user.email for user in await store.read(user_queries.list_users)]
    finally:
        await store.close()


async def write(settings: Settings, unit: Callable[[Transaction], object]) -> None:
    store = make_store(settings.database_url)
    await store.start()
    try:
        await store.write(unit)
    finally:
        await store.close()


@pytest.fixture
def here(tmp_path: Path, database_url: str) -> Settings:
    """A place with keys, a pepper, an unsent mail and a database of each engine in turn."""
    settings = make_settings(tmp_path, tmp_path / "keys", database_url=database_url, secret="", backup_key="")
    settings.pepper_file.write_text("the pepper")
    settings.outbox_folder.mkdir()
    (settings.outbox_folder / f"{values.new_id('mail')}.eml").write_text("To: ada@example.com\n\n.")
    FolderKeyring(settings.keys_dir)
    return settings


@pytest.fixture(params=["sqlite", "postgresql"])
def there(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """An empty place for each engine in turn."""
    folder = tmp_path / "there"
    url = f"sqlite+aiosqlite:///{folder / 'negotiator.db'}"
    if request.param == "postgresql":
        make: Callable[[], str] = request.getfixturevalue("postgres")
        url = make()
        asyncio.run(emptied(url))
    return make_settings(folder, folder / "keys", database_url=url, secret="")


async def emptied(url: str) -> None:
    engine = create_async_engine(url)
    async with engine.begin() as connection:
        await connection.execute(text("drop schema public cascade"))
        await connection.execute(text("create schema public"))
    await engine.dispose()


async def rows(settings: Settings, folder: Path) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every table, whatever the engine."""
    copy = folder / f"{values.new_id('copy')}.db"
    await copy_database(settings.database_url, copy)
    with open_file(copy) as database:
        return {
            table: sorted(database.execute(f'select * from "{table}"').fetchall(), key=repr)  # noqa: S608
            for table in count_rows(database)
        }


async def test_either_engine_restores_into_either(here: Settings, there: Settings, tmp_path: Path) -> None:
    """Every row is there, and a token of before the backup works after it."""
    async with running(here) as application, connect(application) as client:
        await journey(client, here)
        body = {"agent_name": "a", "identity_type": "anonymous"}
        agent = (await client.post("/api/agent/register", json=body)).json()
    before, backup = await rows(here, tmp_path), await made(here)
    assert await put_back(there, backup) == []
    assert await rows(there, tmp_path) == before
    assert len(before["users"]) > 1
    assert len(before["negotiations"]) > 1
    assert there.pepper_file.read_text() == "the pepper"
    assert [path.name for path in sorted(there.outbox_folder.iterdir())] == [
        path.name for path in sorted(here.outbox_folder.iterdir())
    ]
    async with running(there) as application, connect(application) as client:
        assert (await client.get("/api/negotiations", headers=bearer(agent))).status_code == 200


async def test_a_place_with_data_is_replaced_only_when_that_is_asked_for(here: Settings) -> None:
    await write(here, lambda tx: user_queries.add(tx, "ada@example.com", actor="operator"))
    backup = await made(here)
    await write(here, lambda tx: user_queries.add(tx, "bob@example.com", actor="operator"))
    FolderKeyring(here.keys_dir).rotate()
    keys = sorted(path.name for path in here.keys_dir.glob("*.pem"))
    with pytest.raises(Conflict, match="--replace"):
        await put_back(here, backup)
    assert await emails(here) == ["ada@example.com", "bob@example.com"]
    aside = await put_back(here, backup, replace=True)
    assert await emails(here) == ["ada@example.com"]
    [old_keys] = [Path(each) for each in aside if each.startswith(str(here.keys_dir))]
    assert sorted(path.name for path in old_keys.iterdir()) == keys
    assert len(list(here.keys_dir.glob("*.pem"))) == len(keys) - 2
    assert await put_back(here, backup, replace=True) != aside, "each restore has a folder of its own"
    if here.database_url.startswith("sqlite"):
        [folder] = [Path(each) for each in aside if not each.startswith(str(here.keys_dir))]
        old = here.model_copy(update={"database_url": f"sqlite+aiosqlite:///{folder}/negotiator.db"})
        assert await emails(old) == ["ada@example.com", "bob@example.com"]
    else:
        [schema] = [each.split()[1] for each in aside if each.startswith("schema")]
        engine = create_async_engine(here.database_url)
        async with engine.connect() as connection:
            found = await connection.execute(text(f"select email from {schema}.users order by id"))  # noqa: S608
            assert [row[0] for row in found] == ["ada@example.com", "bob@example.com"]
        await engine.dispose()


async def test_what_was_used_or_revoked_since_the_backup_stays_so(here: Settings) -> None:
    """Each engine's database tells what ended."""

    def disable(tx: Transaction) -> None:
        user_queries.disable(tx, "ada@example.com")
        assert atomic_updates.spend(tx, "assertion", "one", expires_at=LATER)

    await write(here, lambda tx: user_queries.add(tx, "ada@example.com", actor="operator"))
    backup = await made(here)
    await write(here, disable)
    assert (await restored(here, backup, replace=True)).ended == "repeated"

    def check(tx: Transaction) -> None:
        [ada] = user_queries.list_users(tx)
        assert ada.disabled_at is not None
        assert revocations.revoked_before(tx, ada.id) == revocations.FOREVER
        assert atomic_updates.is_spent(tx, "assertion", "one")

    await write(here, check)


async def test_whoever_was_erased_since_the_backup_stays_erased(here: Settings) -> None:
    earlier = await made(here)
    for email in ("ada@example.com", "bob@example.com"):
        await write(here, lambda tx, email=email: user_queries.add(tx, email, actor="operator"))
    backup = await made(here)

    def erase(tx: Transaction) -> None:
        user = user_queries.by_email(tx, "ada@example.com")
        assert user is not None
        ownership.erase_user(tx, user)

    await write(here, erase)
    await put_back(here, backup, replace=True)
    assert await emails(here) == ["bob@example.com"]
    assert "ada@example.com" not in repr(await rows(here, here.data_dir))
    await put_back(here, earlier, replace=True)
    await put_back(here, backup, replace=True)
    assert await emails(here) == ["bob@example.com"], "also after a backup that never had her"


async def test_nothing_is_restored_while_a_server_runs(here: Settings) -> None:
    backup = await made(here)
    async with running(here):
        with pytest.raises(Unavailable, match="stop it first"):
            await put_back(here, backup, replace=True)


async def test_nothing_is_restored_while_another_machine_uses_the_database(
    postgres: Callable[[], str], tmp_path: Path
) -> None:
    settings = make_settings(tmp_path, tmp_path / "keys", database_url=postgres())
    FolderKeyring(settings.keys_dir)
    backup = await made(settings)
    other = create_async_engine(settings.database_url)
    async with other.connect() as connection:
        await connection.execute(text("select 1"))
        with pytest.raises(Unavailable, match="Connections of others"):
            await put_back(settings, backup, replace=True)
    await other.dispose()
    assert not list(tmp_path.rglob("restore*"))


def write_pair(tx: Transaction, number: int) -> None:
    for side in ("left", "right"):
        atomic_updates.spend(tx, side, f"{number}{'x' * 2000}", expires_at=LATER)


async def test_a_backup_under_writes_ends_and_is_one_moment(here: Settings, tmp_path: Path) -> None:
    """Each unit writes a pair of rows; no backup has half a pair."""
    store = make_store(here.database_url)
    await store.start()
    stop, pairs = asyncio.Event(), 0

    async def write_on() -> None:
        nonlocal pairs
        while not stop.is_set():
            await store.write(partial(write_pair, number=pairs))
            pairs += 1

    writing = asyncio.create_task(write_on())
    while not pairs:
        await asyncio.sleep(0)
    # A command is a process of its own; this loop goes on writing meanwhile.
    backups = [await asyncio.to_thread(asyncio.run, made(here)) for _ in range(3)]
    stop.set()
    await writing
    await store.close()
    sizes: list[int] = []
    for backup in backups:
        await put_back(here, backup, replace=True)
        kinds = [row[0] for row in (await rows(here, tmp_path))["spent"]]
        assert kinds.count("left") == kinds.count("right")
        sizes.append(len(kinds))
    assert 0 < sizes[0] < sizes[2] <= 2 * pairs


_FORKING: Final = """
import asyncio, os, signal, sys
from negotiator.backup import database_copy, restoring
from negotiator.compose import ownership
from negotiator.config.settings import load

def step():
    global steps
    if steps == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    steps -= 1

def counted(function):
    def call(*arguments, **options):
        step()
        done = function(*arguments, **options)
        step()
        return done
    return call

async def load_rows(*arguments, **options):
    step()
    done = await loading(*arguments, **options)
    step()
    return done

loading, database_copy.load_into_postgres = database_copy.load_into_postgres, load_rows
restoring.FileMove.run = counted(restoring.FileMove.run)
for name in ("_unpack", "upgrade_file", "_write_journal"):
    setattr(restoring, name, counted(getattr(restoring, name)))
backup, key = sys.argv[1:]
for line in sys.stdin:
    steps = int(line)
    child = os.fork()
    if not child:
        with open(backup, "rb") as source:
            asyncio.run(restoring.restore_backup(
                load(), source, key, replace=True, erase_again=ownership.erase_again, keep_tokens=True
            ))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), flush=True)
"""
"""Restores in a process of its own for each line of its input, killed after so many steps."""
_MOST_STEPS: Final = 44


async def test_a_restore_that_is_killed_leaves_the_old_or_the_new(here: Settings) -> None:
    """SIGKILL before and after many steps; the next command finds one state, whole, and no unfinished files."""
    await write(here, lambda tx: user_queries.add(tx, "old@example.com", actor="operator"))
    old = await made(here)
    await write(here, lambda tx: user_queries.add(tx, "new@example.com", actor="operator"))
    here.pepper_file.write_text("the new pepper")
    new = here.data_dir / "new.backup"
    new.write_bytes((await made(here)).getvalue())
    states: list[str] = []
    with restoring_process(new, here) as run:
        for steps in (*range(3, _MOST_STEPS, max(1, _MOST_STEPS // ROUNDS)), 1000):
            await put_back(here, old, replace=True)
            code = await asyncio.to_thread(run, steps)
            assert code == (0 if steps == 1000 else -signal.SIGKILL) or steps > 30
            finish_interrupted_restore(here)
            state = (len(await emails(here)), here.pepper_file.read_text())
            assert state in ((1, "the pepper"), (2, "the new pepper"))
            states.append("old" if state[0] == 1 else "new")
            assert len(list(here.keys_dir.glob("*.pem"))) == 4
            assert not (here.data_dir / "restore.json").exists()
    assert states == sorted(states, reverse=True), "from some step on it is the new one"
    assert {*states} == {"old", "new"}
    await put_back(here, old, replace=True)
    assert not list(here.data_dir.glob("restore-*"))
    assert not list(here.data_dir.glob("unfinished-*"))


@contextmanager
def restoring_process(backup: Path, settings: Settings) -> Generator[Callable[[int], int]]:
    """Runs a restore that is killed after this number of steps; answers how its process ended."""
    variables = {
        "NEGOTIATOR_DATA_DIR": str(settings.data_dir),
        "NEGOTIATOR_KEYS_DIR": str(settings.keys_dir),
        "NEGOTIATOR_DATABASE_URL": settings.database_url,
        "PYTHONPATH": str(Path(__file__).parents[3]),
    }
    plain = {name: value for name, value in os.environ.items() if not name.startswith("NEGOTIATOR_")}
    with subprocess.Popen(
        [sys.executable, "-c", _FORKING, str(backup), BACKUP_KEY],
        env=plain | variables,
        cwd=settings.data_dir,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        given, said = process.stdin, process.stdout
        assert given is not None
        assert said is not None

        def run(steps: int) -> int:
            given.write(f"{steps}\n")
            given.flush()
            return int(said.readline())

        yield run
        given.close()


def with_keys_in_database(settings: Settings) -> Settings:
    return settings.model_copy(update={"keys_in": "database"})


async def test_keys_in_the_database_and_their_secret_are_in_the_backup(here: Settings, there: Settings) -> None:
    here, there = with_keys_in_database(here), with_keys_in_database(there)
    async with running(here) as application, connect(application) as client:
        body = {"agent_name": "a", "identity_type": "anonymous"}
        agent = (await client.post("/api/agent/register", json=body)).json()
    backup = await made(here)
    assert await put_back(there, backup) == []
    assert there.keys_secret_file.read_bytes() == here.keys_secret_file.read_bytes()
    assert there.keys_secret_file.stat().st_mode & 0o777 == 0o600
    assert not list(there.keys_dir.glob("*.pem"))
    async with running(there) as application, connect(application) as client:
        assert (await client.get("/api/negotiations", headers=bearer(agent))).status_code == 200


async def test_no_backup_is_made_that_lacks_the_keys_or_their_secret(here: Settings) -> None:
    async with running(with_keys_in_database(here)):
        pass
    with pytest.raises(Unavailable, match="keys of this database are in it"):
        await made(here)
    here.keys_secret_file.write_text("another secret of the same length, 32 or more")
    with pytest.raises(Unavailable, match="is not the secret of this database"):
        await made(with_keys_in_database(here))
