"""`make bench-scale`: what a request costs over two machines, by rows, workers and engine.

    python -m tests.bench.scale [--engines sqlite postgresql] [--sizes 10000 1000000] [--tokens 10000000]
        [--workers 1 2 4] [--tools 1000] [--seconds 5] [--clients 8] [--soak 0]

On PostgreSQL two servers in network namespaces of their own (root only) share one database and one Redis; on SQLite
there is one server. Each size has that many agents, audit events, negotiations with an offer and an event each,
memories, access tokens and used values, 20 of an owner; then tokens and used values grow to `--tokens`. The clients
send one kind of request at a time, half of them to each machine, and share the cores with the servers. CPU is that of
the processes of each part, by /proc; statements are those that PostgreSQL logs for 40 requests one after another, with
`begin` and `commit`. With `--soak MINUTES` all kinds go on at once instead, and memory and open files are read each
minute.
"""

import argparse
import asyncio
import contextlib
import itertools
import json
import statistics
import sys
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final

import psutil
import uvloop

from tests.bench.contestants import NEGOTIATION, NEGOTIATIONS, MemoryUse, cpu_seconds, process_tree
from tests.bench.directory import put_records, queries
from tests.bench.growth import connect_postgres
from tests.bench.overload import LoadClient, Seen, request_bytes
from tests.bench.scale_rows import EXPIRING, OF_OWNERS, fill
from tests.bench.soak import fit
from tests.conftest import bearer
from tests.helpers.teleprompter_client import SCOPES
from tests.live.faults.site import Machine, Site
from tests.live.teleprompter.socket_client import TeleprompterUser
from tests.live.two_machines.machines import two_machines

_LIMITS: Final = {"connection_limit_address": "4096"}
_ANONYMOUS: Final = {"agent_name": "a", "identity_type": "anonymous"}
_OPENED: Final = {**NEGOTIATION, "walk_away": {"package": {"price": "190"}}}
_MEMORIES: Final = 200
MIX: Final = {
    "list of 20 negotiations": 0.2,
    "one negotiation": 0.2,
    "next move": 0.2,
    "memory search": 0.15,
    "tool search": 0.15,
    "registration": 0.1,
}
"""The shares of a thousand requests a second that docs/scaling.md multiplies with."""
_WARMING: Final = 3.0
"""Seconds before a load counts: models are loaded and indexes built at the first requests."""
_PROBES: Final = 40
_UTTERANCES: Final = 100
_FIRST_UTTERANCES: Final = 20
_WORDS: Final = ("price", "delivery", "discount", "contract", "quarter", "buyer", "warranty")
Make = Callable[[int], bytes]


@dataclass(slots=True)
class Cost:
    """What one kind of request cost, in milliseconds, microseconds of CPU and bytes."""

    rate: float = 0.0
    p50: float = 0.0
    p99: float = 0.0
    cpu: dict[str, float] = field(default_factory=dict[str, float])
    bytes: float = 0.0
    refused: int = 0
    statements: float | None = None


@dataclass
class Service:
    """The machines and what stands behind them; `url` is that of the database."""

    name: str
    machines: Sequence[Machine]
    url: str
    postmaster: int = 0
    redis: int = 0
    log: Any = None

    def parts(self) -> dict[str, list[psutil.Process]]:
        """The processes of each part."""
        found = {"server": [p for each in self.machines for p in process_tree(each.process)]}
        for name, number in (("PostgreSQL", self.postmaster), ("Redis", self.redis)):
            if number:
                parent = psutil.Process(number)
                found[name] = [parent, *parent.children(recursive=True)]
        return found

    def cpu(self) -> dict[str, float]:
        """Seconds of CPU that each part has used."""
        return {name: cpu_seconds(processes) for name, processes in self.parts().items()}

    async def restart(self, workers: int) -> None:
        """Start every machine again with so many workers."""
        self.stop()
        for machine in self.machines:
            machine.workers = workers
        await asyncio.gather(*(asyncio.to_thread(each.start) for each in self.machines))

    def stop(self) -> None:
        """Stop the machines; the database goes on."""
        for machine in self.machines:
            machine.stop()


@contextlib.asynccontextmanager
async def service(engine: str) -> AsyncGenerator[Service]:
    """Running machines on an empty database."""
    if engine == "sqlite":
        async with Site() as site:
            machine = await site.machine(workers=1, **_LIMITS)
            yield Service("SQLite, 1 machine", [machine], f"sqlite+aiosqlite:///{machine.database}")
        return
    async with two_machines(clocks=False, **_LIMITS) as both:
        assert both.redis.process
        yield Service(
            "PostgreSQL, 2 machines",
            [both.a, both.b],
            both.database_url,
            both.postgres.processes()[0].pid,
            both.redis.process.pid,
            both.postgres.folder / "log",
        )


