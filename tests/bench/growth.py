"""`make bench-growth`: what a request and the housekeeping cost when the tables have grown.

    python -m tests.bench.growth [--sizes 10000 100000 1000000] [--engines sqlite postgresql] [--seconds 3]

Each size has that many rows of agents, access tokens, audit events, used values and negotiations, beside what the
server's own API made. Requests go to one worker; their CPU includes PostgreSQL's processes. The housekeeping runs in a
process of its own, beside a writer that notes how long each small change waits. In the second run half of the
tokens, events and used values are due, and up to 5,000 agents with a negotiation each.
"""

import argparse
import asyncio
import contextlib
import os
import sqlite3
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch
from urllib.parse import parse_qs, urlsplit

import asyncpg
import psutil
from sqlalchemy import delete, func, select

from negotiator.agents.tables import Agent
from negotiator.base import values
from negotiator.compose.housekeeping import ClockComparison, Housekeeping
from negotiator.compose.ownership import chores
from negotiator.negotiations.tables import Negotiation
from negotiator.store import atomic_updates
from negotiator.store.audit import AuditEvent
from negotiator.store.model import TableModel
from negotiator.store.ownership import Chore
from negotiator.store.statement import Query, Statement, Transaction, table
from negotiator.store.store import Store, make_store
from negotiator.tokens.tables import AccessToken
from tests.bench import contestants, load
from tests.bench.contestants import Contestant
from tests.bench.http import Bench
from tests.bench.load import Load, conditions, measure
from tests.bench.overload import engine

_LATER: Final = 20 * values.DAY
"""Milliseconds from now to the moment of the housekeeping at which half is due."""
_DUE: Final = 10 * values.DAY
_NOT_DUE: Final = 1000 * values.DAY
_DUE_AGENTS: Final = 5000
_PART: Final = 20_000
_LONGEST_ROUND: Final = 600.0
_BASELINE: Final = 5.0
_CLIENTS: Final = 8
"""Fewer than in `tests.bench.load`: a server on PostgreSQL that shares two cores with others would refuse some."""
_OTHERS: Final = "other programs during the requests, cores"
_NO_LEASE: Final = Statement(delete(table(atomic_updates.Lease)))
"""The server that has just stopped holds the lease for some minutes more."""

Row = dict[str, Any]


