"""From two lists of scores to one order: reciprocal ranks, recency, trust.

Reciprocal rank fusion is Cormack, Clarke and Büttcher 2009. Recency and trust only weigh: they hide nothing.
"""

from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

Mode = Literal["hybrid", "semantic", "keyword"]
Array = Any

POOL: Final = 50
_K: Final = 60
_HALF_LIFE_MS: Final = 180 * 86_400_000
_FRESH: Final = 0.3
_TRUST: Final = np.array([0.5, 0.85, 1.0, 1.1], np.float32)


@dataclass(frozen=True, slots=True)
class Candidates:
    """What is ranked, by row: both scores, which rows may be shown, and what weighs them."""

    semantic: Array
    keyword: Array
    allowed: Array
    created_at: Array
    trust: Array
    ageless: Array


@dataclass(frozen=True, slots=True)
class Ranked:
    """One row in its place, with what put it there; a rank is None where the row was not in that list's first fifty."""

    row: int
    score: float
    semantic: float
    semantic_rank: int | None
    keyword_rank: int | None
    recency: float
    trust: float


def ranked(found: Candidates, mode: Mode, *, now: int) -> list[Ranked]:
    """The rows in order, best first; equal ones by row."""
    semantic = _first(found.semantic, found.allowed) if mode != "keyword" else {}
    keyword = (
        _first(found.keyword, found.allowed & (found.keyword > 0)) if mode != "semantic" else {}
    )
    listed: list[Ranked] = []
    for row in semantic.keys() | keyword.keys():
        ranks = semantic.get(row), keyword.get(row)
        fused = sum(1 / (_K + rank) for rank in ranks if rank is not None)
        recency = _recency(found, row, now)
        trust = float(_TRUST[found.trust[row]])
        score = round(fused * recency * trust, 6)
        near = round(float(found.semantic[row]), 4)
        listed.append(Ranked(row, score, near, *ranks, recency, trust))
    return sorted(listed, key=lambda one: (-one.score, one.row))


def _first(scores: Array, allowed: Array) -> dict[int, int]:
    """The best `POOL` allowed rows with their ranks from 1."""
    rows = np.flatnonzero(allowed)
    if len(rows) > POOL:
        best = np.argpartition(-scores[rows], POOL - 1)[:POOL]
        rows = rows[best]
    # A stable order among equals: the scores first, then the rows.
    order = np.lexsort((rows, -scores[rows]))
    return {int(rows[place]): rank for rank, place in enumerate(order, 1)}


def _recency(found: Candidates, row: int, now: int) -> float:
    if found.ageless[row]:
        return 1.0
    age = max(0, now - int(found.created_at[row]))
    return round(1 - _FRESH + _FRESH * 0.5 ** (age / _HALF_LIFE_MS), 4)
