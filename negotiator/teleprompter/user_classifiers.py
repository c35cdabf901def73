"""The cue classifier of each user: the shipped training sums plus the user's own examples."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from negotiator.base.bounded_cache import BoundedCache
from negotiator.memory.embedding.embedder import Embedder
from negotiator.memory.embedding.trained_file import LearnedOnce, embed_in_batches, read_or_learn
from negotiator.runtime import telemetry, thread_pools
from negotiator.runtime.thread_pools import BuiltOnce
from negotiator.store.statement import Transaction
from negotiator.store.store import Store
from negotiator.teleprompter import queries
from negotiator.teleprompter.cues.catalogue import SPEAKERS, CueCatalogue, Speaker
from negotiator.teleprompter.queries import ExampleLabel, ExamplesVersion

if TYPE_CHECKING:
    from negotiator.teleprompter.classifier_training import ShippedClassifiers, UserClassifier
    from negotiator.teleprompter.cues.classifier import Vectors

CACHED_USERS: Final = 64
"""The most classifiers that a process caches; one takes 400 kB."""
log = telemetry.logger(__name__)


class UserClassifiers:
    """Caches classifiers. `folder` stores the shipped training sums for all processes of this machine."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        *,
        catalogue: BuiltOnce[CueCatalogue],
        folder: Path,
        room: int = CACHED_USERS,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._catalogue = catalogue
        self._folder = folder
        self._shipped = LearnedOnce(self._learn, failing="cues are heard by their patterns alone")
        self._kept: BoundedCache[tuple[str, Speaker], tuple[ExamplesVersion, UserClassifier]] = BoundedCache(room)

    async def of(self, owner: str, speaker: Speaker, *, patience: float | None = None) -> "UserClassifier | None":
        """The user's classifier for this speaker, with every example that was committed before the call.

        None if training on the shipped examples takes longer than `patience` seconds (without it, the call waits), or
        if it fails: a 503 of the embedder is logged, and the next call tries again.
        """
        shipped = await self._shipped.get(patience)
        if shipped is None:
            return None
        version = await self._store.read(lambda tx: queries.examples_version(tx, owner))
        if version[0] == 0:
            self._kept.drop((owner, speaker))
            return shipped.taught[speaker]
        held = self._kept.get((owner, speaker))
        if held is None or held[0] != version:
            model = self._embedder.model
            version, own = await self._store.scan(lambda tx: queries.examples_of(tx, owner, model))
            held = version, await thread_pools.LIVE.run_unhurried(shipped.with_own, speaker, own)
            self._kept.put((owner, speaker), held, 1)
        return held[1]

    async def vector(self, text: str) -> bytes:
        """The vector of a redacted sentence as float32 bytes, made outside transactions; 503 without the embedder."""
        [vector] = await self._embedder.embed([text])
        return vector.astype("float32").tobytes()

    def teach(self, tx: Transaction, owner: str, lesson: ExampleLabel, *, vector: bytes) -> str:
        """Add a labelled sentence to the owner's examples, effective from the commit; returns the example's id."""
        return queries.add_example(tx, owner, lesson, vector=vector, model=self._embedder.model)

    async def close(self) -> None:
        """Cancel training that is running."""
        await self._shipped.close()

    async def _learn(self) -> "ShippedClassifiers":
        from negotiator.teleprompter import classifier_training

        catalogue, embedder = await self._catalogue.get(), self._embedder

        async def learn() -> "ShippedClassifiers":
            vectors: dict[Speaker, Vectors] = {
                speaker: await embed_in_batches(embedder, [text for text, _ in catalogue.examples(speaker)])
                for speaker in SPEAKERS
            }
            return await thread_pools.FILES.run_unhurried(classifier_training.train_shipped, catalogue, vectors)

        return await read_or_learn(
            classifier_training.shipped_file(self._folder, catalogue, embedder.model),
            read=classifier_training.read_shipped,
            learn=learn,
            write=classifier_training.write_shipped,
        )
