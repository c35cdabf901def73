"""Clients that drip: thousands of them, each sending its request a byte at a time."""

import asyncio
import random
import resource
from collections import Counter
from contextlib import suppress
from typing import Final

from tests.live.faults.load import Load
from tests.live.faults.row import Bounds, Finding, Row, observed
from tests.live.faults.site import Site

_CLIENTS: Final = 16
_DRIPPING: Final = 5000
_SMALL: Final = 1500
_DESCRIPTORS: Final = 1024
_SECONDS: Final = 40.0
_HEAD: Final = b"GET /api/v1/categories HTTP/1.1\r\nhost: x\r\nx-slow: "


class DrippingClients:
    """So many connections, each of which sends one byte a second and comes back when it is cut off."""

    def __init__(self, port: int, count: int) -> None:
        self._port = port
        self._count = count
        self._tasks: list[asyncio.Task[None]] = []
        self.open = 0
        self.ends: Counter[str] = Counter()
        """How connections ended."""

    async def start(self) -> None:
        """Connect them all, from 125 addresses of the loopback network, within ten seconds."""
        for number in range(self._count):
            self._tasks.append(asyncio.create_task(self._drip(f"127.0.1.{number % 125 + 1}")))
            if number % 50 == 49:
                await asyncio.sleep(0.1)

    async def stop(self) -> None:
        """Hang up."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _drip(self, address: str) -> None:
        while True:
            try:
                reader, writer = await asyncio.open_connection(
                    "127.0.0.1", self._port, local_addr=(address, 0)
                )
            except OSError:
                self.ends["refused"] += 1
                await asyncio.sleep(1)
                continue
            self.open += 1
            try:
                self.ends[await self._send(reader, writer)] += 1
            finally:
                self.open -= 1
                writer.close()
            await asyncio.sleep(random.uniform(0.5, 1.5))

    async def _send(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> str:
        """How the server ended the connection: the first line of its answer, or `cut`."""
        with suppress(ConnectionError):
            writer.write(_HEAD)
            while True:
                with suppress(TimeoutError):
                    async with asyncio.timeout(1):
                        line = await reader.readline()
                        return line.decode(errors="replace")[9:12] or "cut"
                writer.write(b"a")
        return "cut"


async def drip(site: Site) -> list[Finding]:
    """Five thousand dripping clients at a worker that may open 1,024 files, beside ordinary clients."""
    count = _SMALL if site.small else _DRIPPING
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if hard < 2 * count:
        raise RuntimeError(f"{count} clients need {2 * count} open files; {hard} are allowed")
    descriptors = f"--nofile={_DESCRIPTORS}:{_DESCRIPTORS}"
    machine = await site.machine(workers=1, prefix=("prlimit", descriptors))
    load = Load([machine], _CLIENTS)
    name = f"{count} dripping clients, {_DESCRIPTORS} descriptors"
    async with observed(name, [machine], Bounds(), load) as seen:
        clients = DrippingClients(machine.port, count)
        async with seen.fault():
            await clients.start()
            await asyncio.sleep(10 if site.small else _SECONDS)
            files = machine.supervisor.num_fds()
            memory = machine.supervisor.memory_info().rss // 1_000_000
            held = clients.open
            await clients.stop()
    seen.finding.notes.append(
        f"{held} open from their side, {files} descriptors and {memory} MB in the worker; "
        f"ended: {dict(clients.ends.most_common(5))}"
    )
    return [seen.finding]


ROWS: Final = (Row("drip", "5,000 clients that send a byte a second, at 1,024 descriptors", drip),)
