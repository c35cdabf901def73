"""What tools are: one column per fact, one row per tool, for filters, facets and orders."""

from collections.abc import Iterable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
Slots = NDArray[np.int32 | np.int64]
"""Tools by their rows."""
_FIRST: Final = 1024


class CodeTable:
    """Texts as small numbers, in the order they came; numbers start at 1, 0 is none."""

    def __init__(self) -> None:
        self.texts: list[str] = [""]
        self._numbers: dict[str, int] = {}

    def learn(self, text: str | None) -> int:
        """The number of a text, a new one if need be."""
        if not text:
            return 0
        number = self._numbers.get(text)
        if number is None:
            number = self._numbers[text] = len(self.texts)
            self.texts.append(text)
        return number

    def known(self, texts: Iterable[str]) -> list[int]:
        """The numbers of those texts that have one."""
        return [self._numbers[text] for text in texts if text in self._numbers]


class FacetColumn:
    """A fact that has up to `width` values per tool."""

    def __init__(self, width: int = 1) -> None:
        self.codes = CodeTable()
        self._values = np.zeros((_FIRST, width), np.int32)

    def put(self, slot: int, values: Iterable[str | None]) -> None:
        """Note the values of the tool at this slot; more than fit are dropped."""
        if slot >= len(self._values):
            self._values = doubled_rows(self._values)
        row = self._values[slot]
        row[:] = 0
        for place, value in enumerate(list(values)[: len(row)]):
            row[place] = self.codes.learn(value)

    def mask(self, wanted: Iterable[str], size: int) -> Mask:
        """Which of the first `size` tools have any of the wanted values."""
        values = self._values[:size]
        found = np.zeros(size, np.bool_)
        for number in self.codes.known(wanted):
            if values.shape[1] == 1:
                found |= values[:, 0] == number
            else:
                found |= (values == number).any(axis=1)
        return found

    def counts(self, slots: Slots, most: int) -> list[tuple[str, int]]:
        """The most frequent values among these tools, with their counts; of equals the alphabet decides."""
        chosen = self._values.take(slots, axis=0).ravel()
        counted = np.bincount(chosen, minlength=1)
        counted[0] = 0
        there = np.flatnonzero(counted)
        pairs = [(self.codes.texts[number], int(counted[number])) for number in there.tolist()]
        return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:most]


class NumberColumn:
    """A number per tool."""

    def __init__(self, dtype: Any) -> None:
        self._values: NDArray[Any] = np.zeros(_FIRST, dtype)

    def put(self, slot: int, value: float) -> None:
        """Note the number of the tool at this slot."""
        if slot >= len(self._values):
            self._values = doubled_rows(self._values)
        self._values[slot] = value

    def at(self, slots: Slots) -> NDArray[Any]:
        """The numbers of these tools."""
        return self._values.take(slots)

    def first(self, size: int) -> NDArray[Any]:
        """The numbers of the first `size` tools."""
        return self._values[:size]


def doubled_rows(values: NDArray[Any]) -> NDArray[Any]:
    """The same with twice the rows."""
    return np.concatenate((values, np.zeros_like(values)))
