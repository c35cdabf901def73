"""Runs what `compose.machines.yaml` runs, where Docker is not: each server in a network and a root of its own.

    python -m tests.live.deploy.machines_check

As root. Each server has the command of the Dockerfile, the variables of the compose files, the user of the container,
no capabilities, a root file system that it cannot write to, and a network namespace; in front of both is Caddy with the
shipped file. Of the variables only the addresses of PostgreSQL and Redis are those of this check.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx2
import yaml

from tests.conftest import MODELS
from tests.helpers.live_server import PATIENCE, wait_for
from tests.house.source_tree import ROOT
from tests.live.deploy.machine import say
from tests.live.faults.site import PostgresServer, RedisServer

_FILES: Final = ROOT / "deploy"
_COMPOSE: Final = ("compose.yaml", "compose.postgres.yaml", "compose.machines.yaml")
_USER: Final = "10001"
_FRONT: Final = "http://127.0.0.1:8080"
_INSIDE: Final = "--inside"
_ANONYMOUS: Final = {"agent_name": "walker", "identity_type": "anonymous"}
_CLIENTS: Final = 4
_VARIABLE: Final = re.compile(r"\$\{(\w+):\?[^}]*\}")
_GIVEN: Final = {
    "NEGOTIATOR_DOMAIN": "negotiator.example.org",
    "NEGOTIATOR_SECRET": "the pepper of both",
    "POSTGRES_PASSWORD": "unused",
}


@dataclass(frozen=True, slots=True)
class Container:
    """A server of the compose files in a network namespace with this address."""

    name: str
    address: str
    folder: Path
    keys: Path
    variables: dict[str, str]

    def start(self, *command: str, **more: str) -> subprocess.Popen[bytes]:
        """Run a command of `negotiator` as the container does."""
        data = self.folder / "data"
        mounts = "".join(f"mount --bind {each} {each}; " for each in (data, self.keys))
        mounts += "mount -t tmpfs tmpfs /tmp; "
        user = f"setpriv --reuid={_USER} --regid={_USER} --clear-groups --no-new-privs --bounding-set=-all"
        script = f'{mounts} mount -o remount,bind,ro /; cd {data}; exec {user} "$@"'
        inside = ("ip", "netns", "exec", self.name, "unshare", "--mount", "sh", "-ec", script, "sh")
        environment = {"PATH": os.environ["PATH"], "HOME": str(data), **self.variables, **more}
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(
                (*inside, sys.executable, "-m", *command), env=environment, stdout=log, stderr=subprocess.STDOUT
            )

    def run(self, *command: str, **more: str) -> tuple[int, str]:
        """The exit code of a command and what it printed."""
        before = len(self.log())
        code = self.start(*command, **more).wait(2 * PATIENCE)
        return code, self.log()[before:]

    def log(self) -> str:
        path = self.folder / "log"
        return path.read_text() if path.exists() else ""


def main() -> None:
    """Begin again in a network and a mount namespace of the check's own."""
    if _INSIDE not in sys.argv:
        if os.getuid() or not all(map(shutil.which, ("unshare", "ip", "setpriv", "caddy"))):
            sys.exit("Needs root, unshare, ip, setpriv and caddy.")
        again = (sys.executable, "-m", "tests.live.deploy.machines_check", _INSIDE)
        sys.exit(subprocess.run(["unshare", "--net", "--mount", *again]).returncode)
    _run("ip", "link", "set", "lo", "up")
    _run("mount", "-t", "tmpfs", "tmpfs", "/run")
    with tempfile.TemporaryDirectory(prefix="machines-", dir="/srv") as scratch:
        folder = Path(scratch)
        folder.chmod(0o755)
        _open_interpreter()
        postgres = PostgresServer(folder / "postgres")
        redis = RedisServer(folder / "redis")
        redis.folder.mkdir()
        postgres.folder.mkdir()
        postgres.start()
        redis.start()
        postgres.folder.chmod(0o711)  # so that the user of the containers reaches its socket
        redis.folder.chmod(0o755)
        redis.address.chmod(0o777)
        processes: list[subprocess.Popen[bytes]] = []
        try:
            _check(folder, postgres.create_database("machines"), redis.url, processes)
        finally:
            for each in processes:
                each.terminate()  # a supervisor that is killed would leave its workers
            for each in processes:
                each.wait(2 * PATIENCE)
            redis.stop()
            postgres.stop()


