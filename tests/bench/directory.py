"""`make bench-directory`: reading and searching the catalogue beside a bare endpoint that answers the same bytes.

    python -m tests.bench.directory [--sizes 1000,100000] [--rounds 3] [--seconds 4] [--data FOLDER] [--meaning]

One worker on one core, wrk with 32 connections on the other. Queries are a few words of some tool's entry, many more
than are remembered; one in ten is misspelt. The bare endpoint runs in the same minutes, and every ratio is taken
inside one round. CPU is user and system time of the server's process tree per request. The catalogues are kept in
FOLDER for the next run. With `--meaning` the vectors of the tools are computed first and every query gets one; without,
words alone count.
"""

import argparse
import asyncio
import contextlib
import random
import sys
import tempfile
import urllib.parse
import urllib.request
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from time import sleep

from negotiator.directory import catalogue_queries, exchange_import
from negotiator.directory.catalogue_index import CatalogueIndex, ToolVectors
from negotiator.directory.tool_record import ToolRecord
from negotiator.memory.embedding.minilm_embedder import choose_embedder
from negotiator.store.migrate import migrate
from negotiator.store.statement import Transaction
from negotiator.store.store import make_store
from tests.bench import contestants
from tests.bench.contestants import LIFTED, Contestant
from tests.bench.load import Figure, Load, measure, spread
from tests.bench.settings import BASE
from tests.conftest import MODELS
from tests.helpers.live_server import free_port

QUERIES = 20_000
UNKNOWN_WORDS = "heeding+outages"
"""Words that no tool has; what is near is found by meaning."""
SERVE = ("--loop", "uvloop", "--http", "httptools", "--log-level", "warning", "--no-access-log")


def records(count: int) -> Iterator[ToolRecord]:
    """The content over and over, each time under other names, with other words in it."""
    entries, rng = list(exchange_import.read_content()), random.Random(1)
    words = sorted({word for each in entries for word in each.record.summary.split()})
    for number in range(count):
        record = entries[number % len(entries)].record
        turn = number // len(entries)
        name = f"{record.name} {turn}" if turn else record.name
        extra = " ".join(rng.sample(words, 6))
        gone = {"homepage_url": f"https://t{number}.example/", "repository": None, "packages": ()}
        said = {"name": name[:100], "description": f"{record.description or ''} {extra}"}
        yield record.model_copy(update={**gone, **said, "slug": f"tool-{number}"})


async def fill(folder: Path, count: int) -> None:
    url = f"sqlite+aiosqlite:///{folder}/negotiator.db"
    await migrate(url)
    await put_records(url, count)


async def put_records(url: str, count: int) -> None:
    """Put so many tools into a migrated database."""
    store = make_store(url)
    await store.start()
    every = list(records(count))
    for start in range(0, count, 500):

        def unit(tx: Transaction, start: int = start) -> None:
            for record in every[start : start + 500]:
                catalogue_queries.put(tx, record, actor="bench")

        await store.write(unit)
    await store.close()


def queries(count: int) -> list[str]:
    """What people type who have some tool in mind: a few words of its entry, one in ten misspelt."""
    rng, every = random.Random(2), list(records(min(count, 600)))
    found: list[str] = []
    for number in range(QUERIES):
        tool = rng.choice(every)
        words = f"{tool.name} {' '.join(tool.tags)} {tool.summary}".lower()
        told = sorted({word.strip(".,:;()") for word in words.split() if len(word) > 3})
        chosen = rng.sample(told, min(len(told), rng.choice((1, 2, 2, 3))))
        if number % 10 == 0 and len(chosen[0]) > 5:
            chosen[0] = chosen[0][:2] + chosen[0][3:]
        found.append(" ".join(chosen))
    return found


async def embed(folder: Path) -> None:
    """Compute the vectors of all tools."""
    embedder = choose_embedder("", key="", model="", models=MODELS)
    store = make_store(f"sqlite+aiosqlite:///{folder}/negotiator.db")
    await store.start()
    catalogue = CatalogueIndex(store)
    catalogue.vectors = ToolVectors(embedder, MODELS)
    await catalogue.warm()
    await embedder.close()
    await store.close()