async def prepare(service: Service) -> dict[str, Make]:
    """Make an agent with negotiations, offers and memories; gives what makes the requests of each kind."""
    machine = service.machines[0]
    [code] = await machine.delegation_codes(1)
    async with machine.connect(keep=8) as client:
        agent = (await client.post("/api/agent/register", json=_ANONYMOUS)).json()
        body = {"claim_token": code}
        claimed = await client.post("/api/agent/claim", json=body, headers=bearer(agent))
        headers = bearer(claimed.raise_for_status().json())
        client.headers.update(headers)
        for _ in range(NEGOTIATIONS):
            opened = await client.post("/api/negotiations", json=_OPENED)
            opened.raise_for_status()
        negotiation = f"/api/negotiations/{opened.json()['id']}"
        for by, price in (("me", "110"), ("them", "190"), ("me", "120"), ("them", "180")):
            offer = {"by": by, "package": {"price": price}}
            (await client.post(f"{negotiation}/offers", json=offer)).raise_for_status()
        (await client.post(f"{negotiation}/battle-plans", json={})).raise_for_status()
        for number in range(_MEMORIES):
            text = f"Company {number} moved on {_WORDS[number % len(_WORDS)]} in round {number}."
            (await client.post("/api/memories", json={"text": text})).raise_for_status()
    sent = f"authorization: {headers['Authorization']}\r\n"
    searched = queries(500)
    memories = [f"who moved on {word} in round {n}" for n, word in enumerate(_WORDS * 8)]

    def memory(number: int) -> bytes:
        query = json.dumps({"query": memories[number % len(memories)]})
        return request_bytes("POST", "/api/memories/search", sent, query)

    def tools(number: int) -> bytes:
        words = searched[number % len(searched)].encode("ascii", "ignore").decode()
        return request_bytes("GET", f"/api/v1/tools?query={'+'.join(words.split())}")

    registration = request_bytes("POST", "/api/agent/register", "", json.dumps(_ANONYMOUS))
    listing = request_bytes("GET", "/api/negotiations", sent)
    one = request_bytes("GET", negotiation, sent)
    move = request_bytes("POST", f"{negotiation}/next-move", sent, "{}")
    return {
        "registration": lambda _: registration,
        "list of 20 negotiations": lambda _: listing,
        "one negotiation": lambda _: one,
        "memory search": memory,
        "tool search": tools,
        "next move": lambda _: move,
    }


class OneKindClient(LoadClient):
    """A connection that sends requests of one kind, or of several in turn, and counts what comes back."""

    def __init__(self, number: int, kinds: Sequence[tuple[str, Make]], seen: Seen) -> None:
        super().__init__(number, {}, seen, patient=False)
        self._address = f"10.9.{number >> 8}.{number & 255}".encode()
        self._numbers = itertools.count(number * 1000)
        self._kinds = itertools.cycle(kinds)
        self.received = 0

    def data_received(self, data: bytes) -> None:
        self.received += len(data)
        super().data_received(data)

    def choose(self) -> tuple[str, bytes]:
        kind, make = next(self._kinds)
        return kind, make(next(self._numbers)).replace(b"ADDRESS", self._address)


@contextlib.asynccontextmanager
async def sending(
    service: Service, kinds: Sequence[tuple[str, Make]], clients: int, seen: Seen
) -> AsyncGenerator[list[OneKindClient]]:
    """So many connections, in turn to each machine, that send until the end of the block."""
    opened: list[OneKindClient] = []
    loop = asyncio.get_running_loop()
    for number, machine in zip(range(clients), itertools.cycle(service.machines), strict=False):
        _, client = await loop.create_connection(
            lambda number=number: OneKindClient(number, kinds, seen), machine.address, machine.port
        )
        opened.append(client)
    yield opened
    for client in opened:
        client.ended = True
    await asyncio.sleep(0.2)
    for client in opened:
        client.close()


async def measure(service: Service, name: str, make: Make, options: argparse.Namespace) -> Cost:
    """Send requests of one kind for some seconds, after some to warm up."""
    seen = Seen()
    async with sending(service, [(name, make)], options.clients, seen) as clients:
        await asyncio.sleep(_WARMING)
        seen.seconds.clear()
        for client in clients:
            client.received = 0
        cpu, began = service.cpu(), time.perf_counter()
        await asyncio.sleep(options.seconds)
        after, wall = service.cpu(), time.perf_counter() - began
        times = [each for (_, status), found in seen.seconds.items() if status < 300 for each in found]
        refused = sum(len(found) for (_, status), found in seen.seconds.items() if status >= 300)
        received = sum(client.received for client in clients)
    count = max(1, len(times))
    cost = Cost(count / wall, *_quantiles(times), bytes=received / count, refused=refused)
    cost.cpu = {part: (after[part] - cpu[part]) / count * 1e6 for part in after}
    return cost


