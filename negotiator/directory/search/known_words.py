"""The words or the names that tools have, for fuzzy search."""

from collections.abc import Iterable, Mapping

from rapidfuzz import process
from rapidfuzz.distance import OSA

from negotiator.directory.search.spelling import SHORTEST_WORD, phonetic_key


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