def _open_interpreter() -> None:
    """Where the interpreter is in root's home, make that a folder with nothing else in it, which the user may enter.

    The mounts are read-only, and in no folder that this check deletes.
    """
    base, home = Path(sys.base_prefix), Path.home()
    if not base.is_relative_to(home):
        return
    stage = Path("/run/interpreter")
    stage.mkdir()
    _bind_read_only(base, stage)
    _run("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", str(home))
    base.mkdir(parents=True)
    _bind_read_only(stage, base)


def _bind_read_only(source: Path, target: Path) -> None:
    _run("mount", "--bind", str(source), str(target))
    _run("mount", "-o", "remount,bind,ro", str(target))


def _check(folder: Path, database: str, redis: str, processes: list[subprocess.Popen[bytes]]) -> None:
    dockerfile = (_FILES / "Dockerfile").read_text()
    last = dockerfile.rpartition("\nFROM ")[2]
    serve = ("negotiator", *json.loads(re.findall(r"^CMD (.*)$", last, re.M)[0]))
    health: list[str] = json.loads(re.findall(r"^    CMD (.*)$", last, re.M)[0])
    keys = folder / "keys"
    keys.mkdir()
    shutil.chown(keys, int(_USER), int(_USER))
    containers = [
        _container(name, f"172.30.17.{number}", folder, keys, database, redis)
        for name, number in (("app", 2), ("app2", 6))
    ]
    running: dict[str, subprocess.Popen[bytes]] = {}

    def start(container: Container) -> None:
        began = time.monotonic()
        running[container.name] = process = container.start(*serve)
        processes.append(process)
        command = ("ip", "netns", "exec", container.name, sys.executable, *health[1:])

        def is_healthy() -> bool:
            assert process.poll() is None, container.log()
            return subprocess.run(command, capture_output=True).returncode == 0

        wait_for(is_healthy)
        say(f"{container.name} is healthy after {time.monotonic() - began:.0f} s")

    for container in containers:
        start(container)
    processes.append(_caddy(folder, containers))
    wait_for(lambda: _status(f"{_FRONT}/readyz") == 200)
    token = httpx2.post(f"{_FRONT}/api/agent/register", json=_ANONYMOUS).json()["access_token"]
    for container in containers:
        url = f"http://{container.address}:8000/api/negotiations"
        found = httpx2.get(url, headers={"authorization": f"Bearer {token}"})
        assert found.status_code == 200, found.text
    say("a token of one machine is known to the other")
    first, second = containers
    code, said = first.run("negotiator", "serve", "--port", "8001", NEGOTIATOR_SECRET="another")
    assert code == 1, said
    assert "NEGOTIATOR_SECRET is not the pepper of this database" in said
    say(f"with another pepper: exit {code}, {said.strip()}")
    other_keys = {"NEGOTIATOR_KEYS_DIR": str(first.folder / "data" / "other-keys")}
    code, said = first.run("negotiator", "serve", "--port", "8001", **other_keys)
    assert code == 1, said
    assert "lacks keys that sign for this database" in said
    say(f"with other keys: exit {code}, {said.strip()}")
    _, said = second.run("negotiator", "doctor", "--machines", "2", "--workers", "2")
    for line in ("ok       secrets", "ok       connections", "ok       clock", "ok       redis"):
        assert line in said, said
    say("the doctor compares pepper, keys, connections and clock")
    _restart_under_load(containers, running, start)


