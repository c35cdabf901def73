"""Scores tools for the units of a query: sparse matches per unit, then one score per tool."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from negotiator.directory.search.postings import Postings
from negotiator.directory.search.query import QueryUnit
from negotiator.directory.search.terms import Phrase
from negotiator.values import DAY

HIGHEST_SCORE: Final = 10_000
"""A score of 1.0, as the integer that lists are ordered by."""
_TEXT, _POPULARITY, _QUALITY, _FRESHNESS = 0.70, 0.15, 0.10, 0.05
_FAMOUS: Final = 1000
_DEPRECATED: Final = 0.5
_FRESH: Final = np.float32(_FRESHNESS) * np.exp(-np.arange(4000) / 365).astype(np.float32)
"""The freshness part of the score, by age in days."""

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
Days = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class UnitMatches:
    """The tools that match one unit: ascending slots, how well (0 to 1), and the matching fields as bits."""

    slots: NDArray[np.int32]
    values: Floats
    fields: NDArray[np.uint8]

    @property
    def size(self) -> int:
        """Bytes of its columns."""
        return self.slots.nbytes + self.values.nbytes + self.fields.nbytes


def match_unit(postings: Postings, unit: QueryUnit, size: int) -> UnitMatches:
    """The tools with any phrase of the unit; the best phrase of each counts."""
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
    present = np.flatnonzero(values > 0).astype(np.int32)
    return UnitMatches(present, values[present], bits[present])


def _phrase(postings: Postings, phrase: Phrase) -> tuple[Any, Any, Any]:
    """The tools with every word of a phrase, with the mean of the words' impacts."""
    if len(phrase) == 1:
        return postings.find(phrase[0])
    found = [postings.find(term) for term in dict.fromkeys(phrase)]
    present = min((slots for slots, _, _ in found), key=len)
    if len(present):
        for slots, _, _ in found:
            present = present[slots.take(slots.searchsorted(present), mode="clip") == present]
    total, bits = np.zeros(len(present), np.float32), np.zeros(len(present), np.uint8)
    for slots, impacts, fields in found:
        place = slots.searchsorted(present)
        total += impacts[place]
        bits |= fields[place]
    return present, total / len(found), bits


def inverse_document_frequency(tools: int, among: int) -> float:
    """BM25's inverse document frequency of a word that `tools` of `among` have, to four places; 0 for none."""
    return 0.0 if tools == 0 else round(log(1 + (among - tools + 0.5) / (tools + 0.5)), 4)


def text_scores(
    matched: Sequence[UnitMatches], weights: Sequence[float], size: int
) -> tuple[Floats, Floats]:
    """Per tool, how well it matches and which share of the query it matches, both 0 to 1 by weight."""
    score, covered = np.zeros(size, np.float32), np.zeros(size, np.float32)
    total = sum(weights) or 1.0
    for each, weight in zip(matched, weights, strict=True):
        share = np.float32(weight / total)
        # `np.add.at` is faster here than `score[slots] +=`; slots are unique.
        np.add.at(score, each.slots, each.values * share)
        np.add.at(covered, each.slots, share)
    return score, covered


def query_independent_score(saves: int, quality: float) -> float:
    """The part of a score that does not depend on the query: popularity and quality."""
    popular = min(log(1 + saves) / log(1 + _FAMOUS), 1.0)
    return _POPULARITY * popular + _QUALITY * quality


def status_factor(status: str) -> float:
    """The factor of a tool's score for its status: half for a deprecated tool."""
    return _DEPRECATED if status == "deprecated" else 1.0


def rank_scores(
    text: Floats, covered: Floats, *, standing: Floats, age: Days, worth: Floats
) -> Ints:
    """An integer score per tool, less than `HIGHEST_SCORE`. All arrays cover the same tools; `age` in days.

    Popularity, quality and freshness only order what the text matches.
    """
    whole = np.float32(_TEXT) * text * covered + standing + _FRESH.take(age, mode="clip")
    return (whole * worth * np.float32(HIGHEST_SCORE - 1)).astype(np.int64)


def epoch_day(now: int) -> int:
    """The day of a moment in milliseconds, counted from the epoch."""
    return now // DAY
