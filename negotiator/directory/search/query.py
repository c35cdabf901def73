"""What a query asks for: units, each a choice of phrases, all of which a tool should have."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from negotiator.directory.search.terms import (
    LONGEST_PHRASE,
    STOP_WORDS,
    Phrase,
    Synonyms,
    stem,
    words,
)

MatchStep = Literal["exact", "all", "repaired", "any", "none"]
MOST_WORDS: Final = 16


@dataclass(frozen=True, slots=True)
class QueryUnit:
    """One thing asked for: `word` as it was written, and the phrases that say it, each with its weight."""

    word: str
    phrases: tuple[tuple[float, Phrase], ...]


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A query understood: its words, and the units to look for."""

    words: tuple[str, ...]
    units: tuple[QueryUnit, ...]

    @property
    def normalized(self) -> str:
        """The query as it was read."""
        return " ".join(self.words)

    @property
    def joined(self) -> str:
        """The query as one word, as names are known by."""
        return "".join(self.words)


@dataclass(frozen=True, slots=True)
class PinnedQuery:
    """What must stay as it was on a list's first page, so that no later page skips or repeats a tool.

    Step, repaired words (or the whole query, mended to a name), the weight of every unit, how much of that weight a
    tool has to have, and the day that freshness counts from.
    """

    step: MatchStep
    corrected: tuple[tuple[str, str], ...]
    weights: tuple[float, ...]
    least: float
    day: int


def parse_query(query: str, synonyms: Synonyms, *, longest: int = LONGEST_PHRASE) -> ParsedQuery:
    """The query's first words as units: the longest phrases that have synonyms (up to `longest` words), then single
    words.

    Stop words are asked for only where they belong to a phrase, or when there is nothing else.
    """
    found = words(query)[:MOST_WORDS]
    stems, units, place = [stem(word) for word in found], list[QueryUnit](), 0
    while place < len(found):
        unit, length = _longest(found, stems[: place + longest], place, synonyms)
        place += length
        if unit is not None:
            units.append(unit)
    if not units:
        units = [QueryUnit(word, ((1.0, (stem(word),)),)) for word in found]
    return ParsedQuery(tuple(found), tuple(_once(units)))


def corrected_query(
    asked: ParsedQuery, corrections: Mapping[str, str], synonyms: Synonyms
) -> ParsedQuery:
    """The same query with words mended: the whole of it, pairs of words, single ones."""
    whole = corrections.get(asked.normalized)
    return parse_query(
        " ".join(_mended(asked.words, corrections)) if whole is None else whole, synonyms
    )


def _mended(found: Sequence[str], corrections: Mapping[str, str]) -> Iterator[str]:
    place = 0
    while place < len(found):
        pair = corrections.get(" ".join(found[place : place + 2]))
        yield pair or corrections.get(found[place], found[place])
        place += 2 if pair else 1


def word_by_word_query(asked: ParsedQuery, synonyms: Synonyms) -> ParsedQuery:
    """The same query word by word: what is asked for when nothing has everything."""
    if all(len(phrase) == 1 for unit in asked.units for _, phrase in unit.phrases[:1]):
        return asked
    return parse_query(asked.normalized, synonyms, longest=1)


def _longest(
    found: Sequence[str], stems: Sequence[str], place: int, synonyms: Synonyms
) -> tuple[QueryUnit | None, int]:
    for length in range(len(stems) - place, 0, -1):
        phrase = tuple(stems[place : place + length])
        others = synonyms.others(phrase)
        if others:
            rest = tuple((weight, _bare(other)) for weight, other in others)
            word = " ".join(found[place : place + length])
            return QueryUnit(word, ((1.0, _bare(phrase)), *rest)), length
    word = found[place]
    return (None if word in STOP_WORDS else QueryUnit(word, ((1.0, (stems[place],)),))), 1


def _bare(phrase: Phrase) -> Phrase:
    """A phrase without its stop words, if anything is left then."""
    return tuple(each for each in phrase if each not in STOP_WORDS) or phrase


def _once(units: Sequence[QueryUnit]) -> list[QueryUnit]:
    return list({unit.phrases: unit for unit in units}.values())
