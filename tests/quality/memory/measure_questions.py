"""How often the answer to a question is among the first five memories, and how high, by mode.

`python -m tests.quality.memory.measure_questions` prints the table of docs/benchmarks for the corpus of this folder.
With a FOLDER it does the same for its `memories.json` (id, text, kind, counterparty, tags) and `questions.json` (text,
answers).
"""

import argparse
import asyncio
import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from negotiator.base.search_terms import stemmed_terms
from negotiator.memory.embedding.minilm_embedder import choose_embedder
from negotiator.memory.glossary import glossary
from negotiator.memory.index import IndexedMemory, MemoryIndex, RankingMode
from negotiator.memory.searchable_text import EmbeddedText, MemoryEmbedder, searchable_terms
from tests.quality.memory import corpus

NOW: Final = 1_800_000_000_000
_FIRST: Final = 5
_RRF: Final = 60

Array = Any


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the ids of all memories that answer it."""

    text: str
    answers: Sequence[str]


@dataclass(frozen=True, slots=True)
class Score:
    """The share of questions with any answer among the first five, the mean share of all answers there, and the mean
    of one over the place of the first answer.
    """

    recall: float
    all_answers: float
    mrr: float


@dataclass(frozen=True, slots=True)
class Ask:
    """A question with its vector in the product's form and as it is written."""

    question: Question
    vector: Array
    plain_vector: Array


Order = Callable[[Ask], list[str]]


@dataclass(frozen=True, slots=True)
class Bench:
    """The memories as the product indexes them, and as plain vectors and plain BM25 do."""

    index: MemoryIndex
    plain: MemoryIndex
    asked: Sequence[Ask]

    def orders(self) -> dict[str, Order]:
        """What is compared, by name."""
        return {
            "hybrid": by_mode(self.index, "hybrid"),
            "meaning alone": by_mode(self.index, "semantic"),
            "words alone": by_mode(self.index, "keyword"),
            "text vectors": by_mode(self.plain, "semantic", plain=True),
            "BM25": by_mode(self.plain, "keyword", plain=True),
            "reciprocal ranks": self._by_reciprocal_ranks,
        }

    def score(self, order: Order, part: Callable[[Question], bool]) -> Score:
        """What an order reaches on the questions of a part."""
        found = [(order(ask), ask.question.answers) for ask in self.asked if part(ask.question)]
        places = [
            [listed.index(answer) if answer in listed else None for answer in answers] for listed, answers in found
        ]
        hits = [[place is not None and place < _FIRST for place in each] for each in places]
        ranks = [min((p for p in each if p is not None), default=None) for each in places]
        return Score(
            float(np.mean([any(each) for each in hits])),
            float(np.mean([np.mean(each) for each in hits])),
            float(np.mean([0.0 if rank is None else 1 / (rank + 1) for rank in ranks])),
        )

    def _by_reciprocal_ranks(self, ask: Ask) -> list[str]:
        """The order of reciprocal rank fusion (Cormack et al. 2009, k = 60) of meaning and words."""
        totals: dict[str, float] = {}
        for mode in ("semantic", "keyword"):
            for rank, memory in enumerate(by_mode(self.index, mode)(ask), 1):
                totals[memory] = totals.get(memory, 0) + 1 / (_RRF + rank)
        return sorted(totals, key=lambda memory: (-totals[memory], memory))


def by_mode(index: MemoryIndex, mode: RankingMode, *, plain: bool = False) -> Order:
    """The order in which a mode answers."""

    def order(ask: Ask) -> list[str]:
        vector = ask.plain_vector if plain else ask.vector
        text = ask.question.text
        terms = [{term: 1.0} for term in stemmed_terms(text)] if plain else glossary().query_terms(text)
        shown = index.search(() if mode == "semantic" else terms, None if mode == "keyword" else vector, mode, now=NOW)
        return [memory for memory, _ in shown]

    return order


async def build(memories: Sequence[tuple[str, EmbeddedText]], questions: Sequence[Question], models: Path) -> Bench:
    """The indexes and the questions, with the vectors of the embedded model."""
    embedder = choose_embedder("", key="", model="", models=models)
    await embedder.prepare()
    product = MemoryEmbedder(embedder)
    texts = [text for _, text in memories]
    stored = [one.vector for one in await product.embed(texts)]
    plain = [vector.tobytes() for vector in await embedder.embed([one.text for one in texts])]
    asked = [question.text for question in questions]
    vectors, plain_vectors = await product.embed_texts(asked), await embedder.embed(asked)
    await embedder.close()

    def indexed(vectors: Sequence[bytes], terms: Callable[[EmbeddedText], list[str]]) -> MemoryIndex:
        index = MemoryIndex(1)
        index.put(
            [
                IndexedMemory(key, terms(one), vector, b"{}", "active", 2, True, NOW, None)
                for (key, one), vector in zip(memories, vectors, strict=True)
            ]
        )
        return index

    return Bench(
        indexed(stored, lambda one: searchable_terms(one.text, one.counterparty, one.tags)),
        indexed(plain, lambda one: stemmed_terms(" ".join([one.text, one.counterparty or "", *one.tags]))),
        [Ask(*each) for each in zip(questions, vectors, plain_vectors, strict=True)],
    )


async def own_corpus(models: Path) -> Bench:
    """The corpus that is made from the facts of this folder."""
    memories = [(one.id, EmbeddedText(one.text, one.kind, one.counterparty, ())) for one in corpus.memories()]
    questions = [Question(one.text, (one.answer,)) for one in corpus.questions()]
    return await build(memories, questions, models)


async def corpus_of(folder: Path, models: Path) -> Bench:
    """The corpus of a folder with `memories.json` and `questions.json`."""
    memories: list[dict[str, Any]] = json.loads((folder / "memories.json").read_bytes())
    questions: list[dict[str, Any]] = json.loads((folder / "questions.json").read_bytes())
    return await build(
        [(one["id"], EmbeddedText.of_view(one)) for one in memories],
        [Question(one["text"], one["answers"]) for one in questions],
        models,
    )


def every(_question: Question) -> bool:
    return True


def half(part: corpus.Part) -> Callable[[Question], bool]:
    """Which questions of the own corpus belong to a half."""
    texts = {one.text for one in corpus.questions() if one.part == part}
    return lambda question: question.text in texts


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path, nargs="?")
    options.add_argument("--models", type=Path, default=Path(tempfile.gettempdir(), "negotiator-models"))
    given = options.parse_args()
    parts: dict[str, Callable[[Question], bool]] = {"": every}
    if given.folder is None:
        bench = asyncio.run(own_corpus(given.models))
        parts = {"tuned": half("tune"), "held out": half("held")}
    else:
        bench = asyncio.run(corpus_of(given.folder, given.models))
    named = [f" {name}".rstrip() for name in parts]
    print("| order |" + "".join(f" recall@5{p} | all answers{p} | MRR{p} |" for p in named))  # noqa: T201
    print("|---|" + "---:|---:|---:|" * len(parts))  # noqa: T201
    for name, order in bench.orders().items():
        scores = [bench.score(order, part) for part in parts.values()]
        figures = [f" {s.recall:.3f} | {s.all_answers:.3f} | {s.mrr:.3f} |" for s in scores]
        print(f"| {name} |" + "".join(figures))  # noqa: T201


if __name__ == "__main__":
    main()
