"""How a word sounds, roughly: what people hear right and write wrong is written the same here.

In the manner of Soundex and Metaphone (Philips 1990), with less of English: vowels count only where a word begins,
letters that sound alike are one, doubled ones single.

Mends a word that no tool has: the nearest word that one has, by optimal string alignment distance and by sound.
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
    """What a folded word sounds like: `phrase` and `frase` alike, `video` and `vdeo` too."""
    for pattern, written in _ALIKE:
        word = pattern.sub(written, word)
    return word


_SHORT: Final = 4
_LONG: Final = 8
_MIDDLE: Final = 6
_PIECE: Final = 3


def allowed_edits(word: str) -> int:
    """How many slips a word of this length may have: none under 3 letters, one under 6, else two."""
    return 0 if len(word) < _SHORT - 1 else 1 if len(word) < _MIDDLE else 2


class NearWord(NamedTuple):
    """A word that is near to what was written; the least is the nearest.

    Of equally many slips those that leave the sound as it was are likelier; then the word that more tools have, the one
    that begins alike, the alphabet.
    """

    slips: int
    strange: bool
    fewer: int
    elsewhere: bool
    word: str


class SpellingVocabulary:
    """Words by length, each with the set of its letters as bits: one slip changes at most two of them, so that nearly
    all words are passed over without being measured. And words by their sound.

    Words of fewer than `shortest` letters are not mended.
    """

    def __init__(self, shortest: int = _SHORT) -> None:
        self._shortest = shortest
        self._known: set[str] = set()
        self._words: dict[int, list[str]] = {}
        self._letters: dict[int, array[int]] = {}
        self._sounds: dict[str, tuple[str, ...]] = {}

    def add(self, words: Iterable[str]) -> None:
        """Learn words; those with digits only, or too short to be anybody's slip, are left out."""
        for word in words:
            if len(word) >= _SHORT - 1 and word not in self._known and not word.isdigit():
                self._known.add(word)
                self._words.setdefault(len(word), []).append(word)
                self._letters.setdefault(len(word), array("Q")).append(_letters(word))
                if word.isalpha() and len(word) >= _SHORT:
                    heard = phonetic_key(word)
                    self._sounds[heard] = (*self._sounds.get(heard, ()), word)

    def nearest(self, word: str, count: Callable[[str], int]) -> NearWord | None:
        """The known word nearest to `word`, of those that `count` says some tool has. None when all are further than
        slips: `allowed` ones, the second of a word under 8 letters only behind its first letter, and one more where
        the sound is the same.
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
        """Two words, written apart, that were written as one; of several the two whose rarer one most tools have."""
        cuts = range(_PIECE, len(word) - _PIECE + 1)
        told = [(min(count(word[:cut]), count(word[cut:])), cut) for cut in cuts]
        most, cut = max(told, default=(0, 0))
        return f"{word[:cut]} {word[cut:]}" if most else None

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

    def _alike(self, word: str, limit: int) -> tuple[str, ...]:
        """Words that sound like this one."""
        return self._sounds.get(phonetic_key(word), ()) if limit else ()


def _letters(word: str) -> int:
    bits = 0
    for char in word:
        bits |= 1 << ord(char) % 64
    return bits
