"""Columns of facts, one row per tool, for filters, facets and sort orders."""

from collections.abc import Iterable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

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
