"""BM25 over one owner's texts (Robertson and Zaragoza 2009).

Every term of every text is kept as a pair of numbers. The pairs that were there when the index was packed lie sorted by
term; the few that came since are looked through, until there are enough of them to pack again.
"""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log
from typing import Any, Final

import numpy as np

_SATURATION: Final = 1.2
_LENGTH: Final = 0.75
_FEW: Final = 256

Array = Any


class Keywords:
    """An inverted index whose rows are added at the end; a changed text is a new row."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._terms = array("i")
        self._rows = array("i")
        self._lengths = array("i")
        self._packed = _Postings.packed(self._terms, self._rows, 0)
        self._loose: tuple[Array, Array] | None = None
        self._norm: Array = np.zeros(0, np.float32)

    def __len__(self) -> int:
        return len(self._lengths)

    def extend(self, texts: Sequence[Sequence[str]]) -> None:
        """Index more texts, each by its terms."""
        numbers = self._numbers
        for terms in texts:
            self._rows.extend([len(self._lengths)] * len(terms))
            self._terms.extend([numbers.setdefault(term, len(numbers)) for term in terms])
            self._lengths.append(len(terms))
        self._loose = None
        if len(self) - self._packed.texts > max(_FEW, self._packed.texts // 4):
            self._packed = _Postings.packed(self._terms, self._rows, len(self))

    def scores(self, terms: Iterable[str]) -> Array:
        """What share of the question each row has: float32 [rows].

        1 is a text of usual length in which every term occurs once, 0 one in which none does; a rare term weighs more
        than a common one, and one that no text has the most.
        """
        found = np.zeros(len(self), np.float32)
        norm, whole = self._lengths_weighed(), 0.0
        for term in dict.fromkeys(terms):
            rows, counts = self._of(self._numbers.get(term))
            rarity = log(1 + (len(self) - len(rows) + 0.5) / (len(rows) + 0.5))
            whole += rarity
            found[rows] += rarity * (_SATURATION + 1) * counts / (counts + norm[rows])
        return found / np.float32(whole) if whole else found

    def _of(self, number: int | None) -> tuple[Array, Array]:
        """The rows that a term occurs in, and how often."""
        if number is None:
            return _NOWHERE
        rows, counts = self._packed.of(number)
        if len(self) == self._packed.texts:
            return rows, counts
        if self._loose is None:
            start = self._packed.pairs
            self._loose = np.array(self._terms[start:]), np.array(self._rows[start:])
        terms, places = self._loose
        newer, often = np.unique(places[terms == number], return_counts=True)
        return np.concatenate([rows, newer]), np.concatenate([counts, often.astype(np.float32)])

    def _lengths_weighed(self) -> Array:
        """What a text's length does to its terms' saturation."""
        if len(self._norm) != len(self):
            lengths = np.array(self._lengths, np.float32)
            ratio = lengths / max(1.0, float(lengths.mean()))
            self._norm = _SATURATION * (1 - _LENGTH + _LENGTH * ratio)
        return self._norm


@dataclass(frozen=True, slots=True)
class _Postings:
    """Rows and counts by term, of the first `texts` texts; `starts` says where a term's begin."""

    texts: int
    pairs: int
    starts: Array
    rows: Array
    counts: Array

    @classmethod
    def packed(cls, terms: "array[int]", rows: "array[int]", texts: int) -> "_Postings":
        """The postings of all pairs there are."""
        pairs = np.array(terms, np.int64) << 32 | np.array(rows, np.int64)
        found, counts = np.unique(pairs, return_counts=True)
        by_term = found >> 32
        most = int(by_term[-1]) + 2 if len(found) else 1
        starts = np.searchsorted(by_term, np.arange(most))
        places = (found & 0xFFFFFFFF).astype(np.int32)
        return cls(texts, len(terms), starts, places, counts.astype(np.float32))

    def of(self, number: int) -> tuple[Array, Array]:
        """One term's rows and counts."""
        if number + 1 >= len(self.starts):
            return _NOWHERE
        span = slice(self.starts[number], self.starts[number + 1])
        return self.rows[span], self.counts[span]


_NOWHERE: Final = np.zeros(0, np.int32), np.zeros(0, np.float32)
