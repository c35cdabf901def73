"""`make bench-teleprompter`: from words to a card, and from sound to words and a card, over real sockets.

    python -m tests.bench.teleprompter [--seconds 20] [--sessions 1 60 300] [--calls 1 8] [--soak 0]

One server process of ours and its hearing processes; the clients share the machine with them. Every text goes out at
its own moment, whether the last was answered or not. Beside each figure stands that of a `ping` of the same sockets in
the same seconds: what the way there and back costs by itself. Sound is two synthetic voices a call (flite), one for
each side, which take turns in real time; twice a minute, as often as cards are shown, the other side says a sentence
that ends with the words that raise its card, so that the end of speech is the end of the trigger.
"""

import argparse
import asyncio
import contextlib
import itertools
import json
import random
import statistics
import time
import tomllib
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx2
import numpy as np
import psutil
from websockets.asyncio.client import ClientConnection, connect

from negotiator.cli.demo.server import DemoServer, run_own_server
from tests.bench.contestants import cpu_seconds
from tests.helpers.synthetic_speech import silence, synthesise

PATH: Final = "/api/teleprompter/sessions"
OPEN: Final = {"consent": {"basis": "test", "confirmed_by": "bench"}, "role": "buyer"}
SESSIONS_EACH: Final = 10
SCOPES: Final = ("teleprompter:stream", "negotiations:read", "negotiations:write", "memories:read")
TRIGGERS: Final = (
    "honestly that is way over our budget",
    "i have to ask my manager before i can sign",
    "your competitor is cheaper",
    "this is our final offer take it or leave it",
    "we need more time to think about it",
    "let us just split the difference",
)
TRIGGER_EVERY_MS: Final = 30_000
ORDINARY: Final = (
    "i have sent you the papers this morning",
    "the first two pages have not changed",
    "my colleague is in the building today",
    "we moved here in the spring",
    "you will find the list on page four",
    "the train was late again",
)
SIDES: Final = (("them", "rms"), ("me", "slt"))
"""The channels of a call, and whose voice speaks on each."""
HELD_OUT: Final = Path(__file__).parents[1] / "quality" / "teleprompter" / "held_out.toml"
FRAME_MS: Final = 100
BYTES_PER_MS: Final = 32


@dataclass(slots=True)
class Times:
    """What was measured, in milliseconds."""

    decided: list[float] = field(default_factory=list[float])
    shown: list[float] = field(default_factory=list[float])
    final: list[float] = field(default_factory=list[float])
    ping: list[float] = field(default_factory=list[float])
    missed: int = 0
    unheard: int = 0


def row(values: Sequence[float]) -> str:
    """p50 / p95 / p99 and how many."""
    if len(values) < 2:
        return "–"
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    return f"{cuts[49]:.1f} / {cuts[94]:.1f} / {cuts[98]:.1f} ({len(values)})"


def wordings() -> list[str]:
    """Sentences nobody's head was made from: objections and ordinary talk."""
    data = tomllib.loads(HELD_OUT.read_text())
    texts = [text for value in data.values() for text in _texts(value)]
    random.Random(7).shuffle(texts)
    return texts


def _texts(value: Any) -> list[str]:
    match value:
        case str():
            return [value]
        case list():
            return [text for each in value for text in _texts(each)]  # pyright: ignore[reportUnknownVariableType]
        case dict():
            return [text for each in value.values() for text in _texts(each)]  # pyright: ignore[reportUnknownVariableType]
        case _:
            return []


def owner(site: DemoServer, number: int) -> str:
    """The token of an agent bound to a user of its own."""
    email = f"bench{number}@example.com"
    site.operate("users", "add", email)
    wanted = [word for scope in SCOPES for word in ("--scope", scope)]
    code = site.operate("delegations", "create", "--user", email, *wanted)["code"]
    with httpx2.Client(base_url=site.url) as http:
        body = {"agent_name": "bench", "identity_type": "anonymous"}
        agent = http.post("/api/agent/register", json=body).json()["access_token"]
        claim = http.post("/api/agent/claim", json={"claim_token": code}, headers={"Authorization": f"Bearer {agent}"})
        return str(claim.json()["access_token"])


class Talk:
    """One session on one socket; it keeps when what came."""

    def __init__(self, socket: ClientConnection, times: Times) -> None:
        self.socket = socket
        self.times = times
        self.sent: dict[str, float] = {}
        self.pinged = 0.0
        self.finals: list[tuple[float, dict[str, Any]]] = []
        self.cards: list[tuple[float, dict[str, Any]]] = []
        self.notices: list[str] = []

    async def listen(self) -> None:
        """Note the moment of everything that comes, until the socket is closed."""
        async for frame in self.socket:
            now, message = time.perf_counter(), json.loads(frame)
            match message["type"]:
                case "pong":
                    self.times.ping.append((now - self.pinged) * 1000)
                case "ack" if message["of"] == "text":
                    began = self.sent.get(message["utterance_id"])
                    if began is not None:
                        self.times.decided.append((now - began) * 1000)
                case "cue":
                    self.cards.append((now, message["cue"]))
                    began = self.sent.get(message["cue"]["evidence"]["utterance_id"])
                    if began is not None:
                        self.times.shown.append((now - began) * 1000)
                case "transcript.final":
                    self.finals.append((now, message))
                case "notice" | "error":
                    self.notices.append(message["code"])
                case _:
                    pass

    async def say(self, name: str, text: str) -> None:
        """One final, at this moment."""
        self.sent[name] = time.perf_counter()
        message = {"type": "text", "utterance_id": name, "text": text}
        await self.socket.send(json.dumps(message))

    async def ping(self) -> None:
        """What the way there and back costs now."""
        self.pinged = time.perf_counter()
        await self.socket.send('{"type":"ping"}')


