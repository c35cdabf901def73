"""Scores tools: how well the text matches, and what counts whatever the query is."""

from dataclasses import dataclass
from math import log
from typing import Final
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from negotiator.base.values import DAY

HIGHEST_SCORE: Final = 10_000
"""A score of 1.0, as the integer that lists are ordered by."""
_TEXT, _POPULARITY, _QUALITY, _FRESHNESS = 0.70, 0.15, 0.10, 0.05
_MEANING: Final = 0.7
_FAMOUS: Final = 1000
_DEPRECATED: Final = 0.5
_APART: Final = 1e-3
_FRESH: Final = np.float32(_FRESHNESS) * np.exp(-np.arange(4000) / 365).astype(np.float32)
"""The freshness part of the score, by age in days."""

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
Days = NDArray[np.int32]


def inverse_document_frequency(tools: int, among: int) -> float:
    """BM25's inverse document frequency of a word that `tools` of `among` have, to four places; 0 for none."""
    return 0.0 if tools == 0 else round(log(1 + (among - tools + 0.5) / (tools + 0.5)), 4)


@dataclass(frozen=True, slots=True)
class Standing:
    """What counts of a tool whatever the query is: popularity and quality, the factor for its status, and the factor of
    its preliminary score, which is at least 1 and differs between tools.
    """

    score: float
    worth: float
    factor: float

    @classmethod
    def of(cls, key: str, saves: int, quality: float, status: str) -> "Standing":
        """The standing of the tool with this id; a deprecated tool counts half."""
        score = _POPULARITY * min(log(1 + saves) / log(1 + _FAMOUS), 1.0) + _QUALITY * quality
        worth = _DEPRECATED if status == "deprecated" else 1.0
        apart = _APART * crc32(key.encode()) / 2**32
        return cls(score, worth, worth * (1 + 2 * score) / _DEPRECATED + apart)


def rank_scores(
    text: Floats, covered: Floats, *, standing: Floats, age: Days, worth: Floats, likeness: Floats | None = None
) -> Ints:
    """An integer score per tool, less than `HIGHEST_SCORE`. All arrays cover the same tools; `age` in days.

    Popularity, quality and freshness only order what the text matches. `likeness` is how near each is in meaning.
    """
    whole = np.float32(_TEXT) * text * covered + standing + _FRESH.take(age, mode="clip")
    if likeness is not None:
        whole = (whole + np.float32(_MEANING) * likeness) / np.float32(1 + _MEANING)
    return (whole * worth * np.float32(HIGHEST_SCORE - 1)).astype(np.int64)


def epoch_day(now: int) -> int:
    """The day of a moment in milliseconds, counted from the epoch."""
    return now // DAY


_MOST_SAVES: Final = (1 << 20) - 1
_QUALITY_STEPS: Final = 1000


def proven_order(verified: bool, saves: int, quality: float) -> int:
    """A number that orders tools: verified publishers first, then saves, then how much is known (0 to 1)."""
    counted = min(saves, _MOST_SAVES) * (_QUALITY_STEPS + 1) + int(quality * _QUALITY_STEPS)
    return counted + verified * (_MOST_SAVES + 1) * (_QUALITY_STEPS + 1)
