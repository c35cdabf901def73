"""How well tools answer the units of a query: sparse values per unit, then one score per tool."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from negotiator.directory.search.postings import Postings
from negotiator.directory.search.query import QueryUnit
from negotiator.directory.search.terms import Phrase

HIGHEST_SCORE: Final = 10_000
"""A score of 1.0, as the whole number that lists are ordered by."""
_DAY: Final = 86_400_000
_TEXT, _POPULARITY, _QUALITY, _FRESHNESS = 0.70, 0.15, 0.10, 0.05
_FAMOUS: Final = 1000
_DEPRECATED: Final = 0.5
_FRESH: Final = np.float32(_FRESHNESS) * np.exp(-np.arange(4000) / 365).astype(np.float32)
"""What freshness is worth, by days."""

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
Days = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class UnitMatches:
    """The tools that answer one unit: slots, rising, how well (0 to 1), and the fields that do as bits."""

    slots: NDArray[np.int32]
    values: Floats
    fields: NDArray[np.uint8]

    @property
    def size(self) -> int:
        """Bytes that its columns take."""
        return self.slots.nbytes + self.values.nbytes + self.fields.nbytes


def match_unit(postings: Postings, unit: QueryUnit, size: int) -> UnitMatches:
    """The tools that have any phrase of the unit; each is worth its best phrase."""
    found = [(weight, *_phrase(postings, phrase)) for weight, phrase in unit.phrases]
    found = [each for each in found if len(each[1])]
    if len(found) <= 1:
        for weight, slots, impacts, fields in found:
            return UnitMatches(
                slots, impacts if weight == 1 else impacts * np.float32(weight), fields
            )
        return UnitMatches(np.empty(0, np.int32), np.empty(0, np.float32), np.empty(0, np.uint8))
    values, bits = np.zeros(size, np.float32), np.zeros(size, np.uint8)
    for weight, slots, impacts, fields in found:
        values[slots] = np.maximum(values[slots], impacts * np.float32(weight))
        bits[slots] |= fields
    there = np.flatnonzero(values > 0).astype(np.int32)
    return UnitMatches(there, values[there], bits[there])


def _phrase(postings: Postings, phrase: Phrase) -> tuple[Any, Any, Any]:
    """The tools that have every word of a phrase, with the mean of the words' impacts."""
    if len(phrase) == 1:
        return postings.find(phrase[0])
    found = [postings.find(term) for term in dict.fromkeys(phrase)]
    there = min((slots for slots, _, _ in found), key=len)
    if len(there):
        for slots, _, _ in found:
            there = there[slots.take(slots.searchsorted(there), mode="clip") == there]
    total, bits = np.zeros(len(there), np.float32), np.zeros(len(there), np.uint8)
    for slots, impacts, fields in found:
        place = slots.searchsorted(there)
        total += impacts[place]
        bits |= fields[place]
    return there, total / len(found), bits


def inverse_document_frequency(tools: int, among: int) -> float:
    """What having a word is worth that `tools` of `among` have: the inverse document frequency of BM25, to four places.

    What no tool has is worth nothing: it tells none from another.
    """
    return 0.0 if tools == 0 else round(log(1 + (among - tools + 0.5) / (tools + 0.5)), 4)


def text_scores(
    matched: Sequence[UnitMatches], weights: Sequence[float], size: int
) -> tuple[Floats, Floats]:
    """How well the text answers, and how much of what was asked for it answers at all, both 0 to 1 by weight."""
    score, covered = np.zeros(size, np.float32), np.zeros(size, np.float32)
    total = sum(weights) or 1.0
    for each, weight in zip(matched, weights, strict=True):
        share = np.float32(weight / total)
        # No tool is there twice; `score[slots] +=` would read and write each place in turn.
        np.add.at(score, each.slots, each.values * share)
        np.add.at(covered, each.slots, share)
    return score, covered


def query_independent_score(saves: int, quality: float) -> float:
    """What a tool's score has whatever is asked: popularity, which nobody can buy, and how much is known of it."""
    popular = min(log(1 + saves) / log(1 + _FAMOUS), 1.0)
    return _POPULARITY * popular + _QUALITY * quality


def status_factor(status: str) -> float:
    """What a tool's score is multiplied with: a deprecated one has half."""
    return _DEPRECATED if status == "deprecated" else 1.0


def rank_scores(
    text: Floats, covered: Floats, *, standing: Floats, age: Days, worth: Floats
) -> Ints:
    """One whole number per tool, less than `TOP`. All arrays are of the same tools, `age` in days.

    Popularity, quality and freshness only order what the text has found.
    """
    whole = np.float32(_TEXT) * text * covered + standing + _FRESH.take(age, mode="clip")
    return (whole * worth * np.float32(HIGHEST_SCORE - 1)).astype(np.int64)


def epoch_day(now: int) -> int:
    """The day of a moment in milliseconds, counted from the epoch."""
    return now // _DAY