@contextlib.asynccontextmanager
async def talks(
    site: DemoServer, tokens: Sequence[str], count: int, times: Times, **opening: Any
) -> AsyncGenerator[list[Talk]]:
    """As many sessions, each on a socket of its own; deleted at the end."""
    address = site.url.replace("http", "ws", 1)
    async with contextlib.AsyncExitStack() as stack, httpx2.AsyncClient(base_url=site.url) as http:
        made: list[Talk] = []
        listening: list[asyncio.Task[None]] = []
        opened: list[tuple[str, dict[str, str]]] = []
        for number in range(count):
            headers = {"Authorization": f"Bearer {tokens[number // SESSIONS_EACH]}"}
            answer = await http.post(PATH, json={**OPEN, **opening}, headers=headers)
            one = f"{PATH}/{answer.raise_for_status().json()['id']}"
            opened.append((one, headers))
            socket = await stack.enter_async_context(connect(f"{address}{one}/stream", additional_headers=headers))
            talk = Talk(socket, times)
            made.append(talk)
            listening.append(asyncio.create_task(talk.listen()))
        yield made
        for talk in made:
            await talk.socket.close()
        await asyncio.gather(*listening)
        for one, headers in opened:
            await http.delete(one, headers=headers)


async def by_text(site: DemoServer, tokens: Sequence[str], count: int, *, rate: float, seconds: float) -> Times:
    """So many sessions, each saying `rate` sentences a second."""
    times, texts = Times(), itertools.cycle(wordings())

    async def speak(talk: Talk, chance: random.Random) -> None:
        start = time.perf_counter() + chance.random() / rate
        for number in range(int(seconds * rate)):
            await asyncio.sleep(max(0.0, start + number / rate - time.perf_counter()))
            if number % 10 == 0:
                await talk.ping()
            await talk.say(f"u{number}", next(texts))

    async with talks(site, tokens, count, times) as made:
        for talk in made:
            await talk.socket.send('{"type":"start"}')
        await asyncio.gather(*(speak(talk, random.Random(n)) for n, talk in enumerate(made)))
        await asyncio.sleep(2.0)
        asked = sum(len(talk.sent) for talk in made)
        times.missed = asked - len(times.decided)
    return times


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and the pause after it; `spoken` and `whole` are milliseconds, of the speech and of both."""

    side: int
    pcm: bytes
    spoken: float
    whole: float
    trigger: bool


def _call(number: int, seconds: float) -> list[Sentence]:
    """The sentences of one call, whose sides take turns."""
    triggers, ordinary = itertools.cycle(TRIGGERS), itertools.cycle(ORDINARY)
    for _ in range(number):
        next(triggers), next(ordinary)
    made: list[Sentence] = []
    at_ms, triggered = 0.0, -TRIGGER_EVERY_MS
    while at_ms < seconds * 1000:
        side = len(made) % 2
        trigger = side == 0 and at_ms - triggered >= TRIGGER_EVERY_MS
        triggered = at_ms if trigger else triggered
        pcm = synthesise(next(triggers if trigger else ordinary), SIDES[side][1])
        samples = np.abs(np.frombuffer(pcm, np.int16).astype(np.int32))
        spoken = int(np.nonzero(samples > 500)[0][-1]) / 16
        whole = pcm + silence(900 + 100 * ((number + len(made)) % 5))
        made.append(Sentence(side, whole, spoken, len(whole) / BYTES_PER_MS, trigger))
        at_ms += made[-1].whole
    return made


async def by_sound(
    site: DemoServer, tokens: Sequence[str], count: int, *, seconds: float
) -> tuple[Times, float, float]:
    """So many calls of both sides, spoken in real time; the times, CPU a call and MB of all of it."""
    times = Times()
    server = _tree(site)
    scripts = [_call(number, seconds) for number in range(count)]

    async def speak(talk: Talk, number: int) -> None:
        channels = [{"id": name} for name, _ in SIDES]
        await talk.socket.send(json.dumps({"type": "start", "channels": channels}))
        await asyncio.sleep(1.0 + number * 0.37)
        start, at_ms = time.perf_counter(), 0.0
        for said in scripts[number]:
            ends = start + (at_ms + said.spoken) / 1000
            before = len(talk.cards), len(talk.finals)
            for place in range(0, len(said.pcm), FRAME_MS * BYTES_PER_MS):
                due = start + (at_ms + (place / BYTES_PER_MS) + FRAME_MS) / 1000
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
                piece = said.pcm[place : place + FRAME_MS * BYTES_PER_MS]
                await talk.socket.send(bytes([said.side]) + piece)
                await talk.socket.send(bytes([1 - said.side]) + silence(len(piece) // BYTES_PER_MS))
            at_ms += said.whole
            later = asyncio.get_running_loop().call_later
            later(_WAIT_SECONDS, _note, times, talk, before, ends, said)
        await asyncio.sleep(2 * _WAIT_SECONDS)

    async with talks(site, tokens, count, times, source="audio") as made:
        began = time.perf_counter()
        cpu = cpu_seconds(server())
        await asyncio.gather(*(speak(talk, number) for number, talk in enumerate(made)))
        used = (cpu_seconds(server()) - cpu) / (time.perf_counter() - began) / count
        memory = sum(process.memory_info().rss for process in server()) / 1e6
    return times, used, memory


_WAIT_SECONDS: Final = 1.0
"""How long after a sentence and its pause its final and its card are waited for."""


def _note(times: Times, talk: Talk, before: tuple[int, int], ends: float, said: Sentence) -> None:
    """When the final of a sentence, and the card of a trigger, came, against the end of its speech."""
    cards, finals = talk.cards[before[0] :], talk.finals[before[1] :]
    if said.trigger and cards:
        times.shown.append((cards[0][0] - ends) * 1000)
    elif said.trigger:
        times.missed += 1
    own = [at for at, final in finals if final["speaker"] == SIDES[said.side][0]]
    if own:
        times.final.append((own[0] - ends) * 1000)
    else:
        times.unheard += 1


def _tree(site: DemoServer) -> Any:
    """What gives the server's processes as they are now."""
    port = int(site.url.rpartition(":")[2])
    [found] = [
        process
        for process in psutil.process_iter()
        if any(each.laddr.port == port and each.status == psutil.CONN_LISTEN for each in _connections(process))
    ]
    return lambda: [found, *found.children(recursive=True)]