def _quantiles(seconds: Sequence[float]) -> tuple[float, float]:
    """p50 and p99 in milliseconds."""
    times = sorted(seconds) or [0.0]
    return 1000 * statistics.median(times), 1000 * times[int(0.99 * (len(times) - 1))]


async def statements(service: Service, make: Make) -> float | None:
    """Statements of one request, `begin` and `commit` with them; None without PostgreSQL."""
    if service.log is None:
        return None
    connection = await connect_postgres(service.url)
    await connection.execute("alter system set log_statement = 'all'")
    await connection.execute("select pg_reload_conf()")
    await asyncio.sleep(0.5)
    machine = service.machines[0]
    reader, writer = await asyncio.open_connection(machine.address, machine.port)
    before = service.log.stat().st_size
    for number in range(_PROBES):
        writer.write(make(number).replace(b"ADDRESS", b"10.8.0.1"))
        head = await reader.readuntil(b"\r\n\r\n")
        length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
        await reader.readexactly(int(length or 0))
    writer.close()
    with service.log.open("rb") as log:
        log.seek(before)
        lines = log.read().decode(errors="replace").splitlines()
    await connection.execute("alter system reset log_statement")
    await connection.execute("select pg_reload_conf()")
    await connection.close()
    return sum("LOG:  statement:" in each or "LOG:  execute " in each for each in lines) / _PROBES


async def events(service: Service) -> Cost:
    """The time from an utterance to its event at a viewer of the other machine."""
    here, there = service.machines[0], service.machines[-1]
    [code] = await here.delegation_codes(1, SCOPES)
    async with here.connect(keep=2) as client:
        agent = (await client.post("/api/agent/register", json=_ANONYMOUS)).json()
        body = {"claim_token": code}
        claimed = await client.post("/api/agent/claim", json=body, headers=bearer(agent))
        user = TeleprompterUser(here.base, bearer(claimed.raise_for_status().json()))
        session = await user.open(client)
        took, before = list[float](), service.cpu()
        async with user.socket(session, 0, base=there.base) as viewer:
            for number in range(_FIRST_UTTERANCES + _UTTERANCES):
                if number == _FIRST_UTTERANCES:
                    took, before = [], service.cpu()
                name, began = f"u{number}", time.perf_counter()
                saying = asyncio.create_task(user.say(client, session, name, f"We need {number}."))
                while json.loads(await viewer.recv()).get("utterance_id") != name:
                    pass
                took.append(time.perf_counter() - began)
                await saying
            after = service.cpu()
        await client.post(f"{session}/end", headers=user.headers)
    cost = Cost(1 / statistics.mean(took), *_quantiles(took))
    cost.cpu = {part: (after[part] - before[part]) / _UTTERANCES * 1e6 for part in after}
    return cost


def mixed(costs: dict[str, Cost]) -> Cost:
    """The CPU and the bytes of a request of the mix."""
    parts = costs["registration"].cpu
    made = Cost(bytes=sum(share * costs[name].bytes for name, share in MIX.items()))
    made.cpu = {part: sum(share * costs[name].cpu[part] for name, share in MIX.items()) for part in parts}
    return made


HEAD: Final = (
    "| Service | Workers each | Rows | Request | requests/s | p50, ms | p99, ms | CPU server, µs | CPU PostgreSQL, µs "
    "| CPU Redis, µs | Statements | Bytes |\n|---|---:|---:|---|" + "---:|" * 8
)


def row(service: Service, workers: int, size: str, name: str, cost: Cost) -> str:
    """One line of the table."""
    cells = [service.name, str(workers), size, name]
    if cost.rate:
        refused = f" ({cost.refused} refused)" if cost.refused else ""
        cells += [f"{cost.rate:,.0f}{refused}", f"{cost.p50:.1f}", f"{cost.p99:.1f}"]
    else:
        cells += ["–"] * 3
    cells += [f"{cost.cpu[part]:,.0f}" if part in cost.cpu else "–" for part in ("server", "PostgreSQL", "Redis")]
    cells += ["–" if cost.statements is None else f"{cost.statements:.1f}"]
    cells += [f"{cost.bytes:,.0f}" if cost.bytes else "–"]
    return f"| {' | '.join(cells)} |"


