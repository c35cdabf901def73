"""Columns with a row per tool: facts for filters, facets and sort orders, and sentence vectors for meaning."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from negotiator.directory.search.request import DIGEST_SIZE, digest_of

Mask = NDArray[np.bool_]
Slots = NDArray[np.int32 | np.int64]
"""Row numbers of tools."""
_FIRST: Final = 1024


class FacetColumn:
    """A fact with up to `width` values per tool. Texts are numbered in order of arrival from 1; 0 is no text."""

    def __init__(self, width: int = 1) -> None:
        self.texts: list[str] = [""]
        self._numbers: dict[str, int] = {}
        self._values = np.zeros((_FIRST, width), np.int32)

    def first(self, size: int) -> NDArray[np.int32]:
        """The numbers of the values of the first `size` tools."""
        return self._values[:size]

    def restore(self, values: NDArray[np.int32], texts: Iterable[str]) -> None:
        """Take over what `first` and `texts` gave."""
        self._values = values
        for text in texts:
            self._number(text)

    def put(self, slot: int, values: Iterable[str | None]) -> None:
        """Set the values of the tool at this slot; values beyond the width are dropped."""
        if slot >= len(self._values):
            self._values = doubled_rows(self._values)
        row = self._values[slot]
        row[:] = 0
        for place, value in enumerate(list(values)[: len(row)]):
            row[place] = self._number(value)

    def mask(self, texts: Iterable[str], size: int) -> Mask:
        """Which of the first `size` tools have any of these values."""
        values = self._values[:size]
        found = np.zeros(size, np.bool_)
        for number in (self._numbers[text] for text in texts if text in self._numbers):
            if values.shape[1] == 1:
                found |= values[:, 0] == number
            else:
                found |= (values == number).any(axis=1)
        return found

    def counts(self, slots: Slots, most: int) -> list[tuple[str, int]]:
        """The most frequent values among these tools with their counts; ties in alphabetical order."""
        codes = self._values.take(slots, axis=0).ravel()
        counted = np.bincount(codes, minlength=1)
        counted[0] = 0
        present = np.flatnonzero(counted)
        pairs = [(self.texts[number], int(counted[number])) for number in present.tolist()]
        return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:most]

    def _number(self, text: str | None) -> int:
        """The number of a text, added if it is new."""
        if not text:
            return 0
        number = self._numbers.get(text)
        if number is None:
            number = self._numbers[text] = len(self.texts)
            self.texts.append(text)
        return number


class NumberColumn:
    """A number per tool."""

    def __init__(self, dtype: Any) -> None:
        self._values: NDArray[Any] = np.zeros(_FIRST, dtype)

    def put(self, slot: int, value: float) -> None:
        if slot >= len(self._values):
            self._values = doubled_rows(self._values)
        self._values[slot] = value

    def at(self, slots: Slots) -> NDArray[Any]:
        """The numbers of these tools."""
        return self._values.take(slots)

    def first(self, size: int) -> NDArray[Any]:
        """The numbers of the first `size` tools."""
        return self._values[:size]

    def restore(self, values: NDArray[Any]) -> None:
        """Take over what `first` gave."""
        self._values = values


def doubled_rows(values: NDArray[Any]) -> NDArray[Any]:
    """The array with twice the rows."""
    return np.concatenate((values, np.zeros_like(values)))


SentenceVector = NDArray[np.float32]
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

    def restore(self, digests: NDArray[np.uint8]) -> None:
        """Let every tool wait for the vector of the texts with these digests."""
        joined = digests.tobytes()
        starts = range(0, len(joined), DIGEST_SIZE)
        self._digests = [joined[start : start + DIGEST_SIZE] for start in starts]
        self.waiting = dict(enumerate(self._digests))

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
