"""Mends a word that no tool has: the nearest word that one has, by optimal string alignment distance."""

from collections.abc import Callable, Iterable
from typing import Final

from rapidfuzz.distance import OSA
from rapidfuzz.process import extract_iter

_SHORT: Final = 4
_LONG: Final = 8


def allowed(word: str) -> int:
    """How many slips a word of this length may have: none under 4 letters, one under 8, else two."""
    return 0 if len(word) < _SHORT else 1 if len(word) < _LONG else 2


class Vocabulary:
    """The words that tools have, by length, so that only those that can be near are measured."""

    def __init__(self) -> None:
        self._by_length: dict[int, list[str]] = {}
        self._known: set[str] = set()

    def add(self, words: Iterable[str]) -> None:
        """Learn words; those with digits only, or too short to be anybody's slip, are left out."""
        for word in words:
            if len(word) >= _SHORT - 1 and word not in self._known and not word.isdigit():
                self._known.add(word)
                self._by_length.setdefault(len(word), []).append(word)

    def nearest(self, word: str, count: Callable[[str], int]) -> str | None:
        """The known word nearest to `word`; of equals the one that `count` says more tools have, then the first
        letter that agrees, then the alphabet. None when all are further than a slip, or nobody has them any more.
        """
        limit = allowed(word)
        found: list[tuple[int, int, bool, str]] = []
        for length in range(len(word) - limit, len(word) + limit + 1 if limit else 0):
            near = extract_iter(
                word, self._by_length.get(length, ()), scorer=OSA.distance, score_cutoff=limit
            )
            for candidate, distance, _ in near:
                if tools := count(candidate):
                    found.append((int(distance), -tools, candidate[0] != word[0], candidate))
        return min(found)[3] if found else None