def rows(model: type[TableModel], example: Row, start: int, size: int, now: int) -> Iterator[tuple[Any, ...]]:
    """Rows `start` to `size` of a table, as the product makes them; the older half expires `_DUE` from now."""
    columns = [column.name for column in table(model).columns]
    for number in range(start, size):
        due = number < size // 2
        at = now - (800 if due else 1) * values.DAY + number
        ulid = values.first_id("", at)[1:13] + values.new_ulid()[12:]
        agent = f"agt_{number:026d}"
        ends = now + (_DUE if due else _NOT_DUE)
        changed: Row
        if model is Agent:
            ends = now + (_DUE if number < min(size // 2, _DUE_AGENTS) else _NOT_DUE)
            changed = {"id": agent, "created_at": at, "expires_at": ends}
        elif model is AccessToken:
            changed = {"jti": ulid, "client_id": agent, "issued_at": at, "expires_at": ends}
        elif model is AuditEvent:
            changed = {"id": f"evt_{ulid}", "at": at, "subject": agent}
        elif model is Negotiation:
            changed = {"id": f"neg_{ulid}", "owner": agent}
        else:
            hour = (ends // values.HOUR + number % 24) * values.HOUR
            used = f"https://idp.example\x1f{values.new_ulid()}"
            changed = {"expires_at": hour, "kind": "assertion", "value": used}
        row = {**example, **changed}
        yield tuple(row[name] for name in columns)


_FILLED: Final = (Agent, AccessToken, AuditEvent, Negotiation, atomic_updates.SpentValue)


async def fill(url: str, size: int, now: int) -> None:
    """Fill up each table to `size` rows, with copies of the rows that the server made."""
    store = make_store(url)
    await store.start()
    try:
        for model in _FILLED:
            found = Query(select(*table(model).columns).limit(1), tuple)
            count = Query(select(func.count()).select_from(table(model)), lambda row: int(row[0]))
            example = await store.read(lambda tx, q=found: tx.one(q))
            there = await store.read(lambda tx, q=count: tx.one(q)) or 0
            names = [column.name for column in table(model).columns]
            filling = dict(zip(names, example or [None] * len(names), strict=True))
            made = rows(model, filling, there, size, now)
            name = table(model).name
            if url.startswith("sqlite"):
                fill_file(Path(url.partition("///")[2]), name, names, made)
            else:
                await fill_postgres(url, name, names, made)
    finally:
        await store.close()


def fill_file(path: Path, name: str, names: Sequence[str], made: Iterator[Any]) -> None:
    connection = sqlite3.connect(path, isolation_level=None, timeout=30)
    connection.execute("pragma synchronous=off")
    places = ", ".join("?" * len(names))
    while part := [row for row, _ in zip(made, range(_PART), strict=False)]:
        connection.execute("begin immediate")
        connection.executemany(f"insert into {name} values ({places})", part)  # noqa: S608
        connection.execute("commit")
    connection.close()


async def fill_postgres(url: str, name: str, names: Sequence[str], made: Iterable[Any]) -> None:
    connection = await connect_postgres(url)
    await connection.copy_records_to_table(name, columns=names, records=made)
    await connection.execute(f"vacuum analyze {name}")
    await connection.close()


async def connect_postgres(url: str) -> Any:
    address = urlsplit(url)
    host = parse_qs(address.query)["host"][0]
    return await asyncpg.connect(user="postgres", database=address.path[1:], host=host)


@dataclass
class WithDatabase(Contestant):
    """A server whose processes include those of its PostgreSQL."""

    database: int = 0

    def tree(self) -> list[psutil.Process]:
        found = super().tree()
        if self.database:
            postmaster = psutil.Process(self.database)
            found += [postmaster, *postmaster.children(recursive=True)]
        return found


@dataclass
class Sweep:
    """What one round of the housekeeping did, in seconds; `waits` of the changes of others meanwhile."""

    units: list[tuple[str, int, float]] = field(default_factory=list[tuple[str, int, float]])
    waits: list[float] = field(default_factory=list[float])
    seconds: float = 0.0
    cpu: float = 0.0
    written: int = 0
    """Bytes of the WAL; on SQLite with what its checkpoints wrote."""

    def rows(self, *chores: str) -> int:
        return sum(done for name, done, _ in self.units if not chores or name in chores)

    def longest_unit(self) -> float:
        return max(seconds for _, _, seconds in self.units)

    def timed(self, chore: Chore) -> Chore:
        """The chore, whose units are noted."""

        def run(tx: Transaction, now: int, limit: int) -> int:
            began = time.perf_counter()
            done = chore.run(tx, now, limit)
            self.units.append((chore.name, done, time.perf_counter() - began))
            return done

        return replace(chore, run=run)


async def sweep(url: str, ahead: int, audit_days: int) -> Sweep:
    """One round of the housekeeping at the moment `ahead` of now, beside a writer."""
    seen = Sweep()
    store = make_store(url)
    await store.start()
    await store.write(lambda tx: tx.run(_NO_LEASE))
    database_clock = store.clock
    clock = lambda: values.now() + ahead  # noqa: E731

    async def ahead_clock() -> int:
        return await database_clock() + ahead

    store.clock = ahead_clock  # type: ignore[method-assign]
    timed = [seen.timed(chore) for chore in chores(audit_days)]
    housekeeping = Housekeeping(store, timed, ClockComparison(clock))
    writer = asyncio.create_task(write_on(store, seen.waits))
    if not ahead:
        await asyncio.sleep(_BASELINE)
    before, began, cpu = await written(url), time.perf_counter(), time.process_time()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_LONGEST_ROUND):
            await housekeeping.run()
    seen.seconds, seen.cpu = time.perf_counter() - began, time.process_time() - cpu
    seen.written = await written(url) - before
    writer.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await writer
    await store.close()
    return seen


async def write_on(store: Store, waits: list[float]) -> None:
    """Make one small change after the other, a few milliseconds apart."""
    while True:
        began = time.perf_counter()
        now = time.time_ns() // 1000
        await store.write(lambda tx, at=now: atomic_updates.charge_budget(tx, "bench", now=at, interval=1, burst=1000))
        waits.append(time.perf_counter() - began)
        await asyncio.sleep(0.005)


async def written(url: str) -> int:
    """Bytes that this process wrote, on PostgreSQL those of the WAL."""
    if url.startswith("sqlite"):
        counts = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
        return int(counts["wchar"])
    connection = await connect_postgres(url)
    position = await connection.fetchval("select pg_current_wal_lsn() - '0/0'::pg_lsn")
    await connection.close()
    return int(position)


def read_one(contestant: Contestant, folder: Path) -> Load:
    token = contestant.tokens[0]
    found = contestants.get(contestant, "/api/negotiations", token)["items"][0]["id"]
    path = folder / "token"
    path.write_text(f"{token}\n")
    return Load(
        "read one negotiation", "get.lua", lambda _: f"/api/negotiations/{found}", lambda _: {"TOKENS": str(path)}
    )


def measure_size(name: str, size: int, seconds: float) -> dict[str, float]:
    """The row of figures of one engine and size."""
    figures: dict[str, float] = {_OTHERS: 0.0}
    with tempfile.TemporaryDirectory() as made, surroundings():
        folder = Path(made)
        (folder / "keys").mkdir()
        bench = Bench(folder, seconds)
        with engine(name, folder) as settings:
            settings = {**settings, "audit_retention_days": "0"}
            for setting, value in settings.items():
                os.environ[f"NEGOTIATOR_{setting.upper()}"] = value
            url = settings.get("database_url") or (f"sqlite+aiosqlite:///{folder / 'data-1' / 'negotiator.db'}")
            postmaster = folder / "pg" / "postmaster.pid"
            database = int(postmaster.read_text().split()[0]) if postmaster.exists() else 0
            now = values.now()
            with contestants.ours(folder, 1, "0") as contestant:
                asyncio.run(fill(url, size, now))
                server = WithDatabase(**vars(contestant), database=database)
                loads = [
                    bench.registration("/api/agent/register"),
                    bench.assertion(),
                    bench.listing(1),
                    read_one(server, folder),
                    bench.credentials("/oauth/token"),
                ]
                for each in loads:
                    seen = measure(server, each, seconds)
                    figures[f"{each.name}, CPU µs"] = seen.cpu_us
                    figures[_OTHERS] = max(figures[_OTHERS], seen.foreign)
            quiet = asyncio.run(sweep(url, 0, 1000))
            busy = asyncio.run(sweep(url, _LATER, 400))
    agents = [(done, took) for chore, done, took in busy.units if chore == "agents.expires_at"]
    figures |= {
        "nothing due: CPU of the round, ms": quiet.cpu * 1000,
        "nothing due: longest unit, ms": quiet.longest_unit() * 1000,
        "no housekeeping: longest wait of a write, ms": max(quiet.waits) * 1000,
        "half due: rows deleted": busy.rows(),
        "half due: rows/s": busy.rows() / busy.seconds,
        "half due: CPU µs a row": busy.cpu / busy.rows() * 1e6,
        "half due: agents/s of unit time": sum(done for done, _ in agents) / sum(took for _, took in agents),
        "half due: longest unit, ms": busy.longest_unit() * 1000,
        "half due: 99 % of units within, ms": quantile([took for *_, took in busy.units]) * 1000,
        "half due: longest wait of a write, ms": max(busy.waits) * 1000,
        "half due: 99 % of waits within, ms": quantile(busy.waits) * 1000,
        "half due: bytes written a row": busy.written / busy.rows(),
    }
    by_chore: dict[str, list[float]] = defaultdict(list)
    for chore, done, took in busy.units:
        if done:
            by_chore[chore].append(took / done * 1e6)
    print(
        f"{name}, {size:,}:",
        *(f"{chore} {sum(each) / len(each):.0f} µs/row" for chore, each in by_chore.items()),
        *(f"longest: {max(busy.units, key=lambda unit: unit[2])}",),
        file=sys.stderr,
    )
    return figures


def quantile(found: Sequence[float]) -> float:
    return sorted(found)[int(len(found) * 0.99)]


@contextlib.contextmanager
def surroundings() -> Generator[None]:
    """This process's variables, which are put back afterwards, and the number of clients."""
    with patch.dict(os.environ), patch.object(load, "CONNECTIONS", _CLIENTS):
        yield


def main() -> None:
    """Print one table: a row for each figure, with its ratio to the smallest size."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--engines", nargs="+", default=["sqlite", "postgresql"])
    parser.add_argument("--seconds", type=float, default=3)
    options = parser.parse_args()
    found = {
        (name, size): measure_size(name, size, options.seconds) for name in options.engines for size in options.sizes
    }
    heads = [f"{name}, {size:,}" for name, size in found]
    print(f"| | {' | '.join(heads)} |\n|---|{'---:|' * len(heads)}")
    for figure in next(iter(found.values())):
        cells: list[str] = []
        for (name, _), figures in found.items():
            smallest = found[name, options.sizes[0]][figure]
            ratio = f" ({figures[figure] / smallest:.2f} ×)" if smallest else ""
            cells.append(f"{figures[figure]:,.{0 if figures[figure] >= 100 else 1}f}{ratio}")
        print(f"| {figure} | {' | '.join(cells)} |")
    others = [each[_OTHERS] for each in found.values()]
    print(f"\n{conditions(1, options.seconds, others)}")


if __name__ == "__main__":
    main()
