"""The service as a process group of its own, behind uvicorn with workers."""

import asyncio
import contextlib
import itertools
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx2

from negotiator.config.settings import Settings
from negotiator.store.statement import Transaction
from tests.conftest import MODELS, make_settings
from tests.helpers.opened_store import opened_store

ROUNDS: Final = int(os.environ.get("NEGOTIATOR_TEST_ROUNDS", "5"))
"""How often races and kills are repeated; 100 before a release (the guide to operations)."""


_addresses = itertools.count(1)
_worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
_ports = itertools.count(12_000 + 2_000 * _worker + os.getppid() * 97 % 1_000)
PATIENCE: Final = 30
STARTING: Final = 90
"""Seconds that a server may take to start: on a machine that many share it waits for the processor most of the time."""


@dataclass
class Server:
    """`negotiator serve` as a process group of its own, on a free loopback port unless `address` is another."""

    folder: Path
    workers: int = 4
    settings: dict[str, str] = field(default_factory=dict[str, str])
    port: int = 0
    process: subprocess.Popen[bytes] | None = None
    address: str = "127.0.0.1"

    @property
    def base(self) -> str:
        """The service's base URL."""
        return f"http://{self.address}:{self.port}"

    @property
    def command(self) -> list[str]:
        """What starts it; port and number of workers follow."""
        return [sys.executable, "-m", "negotiator", "serve"]

    @property
    def environment(self) -> dict[str, str]:
        """The machine's environment without any setting of ours, and with these."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith("NEGOTIATOR_")}
        mine = {
            "base_url": self.base,
            "data_dir": str(self.folder / "var"),
            "models_dir": str(MODELS),
            "keys_dir": str(self.folder / "keys"),
            "limit_rpm": "1000000",
            "limit_baseline_rpm": "1000000",
            "register_limit_anonymous": "60",
            "register_limit_assertion": "1000000",
            "claim_failures_per_hour": "1000000",
            "trusted_proxies": "127.0.0.1/32",
            **self.settings,
        }
        root = str(Path(__file__).parents[2])
        ours = {f"NEGOTIATOR_{name.upper()}": value for name, value in mine.items()}
        alone = {"NEGOTIATOR_CONFIG": os.devnull, "XDG_STATE_HOME": str(self.folder / "state")}
        return {**clean, "PYTHONPATH": root, **alone, **ours}

    def run(self, *command: str) -> str:
        """Run a command of the operator's beside the server; gives what it printed."""
        done = subprocess.run(
            [sys.executable, "-m", "negotiator", *command],
            env=self.environment,
            cwd=self.folder,
            capture_output=True,
            check=True,
            text=True,
        )
        return done.stdout

    async def change(self, unit: Callable[[Transaction], Any]) -> Any:
        """Run a unit on the server's database, as the operator's commands do."""
        url = self.settings.get("database_url", f"sqlite+aiosqlite:///{self.database}")
        async with opened_store(url) as store:
            return await store.write(unit)

    def change_now(self, unit: Callable[[Transaction], Any]) -> Any:
        """The same for a test without an event loop of its own, also where a browser runs one."""
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(asyncio.run, self.change(unit)).result()

    @property
    def database(self) -> Path:
        """The server's SQLite file."""
        return self.folder / "var" / "negotiator.db"

    @property
    def application_settings(self) -> Settings:
        """The same settings, for what needs the server's pepper."""
        return make_settings(self.folder / "var", self.folder / "keys", base_url=self.base, secret="")

    def connect(self, **options: Any) -> httpx2.AsyncClient:
        """A client whose requests come from some address of its own, over connections of their own."""
        limits = httpx2.Limits(max_connections=64, max_keepalive_connections=options.pop("keep", 0))
        number = next(_addresses)
        address = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
        headers = {"x-forwarded-for": address}
        return httpx2.AsyncClient(base_url=self.base, limits=limits, headers=headers, timeout=PATIENCE, **options)

    def start(self) -> None:
        """Start and wait until every worker answers."""
        if not self.port:
            self.port = free_port()
        options = ("--port", str(self.port), "--workers", str(self.workers))
        if self.address != "127.0.0.1":
            options = ("--host", self.address, *options)
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [*self.command, *options],
                env=self.environment,
                cwd=self.folder,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            with httpx2.Client(base_url=self.base) as client:
                wait_for(lambda: self._answers(client))
        except TimeoutError:
            self.stop()
            raise

    def kill(self) -> None:
        """SIGKILL to the supervisor and all its workers, as a power cut would end them."""
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(PATIENCE)
        wait_for(self._is_silent)

    def stop(self) -> None:
        """SIGTERM, and wait for the end."""
        if self.process is None or self.process.poll() is not None:
            return
        self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        finally:
            if self.process.poll() is None:
                os.killpg(self.process.pid, signal.SIGKILL)

    def _answers(self, client: httpx2.Client) -> bool:
        assert self.process is not None
        if self.process.poll() is not None:
            raise AssertionError((self.folder / "log").read_text())
        try:
            return client.get("/api/health").status_code == 200
        except httpx2.TransportError:
            return False

    def _is_silent(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex((self.address, self.port)) != 0


def free_port() -> int:
    """A port that nobody takes before its listener does.

    It is below those that Linux gives to outgoing connections; no process of a test run gives one that another gave.
    """
    while True:
        port = next(_ports)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("", port))
            return port


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + STARTING
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("it did not happen in time")
        time.sleep(0.02)