@contextlib.contextmanager
def ours(folder: Path, name: str, *, meaning: bool = False) -> Iterator[Contestant]:
    port = free_port()
    environment = {
        **LIFTED,
        # As `negotiator serve` sets it.
        "OPENBLAS_NUM_THREADS": "1",
        "NEGOTIATOR_LIMIT_DIRECTORY_RPM": LIFTED["NEGOTIATOR_LIMIT_RPM"],
        "NEGOTIATOR_BASE_URL": BASE,
        "NEGOTIATOR_DATA_DIR": str(folder),
        "NEGOTIATOR_KEYS_DIR": str(folder / "keys"),
        "NEGOTIATOR_MODELS_DIR": str(MODELS),
    }
    factory = f"{'negotiator.compose.app' if meaning else 'tests.bench.words_alone'}:create_app"
    command = [sys.executable, "-m", "uvicorn", factory, "--factory", *SERVE, "--port", str(port)]
    with contestants.started(name, command, environment, port, "0") as running:
        fetch(port, "/api/v1/tools?query=warm")
        if meaning:
            while b'"meaning"' not in fetch(port, f"/api/v1/tools?query={UNKNOWN_WORDS}"):
                sleep(1)
        yield running


@contextlib.contextmanager
def bare(folder: Path, name: str) -> Iterator[Contestant]:
    port = free_port()
    command = [sys.executable, "-m", "uvicorn", "tests.bench.bare_endpoint:app", *SERVE, "--port", str(port)]
    with contestants.started(name, command, {"BODIES": str(folder)}, port, "0") as running:
        yield running


def fetch(port: int, path: str) -> bytes:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=300) as answer:
        return answer.read()


def load(name: str, paths: list[str], file: Path) -> Load:
    file.write_text("\n".join(paths) + "\n")
    return Load(name, "urls.lua", lambda _: "/", lambda _: {"URLS": str(file)})


def compare(count: int, rounds: int, seconds: float, *, data: Path | None, meaning: bool) -> list[str]:
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        catalogue = (data or folder) / str(count)
        if not catalogue.exists():
            catalogue.mkdir(parents=True)
            asyncio.run(fill(catalogue, count))
        if meaning:
            asyncio.run(embed(catalogue))
        server = stack.enter_context(ours(catalogue, "ours", meaning=meaning))
        quoted = [urllib.parse.quote(query) for query in queries(count)]
        rows = {
            "get": [f"/api/v1/tools/tool-{n}" for n in random.Random(3).sample(range(count), 1000)],
            "search": [f"/api/v1/tools?query={query}" for query in quoted],
            "search with facets": [
                f"/api/v1/tools?query={query}&facets=category&facets=kind&facets=tag" for query in quoted
            ],
            "list": ["/api/v1/tools", "/api/v1/tools?category=coding&sort=name"],
        }
        figures: dict[tuple[str, str], list[Figure]] = defaultdict(list)
        for row, paths in rows.items():
            bodies = folder / f"bodies-{row.replace(' ', '-')}"
            bodies.mkdir()
            for number, path in enumerate(paths[:200]):
                (bodies / f"{number:03}").write_bytes(fetch(server.port, path))
            wanted = load(row, paths, folder / f"urls-{row.replace(' ', '-')}")
            with bare(bodies, "bare") as other:
                for _ in range(rounds):
                    figures[row, "bare"].append(measure(other, wanted, seconds))
                    figures[row, "ours"].append(measure(server, wanted, seconds))
        memory = f"{count} tools: our process takes {server.largest_mb():.0f} MB."
    return [*(line(count, row, figures) for row in rows), memory]


def line(count: int, row: str, figures: dict[tuple[str, str], list[Figure]]) -> str:
    mine, theirs = figures[row, "ours"], figures[row, "bare"]
    rps = [a.rps / b.rps for a, b in zip(mine, theirs, strict=True)]
    cpu = [b.cpu_us / a.cpu_us for a, b in zip(mine, theirs, strict=True)]
    return (
        f"| {count} | {row} | {spread([f.rps for f in mine], 0)} | {spread([f.p99_ms for f in mine], 1)} "
        f"| {spread([f.cpu_us for f in mine], 0)} | {spread(rps, 2)} | {spread(cpu, 2)} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1000,100000")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--meaning", action="store_true")
    chosen = parser.parse_args()
    print("| Tools | Row | Requests/s | p99, ms | CPU, µs | × bare, requests/s | × bare, CPU |")
    print("|---:|---|---:|---:|---:|---:|---:|")
    for size in map(int, chosen.sizes.split(",")):
        lines = compare(size, chosen.rounds, chosen.seconds, data=chosen.data, meaning=chosen.meaning)
        print("\n".join(lines), flush=True)


if __name__ == "__main__":
    main()
