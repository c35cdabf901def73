"""`make bench-engines`: the CPU of a request on PostgreSQL with Redis, beside SQLite.

    python -m tests.bench.engines [--rounds 3] [--seconds 2] [--clients 16] [--rows list]

One worker of each kind runs all the time, and one is asked at a time; in each round both follow each other, in another
order each time. CPU is that of the server and of every process of its PostgreSQL and Redis, per request.
"""

import argparse
import contextlib
import os
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import psutil

from tests.bench import contestants, load
from tests.bench.contestants import NEGOTIATION, Contestant, bearer
from tests.bench.http import Bench
from tests.bench.load import Figure, Load, conditions, measure, spread
from tests.bench.overload import engine
from tests.bench.soak import claimed_token

AIM: Final = 2.0
_ENGINES: Final = ("sqlite", "postgresql")
_MEMORIES: Final = 50
_AGENTS: Final = 2
_TERMS: Final[dict[str, Any]] = {**NEGOTIATION, "walk_away": {"package": {"price": "180"}}}


@dataclass
class WithNeighbours(Contestant):
    """A server whose processes include those of its database and of Redis."""

    neighbours: list[int] = field(default_factory=list[int])
    token: str = ""
    next_move: str = ""

    def cpu_seconds(self) -> float:
        """Includes the processes of the database that have ended."""
        spent = super().cpu_seconds()
        for neighbour in map(psutil.Process, self.neighbours):
            spent += sum(neighbour.cpu_times()[:4])
            for child in neighbour.children():
                with contextlib.suppress(psutil.NoSuchProcess):
                    spent += sum(child.cpu_times()[:2])
        return spent


@contextlib.contextmanager
def server(name: str, folder: Path) -> Generator[WithNeighbours]:
    """One worker on this engine, with an agent that has memories and a negotiation to advise on."""
    with patch.dict(os.environ), engine(name, folder) as settings:
        before = {each.pid for each in psutil.Process().children() if each.name() == "redis-server"}
        for setting, value in settings.items():
            os.environ[f"NEGOTIATOR_{setting.upper()}"] = value
        postmaster = folder / "pg" / "postmaster.pid"
        neighbours = [int(postmaster.read_text().split()[0]), *before] if settings else []
        with contestants.ours(folder, 1, "0") as contestant:
            made = WithNeighbours(**vars(contestant), neighbours=neighbours)
            made.name = name
            made.token = claimed_token(contestant)
            for number in range(_MEMORIES):
                text = f"Acme moved on price and delivery in round {number}."
                made.post("/api/memories", {"text": text}, made.token)
            agent = made.tokens[0]
            one = made.post("/api/negotiations", _TERMS, agent)["id"]
            offer = {"by": "them", "kind": "offer", "package": {"price": "190"}}
            made.post(f"/api/negotiations/{one}/offers", offer, agent)
            made.next_move = f"/api/negotiations/{one}/next-move"
            yield made


def loads(bench: Bench) -> list[Load]:
    def message(body: str, *, claimed: bool = False) -> Any:
        def environment(contestant: Any) -> dict[str, str]:
            token = contestant.token if claimed else contestant.tokens[0]
            lines = {"content-type": "application/json", **bearer(token)}
            headers = "\n".join(f"{name}: {value}" for name, value in lines.items())
            return {"BODY": body, "HEADERS": headers}

        return environment

    def next_move(contestant: Any) -> str:
        return str(contestant.next_move)

    search = message('{"query":"delivery"}', claimed=True)
    return [
        bench.registration("/api/agent/register"),
        bench.assertion(),
        bench.listing(1),
        bench.one(),
        bench.credentials("/oauth/token"),
        Load("memory search", "message.lua", lambda _: "/api/memories/search", search),
        Load("next move", "message.lua", next_move, message("{}")),
    ]


def main() -> None:
    """Print a row for each request."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--rows", default="", help="words that the names of the rows contain")
    chosen = parser.parse_args()
    figures: dict[tuple[str, str], list[Figure]] = defaultdict(list)
    with contextlib.ExitStack() as stack:
        stack.enter_context(patch.object(load, "CONNECTIONS", chosen.clients))
        stack.enter_context(patch.object(contestants, "AGENTS", _AGENTS))
        root = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        servers: list[tuple[WithNeighbours, list[Load]]] = []
        for name in _ENGINES:
            folder = root / name
            (folder / "keys").mkdir(parents=True)
            bench = Bench(folder, chosen.seconds)
            made = stack.enter_context(server(name, folder))
            rows = [each for each in loads(bench) if chosen.rows in each.name]
            servers.append((made, rows))
        for made, rows in servers:
            for row in rows:
                measure(made, row, 1)
        for number in range(chosen.rounds):
            for pair in zip(*(rows for _, rows in servers), strict=True):
                turns = list(zip(servers, pair, strict=True))
                for (made, _), row in turns[:: -1 if number % 2 else 1]:
                    figures[row.name, made.name].append(measure(made, row, chosen.seconds))
        names = [row.name for row in servers[0][1]]
    print("| Row | SQLite, CPU µs | PostgreSQL and Redis, CPU µs | Ratio | Requests/s | |")
    print("|---|---:|---:|---:|---:|---|")
    for name in names:
        small, large = (figures[name, each] for each in _ENGINES)
        ratios = [b.cpu_us / a.cpu_us for a, b in zip(small, large, strict=True)]
        missing = statistics.median(ratios) - AIM
        cells = (
            name,
            spread([each.cpu_us for each in small], 0),
            spread([each.cpu_us for each in large], 0),
            spread(ratios, 2),
            spread([b.rps / a.rps for a, b in zip(small, large, strict=True)], 2),
            "within twice" if missing <= 0 else f"{missing:.2f} above twice",
        )
        print(f"| {' | '.join(cells)} |")
    foreign = [figure.foreign for found in figures.values() for figure in found]
    print(f"\n{conditions(chosen.rounds, chosen.seconds, foreign)} {chosen.clients} clients.")


if __name__ == "__main__":
    main()
