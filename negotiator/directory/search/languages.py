"""Reads German, French and Spanish queries as English ones, word by word, by `content/languages.toml`."""

import re
import tomllib
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import Stemmer

from negotiator.directory.search.terms import STOP_WORDS, query_words

LANGUAGES: Final = {"de": "german", "fr": "french", "es": "spanish"}
_APOSTROPHE: Final = re.compile("['’]")
_LONGEST: Final = 4
_PART: Final = 3
_COGNATE: Final = 7
"""Letters of an unknown word that may be an English one but for its ending, and is left to the spelling correction."""
_LINKS: Final = ("", "s", "n", "en", "e")
"""Letters between the parts of a German compound."""


class Translation(NamedTuple):
    """An English text, and the language it is from: `de`, `fr` or `es`."""

    language: str
    text: str


class _Reading(NamedTuple):
    """A query read in one language: its English words, and how many of the query's words it knows."""

    known: int
    words: list[str]


class Vocabulary:
    """The words of one language with their English ones, in any inflection, and its words without meaning."""

    def __init__(self, language: str, stop: str, rows: Iterable[tuple[str, str]]) -> None:
        # The library ships no types.
        self._stem: Callable[[str], str] = Stemmer.Stemmer(language).stemWord  # pyright: ignore[reportUnknownMemberType]
        self._compounds = language == "german"
        self._stop = frozenset(_words(stop))
        self._english: dict[tuple[str, ...], str] = {}
        for english, foreign in rows:
            for phrase in foreign.split(","):
                if key := self._stems(_words(phrase)):
                    self._english.setdefault(key, english)

    def read(self, found: Sequence[str], has: Callable[[str], bool]) -> _Reading:
        """The words in English, without those that carry no meaning. Of unknown ones the long ones stay, and those that
        some tool has.
        """
        stems, read, known, place = self._stems(found), list[str](), 0, 0
        while place < len(found):
            word, length = found[place], self._longest(stems, place)
            if length <= 1 and word in self._stop:
                known += 1
            elif length:
                read.append(self._english[stems[place : place + length]])
                known += length
            else:
                compound = self._parts(word)
                known += compound is not None
                if compound or has(word) or len(word) >= _COGNATE:
                    read.append(compound or word)
            place += length or 1
        return _Reading(known, read)

    def of_word(self, word: str) -> str | None:
        """The English for one word, or None."""
        return self._english.get(self._stems([word])) or self._parts(word)

    def _longest(self, stems: Sequence[str], place: int) -> int:
        for length in range(min(_LONGEST, len(stems) - place), 0, -1):
            if tuple(stems[place : place + length]) in self._english:
                return length
        return 0

    def _parts(self, word: str) -> str | None:
        """The English for a German compound of known words; None for anything else."""
        if not self._compounds:
            return None
        for cut in range(len(word) - _PART, _PART - 1, -1):
            first = self._first_part(word[:cut])
            if first is None:
                continue
            rest = self.of_word(word[cut:])
            if rest is None and word[cut:] in self._stop:
                rest = ""
            if rest is not None:
                return f"{first} {rest}".strip()
        return None

    def _first_part(self, part: str) -> str | None:
        for link in _LINKS:
            if part.endswith(link) and (english := self._english.get((self._stem(part.removesuffix(link)),))):
                return english
        return None

    def _stems(self, found: Iterable[str]) -> tuple[str, ...]:
        return tuple(map(self._stem, found))


class QueryTranslator:
    """The vocabularies of all languages."""

    def __init__(self, vocabularies: dict[str, Vocabulary]) -> None:
        self._vocabularies = vocabularies

    def translate(self, text: str, known: Callable[[str], bool]) -> Translation | None:
        """The text in English; None when it is in English already, or in no known language.

        `known` says whether some tool has a word. A text is in the language that knows most of its words, if English
        knows fewer; else only words that no tool has are translated.
        """
        found = _words(text)
        if not found:
            return None
        has = [known(word) for word in found]
        english = sum(word in STOP_WORDS or there for word, there in zip(found, has, strict=True))
        if english == len(found):
            return None
        readings = {name: each.read(found, known) for name, each in self._vocabularies.items()}
        language = max(readings, key=lambda name: readings[name].known)
        if readings[language].known > english:
            return Translation(language, " ".join(readings[language].words))
        read = self._vocabularies[language]
        mended = [
            word if there or word in STOP_WORDS else read.of_word(word) or word
            for word, there in zip(found, has, strict=True)
        ]
        return Translation(language, " ".join(mended)) if mended != found else None


def _words(text: str) -> list[str]:
    return list(query_words(_APOSTROPHE.sub(" ", text)))


@cache
def load_translator(path: Path) -> QueryTranslator:
    """The translator of a TOML file with `stop` and `words.rows`."""
    content = tomllib.loads(path.read_text("utf-8"))
    rows: list[list[str]] = content["words"]["rows"]
    return QueryTranslator(
        {
            code: Vocabulary(language, content["stop"][language], [(row[0], row[place]) for row in rows])
            for place, (code, language) in enumerate(LANGUAGES.items(), 1)
        }
    )
