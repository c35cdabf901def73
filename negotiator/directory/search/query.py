"""Parses a query into units: each is a choice of phrases, and a tool should match every unit."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from negotiator.directory.search.terms import LONGEST_PHRASE, STOP_WORDS, Phrase, Synonyms, query_words, stem

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
    return ParsedQuery(found, tuple(_unique(units)))


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


def _unique(units: Sequence[QueryUnit]) -> list[QueryUnit]:
    return list({unit.phrases: unit for unit in units}.values())
