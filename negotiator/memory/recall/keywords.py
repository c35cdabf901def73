"""BM25 over one owner's texts (Robertson and Zaragoza 2009)."""

from collections import Counter
from collections.abc import Iterable
from math import log
from typing import Any, Final

import numpy as np

_SATURATION: Final = 1.2
_LENGTH: Final = 0.75

Array = Any


class Keywords:
    """An inverted index whose rows are added at the end; a changed text is a new row."""

    def __init__(self) -> None:
        self._rows: dict[str, list[int]] = {}
        self._counts: dict[str, list[int]] = {}
        self._arrays: dict[str, tuple[Array, Array]] = {}
        self._lengths: list[int] = []

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, terms: Iterable[str]) -> None:
        """Index one more text by its terms."""
        counted = Counter(terms)
        row = len(self._lengths)
        for term, count in counted.items():
            self._rows.setdefault(term, []).append(row)
            self._counts.setdefault(term, []).append(count)
            self._arrays.pop(term, None)
        self._lengths.append(sum(counted.values()))

    def scores(self, terms: Iterable[str]) -> Array:
        """What each row scores: float32 [rows], zero where no term occurs."""
        found = np.zeros(len(self), np.float32)
        if not len(self):
            return found
        lengths = np.asarray(self._lengths, np.float32)
        norm = _SATURATION * (1 - _LENGTH + _LENGTH * lengths / max(1.0, float(lengths.mean())))
        for term in dict.fromkeys(terms):
            if term in self._rows:
                rows, counts = self._postings(term)
                rarity = log(1 + (len(self) - len(rows) + 0.5) / (len(rows) + 0.5))
                found[rows] += rarity * counts * (_SATURATION + 1) / (counts + norm[rows])
        return found

    def _postings(self, term: str) -> tuple[Array, Array]:
        if term not in self._arrays:
            rows = np.asarray(self._rows[term], np.int32)
            self._arrays[term] = rows, np.asarray(self._counts[term], np.float32)
        return self._arrays[term]
