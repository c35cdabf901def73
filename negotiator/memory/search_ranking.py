"""Ranks candidates by meaning and words, weighted by recency and trust.

Both scores are added as numbers, not as ranks: a convex combination loses less than reciprocal rank fusion and needs no
tuning to a corpus (Bruch, Gai and Ingber 2023, "An Analysis of Fusion Functions for Hybrid Retrieval"; measured in
docs/benchmarks.md). Recency and trust change the order; they hide nothing.
"""

from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from negotiator.base.values import DAY

RankingMode = Literal["hybrid", "semantic", "keyword"]
RankingArray = Any

MAX_CANDIDATES: Final = 50
KEYWORD_WEIGHT: Final = 1.0
"""The weight of the keyword score; the semantic score weighs one."""
_HALF_LIFE_MS: Final = 180 * DAY
_FRESH: Final = 0.3
_TRUST: Final = np.array([0.5, 0.85, 1.0, 1.1])


@dataclass(frozen=True, slots=True)
class RankingCandidates:
    """The candidate rows, each once, with their scores and weights.

    `semantic` is the cosine, `keyword` the share of the query's words. `nearest` and `matching` are the best rows by
    meaning and by words, best first, at most `MAX_CANDIDATES` of each.
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
    """A row with the parts of its score; a rank is None where the row is not among the best in that list."""

    row: int
    score: float
    semantic: float
    keyword: float
    semantic_rank: int | None
    keyword_rank: int | None
    recency: float
    trust: float


def rank_rows(found: RankingCandidates, mode: RankingMode, *, now: int) -> list[RankedRow]:
    """The candidates in order, best first; ties in order of row."""
    recency, trust = _recency(found, now), _TRUST[found.trust]
    weighted: RankingArray = _matched(found, mode).astype(np.float64) * recency * trust
    # Rounded before they are compared, so that the order agrees with the scores in the answer.
    scores = weighted.round(6)
    semantic_ranks, keyword_ranks = (
        {row: rank for rank, row in enumerate(leading.tolist(), 1)} for leading in (found.nearest, found.matching)
    )

    def ranked(at: int) -> RankedRow:
        row = int(found.rows[at])
        return RankedRow(
            row=row,
            score=float(scores[at]),
            semantic=float(found.semantic[at]),
            keyword=float(found.keyword[at]),
            semantic_rank=semantic_ranks.get(row),
            keyword_rank=keyword_ranks.get(row),
            recency=float(recency[at]),
            trust=float(trust[at]),
        )

    return list(map(ranked, np.lexsort((found.rows, -scores)).tolist()))


def top_rows(scores: RankingArray, rows: RankingArray) -> RankingArray:
    """The `MAX_CANDIDATES` of these rows with the highest scores, best first; among equals the older row."""
    selected = scores[rows]
    if len(rows) > MAX_CANDIDATES:
        # Rows that tie with the last place stay, so that the cut is deterministic.
        threshold = np.partition(selected, len(rows) - MAX_CANDIDATES)[len(rows) - MAX_CANDIDATES]
        rows = rows[selected >= threshold]
        selected = scores[rows]
    return rows[np.lexsort((rows, -selected))][:MAX_CANDIDATES]


def _matched(found: RankingCandidates, mode: RankingMode) -> RankingArray:
    """The score of each candidate before recency and trust."""
    meaning = np.maximum(found.semantic, 0)
    match mode:
        case "semantic":
            return meaning
        case "keyword":
            return found.keyword
        case "hybrid":
            # The share counts squared: one common word says little, all words together much.
            words = np.minimum(found.keyword, 1) ** 2
            return (meaning + KEYWORD_WEIGHT * words) / (1 + KEYWORD_WEIGHT)


def _recency(found: RankingCandidates, now: int) -> RankingArray:
    age = np.maximum(0, now - found.created_at) / _HALF_LIFE_MS
    weighted = 1 - _FRESH + _FRESH * np.exp2(-age)
    return np.where(found.ageless, 1.0, weighted)
