"""Recognises the other side's tactics for suggestions and for the teleprompter: one recogniser, phrases and meaning."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import orjson

from negotiator.advice.tactics.phrases import built_in_phrases
from negotiator.advice.tactics.recognition import (
    RecognisedTactic,
    built_in_examples,
    recognise_tactics,
    recognition_pieces,
)
from negotiator.base.errors import Unavailable
from negotiator.memory.embedding.embedder import Embedder, HashingEmbedder
from negotiator.memory.embedding.trained_file import LearnedOnce, embed_in_batches, read_or_learn, write_arrays
from negotiator.runtime import thread_pools
from negotiator.runtime.thread_pools import BuiltOnce

if TYPE_CHECKING:
    from negotiator.advice.tactics.sentence_classifier import TacticClassifier

LEARNING_SECONDS: Final = 10.0
"""How long an utterance waits for a classifier that is being learned; after that phrases alone decide."""
_FORM: Final = 1


@dataclass(frozen=True, slots=True)
class HeardTactics:
    """The recognised tactics, surest first, and whether meaning was heard, or phrases alone."""

    moves: tuple[RecognisedTactic, ...]
    by_meaning: bool


class TacticRecogniser:
    """Recognises tactics by phrases and, where the sentence model is there, by meaning.

    `folder` keeps the learned classifier for all processes of the machine.
    """

    def __init__(self, embedder: Embedder, folder: Path, *, patience: float | None = LEARNING_SECONDS) -> None:
        self._embedder = embedder
        self._folder = folder
        self._patience = patience
        self._phrases = BuiltOnce(built_in_phrases)
        self._classifier = LearnedOnce(self._learn, failing="tactics are heard by their phrases alone")

    async def recognise(self, text: str) -> HeardTactics:
        """The tactics in an utterance of the other side; raises no refusal."""
        await self._phrases.get()
        if not text.strip() or (classifier := await self._learned()) is None:
            return HeardTactics(recognise_tactics(text), by_meaning=False)
        try:
            vectors = await self._embedder.embed(recognition_pieces(text))
        except Unavailable:  # the embedder logs it
            return HeardTactics(recognise_tactics(text), by_meaning=False)
        return HeardTactics(recognise_tactics(text, vectors, classifier), by_meaning=True)

    async def prepare(self) -> None:
        """Read the phrases, and learn or read the classifier."""
        await self._phrases.get()
        await self._learned()

    async def close(self) -> None:
        """Cancel learning that is running."""
        await self._classifier.close()

    async def _learned(self) -> "TacticClassifier | None":
        """The classifier; None without a sentence model, while it is learned, or when that failed."""
        if isinstance(self._embedder, HashingEmbedder):
            return None
        return await self._classifier.get(self._patience)

    async def _learn(self) -> "TacticClassifier":
        from negotiator.advice.tactics import sentence_classifier as method

        examples = built_in_examples()

        async def learn() -> "TacticClassifier":
            vectors = await embed_in_batches(self._embedder, [text for text, _ in examples])
            return await thread_pools.FILES.run_unhurried(method.train_classifier, examples, vectors)

        def write(file: Path, learned: "TacticClassifier") -> None:
            write_arrays(file, method.classifier_arrays(learned))

        return await read_or_learn(
            classifier_file(self._folder, self._embedder.model), read=method.read_classifier, learn=learn, write=write
        )


def classifier_file(folder: Path, model: str) -> Path:
    """Where the classifier by this model is kept: named by a digest of all that it depends on."""
    from negotiator.advice.tactics import sentence_classifier as method

    settings = [_FORM, method.RIDGE, method.WORDING_WEIGHT, method.MAX_SEQUENCE]
    told = orjson.dumps([*settings, list(map(list, built_in_examples()))])
    whose = hashlib.sha256(model.encode()).hexdigest()[:8]
    return folder / f"tactics-{whose}-{hashlib.sha256(told).hexdigest()[:16]}.npz"