def _connections(process: psutil.Process) -> Any:
    try:
        return process.net_connections(kind="tcp")
    except psutil.Error:
        return []


async def soak(site: DemoServer, tokens: Sequence[str], minutes: float) -> None:
    """One call of sound and twenty of text for so long; memory every minute."""
    server = _tree(site)
    ends = time.monotonic() + minutes * 60
    minute = 0
    print("\n| minute | MB, server and hearing processes | largest MB |\n|---:|---:|---:|")
    while time.monotonic() < ends:
        await asyncio.gather(
            by_text(site, tokens, 2 * SESSIONS_EACH, rate=2.0, seconds=50), by_sound(site, tokens[2:], 1, seconds=50)
        )
        minute += 1
        sizes = [process.memory_info().rss / 1e6 for process in server()]
        print(f"| {minute} | {sum(sizes):.0f} | {max(sizes):.0f} |", flush=True)


async def run(site: DemoServer, chosen: argparse.Namespace) -> None:
    """All of it, as markdown."""
    owners = max(-(-max(chosen.sessions) // SESSIONS_EACH), 3)
    tokens = [owner(site, number) for number in range(owners)]
    await by_text(site, tokens, 1, rate=2.0, seconds=8)  # heads are learned, models loaded
    print("| sessions | sentences/s | decided ms p50 / p95 / p99 | card ms | ping ms | unanswered |")
    print("|---:|---:|---:|---:|---:|---:|")
    for count in chosen.sessions:
        rate = 5.0 if count <= 60 else 1.0
        times = await by_text(site, tokens, count, rate=rate, seconds=chosen.seconds)
        told = f"{row(times.decided)} | {row(times.shown)} | {row(times.ping)} | {times.missed}"
        print(f"| {count} | {count * rate:.0f} | {told} |", flush=True)
    print("\n| calls | trigger → card ms | end of speech → final ms | no card | no final | cores a call | MB |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    for count in chosen.calls:
        seconds = max(chosen.seconds, 90)
        times, cores, memory = await by_sound(site, tokens, count, seconds=seconds)
        told = f"{row(times.shown)} | {row(times.final)} | {times.missed} | {times.unheard} | {cores:.2f}"
        print(f"| {count} | {told} | {memory:.0f} |", flush=True)
    if chosen.soak:
        await soak(site, tokens, chosen.soak)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--sessions", type=int, nargs="*", default=[1, 60, 300])
    parser.add_argument("--calls", type=int, nargs="*", default=[1, 8])
    parser.add_argument("--soak", type=float, default=0, help="minutes")
    chosen = parser.parse_args()
    limits = {"limit_rpm": "1000000"}
    entry = {"register_limit_anonymous": "100000"}
    with run_own_server(**limits, **entry) as site:
        asyncio.run(run(site, chosen))


if __name__ == "__main__":
    main()
