"""A machine that is stopped tells its proxy in time: under load, behind the shipped Caddyfile, no request is lost."""

import asyncio
import os
import signal
import subprocess
from collections.abc import Generator
from pathlib import Path
from typing import Any, Final

import httpx2
import psutil
import pytest

from tests.contract.requirements import covers
from tests.helpers.live_server import PATIENCE, Server, free_port, wait_for
from tests.helpers.neighbours import require
from tests.house.source_tree import ROOT

DRAIN: Final = 3
CLIENTS: Final = 8
ANONYMOUS: Final = {"agent_name": "walker", "identity_type": "anonymous"}


def _machine(folder: Path, workers: int) -> Server:
    settings = {"drain_seconds": str(DRAIN), "idle_timeout": "75", "register_limit_anonymous": "1000000"}
    return Server(folder, workers=workers, settings=settings)


@pytest.fixture(scope="module", params=[1, 2])
def machine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    """A server of one worker, then one of two, for one test after the other."""
    made = _machine(tmp_path_factory.mktemp(f"workers-{request.param}"), request.param)
    yield made
    made.stop()


def _status(base: str) -> int:
    """A new connection each time, so that any worker may answer."""
    try:
        return httpx2.get(f"{base}/readyz").status_code
    except httpx2.TransportError:
        return 0


@covers("1.13:ready")
def test_every_worker_says_so_and_serves_until_the_socket_closes(machine: Server) -> None:
    machine.start()
    assert machine.process is not None
    wait_for(lambda: {_status(machine.base) for _ in range(8)} == {200})
    machine.process.terminate()
    wait_for(lambda: _status(machine.base) == 503)
    found = set[int]()
    while (status := _status(machine.base)) != 0:
        found.add(status)
        answer = _register(machine.base)
        assert answer in {0, 201}
    assert found == {503}
    assert machine.process.wait(PATIENCE) in {0, -signal.SIGTERM}


def _register(base: str) -> int:
    try:
        return httpx2.post(f"{base}/api/agent/register", json=ANONYMOUS).status_code
    except httpx2.TransportError:
        return 0


def test_an_interrupt_does_not_wait(machine: Server) -> None:
    machine.start()
    assert machine.process is not None
    os.killpg(machine.process.pid, signal.SIGINT)
    machine.process.wait(PATIENCE)
    assert '"stopping"' not in (machine.folder / "log").read_text()


@covers("1.13:ready")
def test_a_replaced_worker_takes_no_traffic_away(tmp_path: Path) -> None:
    machine = _machine(tmp_path, 2)
    machine.start()
    try:
        assert machine.process is not None
        before = _workers(machine)
        machine.process.send_signal(signal.SIGHUP)
        found = set[int]()

        def replaced() -> bool:
            found.add(_status(machine.base))
            return not before & _workers(machine)

        wait_for(replaced)
        assert found == {200}
    finally:
        machine.stop()


def _workers(machine: Server) -> set[int]:
    assert machine.process is not None
    children = psutil.Process(machine.process.pid).children()
    return {each.pid for each in children if "resource_tracker" not in _command(each)}


def _command(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.ZombieProcess:
        return ""


@pytest.mark.asyncio
@covers("1.13:ready")
async def test_no_request_is_lost_while_one_machine_after_the_other_stops(tmp_path: Path) -> None:
    """Two machines on one database behind Caddy, which looks at `/readyz`; none of its requests is sent twice."""
    require("caddy")
    shared = {"data_dir": str(tmp_path / "var"), "keys_dir": str(tmp_path / "keys")}
    front = f"http://127.0.0.1:{free_port()}"
    machines = [_machine(tmp_path / name, 1) for name in ("one", "two")]
    for machine in machines:
        machine.folder.mkdir()
        machine.settings |= {**shared, "base_url": front}
        await asyncio.to_thread(machine.start)
    proxy = _caddy(tmp_path, front, machines)
    try:
        await asyncio.to_thread(wait_for, lambda: _status(front) == 200)
        found = await _under_load(front, machines)
    finally:
        proxy.terminate()
        proxy.wait(PATIENCE)
        for machine in machines:
            machine.stop()
    assert len(found) > CLIENTS
    assert set(found) == {201}


async def _under_load(front: str, machines: list[Server]) -> list[int]:
    """The statuses of registrations while each machine is stopped and started again."""
    over = asyncio.Event()
    found: list[int] = []

    async def register() -> None:
        async with httpx2.AsyncClient(base_url=front, timeout=PATIENCE) as client:
            while not over.is_set():
                answer = await client.post("/api/agent/register", json=ANONYMOUS)
                found.append(answer.status_code)

    async def restart() -> None:
        try:
            for machine in machines:
                assert machine.process is not None
                machine.process.terminate()
                await asyncio.to_thread(machine.process.wait, PATIENCE)
                await asyncio.to_thread(machine.start)
                await asyncio.sleep(DRAIN)  # until the proxy knows that it is back
        finally:
            over.set()

    await asyncio.gather(restart(), *(register() for _ in range(CLIENTS)))
    return found


def _caddy(folder: Path, front: str, machines: list[Server]) -> subprocess.Popen[bytes]:
    """The shipped file, for this address."""
    shipped = (ROOT / "deploy" / "machines.Caddyfile").read_text()
    (folder / "Caddyfile").write_text(f"{{\n\tadmin off\n\tauto_https off\n}}\n{shipped}")
    environment: dict[str, Any] = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "NEGOTIATOR_DOMAIN": front,
        "NEGOTIATOR_UPSTREAMS": " ".join(f"127.0.0.1:{each.port}" for each in machines),
    }
    command = ("caddy", "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile"))
    with (folder / "caddy.log").open("wb") as log:
        return subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
