"""`make bench-memory`, the second part: search and insertion beside the peers, on the same vectors.

CPU is this process's, all threads. Every size is one owner's memories; a service of a million in all is many owners on
one database, of whom the one of a thousand is asked. Chroma and LanceDB keep a collection (a table) for each owner,
which is their best case, and search vectors only; ours searches vectors and words and weighs them.
"""

import argparse
import asyncio
import contextlib
import importlib
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson

from negotiator.memory.glossary import glossary
from negotiator.memory.index import IndexedMemory, MemoryIndex
from negotiator.memory.searchable_text import searchable_terms

NOW: Final = 1_800_000_000_000
WIDTH: Final = 384
TOP: Final = 8
_HOW: Final = "{name} is not installed here; `make bench-memory` installs it"
_VOCABULARY: Final = 8000

Array = Any
Ask = Callable[[int], Any]


@dataclass(frozen=True, slots=True)
class Material:
    """Texts and vectors that lie in clusters as sentences do, and questions near some of them."""

    texts: Sequence[str]
    vectors: Array
    questions: Sequence[str]
    asked: Array


def material(count: int, questions: int = 200) -> Material:
    """As many as asked, the same each time."""
    chance, random_ = np.random.default_rng(7), random.Random(7)
    centres = chance.standard_normal((max(8, count // 50), WIDTH), np.float32)
    of = chance.integers(0, len(centres), count)
    vectors = _unit(centres[of] + 0.8 * chance.standard_normal((count, WIDTH), np.float32))
    near = chance.integers(0, count, questions)
    noise = 0.02 * chance.standard_normal((questions, WIDTH), np.float32)
    words = ["".join(random_.choices("abcdefghijklmnoprstuvw", k=6)) for _ in range(_VOCABULARY)]
    weights = [1 / (rank + 5) for rank in range(_VOCABULARY)]
    texts = [" ".join(random_.choices(words, weights, k=18)) for _ in range(count)]
    asked = [" ".join(random_.choices(words, weights, k=7)) for _ in range(questions)]
    return Material(texts, vectors, asked, _unit(vectors[near] + noise))


def _unit(vectors: Array) -> Array:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@contextlib.contextmanager
def ours(given: Material) -> Iterator[tuple[float, Ask]]:
    """A shelf: rows as the database gives them, to ready answers."""
    documents = [orjson.dumps({"text": text, "tags": [], "n": n}) for n, text in enumerate(given.texts)]
    blobs = [vector.tobytes() for vector in given.vectors]
    start = time.process_time()
    shelf = MemoryIndex(1)
    shelf.put(
        [
            IndexedMemory(
                f"mem_{n}", searchable_terms(text, None, ()), blobs[n], documents[n], "active", 2, False, NOW, None
            )
            for n, text in enumerate(given.texts)
        ]
    )
    taken = time.process_time() - start

    def ask(number: int) -> list[Any]:
        terms = glossary().query_terms(given.questions[number])
        found: list[Any] = []
        for memory, ranked in shelf.search(terms, given.asked[number], "hybrid", now=NOW):
            found.append((int(memory[4:]), ranked.score, shelf.facts(memory)))
            if len(found) == TOP:
                break
        return found

    yield taken, ask


@contextlib.contextmanager
def exact(given: Material) -> Iterator[tuple[float, Ask]]:
    """numpy alone: one product, one partition, ids. The least a search can cost."""

    def ask(number: int) -> Array:
        scores = given.vectors @ given.asked[number]
        best = np.argpartition(scores, -TOP)[-TOP:]
        return best[np.argsort(-scores[best])]

    yield 0.0, ask


@contextlib.contextmanager
def chroma(given: Material) -> Iterator[tuple[float, Ask]]:
    """chromadb, a collection on disk, cosine, its own index."""
    chromadb: Any = importlib.import_module("chromadb")
    with tempfile.TemporaryDirectory() as folder:
        client = chromadb.PersistentClient(folder, chromadb.config.Settings(anonymized_telemetry=False))
        owned = client.create_collection("owner", metadata={"hnsw:space": "cosine"})
        start = time.process_time()
        for at in range(0, len(given.texts), 5000):
            span = slice(at, at + 5000)
            owned.add(
                ids=[str(n) for n in range(at, min(at + 5000, len(given.texts)))],
                embeddings=given.vectors[span],
                documents=list(given.texts[span]),
            )
        taken = time.process_time() - start
        yield taken, lambda number: owned.query(given.asked[number : number + 1], n_results=TOP)


@contextlib.contextmanager
def lance(given: Material) -> Iterator[tuple[float, Ask]]:
    """lancedb, a table on disk, exact as it comes."""
    lancedb: Any = importlib.import_module("lancedb")
    with tempfile.TemporaryDirectory() as folder:
        rows = [{"id": n, "text": text, "vector": given.vectors[n]} for n, text in enumerate(given.texts)]
        start = time.process_time()
        table = lancedb.connect(folder).create_table("owner", rows)
        taken = time.process_time() - start
        yield (taken, lambda number: table.search(given.asked[number]).distance_type("cosine").limit(TOP).to_list())


CONTESTANTS: Final[dict[str, Any]] = {
    "negotiator, hybrid": ours,
    "numpy, exact": exact,
    "chromadb": chroma,
    "lancedb": lance,
}


def measured(contestant: Any, given: Material) -> tuple[float, float, float]:
    """Memories put in per CPU second; p50 and p99 of a search in CPU milliseconds."""
    with contestant(given) as (taken, ask):
        for number in range(5):
            ask(number)
        spent: list[float] = []
        for number in range(len(given.questions)):
            start = time.process_time()
            ask(number)
            spent.append((time.process_time() - start) * 1000)
    rate = len(given.texts) / taken if taken else float("nan")
    return rate, statistics.median(spent), statistics.quantiles(spent, n=100)[98]


def main() -> None:
    """Print one table of all contestants and sizes, and what a million others cost one owner."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sizes", type=int, nargs="*", default=[100, 1_000, 10_000])
    options.add_argument("--others", type=int, default=1_000_000, help="memories of others")
    asked = options.parse_args()
    print("| memories | contestant | put in /s CPU | p50 ms CPU | p99 ms CPU |")
    print("|---:|---|---:|---:|---:|")
    for size in asked.sizes:
        given = material(size)
        for name, contestant in CONTESTANTS.items():
            try:
                rate, half, most = measured(contestant, given)
            except ModuleNotFoundError as missing:
                print(_HOW.format(name=missing.name))
                continue
            print(f"| {size:,} | {name} | {rate:,.0f} | {half:.2f} | {most:.2f} |", flush=True)
    if asked.others:
        from tests.bench.memory_service import among

        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(among(Path(folder), asked.others))


if __name__ == "__main__":
    main()
