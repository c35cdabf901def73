"""Corrections and translations of a query by the words and names that tools have, wherever those are stored."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from itertools import pairwise

from negotiator.directory.search.languages import QueryTranslator, Translation
from negotiator.directory.search.spelling import SHORTEST_WORD, NearWord, allowed_edits, nearest_word, split_word
from negotiator.directory.search.terms import joined


class QueryCorrector(ABC):
    """What corrects and translates queries."""

    translator: QueryTranslator | None

    @abstractmethod
    def count(self, word: str) -> int:
        """The number of tools with a word, in any inflection."""

    @abstractmethod
    def count_named(self, word: str) -> int:
        """The number of tools whose name or slug, written as one word, is this one."""

    @abstractmethod
    def names_of(self, word: str) -> Iterable[str]:
        """The names of those tools, folded."""

    @abstractmethod
    def near(self, field: str, word: str, most: int) -> Iterable[str]:
        """Known words within `most` errors of a word, those that sound alike, and maybe others; `field` is `word` or
        `name`.
        """

    def translate(self, text: str) -> Translation | None:
        """A German, French or Spanish query in English; None for any other, and for the name of a tool."""
        if self.translator is None or self.count_named(joined(text)):
            return None
        return self.translator.translate(text, lambda word: self.count(word) > 0)

    def correct_words(self, words: Sequence[str]) -> dict[str, str]:
        """Corrections of words that no tool has: two words joined, a similar word, or a word split in two."""
        unknown = {word for word in words if self.count(word) == 0}
        found = {
            f"{one} {two}": one + two
            for one, two in pairwise(words)
            if not unknown.isdisjoint((one, two)) and self.count(one + two)
        }
        unknown.difference_update(*(pair.split() for pair in found))
        for word in words:
            if word in unknown:
                near = self._nearest_word(word)
                if read := near.word if near else split_word(word, self.count):
                    found[word] = read
        return found

    def correct_name(self, word: str) -> str | None:
        """The tool name nearest to a query written as one word; None when none is near, or a word is nearer."""
        near = nearest_word(word, self.near("name", word, allowed_edits(word)), self.count_named)
        if near is None:
            return None
        other = self._nearest_word(word)
        if other is not None and other[:2] < near[:2]:
            return None
        written = self.names_of(near.word)
        return min((name for name in written if joined(name) == near.word), default=near.word)

    def _nearest_word(self, word: str) -> NearWord | None:
        if len(word) < SHORTEST_WORD:
            return None
        return nearest_word(word, self.near("word", word, allowed_edits(word)), self.count)
