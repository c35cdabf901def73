"""Finds known words by their spelling, and corrects words that no tool has: the nearest known word by optimal string
alignment distance and by sound.

The phonetic key is similar to Soundex and Metaphone (Philips 1990): vowels count only at the start of a word, letters
that sound alike are equal, doubled letters are single.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from rapidfuzz import process
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
SHORTEST_WORD: Final = 4
"""Letters of the shortest word that is corrected, and that has a sound."""
_LONG: Final = 8
_MIDDLE: Final = 6
_PIECE: Final = 3


@lru_cache(maxsize=4096)
def phonetic_key(word: str) -> str:
    """A key of how a folded word sounds: the same for `phrase` and `frase`, for `video` and `vdeo`."""
    for pattern, written in _ALIKE:
        word = pattern.sub(written, word)
    return word


def allowed_edits(word: str) -> int:
    """The number of errors that a word of this length may have: none under 3 letters, one under 6, else two."""
    return 0 if len(word) < SHORTEST_WORD - 1 else 1 if len(word) < _MIDDLE else 2


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


def nearest_word(word: str, candidates: Iterable[str], count: Callable[[str], int]) -> NearWord | None:
    """The nearest of the candidates that a tool has, according to `count`; None when all differ by too much.

    At most `allowed_edits` errors. The second error of a word under 8 letters must be after its first letter. One
    more error is allowed where the sound is the same.
    """
    limit, sound = allowed_edits(word), phonetic_key(word)
    found: list[NearWord] = []
    for candidate in set(candidates):
        distance = OSA.distance(word, candidate, score_cutoff=limit + 1)
        if distance > limit + 1:
            continue
        strange = phonetic_key(candidate) != sound
        elsewhere = candidate[0] != word[0]
        if distance > limit + (not strange):
            continue
        if strange and elsewhere and distance > 1 and len(word) < _LONG:
            continue
        if tools := count(candidate):
            found.append(NearWord(distance, strange, -tools, elsewhere, candidate))
    return min(found, default=None)


def split_word(word: str, count: Callable[[str], int]) -> str | None:
    """The best split of a word into two words that tools have; None when there is none."""
    cuts = range(_PIECE, len(word) - _PIECE + 1)
    splits = [(min(count(word[:cut]), count(word[cut:])), cut) for cut in cuts]
    most, cut = max(splits, default=(0, 0))
    return f"{word[:cut]} {word[cut:]}" if most else None


class KnownWords:
    """Words by their length and by how they sound."""

    def __init__(self) -> None:
        self._sounds: dict[str, str] = {}
        self._by_sound: dict[str, list[str]] = {}
        self._by_length: dict[int, list[str]] = {}

    def learn(self, words: Iterable[str]) -> None:
        """Make words findable by `near`. Numbers and very short words are left out."""
        for word in words:
            if len(word) >= SHORTEST_WORD - 1 and word not in self._sounds and not word.isdigit():
                has_sound = word.isalpha() and len(word) >= SHORTEST_WORD
                self._add(word, phonetic_key(word) if has_sound else "")

    def state(self) -> Mapping[str, str]:
        """What `restore` needs: the sound of each word, empty for a word without one."""
        return self._sounds

    def restore(self, sounds: Mapping[str, str]) -> None:
        """Take over what `state` gave."""
        for word, sound in sounds.items():
            self._add(word, sound)

    def near(self, word: str, most: int) -> list[str]:
        """Known words within `most` errors of a word, and those that sound alike."""
        if most == 0:
            return []
        found = list(self._by_sound.get(phonetic_key(word), ()))
        for length in range(len(word) - most, len(word) + most + 1):
            known = self._by_length.get(length, ())
            alike = process.extract(word, known, scorer=OSA.distance, score_cutoff=most, limit=None)
            found += (other for other, _, _ in alike)
        return found

    def _add(self, word: str, sound: str) -> None:
        self._sounds[word] = sound
        self._by_length.setdefault(len(word), []).append(word)
        if sound:
            self._by_sound.setdefault(sound, []).append(word)
