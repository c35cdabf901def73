"""Computes the sentence vectors of tools once, in the background, and those of queries.

A tool's vector is stored in a file by the digest of its text, so that a restart and other workers need not compute it
again. The file may be deleted at any time.
"""

import fcntl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import orjson

from negotiator.base.bounded_cache import BoundedCache
from negotiator.base.errors import Unavailable
from negotiator.directory.search.request import digest_of, sentences_of
from negotiator.runtime import thread_pools
from negotiator.runtime.fault_log import FaultLog

if TYPE_CHECKING:
    from negotiator.directory.search.index import SearchIndex
    from negotiator.directory.search.vectors import SentenceVector

_BATCH: Final = 8
_QUERIES: Final = 2 * 2**20

DocumentReader = Callable[[Sequence[str]], Awaitable[Mapping[str, bytes]]]
"""The stored documents of these tools, by id."""


class SentenceEmbedder(Protocol):
    """Turns texts into unit vectors off the event loop.

    `model` names the model and its version; `state` is `ready` once it is loaded.
    """

    @property
    def model(self) -> str: ...

    @property
    def state(self) -> str: ...

    async def prepare(self) -> None:
        """Load what embedding needs, which may take seconds; 503 when that fails."""
        ...

    async def embed(self, texts: Sequence[str]) -> Any:
        """One row for each text: float32 [texts, dimensions]."""
        ...


class ToolVectors:
    """Fills an index with vectors; `folder` is where they are stored."""

    def __init__(self, embedder: SentenceEmbedder, folder: Path) -> None:
        self._embedder = embedder
        self._file = folder / f"directory-{embedder.model}.vectors"
        self._faults = FaultLog("the directory searches by words alone")
        self._queries = BoundedCache[str, "SentenceVector"](_QUERIES)

    async def of_query(self, text: str) -> "SentenceVector | None":
        """The vector of a query; None when it cannot be computed now."""
        found = self._queries.get(text)
        if found is None:
            if self._embedder.state != "ready":
                return None
            try:
                found = (await self._embedder.embed([text]))[0]
            except Unavailable:  # the embedder logs it
                return None
            self._queries.put(text, found, found.nbytes)
        return found

    async def fill(self, index: "SearchIndex", documents: DocumentReader) -> None:
        """Give the index the vectors that it waits for: stored ones, and new ones unless another worker computes."""
        try:
            await self._embedder.prepare()
            await self._fill(index, documents)
            self._faults.worked()
        except Unavailable as fault:
            self._faults.failed(fault.detail or fault.description)
        except OSError as fault:
            self._faults.failed(str(fault))

    async def _fill(self, index: "SearchIndex", documents: DocumentReader) -> None:
        if not index.vectors.waiting:
            return
        known = await thread_pools.FILES.run_unhurried(index.vectors.stored_vectors, self._file)
        missing: list[tuple[int, bytes]] = []
        for slot, digest in list(index.vectors.waiting.items()):
            if (vector := known.get(digest)) is None:
                missing.append((slot, digest))
            else:
                index.vectors.put(slot, digest, vector)
        if not missing:
            return
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._file.open("ab") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            for start in range(0, len(missing), _BATCH):
                await self._compute(index, dict(missing[start : start + _BATCH]), documents, file)

    async def _compute(
        self, index: "SearchIndex", batch: Mapping[int, bytes], documents: DocumentReader, file: Any
    ) -> None:
        read = await documents([index.ids[slot] for slot in batch])
        texts = {slot: sentences_of(orjson.loads(read[index.ids[slot]])) for slot in batch}
        # A tool that has changed meanwhile waits for its next texts.
        same = {slot: found for slot, found in texts.items() if digest_of(found) == batch[slot]}
        if not same:
            return
        rows = await self._embedder.embed([text for found in same.values() for text in found])
        file.write(index.vectors.put_sums({slot: batch[slot] for slot in same}, rows))
        file.flush()