def _restart_under_load(containers: list[Container], running: dict[str, subprocess.Popen[bytes]], start: Any) -> None:
    over, statuses = threading.Event(), Counter[str]()

    def register() -> None:
        with httpx2.Client(base_url=_FRONT, timeout=PATIENCE) as client:
            while not over.is_set():
                try:
                    answer = client.post("/api/agent/register", json=_ANONYMOUS)
                    statuses[str(answer.status_code)] += 1
                except httpx2.TransportError as fault:
                    statuses[type(fault).__name__] += 1

    clients = [threading.Thread(target=register) for _ in range(_CLIENTS)]
    for each in clients:
        each.start()
    try:
        for container in containers:
            process = running[container.name]
            process.send_signal(signal.SIGTERM)
            code = process.wait(2 * PATIENCE)
            assert code == 0, container.log()
            start(container)
            time.sleep(3)  # until Caddy knows
    finally:
        over.set()
        for each in clients:
            each.join()
    say(f"each machine restarted under load: {dict(statuses)}")
    assert statuses.keys() == {"201"}, statuses


def _container(name: str, address: str, folder: Path, keys: Path, database: str, redis: str) -> Container:
    """The namespace with its link to this one, and the variables of all compose files."""
    own, outside = folder / name, f"172.30.17.{int(address.rpartition('.')[2]) - 1}"
    (own / "data").mkdir(parents=True)
    shutil.chown(own / "data", int(_USER), int(_USER))
    _run("ip", "netns", "add", name)
    _run("ip", "link", "add", f"to-{name}", "type", "veth", "peer", "name", "eth0", "netns", name)
    _run("ip", "address", "add", f"{outside}/30", "dev", f"to-{name}")
    _run("ip", "link", "set", f"to-{name}", "up")
    for words in (f"address add {address}/30 dev eth0", "link set eth0 up", "link set lo up"):
        _run("ip", "-n", name, *words.split())
    variables: dict[str, str] = {}
    for file in _COMPOSE:
        services: dict[str, Any] = yaml.safe_load((_FILES / file).read_text())["services"]
        app: dict[str, Any] = services.get(name) or (services["app"] if file == _COMPOSE[0] else {})
        variables |= app.get("environment", {})
    given = {key: _VARIABLE.sub(lambda found: _GIVEN[found[1]], text) for key, text in variables.items()}
    changed = {
        "NEGOTIATOR_DATABASE_URL": database,
        "NEGOTIATOR_REDIS_URL": redis,
        "NEGOTIATOR_DATA_DIR": str(own / "data"),
        "NEGOTIATOR_KEYS_DIR": str(keys),
        "NEGOTIATOR_MODELS_DIR": str(MODELS),
        "NEGOTIATOR_REGISTER_LIMIT_ANONYMOUS": "1000000",
        "NEGOTIATOR_CONFIG": os.devnull,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": str(ROOT),
    }
    return Container(name, address, own, keys, {**given, **changed})


def _caddy(folder: Path, containers: list[Container]) -> subprocess.Popen[bytes]:
    shipped = (_FILES / "machines.Caddyfile").read_text()
    (folder / "Caddyfile").write_text(f"{{\n\tadmin off\n\tauto_https off\n}}\n{shipped}")
    hosts = "".join(f"{each.address} {each.name}\n" for each in containers)
    (folder / "hosts").write_text(f"127.0.0.1 localhost\n{hosts}")
    _run("mount", "--bind", str(folder / "hosts"), "/etc/hosts")
    services = yaml.safe_load((_FILES / _COMPOSE[2]).read_text())["services"]
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "NEGOTIATOR_DOMAIN": _FRONT,
        **services["caddy"]["environment"],
    }
    command = ("caddy", "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile"))
    with (folder / "caddy.log").open("wb") as log:
        return subprocess.Popen(command, env=environment, stdout=log, stderr=log)


def _status(url: str) -> int:
    try:
        return httpx2.get(url).status_code
    except httpx2.TransportError:
        return 0


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    main()
