"""From two scores to one order: meaning and words added up, weighed by recency and trust.

Both scores are kept as numbers instead of ranks: a convex combination loses less than reciprocal ranks do and needs no
tuning to a corpus (Bruch, Gai and Ingber 2023, "An Analysis of Fusion Functions for Hybrid Retrieval"; measured here:
docs/benchmarks.md). Recency and trust only weigh: they hide nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

RankingMode = Literal["hybrid", "semantic", "keyword"]
RankingArray = Any

MAX_CANDIDATES: Final = 50
KEYWORD_WEIGHT: Final = 0.5
"""What the words of a question count against its meaning, which counts one."""
_HALF_LIFE_MS: Final = 180 * 86_400_000
_FRESH: Final = 0.3
_TRUST: Final = np.array([0.5, 0.85, 1.0, 1.1])


@dataclass(frozen=True, slots=True)
class RankingCandidates:
    """The rows in question, each once, with what weighs them.

    `semantic` is their cosine, `keyword` their share of the query's words. `nearest` and `matching` are the rows that
    lead in meaning and in words, best first, at most `POOL` of each.
    """

    rows: RankingArray
    semantic: RankingArray
    keyword: RankingArray
    nearest: RankingArray
    matching: RankingArray
    created_at: RankingArray
    trust: RankingArray
    ageless: RankingArray


@dataclass(frozen=True, slots=True)
class RankedRow:
    """One row in its place, with what put it there; a rank is None where the row was not in that list's first fifty."""

    row: int
    score: float
    semantic: float
    keyword: float
    semantic_rank: int | None
    keyword_rank: int | None
    recency: float
    trust: float


class HybridRanking:
    """The candidates in order, best first; equal ones by row."""

    def __init__(self, found: RankingCandidates, mode: RankingMode, *, now: int) -> None:
        self._found = found
        self._recency = _recency(found, now)
        self._trust = _TRUST[found.trust]
        weighed: RankingArray = (
            _matched(found, mode).astype(np.float64) * self._recency * self._trust
        )
        # Rounded before they are compared: the order is the one that is shown.
        scores = weighed.round(6)
        self._scores = scores
        self._order = np.lexsort((found.rows, -scores))
        self._ranks = [
            {row: rank for rank, row in enumerate(leading.tolist(), 1)}
            for leading in (found.nearest, found.matching)
        ]

    def __iter__(self) -> Iterator[RankedRow]:
        return map(self._at, self._order.tolist())

    def _at(self, at: int) -> RankedRow:
        found = self._found
        row = int(found.rows[at])
        return RankedRow(
            row=row,
            score=float(self._scores[at]),
            semantic=float(found.semantic[at]),
            keyword=float(found.keyword[at]),
            semantic_rank=self._ranks[0].get(row),
            keyword_rank=self._ranks[1].get(row),
            recency=float(self._recency[at]),
            trust=float(self._trust[at]),
        )


def top_rows(scores: RankingArray, rows: RankingArray) -> RankingArray:
    """Of these rows the `POOL` with the highest scores, best first; among equals the older row."""
    chosen = scores[rows]
    if len(rows) > MAX_CANDIDATES:
        # Whatever ties with the last place takes part: chance has no say in who is cut off.
        least = np.partition(chosen, len(rows) - MAX_CANDIDATES)[len(rows) - MAX_CANDIDATES]
        rows = rows[chosen >= least]
        chosen = scores[rows]
    return rows[np.lexsort((rows, -chosen))][:MAX_CANDIDATES]


def _matched(found: RankingCandidates, mode: RankingMode) -> RankingArray:
    """How well each candidate answers."""
    meaning = np.maximum(found.semantic, 0)
    match mode:
        case "semantic":
            return meaning
        case "keyword":
            return found.keyword
        case "hybrid":
            # One common word in many says little, all of them nearly everything: the share counts cubed.
            words = np.minimum(found.keyword, 1) ** 3
            return (meaning + KEYWORD_WEIGHT * words) / (1 + KEYWORD_WEIGHT)


def _recency(found: RankingCandidates, now: int) -> RankingArray:
    age = np.maximum(0, now - found.created_at) / _HALF_LIFE_MS
    weighed = 1 - _FRESH + _FRESH * np.exp2(-age)
    return np.where(found.ageless, 1.0, weighed)
