"""The outcome space of two additive utilities, and its Pareto frontier.

Up to 10^6 packages are enumerated. A larger space is searched issue by issue: with additive utilities each part of an
undominated package is itself undominated, so the result is exact until the frontier of a step exceeds 20,000 points or
its candidates a million. Then only evenly spaced points, including both ends, are carried on. The caller marks the
result `approximate`.
"""

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from negotiator.terms.issues import VALUE_GRID_SIZE, Issue, Scalar, is_gridded, values_of, worths_of
from negotiator.terms.utility import Preferences

Floats: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int64]

EXACT_LIMIT = 1_000_000
"""The largest number of packages that is enumerated: 16 bytes each, about 60 MB at the peak."""
MAX_CANDIDATES = 1_000_000
MAX_FRONTIER_POINTS = 20_000
APPROXIMATE_FRONTIER_NOTE = (
    "There are {} combinations of terms, too many to compare each. The best ones are found issue by issue, "
    "so the result is approximate."
)
PREFILTER_BUCKETS = 4096


@dataclass(frozen=True, slots=True)
class OutcomeSpace:
    """All packages of a negotiation as weighted part-worths: one array per issue and side, one number per value."""

    names: tuple[str, ...]
    values: tuple[tuple[Scalar, ...], ...]
    mine: tuple[Floats, ...]
    theirs: tuple[Floats, ...]
    constants: tuple[float, float]
    gridded: tuple[str, ...]

    @property
    def size(self) -> int:
        """The number of packages."""
        return math.prod(len(values) for values in self.values)

    @property
    def exact(self) -> bool:
        """Whether the packages are few enough to be enumerated."""
        return self.size <= EXACT_LIMIT


@dataclass(frozen=True, slots=True)
class ParetoFrontier:
    """Undominated packages by falling utility to me: both utilities, and one row of value positions per package."""

    mine: Floats
    theirs: Floats
    choices: Indices

    def above(self, floor_mine: float, floor_theirs: float) -> "ParetoFrontier":
        """The packages that give both sides at least their floor; they are the frontier of that set."""
        keep = (self.mine >= floor_mine) & (self.theirs >= floor_theirs)
        return ParetoFrontier(self.mine[keep], self.theirs[keep], self.choices[keep])


def outcome_space(mine: Preferences, theirs: Preferences, *, grid: int = VALUE_GRID_SIZE) -> OutcomeSpace:
    """The packages that both sides can value; `grid` is the number of values that stand in for a continuous range.

    An issue that only one side lists is worth 0 to the other. A value that one side does not list is left out.
    """
    other = {issue.name: issue for issue in theirs.issues}
    known = {issue.name for issue in mine.issues}
    names: list[str] = []
    values: list[tuple[Scalar, ...]] = []
    parts: list[tuple[Floats, Floats]] = []
    pairs: list[tuple[Issue | None, Issue | None]] = [
        *((issue, other.get(issue.name)) for issue in mine.issues),
        *((None, issue) for issue in theirs.issues if issue.name not in known),
    ]
    for left, right in pairs:
        shown = left or right
        if shown is None:
            continue
        kept, worths = _shared(shown, left, right, grid=grid)
        names.append(shown.name)
        values.append(kept)
        parts.append(worths)
    return OutcomeSpace(
        names=tuple(names),
        values=tuple(values),
        mine=tuple(pair[0] for pair in parts),
        theirs=tuple(pair[1] for pair in parts),
        constants=(mine.constant, theirs.constant),
        gridded=tuple(a.name for a, _ in pairs if a is not None and is_gridded(a)),
    )


def _shared(
    shown: Issue, left: Issue | None, right: Issue | None, *, grid: int
) -> tuple[tuple[Scalar, ...], tuple[Floats, Floats]]:
    listed = values_of(shown, grid)
    ours, others = ([0.0] * len(listed) if side is None else worths_of(side, listed) for side in (left, right))
    rows = [
        (value, a * (left.weight if left else 1.0), b * (right.weight if right else 1.0))
        for value, a, b in zip(listed, ours, others, strict=True)
        if a is not None and b is not None
    ]
    mine, theirs = (np.array([row[side] for row in rows], dtype=np.float64) for side in (1, 2))
    return tuple(value for value, _, _ in rows), (mine, theirs)


def package_at(space: OutcomeSpace, choice: Indices) -> dict[str, Scalar]:
    """The package behind one row of a frontier's `choices`."""
    return {name: values[int(place)] for name, values, place in zip(space.names, space.values, choice, strict=True)}


