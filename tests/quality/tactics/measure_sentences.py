"""Measures the recogniser of tactics: `python -m tests.quality.tactics.measure_sentences FILE…`.

A file is a JSON list of `{"text", "tactics", "also_ok"}`; ordinary talk has no `tactics`. A sentence with tactics
counts as recognised when one of its `tactics` or `also_ok` is named; precision is the share of named tactics that are
among them, and every tactic named for ordinary talk is wrong unless it is in `also_ok`. Prints the figures with
phrases alone and with sentence vectors, and those of a recogniser that learned from no example close to one of the
sentences.
"""

import asyncio
import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from negotiator.advice.tactics.recognition import (
    RecognisedTactic,
    built_in_examples,
    recognise_tactics,
    recognition_pieces,
)
from negotiator.advice.tactics.sentence_classifier import TacticClassifier, Vectors, train_classifier
from negotiator.memory.embedding.embedder import Embedder
from negotiator.memory.embedding.minilm_embedder import choose_embedder
from negotiator.memory.embedding.trained_file import embed_in_batches

CLOSE: Final = 0.6
"""From this cosine to one of the sentences an example is left out, for the strictest figures."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, the tactics that it is, and those that may be named as well."""

    text: str
    tactics: frozenset[str]
    allowed: frozenset[str]


@dataclass(frozen=True, slots=True)
class Figures:
    """Shares: of the tactic sentences that are recognised, of the named tactics that are right, and of the ordinary
    sentences for which a wrong tactic is named."""

    recall: float
    precision: float
    false: float

    def __str__(self) -> str:
        return f"recall {self.recall:.3f}, precision {self.precision:.3f}, false on ordinary talk {self.false:.3f}"


Recogniser = Callable[[str], tuple[RecognisedTactic, ...]]


def read_sentences(file: Path) -> list[Sentence]:
    """The sentences of a corpus."""
    rows: list[dict[str, Any]] = json.loads(file.read_text("utf-8"))
    return [
        Sentence(row["text"], frozenset(row["tactics"]), frozenset([*row["tactics"], *row.get("also_ok", [])]))
        for row in rows
    ]


def figures(sentences: Sequence[Sentence], recognise: Recogniser) -> Figures:
    """The shares of this recogniser."""
    right = wrong = recognised = false = 0
    for one in sentences:
        named = {move.tactic_id for move in recognise(one.text)}
        right += len(named & one.allowed)
        wrong += len(named - one.allowed)
        recognised += bool(one.tactics and named & one.allowed)
        false += bool(not one.tactics and named - one.allowed)
    meant = sum(bool(one.tactics) for one in sentences)
    return Figures(recognised / max(meant, 1), right / max(right + wrong, 1), false / max(len(sentences) - meant, 1))


async def piece_vectors(embedder: Embedder, sentences: Sequence[Sentence]) -> dict[str, Vectors]:
    """The vectors of the pieces of each sentence."""
    return {one.text: await embedder.embed(recognition_pieces(one.text)) for one in sentences}


def with_vectors(classifier: TacticClassifier, vectors: dict[str, Vectors]) -> Recogniser:
    """The recogniser by phrases and these vectors."""
    return lambda text: recognise_tactics(text, vectors[text], classifier)


def far_from(sentences: dict[str, Vectors], examples: Sequence[tuple[str, str]], vectors: Vectors) -> TacticClassifier:
    """A classifier that learned from the examples that are close to none of the sentences."""
    import numpy as np

    near = vectors @ np.vstack(list(sentences.values())).T
    kept: list[int] = np.flatnonzero(near.max(axis=1) < CLOSE).tolist()
    return train_classifier([examples[at] for at in kept], vectors[kept])


def main() -> None:
    """Print the figures of each file."""
    examples = built_in_examples()
    with tempfile.TemporaryDirectory() as folder:
        embedder = choose_embedder("", key="", model="", models=Path(folder))

        async def measure() -> None:
            shipped = await embed_in_batches(embedder, [text for text, _ in examples])
            classifier = train_classifier(examples, shipped)
            for name in sys.argv[1:]:
                sentences = read_sentences(Path(name))
                vectors = await piece_vectors(embedder, sentences)
                far = far_from(vectors, examples, shipped)
                sys.stdout.write(
                    f"{name}: {len(sentences)} sentences, {sum(bool(s.tactics) for s in sentences)} with tactics\n"
                    f"  phrases alone: {figures(sentences, recognise_tactics)}\n"
                    f"  with {embedder.model}: {figures(sentences, with_vectors(classifier, vectors))}\n"
                    f"  no example near: {figures(sentences, with_vectors(far, vectors))}\n"
                )
            await embedder.close()

        asyncio.run(measure())


if __name__ == "__main__":
    main()
