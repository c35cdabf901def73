"""A glossary of negotiating, buying and selling: German, French and Spanish words in English, and English synonyms.

The sentence model knows English only, and BM25 compares words as written. The glossary turns what it knows of the other
languages into English for both.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

from negotiator.base.search_terms import STOP_WORDS, fold_text, split_words, stemmed_terms, stemmer

_LANGUAGES: Final = {"de": "german", "fr": "french", "es": "spanish"}
_SHORTEST_ALONE: Final = 5
_SHORTEST_STEM: Final = 4
_ALIKE_WEIGHT: Final = 0.6
_LINKS: Final = ("", "s", "n", "en", "es", "er")


QueryTerm = Mapping[str, float]
"""The stems that answer one word of a query, with the weight of each: 1 for the word itself and its translation."""


@dataclass(frozen=True, slots=True)
class Glossary:
    """`foreign` maps words and stems of each language to their English, `alike` English stems to their synonyms.

    `beginnings` are the first letters of the words of each language: a word or a compound begins as one of them.
    """

    foreign: Mapping[str, Mapping[str, str]]
    function_words: Mapping[str, frozenset[str]]
    alike: Mapping[str, tuple[str, ...]]
    beginnings: Mapping[str, frozenset[str]]

    def translate(self, text: str) -> str:
        """The text with the words that the glossary knows in English; an English text as it is.

        Function words of the text's language are left out.
        """
        language = self.language(text)
        if language == "en":
            return text
        words = list(split_words(text))
        found = [self._english(word, language) for word in words]
        if not any(found):
            return text
        dropped = self.function_words.get(language, frozenset())
        return " ".join(english or word for word, english in zip(words, found, strict=True) if word not in dropped)

    def translated_terms(self, text: str) -> list[str]:
        """The stems of the English words for the foreign words of a text, for its index."""
        if (language := self.language(text)) == "en":
            return []
        english = [self._english(word, language) for word in split_words(text)]
        return [term for one in english if one for term in stemmed_terms(one)]

    def query_terms(self, text: str) -> list[QueryTerm]:
        """The words of a query that are not function words, each with its translation and words of like meaning."""
        language = self.language(text)
        dropped = STOP_WORDS | self.function_words.get(language, frozenset())
        words = list(dict.fromkeys(split_words(text)))
        terms: dict[str, QueryTerm] = {}
        for word in [word for word in words if word not in dropped] or words:
            [stem] = stemmed_terms(word)
            found = {stem: 1.0}
            english = "" if language == "en" else self._english(word, language)
            translated = stemmed_terms(english) if english else []
            weight = 1.0 if len(translated) == 1 else _ALIKE_WEIGHT
            for other in translated:
                found.setdefault(other, weight)
            for one in (stem, *translated):
                for other in self.alike.get(one, ()):
                    found.setdefault(other, _ALIKE_WEIGHT)
            terms.setdefault(stem, found)
        return list(terms.values())

    def language(self, text: str) -> str:
        """The language of most of the text's function words, English among equals; empty for a text without any."""
        words = set(split_words(text))
        counts = {name: len(words & known) for name, known in self.function_words.items()}
        best = max(counts, key=lambda name: counts[name])
        return best if counts[best] else ""

    def _english(self, word: str, language: str) -> str:
        """The English of one word; empty when it is unknown, or English already."""
        if language:
            return self._of_language(word, language)
        if len(word) < _SHORTEST_ALONE:
            return ""
        found = self._of_language(word, "de")
        found = found or self.foreign["fr"].get(word) or self.foreign["es"].get(word) or ""
        return "" if found and _stem("english", word) in self.alike else found

    def _of_language(self, word: str, language: str) -> str:
        for spelled in dict.fromkeys((word, _without_e(word))):
            if spelled[:_SHORTEST_STEM] not in self.beginnings[language]:
                continue
            if found := self._known(spelled, language):
                return found
            if language == "de" and (parts := " ".join(self._parts(spelled))):
                return parts
        return ""

    def _known(self, word: str, language: str) -> str:
        if word[:_SHORTEST_STEM] not in self.beginnings[language]:
            return ""
        known = self.foreign[language]
        if found := known.get(word):
            return found
        stem = _stem(_LANGUAGES[language], word)
        return known.get(stem, "") if len(stem) >= _SHORTEST_STEM else ""

    def _parts(self, word: str) -> Iterator[str]:
        """The parts of a German compound in English; nothing unless all are known."""
        for at in range(len(word) - _SHORTEST_STEM, _SHORTEST_STEM - 1, -1):
            last = self._known(word[at:], "de")
            if not last:
                continue
            for link in _LINKS:
                first = word[:at].removesuffix(link) if link else word[:at]
                if english := self._known(first, "de") or " ".join(self._parts(first)):
                    yield english
                    yield last
                    return


@cache
def glossary() -> Glossary:
    """The shipped glossary."""
    content: dict[str, Any] = tomllib.loads(
        files("negotiator.memory").joinpath("glossary.toml").read_text(encoding="utf-8")
    )
    function_words = {
        name: frozenset(fold_text(words).split()) for name, words in content.pop("function_words").items()
    }
    entries = [entry for group in content.values() for entry in group.items()]
    words: dict[str, dict[str, str]] = {name: {} for name in _LANGUAGES}
    alike: dict[str, tuple[str, ...]] = {}
    for head, (others, *translations) in entries:
        stems = [stem for word in (head, *others.split()) if (stem := _single(word))]
        for stem in stems:
            alike.setdefault(stem, tuple(one for one in stems if one != stem))
        for name, listed in zip(_LANGUAGES, translations, strict=True):
            for word in fold_text(listed).split():
                words[name].setdefault(word, head)
    foreign = {name: {**_stems(known, name), **known} for name, known in words.items()}
    beginnings = {name: frozenset(word[:_SHORTEST_STEM] for word in known) for name, known in foreign.items()}
    return Glossary(foreign, function_words, alike, beginnings)


def _stems(known: Mapping[str, str], name: str) -> dict[str, str]:
    """The English by stem; among words of one stem the first."""
    stems: dict[str, str] = {}
    for word, english in known.items():
        stems.setdefault(_stem(_LANGUAGES[name], word), english)
    return stems


def _single(word: str) -> str:
    """The stem of a single word; empty for a phrase."""
    return "" if " " in word else stemmed_terms(word)[0]


def _without_e(word: str) -> str:
    """`kuendigung` as `kundigung`, the folded form of `Kündigung`."""
    return word.replace("ae", "a").replace("oe", "o").replace("ue", "u")


def _stem(language: str, word: str) -> str:
    stem: str = stemmer(language).stemWord(word)
    return stem