async def measure_engine(engine: str, options: argparse.Namespace) -> None:
    """All sizes and workers of one engine."""
    async with service(engine) as running:
        makes = await prepare(running)
        await put_records(running.url, options.tools)
        print(HEAD, flush=True)
        sizes: dict[str, str] = {}
        have = dict.fromkeys((*OF_OWNERS, *EXPIRING), 0)
        steps: list[tuple[str, dict[Any, int]]] = [
            (f"{size:,}", dict.fromkeys((*OF_OWNERS, *EXPIRING), size)) for size in options.sizes
        ]
        if options.tokens:
            steps.append((f"{options.tokens:,} tokens, used", dict.fromkeys(EXPIRING, options.tokens)))
        for label, wanted in steps:
            running.stop()
            began = time.monotonic()
            for model, size in wanted.items():
                if size > have[model]:
                    each = await fill(running.url, model, have[model], size)
                    sizes[f"{model.__tablename__}"] = f"{each:,}"
                    have[model] = size
            sys.stderr.write(f"{running.name}, {label}: filled in {time.monotonic() - began:.0f} s\n")
            counted: dict[str, float | None] = {}
            for workers in options.workers:
                await running.restart(workers)
                costs: dict[str, Cost] = {}
                for name, make in makes.items():
                    cost = costs[name] = await measure(running, name, make, options)
                    if name not in counted:
                        counted[name] = await statements(running, make)
                    line = replace(cost, statements=counted[name])
                    print(row(running, workers, label, name, line), flush=True)
                line = row(running, workers, label, "utterance to its event", await events(running))
                print(line, flush=True)
                print(row(running, workers, label, "the mix", mixed(costs)), flush=True)
        sizes |= await size_of_plan(running.url)
        each = ", ".join(f"{name} {size}" for name, size in sizes.items())
        print(f"\nBytes a row with its indexes, {running.name}: {each}.\n", flush=True)


async def size_of_plan(url: str) -> dict[str, str]:
    """The bytes of the document of the one plan that there is, as PostgreSQL keeps it; empty on SQLite."""
    if url.startswith("sqlite"):
        return {}
    connection = await connect_postgres(url)
    size = await connection.fetchval("select pg_column_size(document) from battle_plans")
    await connection.close()
    return {"a battle plan's document alone": f"{size:,}"}


async def soak(engine: str, options: argparse.Namespace) -> None:
    """All kinds at once for so many minutes; memory, open files and their slopes an hour."""
    async with service(engine) as running:
        await running.restart(options.workers[-1])
        makes = await prepare(running)
        await put_records(running.url, options.tools)
        columns: tuple[list[float], list[float], list[float]] = ([], [], [])
        seen = Seen()
        print(f"\n| {running.name}: minute | Answers | Refused | p50, ms | p99, ms | PSS, MB | Open files |")
        print("|" + "---:|" * 7, flush=True)
        async with sending(running, [*makes.items()], options.clients, seen):
            for minute in range(1, options.soak + 1):
                await asyncio.sleep(60)
                seconds, seen.seconds = seen.seconds, type(seen.seconds)(list)
                times = [one for found in seconds.values() for one in found]
                refused = sum(len(v) for (_, status), v in seconds.items() if status >= 300)
                servers = running.parts()["server"]
                memory = sum(MemoryUse.of(servers).pss)
                files = sum(each.num_fds() for each in servers)
                p50, p99 = _quantiles(times)
                for column, value in zip(columns, (memory, float(files), p99), strict=True):
                    column.append(value)
                print(
                    f"| {minute} | {len(times):,} | {refused} | {p50:.1f} | {p99:.1f} | {memory:.1f} | {files} |",
                    flush=True,
                )
        print("\n| Slope an hour | all minutes | second half |\n|---|---:|---:|")
        for name, column in zip(("PSS, MB", "open files", "p99, ms"), columns, strict=True):
            print(f"| {name} | {fit(column)} | {fit(column[len(column) // 2 :])} |", flush=True)


def main() -> None:
    """Print the table of each engine."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engines", nargs="+", default=["sqlite", "postgresql"])
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 1_000_000])
    parser.add_argument("--tokens", type=int, default=10_000_000, help="0: none")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--tools", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--soak", type=int, default=0, metavar="MINUTES")
    options = parser.parse_args()
    print(f"{datetime.now(UTC):%Y-%m-%d}, {options.clients} clients, {options.seconds:g} s a load.\n")
    for engine in options.engines:
        uvloop.run(soak(engine, options) if options.soak else measure_engine(engine, options))


if __name__ == "__main__":
    main()
