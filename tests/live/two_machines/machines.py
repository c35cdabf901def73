"""The two machines, their PostgreSQL and Redis, and the proxy in front of them."""

import asyncio
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx2

from tests.helpers.live_server import PATIENCE
from tests.live.faults.proxy import start_nginx
from tests.live.faults.site import UNLIMITED, Machine, PostgresServer, RedisServer, Site, workers_answer
from tests.live.faults.wrong_clock import WrongClock
from tests.live.two_machines.network import NETWORK, Host

APART: Final = 2
"""Seconds between the clocks of the machines."""
_PORT: Final = 8000
_LIMITS: Final = (
    "limit_rpm",
    "limit_unproven_rpm",
    "limit_fetch_rpm",
    "sign_in_limit_address",
    "register_limit_anonymous",
)


@dataclass
class RemoteMachine(Machine):
    """A machine on a host of its own."""

    host: Host | None = None


@dataclass(frozen=True, slots=True)
class TwoMachines:
    """Running servers A and B; `base` is the proxy, which takes them in turn."""

    base: str
    a: RemoteMachine
    b: RemoteMachine
    postgres: PostgresServer
    redis: RedisServer
    database_url: str
    """As this machine reaches the database."""
    redis_url: str
    keys: Path

    def connect(self) -> httpx2.AsyncClient:
        """A client of the proxy."""
        return httpx2.AsyncClient(base_url=self.base, timeout=PATIENCE)


@asynccontextmanager
async def two_machines(
    *, workers: int = 1, clocks: bool = True, base_url: str = "", **settings: str
) -> AsyncGenerator[TwoMachines]:
    """Both machines, until the end; with `clocks` that of B is `APART` ahead. They share pepper and keys."""
    async with Site() as site:
        hosts = Host(), Host()
        for host in hosts:
            site.at_end(host.remove)
            host.create()
        gateways = [host.gateway for host in hosts]
        postgres, redis = await site.postgres(*gateways), await site.redis(*gateways)
        local = await site.database(postgres)
        keys = site.folder / "keys"
        shared = {**dict.fromkeys(_LIMITS, "1000000"), "trusted_proxies": f"{NETWORK},127.0.0.1/32"}
        shared |= {"base_url": base_url or f"http://{hosts[0].address}:{_PORT}", **settings}
        machines: list[RemoteMachine] = []
        for name, host in zip("ab", hosts, strict=True):
            prefix = host.prefix
            if clocks:
                clock = WrongClock(site.folder / f"clock-{name}")
                clock.set(APART if name == "b" else 0)
                prefix = (*prefix, *clock.prefix)
            own = {
                "database_url": postgres.address_of(local, host.gateway),
                "redis_url": f"redis://{host.gateway}:6379",
            }
            machine = RemoteMachine(
                site.folder / name,
                workers,
                {**UNLIMITED, **shared, **own},
                port=_PORT,
                address=host.address,
                prefix=prefix,
                keys=keys,
                host=host,
            )
            machine.folder.mkdir()
            site.at_end(machine.stop)
            machines.append(machine)
        await asyncio.gather(*(asyncio.to_thread(machine.start) for machine in machines))
        for machine in machines:
            await workers_answer(machine)
        folder = site.folder / "nginx"
        folder.mkdir()
        base, proxy = await asyncio.to_thread(start_nginx, folder, machines)
        site.at_end(lambda: (proxy.send_signal(signal.SIGTERM), proxy.wait(PATIENCE)))
        first, second = machines
        yield TwoMachines(base, first, second, postgres, redis, local, f"redis://{gateways[0]}:6379", keys)
