"""Corrects words that no tool has: the nearest known word by optimal string alignment distance and by sound.

The phonetic key is similar to Soundex and Metaphone (Philips 1990): vowels count only at the start of a word, letters
that sound alike are equal, doubled letters are single.
"""

import re
from array import array
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from rapidfuzz.distance import OSA

_ALIKE: Final = (
    (re.compile("ph"), "f"),
    (re.compile("qu"), "kw"),
    (re.compile("c(?=[eiy])|z"), "s"),
    (re.compile("ck|c(?!h)|q"), "k"),
    (re.compile("x"), "ks"),
    (re.compile("(?<!^)[aeiouy]"), ""),
    (re.compile("^[aeiouy]"), "a"),
    (re.compile(r"(.)\1+"), r"\1"),
)


@lru_cache(maxsize=4096)
def phonetic_key(word: str) -> str:
    """A key of how a folded word sounds: the same for `phrase` and `frase`, for `video` and `vdeo`."""
    for pattern, written in _ALIKE:
        word = pattern.sub(written, word)
    return word


_SHORT: Final = 4
_LONG: Final = 8
_MIDDLE: Final = 6
_PIECE: Final = 3


def allowed_edits(word: str) -> int:
    """The number of errors that a word of this length may have: none under 3 letters, one under 6, else two."""
    return 0 if len(word) < _SHORT - 1 else 1 if len(word) < _MIDDLE else 2


class NearWord(NamedTuple):
    """A similar word; the smallest tuple is the best.

    Ordered by the number of errors, then whether the sound differs, the number of tools with the word, whether it
    starts alike, and the alphabet.
    """

    slips: int
    strange: bool
    fewer: int
    elsewhere: bool
    word: str


class SpellingVocabulary:
    """Words by length with their letters as bits, and words by sound.

    One error changes at most two bits, so nearly all words are skipped without measuring their distance. Words of fewer
    than `shortest` letters are not corrected.
    """

    def __init__(self, shortest: int = _SHORT) -> None:
        self._shortest = shortest
        self._known: set[str] = set()
        self._words: dict[int, list[str]] = {}
        self._letters: dict[int, array[int]] = {}
        self._sounds: dict[str, tuple[str, ...]] = {}

    def add(self, words: Iterable[str]) -> None:
        """Add words, except numbers and very short words."""
        for word in words:
            if len(word) >= _SHORT - 1 and word not in self._known and not word.isdigit():
                self._known.add(word)
                self._words.setdefault(len(word), []).append(word)
                self._letters.setdefault(len(word), array("Q")).append(_letters(word))
                if word.isalpha() and len(word) >= _SHORT:
                    sound = phonetic_key(word)
                    self._sounds[sound] = (*self._sounds.get(sound, ()), word)

    def nearest(self, word: str, count: Callable[[str], int]) -> NearWord | None:
        """The nearest known word that a tool has, according to `count`; None when all differ by too much.

        At most `allowed_edits` errors. The second error of a word under 8 letters must be after its first letter. One
        more error is allowed where the sound is the same.
        """
        limit = allowed_edits(word) if len(word) >= self._shortest else 0
        found: list[NearWord] = []
        for candidate in {*self._near(word, limit), *self._alike(word, limit)}:
            strange = phonetic_key(candidate) != phonetic_key(word)
            distance = OSA.distance(word, candidate, score_cutoff=limit + 1)
            elsewhere = candidate[0] != word[0]
            if distance > limit + (not strange):
                continue
            if strange and elsewhere and distance > 1 and len(word) < _LONG:
                continue
            if tools := count(candidate):
                found.append(NearWord(distance, strange, -tools, elsewhere, candidate))
        return min(found, default=None)

    def pieces(self, word: str, count: Callable[[str], int]) -> str | None:
        """The best split of a word into two known words; None when there is none."""
        cuts = range(_PIECE, len(word) - _PIECE + 1)
        splits = [(min(count(word[:cut]), count(word[cut:])), cut) for cut in cuts]
        most, cut = max(splits, default=(0, 0))
        return f"{word[:cut]} {word[cut:]}" if most else None

    def _near(self, word: str, limit: int) -> Iterator[str]:
        """Words whose length and letters allow them to be within `limit` errors."""
        if limit == 0:
            return
        letters = np.uint64(_letters(word))
        for length in range(len(word) - limit, len(word) + limit + 1):
            if length in self._words:
                different = np.frombuffer(self._letters[length], np.uint64) ^ letters
                places = np.flatnonzero(np.bitwise_count(different) <= 2 * limit)
                yield from map(self._words[length].__getitem__, places.tolist())

    def _alike(self, word: str, limit: int) -> tuple[str, ...]:
        """Words that sound like this one."""
        return self._sounds.get(phonetic_key(word), ()) if limit else ()


def _letters(word: str) -> int:
    bits = 0
    for char in word:
        bits |= 1 << ord(char) % 64
    return bits
