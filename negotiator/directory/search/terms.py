"""From text to terms: folded, split and stemmed, the same for documents and queries; and synonyms of phrases."""

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import Stemmer

from negotiator.base import search_terms as reading
from negotiator.base.search_terms import fold_text

_LONGEST: Final = 40
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SPELLED: Final = (
    (re.compile(r"\bc\+\+"), "cpp "),
    (re.compile(r"\b([cf])#"), r"\1sharp "),
    (re.compile(r"(?<!\w)\.net\b"), "dotnet "),
)
_MARKS: Final = frozenset("+#.")
_ASKING: Final = (
    "about any best better build create find get good great help how like make makes making need our run some something"
    " tool tools turn us use used using want without"
)
STOP_WORDS: Final = reading.STOP_WORDS | frozenset(_ASKING.split())
"""Words without meaning for search: general stop words, and words that people use to ask for tools."""
# The library ships no types.
_stem: Callable[[str], str] = Stemmer.Stemmer("english").stemWord  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]


def words(text: str) -> list[str]:
    """The words of a text in order; `C++`, `C#` and `.NET` are words."""
    spelled = fold_text(text)
    if not _MARKS.isdisjoint(spelled):
        for pattern, written in _SPELLED:
            spelled = pattern.sub(written, spelled)
    return list(reading.split_words(spelled))


@lru_cache(maxsize=512)
def query_words(text: str) -> tuple[str, ...]:
    """The words of a query or a name, which a search reads several times."""
    return tuple(words(text))


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """The stem of a folded word (Snowball English; words of other languages change little)."""
    return _stem(word)


def joined(text: str) -> str:
    """A name as one word: the same for `Chat GPT`, `chat-gpt` and `ChatGPT`."""
    return "".join(query_words(text))


def inner_words(name: str) -> list[str]:
    """The words inside the words of a name: `ClickHouse` has `click` and `house`, `node.js` also `nodejs`."""
    found: list[str] = []
    for chunk in name.split():
        pieces = words(chunk)
        if len(pieces) > 1:
            found.append("".join(pieces)[:_LONGEST])
        camel = [fold_text(piece) for piece in _CAMEL.findall(chunk)]
        if len(camel) > 1:
            found.extend(piece for piece in camel if len(piece) > 2)
    plain = words(name)
    found.extend(a + b for a, b in pairwise(plain) if len(a + b) <= _LONGEST)
    known = set(plain)
    return [piece for piece in found if piece not in known]


Phrase = tuple[str, ...]
LONGEST_PHRASE: Final = 4
_SAME: Final = 0.8
_WIDER: Final = 0.45
"""Weights of a synonym and of a wider phrase, relative to the phrase in the query."""


class Synonyms:
    """Synonyms and wider phrases of phrases, by their stems, with weights."""

    def __init__(self, groups: Iterable[Sequence[str]] = (), wider: Mapping[str, Sequence[str]] | None = None) -> None:
        self._others: dict[Phrase, dict[Phrase, float]] = {}
        self._first: set[str] = set()
        for group in groups:
            phrases = list(dict.fromkeys(map(stems, group)))
            for phrase in phrases:
                self._learn(phrase, phrases, _SAME)
        for text, others in (wider or {}).items():
            self._learn(stems(text), list(map(stems, others)), _WIDER)

    def may_start(self, term: str) -> bool:
        """Whether a phrase that has others starts so."""
        return term in self._first

    def others(self, phrase: Phrase) -> list[tuple[float, Phrase]]:
        """The other phrases for this one, with their weights."""
        return [(weight, other) for other, weight in self._others.get(phrase, {}).items()]

    def _learn(self, phrase: Phrase, others: Sequence[Phrase], weight: float) -> None:
        if phrase and len(phrase) <= LONGEST_PHRASE:
            known = self._others.setdefault(phrase, {})
            self._first.add(phrase[0])
            for other in others:
                if other and other != phrase:
                    known[other] = max(weight, known.get(other, 0))


def stems(text: str) -> Phrase:
    """The stems of a phrase's words."""
    return tuple(map(stem, words(text)))


def load_synonyms(path: Path) -> Synonyms:
    """The synonyms of a TOML file: `groups` of every theme, and the table `widen`."""
    themes: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))
    wider = themes.pop("widen", {})
    return Synonyms((group for theme in themes.values() for group in theme["groups"]), wider)


MOST_WORDS: Final = 16


@dataclass(frozen=True, slots=True)
class QueryUnit:
    """One unit of a query: the word as written, and the phrases for it with their weights."""

    word: str
    phrases: tuple[tuple[float, Phrase], ...]


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A parsed query: its words and units."""

    words: tuple[str, ...]
    units: tuple[QueryUnit, ...]

    @property
    def normalized(self) -> str:
        """The words joined by spaces."""
        return " ".join(self.words)

    @property
    def joined(self) -> str:
        """The query as one word, for comparison with names."""
        return "".join(self.words)


def parse_query(query: str, synonyms: Synonyms, *, longest: int = LONGEST_PHRASE) -> ParsedQuery:
    """The query's first words as units: the longest phrases with synonyms (up to `longest` words), then single words.

    Stop words count only inside a phrase, or when the query has no other words.
    """
    found = query_words(query)[:MOST_WORDS]
    stems, units, place = [stem(word) for word in found], list[QueryUnit](), 0
    while place < len(found):
        unit, length = _longest(found, stems[: place + longest], place, synonyms)
        place += length
        if unit is not None:
            units.append(unit)
    if not units:
        units = [QueryUnit(word, ((1.0, (stem(word),)),)) for word in found]
    return ParsedQuery(found, tuple({unit.phrases: unit for unit in units}.values()))


def corrected_query(parsed: ParsedQuery, corrections: Mapping[str, str], synonyms: Synonyms) -> ParsedQuery:
    """The query with corrections applied: to the whole query, pairs of words, or single words."""
    whole = corrections.get(parsed.normalized)
    return parse_query(" ".join(_corrected_words(parsed.words, corrections)) if whole is None else whole, synonyms)


def _corrected_words(found: Sequence[str], corrections: Mapping[str, str]) -> Iterator[str]:
    place = 0
    while place < len(found):
        pair = corrections.get(" ".join(found[place : place + 2]))
        yield pair or corrections.get(found[place], found[place])
        place += 2 if pair else 1


def word_by_word_query(parsed: ParsedQuery, synonyms: Synonyms) -> ParsedQuery:
    """The query with a unit per word, for when no tool matches every unit."""
    if all(len(phrase) == 1 for unit in parsed.units for _, phrase in unit.phrases[:1]):
        return parsed
    return parse_query(parsed.normalized, synonyms, longest=1)


def _longest(
    found: Sequence[str], stems: Sequence[str], place: int, synonyms: Synonyms
) -> tuple[QueryUnit | None, int]:
    most = len(stems) - place if synonyms.may_start(stems[place]) else 0
    for length in range(most, 0, -1):
        phrase = tuple(stems[place : place + length])
        others = synonyms.others(phrase)
        if others:
            rest = tuple((weight, _bare(other)) for weight, other in others)
            word = " ".join(found[place : place + length])
            return QueryUnit(word, ((1.0, _bare(phrase)), *rest)), length
    word = found[place]
    return (None if word in STOP_WORDS else QueryUnit(word, ((1.0, (stems[place],)),))), 1


def _bare(phrase: Phrase) -> Phrase:
    """The phrase without its stop words, unless it has no others."""
    return tuple(each for each in phrase if each not in STOP_WORDS) or phrase
