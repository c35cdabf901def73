"""Clients that drip: thousands of them, each sending its request a byte at a time."""

import asyncio
import errno
import random
import resource
import socket
import time
from contextlib import suppress
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection
from typing import Final

from tests.live.faults.load import Load
from tests.live.faults.row import Bounds, Finding, Row, observed
from tests.live.faults.site import Site

_CLIENTS: Final = 16
_DRIPPING: Final = 5000
_SMALL: Final = 1500
_DESCRIPTORS: Final = 1024
_SECONDS: Final = 40.0
_RETURN: Final = 10.0


def drip_bytes(port: int, count: int, report: Connection) -> None:
    """Keep so many connections open, each of which sends a byte a second; runs in a process of its own until killed.

    They come from 125 addresses of the loopback network. One that is cut off comes back after ten seconds. Each second
    `report` is told how many are open and how many were cut off so far.
    """
    sockets: dict[int, socket.socket] = {}
    due = [random.uniform(0, _RETURN) for _ in range(count)]
    cut, began = 0, time.monotonic()
    while True:
        now = time.monotonic() - began
        for number in range(count):
            if number not in sockets:
                if now >= due[number]:
                    sockets[number] = _connection(port, number)
                continue
            if _sends(sockets[number]):
                continue
            sockets.pop(number).close()
            due[number] = now + _RETURN
            cut += 1
        report.send((len(sockets), cut))
        time.sleep(max(0.0, 1.0 - (time.monotonic() - began - now)))


def _connection(port: int, number: int) -> socket.socket:
    made = socket.socket()
    made.setblocking(False)
    made.bind((f"127.0.1.{number % 125 + 1}", 0))
    with suppress(BlockingIOError):
        made.connect(("127.0.0.1", port))
    return made


def _sends(connection: socket.socket) -> bool:
    """Send a byte of the head; False when the server has closed the connection."""
    try:
        begun = connection.getpeername()
        if begun and connection.recv(1024) == b"":
            return False
    except BlockingIOError:
        pass
    except OSError as fault:
        return fault.errno == errno.ENOTCONN
    with suppress(BlockingIOError):
        try:
            connection.send(b"x")
        except OSError as fault:
            return isinstance(fault, BlockingIOError)
    return True


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
        ours, theirs = Pipe(duplex=False)
        process = get_context("spawn").Process(target=drip_bytes, args=(machine.port, count, theirs), daemon=True)
        async with seen.fault():
            process.start()
            await asyncio.sleep(_RETURN + (10 if site.small else _SECONDS))
            files = machine.supervisor.num_fds()
            process.kill()
            process.join()
    told = (0, 0)
    with suppress(EOFError):
        while ours.poll():
            told = ours.recv()
    seen.finding.notes.append(f"{told[0]} open from their side, {told[1]} cut off, {files} descriptors in the worker")
    return [seen.finding]


ROWS: Final = (Row("drip", "5,000 clients that send a byte a second, at 1,024 descriptors", drip),)
