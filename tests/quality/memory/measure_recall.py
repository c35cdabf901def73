"""Recall at five and mean reciprocal rank, by mode, on either half.

`python -m tests.quality.memory.measure_recall` prints the table of docs/benchmarks.md.
"""

import asyncio
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from negotiator.memory.embedding.embedder_selection import choose_embedder
from negotiator.memory.index import IndexedMemory, IndexQuery, MemoryIndex
from negotiator.memory.search_ranking import RankingMode
from negotiator.search_terms import stemmed_terms
from tests.quality.memory.corpus import Asked, Noted, memories, questions

NOW: Final = 1_800_000_000_000
_RRF: Final = 60

Array = Any
Order = Callable[[MemoryIndex, Asked, Array], list[str]]


@dataclass(frozen=True, slots=True)
class Score:
    """How often the answer was among the first five, and the mean of one over its place."""

    recall: float
    mrr: float


@dataclass(frozen=True, slots=True)
class Bench:
    """The corpus on a shelf, and the questions with their vectors."""

    shelf: MemoryIndex
    asked: Sequence[tuple[Asked, Array]]

    def score(self, order: Order, part: str) -> Score:
        """What an order reaches on one half."""
        return _score(
            order(self.shelf, asked, vector).index(asked.answer)
            if asked.answer in order(self.shelf, asked, vector)
            else None
            for asked, vector in self.asked
            if asked.part == part
        )


async def laid_out(models: Path) -> Bench:
    """The corpus with the vectors of the embedded model."""
    embedder = choose_embedder("", key="", model="", models=models)
    noted, asked = memories(), questions()
    vectors = await embedder.embed([one.text for one in noted])
    questioned = await embedder.embed([one.text for one in asked])
    await embedder.close()
    shelf = MemoryIndex(1)
    shelf.put([_shelved(one, vector) for one, vector in zip(noted, vectors, strict=True)])
    return Bench(shelf, list(zip(asked, questioned, strict=True)))


def by_mode(mode: RankingMode) -> Order:
    """The order in which a mode answers."""

    def order(shelf: MemoryIndex, asked: Asked, vector: Array) -> list[str]:
        question = IndexQuery(
            asked.text,
            None if mode == "keyword" else vector,
            mode,
            NOW,
            frozenset({"active"}),
        )
        return [memory for memory, _ in shelf.search(question)]

    return order


def by_reciprocal_ranks(shelf: MemoryIndex, asked: Asked, vector: Array) -> list[str]:
    """The order of reciprocal rank fusion (Cormack et al. 2009, k = 60), to compare with."""
    totals: dict[str, float] = {}
    for mode in ("semantic", "keyword"):
        for rank, memory in enumerate(by_mode(mode)(shelf, asked, vector), 1):
            totals[memory] = totals.get(memory, 0) + 1 / (_RRF + rank)
    return sorted(totals, key=lambda memory: (-totals[memory], memory))


ORDERS: Final[dict[str, Order]] = {
    "keyword": by_mode("keyword"),
    "semantic": by_mode("semantic"),
    "hybrid": by_mode("hybrid"),
    "reciprocal ranks": by_reciprocal_ranks,
}


def _score(places: Iterable[int | None]) -> Score:
    listed = list(places)
    return Score(
        recall=float(np.mean([place is not None and place < 5 for place in listed])),
        mrr=float(np.mean([0.0 if place is None else 1 / (place + 1) for place in listed])),
    )


def _shelved(one: Noted, vector: Array) -> IndexedMemory:
    words = stemmed_terms(f"{one.text} {one.counterparty or ''}")
    return IndexedMemory(one.id, words, vector.tobytes(), b"{}", "active", 2, True, NOW, None)


def main() -> None:
    """Print the table."""
    bench = asyncio.run(laid_out(Path(tempfile.gettempdir(), "negotiator-models")))
    print("| order | recall@5 tuned | MRR tuned | recall@5 held out | MRR held out |")  # noqa: T201
    print("|---|---:|---:|---:|---:|")  # noqa: T201
    for name, order in ORDERS.items():
        tune, held = (bench.score(order, part) for part in ("tune", "held"))
        row = (tune.recall, tune.mrr, held.recall, held.mrr)
        print(f"| {name} | " + " | ".join(f"{value:.3f}" for value in row) + " |")  # noqa: T201


if __name__ == "__main__":
    main()
