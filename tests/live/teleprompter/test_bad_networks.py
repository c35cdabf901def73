"""Connections that break and a worker that dies: no numbered event is lost, none comes twice."""

import asyncio
import contextlib
import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

import psutil
import pytest

from tests.helpers.live_server import Server
from tests.live.teleprompter.socket_client import ReconnectingClient, bound

_SENTENCES: Final = 40
_SLOWEST: Final = 0.02
_BREAKS: Final = 12


@asynccontextmanager
async def flaky(port: int, seed: int) -> AsyncGenerator[str]:
    """A way to a port that delays what passes and breaks off in the middle of it."""
    chance = random.Random(seed)  # noqa: S311  chance, not a secret

    async def pass_on(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while piece := await source.read(300):
                await asyncio.sleep(chance.random() * _SLOWEST)
                if chance.randrange(_BREAKS) == 0:
                    sink.write(piece[: len(piece) // 2])
                    break
                sink.write(piece)
                await sink.drain()
        sink.close()

    async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(pass_on(reader, back), pass_on(there, writer))

    passing = await asyncio.start_server(meet, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{passing.sockets[0].getsockname()[1]}"
    finally:
        passing.close()


async def _talk_through(server: Server, base: str, *, killing: bool) -> ReconnectingClient:
    """Speak and look on in a session until it is over; the numbers have to be whole, and the transcript too."""
    caller = await bound(server)
    async with server.connect() as client:
        one = await caller.open(client)
        client_side = ReconnectingClient(caller, one, base)
        running = asyncio.create_task(client_side.run())
        for number in range(_SENTENCES):
            await client_side.say(f"u{number}", f"Sentence {number}.")
            if killing and number == _SENTENCES // 2:
                await client_side.until(1)
                _kill_a_worker(server)
            await asyncio.sleep(0.01)
        await client_side.heard()
        await client.post(f"{one}/end", headers=caller.headers)
        await asyncio.wait_for(running, 30)
        answer = await client.get(f"{one}/transcript", headers=caller.headers)
    assert client_side.told == list(range(1, client_side.told[-1] + 1))
    spoken = [line["text"] for line in answer.json()["lines"]]
    assert sorted(spoken) == sorted(f"Sentence {number}." for number in range(_SENTENCES))
    return client_side


def _kill_a_worker(server: Server) -> None:
    assert server.process is not None
    workers = psutil.Process(server.process.pid).children(recursive=True)
    serving = [each for each in workers if "spawn_main" in " ".join(each.cmdline())]
    for worker in serving:
        worker.kill()


@pytest.mark.asyncio
async def test_a_flaky_network_loses_nothing_and_repeats_nothing(two_workers: Server) -> None:
    async with flaky(two_workers.port, 7) as base:
        spoke = await _talk_through(two_workers, base, killing=False)
    assert spoke.comebacks >= 3


@pytest.mark.asyncio
async def test_a_killed_worker_loses_nothing_and_repeats_nothing(two_workers: Server) -> None:
    spoke = await _talk_through(two_workers, "", killing=True)
    assert spoke.comebacks >= 1