def all_utilities(space: OutcomeSpace) -> tuple[Floats, Floats]:
    """Both sides' utilities of every package in row-major order; only for an `exact` space."""
    sides: list[Floats] = []
    for constant, parts in zip(space.constants, (space.mine, space.theirs), strict=True):
        total = np.array([constant], dtype=np.float64)
        for part in parts:
            total = (total[:, None] + part[None, :]).ravel()
        sides.append(total)
    return sides[0], sides[1]


def undominated(mine: Floats, theirs: Floats) -> Indices:
    """Positions of the Pareto-optimal points, by falling utility to me, then by position.

    Equal points are all kept. The time is O(n log n).
    """
    alive = _prefiltered(mine, theirs)
    a, b = mine[alive], theirs[alive]
    order = np.lexsort((alive, -b, -a))
    a, b = a[order], b[order]
    if not len(a):
        return alive
    first = np.concatenate(([True], a[1:] != a[:-1]))
    tops = b[first]
    before = np.concatenate(([-np.inf], np.maximum.accumulate(tops)[:-1]))
    group = np.cumsum(first) - 1
    keep = (b == tops[group]) & (tops[group] > before[group])
    return alive[order[keep]]


def _prefiltered(mine: Floats, theirs: Floats) -> Indices:
    """Drop, in linear time, the points that a point from a higher bucket of my utility dominates."""
    everyone = np.arange(len(mine), dtype=np.int64)
    span = float(np.ptp(mine)) if len(mine) > PREFILTER_BUCKETS else 0.0
    if span <= 0 or not math.isfinite(span):
        return everyone
    scaled: Floats = (mine - mine.min()) * (PREFILTER_BUCKETS / span)
    bucket = np.minimum(scaled.astype(np.int64), PREFILTER_BUCKETS - 1)
    tops = np.full(PREFILTER_BUCKETS + 1, -np.inf)
    np.maximum.at(tops, bucket, theirs)
    higher = np.maximum.accumulate(tops[::-1])[::-1]
    return everyone[theirs > higher[bucket + 1]]


def pareto_frontier(space: OutcomeSpace, floor_mine: float = -math.inf) -> ParetoFrontier:
    """The Pareto frontier of the packages worth at least `floor_mine` to me.

    `ParetoFrontier.above` then applies the other side's floor. The order does not matter: a package that dominates one
    above both floors is itself above both floors.
    """
    if not space.exact:
        return _grown(space).above(floor_mine, -math.inf)
    mine, theirs = all_utilities(space)
    rational = np.flatnonzero(mine >= floor_mine).astype(np.int64)
    flat = rational[undominated(mine[rational], theirs[rational])]
    shape = tuple(len(values) for values in space.values)
    choices = np.stack(np.unravel_index(flat, shape), axis=1).astype(np.int64)
    return ParetoFrontier(mine[flat], theirs[flat], choices)


def _grown(space: OutcomeSpace) -> ParetoFrontier:
    """The frontier built issue by issue, largest first, with one package for each pair of utilities."""
    order = sorted(range(len(space.names)), key=lambda k: (-len(space.values[k]), k))
    mine, theirs = (np.array([constant]) for constant in space.constants)
    choices = np.zeros((1, 0), dtype=np.int64)
    for k in order:
        wide = len(space.values[k])
        most = min(MAX_FRONTIER_POINTS, MAX_CANDIDATES // wide)
        mine, theirs, choices = _thinned(mine, theirs, choices, most)
        a = (mine[:, None] + space.mine[k][None, :]).ravel()
        b = (theirs[:, None] + space.theirs[k][None, :]).ravel()
        kept = undominated(a, b)
        kept = kept[np.concatenate(([True], a[kept][1:] != a[kept][:-1]))]
        mine, theirs = a[kept], b[kept]
        choices = np.column_stack((choices[kept // wide], kept % wide))
    back = np.argsort(np.array(order))
    return ParetoFrontier(mine, theirs, choices[:, back])


def _thinned(mine: Floats, theirs: Floats, choices: Indices, most: int) -> tuple[Floats, Floats, Indices]:
    if len(mine) <= most:
        return mine, theirs, choices
    spots = np.unique(np.linspace(0, len(mine) - 1, most).round().astype(np.int64))
    return mine[spots], theirs[spots], choices[spots]
