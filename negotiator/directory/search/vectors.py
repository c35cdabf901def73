"""Sentence vectors of tools by slot: how near a tool is to a query in meaning."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from negotiator.directory.search.columns import Slots
from negotiator.directory.search.request import DIGEST_SIZE, digest_of

SentenceVector = NDArray[np.float32]
_FIRST: Final = 1024
_FEW: Final = 100
_DIMENSIONS: Final = 384


class VectorColumn:
    """A unit vector for each tool, and the digest of its texts; those without a vector are in `waiting`, by slot."""

    def __init__(self) -> None:
        self.waiting: dict[int, bytes] = {}
        self._digests: list[bytes] = []
        self._rows: SentenceVector = np.zeros((0, 0), np.float32)

    @property
    def present(self) -> bool:
        """Whether nearly every tool has a vector, so that meaning may count."""
        return len(self._rows) > 0 and len(self.waiting) <= len(self._rows) // _FEW

    def expect(self, slot: int, texts: Sequence[str]) -> None:
        """Let the tool wait for the vector of these texts, unless it has it."""
        digest = digest_of(texts)
        if slot == len(self._digests):
            self._digests.append(b"")
        if self._digests[slot] != digest:
            self._digests[slot] = self.waiting[slot] = digest

    def put(self, slot: int, digest: bytes, vector: SentenceVector) -> None:
        """Set the vector of the texts with this digest, unless the tool has other texts by now."""
        if self.waiting.get(slot) != digest:
            return
        del self.waiting[slot]
        if slot >= len(self._rows):
            rows = np.zeros((max(_FIRST, 2 * slot), len(vector)), np.float32)
            if len(self._rows):
                rows[: len(self._rows)] = self._rows
            self._rows = rows
        self._rows[slot] = vector

    def put_sums(self, digests: Mapping[int, bytes], rows: SentenceVector) -> bytes:
        """Set the vectors of tools, each the direction of the sum of the rows of its texts; returns them as
        `stored_vectors` reads them.

        `rows` is float32 [texts, dimensions], with as many texts for each tool.
        """
        stored = b""
        sums = rows.reshape(len(digests), -1, rows.shape[1]).sum(axis=1)
        for (slot, digest), vector in zip(digests.items(), sums, strict=True):
            short = (vector / np.linalg.norm(vector)).astype("<f2")
            stored += digest + short.tobytes()
            self.put(slot, digest, short.astype(np.float32))
        return stored

    @staticmethod
    def stored_vectors(file: Path) -> dict[bytes, SentenceVector]:
        """The vectors of a file by the digest of their texts; empty when there is none."""
        stored = file.read_bytes() if file.exists() else b""
        found: dict[bytes, SentenceVector] = {}
        size = DIGEST_SIZE + 2 * _DIMENSIONS
        for at in range(0, len(stored) - size + 1, size):
            numbers = np.frombuffer(stored, "<f2", _DIMENSIONS, at + DIGEST_SIZE)
            found[stored[at : at + DIGEST_SIZE]] = numbers.astype(np.float32)
        return found

    def digests(self) -> NDArray[np.uint8]:
        """The digests of the texts of all tools."""
        return np.frombuffer(b"".join(self._digests), np.uint8).reshape(-1, DIGEST_SIZE)

    def stored(self) -> tuple[SentenceVector, NDArray[np.uint8]]:
        """The vectors of the first tools, and the digests of all for `restore`; a tool that waits has zeros."""
        digests = self.digests().copy()
        digests[list(self.waiting)] = 0
        return self._rows[: len(digests)], digests

    def restore_digests(self, digests: NDArray[np.uint8]) -> None:
        """Let every tool wait for the vector of these texts."""
        joined = digests.tobytes()
        starts = range(0, len(joined), DIGEST_SIZE)
        self._digests = [joined[start : start + DIGEST_SIZE] for start in starts]
        self.waiting = dict(enumerate(self._digests))

    def restore(self, rows: SentenceVector, digests: NDArray[np.uint8]) -> bool:
        """Take over the vectors of the first tools, each made of the texts with its digest.

        False, and nothing is changed, where a tool would lose its vector.
        """
        known = digests.tobytes()
        waiting = {
            slot: digest
            for slot, digest in enumerate(self._digests)
            if known[slot * DIGEST_SIZE : (slot + 1) * DIGEST_SIZE] != digest
        }
        if waiting.keys() - self.waiting.keys():
            return False
        self.waiting, self._rows = waiting, rows
        return True

    def likeness(self, query: SentenceVector, slots: Slots) -> SentenceVector:
        """The cosine of each of these tools with the query, at least 0; 0 for a tool without a vector."""
        found = np.zeros(len(slots), np.float32)
        known = slots < len(self._rows)
        found[known] = self._rows.take(slots[known], axis=0) @ query
        return np.maximum(found, 0)

    def all_likeness(self, query: SentenceVector, size: int) -> SentenceVector:
        """The cosine of each of the first `size` tools with the query, at least 0."""
        found = np.zeros(size, np.float32)
        known = self._rows[:size]
        found[: len(known)] = known @ query
        return np.maximum(found, 0)
