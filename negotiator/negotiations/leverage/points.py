"""Bargaining solutions on the Pareto frontier of the individually rational packages.

Rational first, solution after: the product of two losses is positive too. Nash (1950): most
g1·g2. Kalai (1977): most min(g1, g2). Kalai and Smorodinsky (1975), discrete form chosen here:
smallest gap |g1/(I1-d1) - g2/(I2-d2)|, ideal I over the rational set. Welfare: most u1 + u2.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from negotiator.negotiations.leverage.outcomes import (
    Floats,
    Frontier,
    OutcomeSpace,
    Places,
    package_of,
)
from negotiator.negotiations.preferences.issues import Scalar

TIE = 1e-12
"""Two scores nearer than this are the same score."""
SAMPLE = 12
NO_DEAL = "No package gives both sides at least their walk-away."

Pair: TypeAlias = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Point:
    """One package, what it is worth to each side, and how many others score the same."""

    package: dict[str, Scalar]
    utility_me: float
    utility_them: float
    ties: int = 0


@dataclass(frozen=True, slots=True)
class ParetoSummary:
    """How many packages are undominated, and a few of them spread from my best to theirs."""

    size: int
    sample: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Points:
    """The solution points; all null, with `reason`, when no agreement is preferred by both."""

    nash: Point | None
    kalai: Point | None
    kalai_smorodinsky: Point | None
    max_welfare: Point | None
    pareto: ParetoSummary
    reason: str | None = None


def nash_set(edge: Frontier, floors: Pair) -> Places:
    """Places on a rational frontier with the largest product of gains (all ties)."""
    return _best((edge.mine - floors[0]) * (edge.theirs - floors[1]))


def kalai_set(edge: Frontier, floors: Pair) -> Places:
    """Places with the largest smaller gain; needs comparable utility scales."""
    return _best(np.minimum(edge.mine - floors[0], edge.theirs - floors[1]))


def kalai_smorodinsky_set(edge: Frontier, floors: Pair, *, ideal: Pair | None = None) -> Places:
    """Places where the two gains are most nearly the same share of the ideal ones.

    `ideal` defaults to the best of the rational set; some software measures it over all packages.
    """
    if not len(edge.mine):
        return _best(edge.mine)
    top = ideal or (float(edge.mine.max()), float(edge.theirs.max()))
    return _best(
        -np.abs(_share(edge.mine, floors[0], top[0]) - _share(edge.theirs, floors[1], top[1]))
    )


def _share(utilities: Floats, floor: float, top: float) -> Floats:
    return (utilities - floor) / (top - floor) if top > floor else np.zeros_like(utilities)


def welfare_set(edge: Frontier) -> Places:
    """Places with the largest sum of utilities; needs comparable utility scales."""
    return _best(edge.mine + edge.theirs)


def asymmetric_nash_set(edge: Frontier, floors: Pair, alpha: float) -> Places:
    """Places with the largest g1^alpha · g2^(1-alpha), my power alpha strictly between 0 and 1."""
    gains = (np.maximum(edge.mine - floors[0], 0.0), np.maximum(edge.theirs - floors[1], 0.0))
    return _best(gains[0] ** alpha * gains[1] ** (1.0 - alpha))


def _best(scores: Floats) -> Places:
    if not len(scores):
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(scores >= scores.max() - TIE).astype(np.int64)


def chosen(space: OutcomeSpace, edge: Frontier, tied: Places, floors: Pair) -> Point | None:
    """One of the tied places: the most even gains, then the earliest values, so it never wavers."""
    if not len(tied):
        return None
    ties = len(tied) - 1
    gap = np.abs((edge.mine[tied] - floors[0]) - (edge.theirs[tied] - floors[1]))
    even = tied[gap <= gap.min() + TIE]
    columns = [edge.choices[even, k] for k in reversed(range(edge.choices.shape[1]))]
    place = int(even[np.lexsort(columns)[0]])
    return point_at(space, edge, place, ties=ties)


def point_at(space: OutcomeSpace, edge: Frontier, place: int, *, ties: int = 0) -> Point:
    """The frontier's row as a point."""
    package = package_of(space, edge.choices[place])
    return Point(package, float(edge.mine[place]), float(edge.theirs[place]), ties)


def summary(space: OutcomeSpace, edge: Frontier) -> ParetoSummary:
    """Size and up to twelve points, evenly spaced from my best to theirs."""
    count = len(edge.mine)
    spots = np.unique(np.linspace(0, count - 1, min(SAMPLE, count)).round().astype(np.int64))
    return ParetoSummary(count, tuple(point_at(space, edge, int(k)) for k in spots))


def solve(space: OutcomeSpace, edge: Frontier, floors: Pair) -> Points:
    """All solution points of a rational frontier, or nulls with the reason when it is empty."""
    if not len(edge.mine):
        return unsolved(NO_DEAL, summary(space, edge))
    return Points(
        nash=chosen(space, edge, nash_set(edge, floors), floors),
        kalai=chosen(space, edge, kalai_set(edge, floors), floors),
        kalai_smorodinsky=chosen(space, edge, kalai_smorodinsky_set(edge, floors), floors),
        max_welfare=chosen(space, edge, welfare_set(edge), floors),
        pareto=summary(space, edge),
    )


def unsolved(reason: str, pareto: ParetoSummary) -> Points:
    """No points, and why."""
    return Points(None, None, None, None, pareto, reason)
