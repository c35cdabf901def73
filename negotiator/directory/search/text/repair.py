"""Mends a word that no tool has: the nearest word that one has, by optimal string alignment distance."""

from array import array
from collections.abc import Callable, Iterable, Iterator
from typing import Final

import numpy as np
from rapidfuzz.distance import OSA

_SHORT: Final = 4
_LONG: Final = 8


def allowed(word: str) -> int:
    """How many slips a word of this length may have: none under 4 letters, one under 8, else two."""
    return 0 if len(word) < _SHORT else 1 if len(word) < _LONG else 2


class Vocabulary:
    """Words by length, each with the set of its letters as bits: one slip changes at most two of them, so that nearly
    all words are passed over without being measured.
    """

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._words: dict[int, list[str]] = {}
        self._letters: dict[int, array[int]] = {}

    def add(self, words: Iterable[str]) -> None:
        """Learn words; those with digits only, or too short to be anybody's slip, are left out."""
        for word in words:
            if len(word) >= _SHORT - 1 and word not in self._known and not word.isdigit():
                self._known.add(word)
                self._words.setdefault(len(word), []).append(word)
                self._letters.setdefault(len(word), array("Q")).append(_letters(word))

    def nearest(self, word: str, count: Callable[[str], int]) -> str | None:
        """The known word nearest to `word`; of equals the one that `count` says more tools have, then the one that
        begins alike, then the alphabet. None when all are further than slips, or nobody has them any more.
        """
        limit = allowed(word)
        found: list[tuple[int, int, bool, str]] = []
        for candidate in self._near(word, limit):
            distance = OSA.distance(word, candidate, score_cutoff=limit)
            if distance <= limit and (tools := count(candidate)):
                found.append((distance, -tools, candidate[0] != word[0], candidate))
        return min(found)[3] if found else None

    def _near(self, word: str, limit: int) -> Iterator[str]:
        """Words whose length and letters leave it possible that they are within `limit` slips."""
        if limit == 0:
            return
        letters = np.uint64(_letters(word))
        for length in range(len(word) - limit, len(word) + limit + 1):
            if length in self._words:
                different = np.frombuffer(self._letters[length], np.uint64) ^ letters
                places = np.flatnonzero(np.bitwise_count(different) <= 2 * limit)
                yield from map(self._words[length].__getitem__, places.tolist())


def _letters(word: str) -> int:
    bits = 0
    for char in word:
        bits |= 1 << ord(char) % 64
    return bits
