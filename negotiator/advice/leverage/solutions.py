"""Bargaining solutions on the Pareto frontier of the individually rational packages, also weighted by power.

With gains g over the walk-aways d: Nash (1950) maximises g1·g2; Kalai (1977) maximises min(g1, g2); Kalai and
Smorodinsky (1975), in the discrete form used here, minimise |g1/(I1-d1) - g2/(I2-d2)| with the ideal I over the
rational set; welfare is the largest u1 + u2. Packages below a walk-away are removed first, because the product of two
losses is positive too.

The asymmetric Nash solution has the split of power as its exponent. An alternative is an
outside option (Binmore, Shaked and Sutton 1989): it does not add to the split, it only excludes agreements that are
worse than itself.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, TypeAlias

import numpy as np

from negotiator.advice.leverage.outcomes import Floats, Indices, OutcomeSpace, ParetoFrontier, package_at
from negotiator.advice.leverage.zone_of_agreement import PriceOrUtility
from negotiator.terms.issues import Scalar

TIE_TOLERANCE = 1e-12
"""Scores that differ by at most this count as equal."""
SUMMARY_POINTS = 12
NO_DEAL = "No package gives both sides at least their walk-away."

UtilityPair: TypeAlias = tuple[float, float]


@dataclass(frozen=True, slots=True)
class SolutionPoint:
    """One package, its utility to each side, and the number of other packages with the same score."""

    package: dict[str, Scalar]
    utility_me: float
    utility_them: float
    ties: int = 0


@dataclass(frozen=True, slots=True)
class ParetoSummary:
    """The number of undominated packages, and a sample of them from my best to theirs."""

    size: int
    sample: tuple[SolutionPoint, ...]


@dataclass(frozen=True, slots=True)
class SolutionPoints:
    """The solution points; all None, with a `reason`, when no package is acceptable to both sides."""

    nash: SolutionPoint | None
    kalai: SolutionPoint | None
    kalai_smorodinsky: SolutionPoint | None
    max_welfare: SolutionPoint | None
    pareto: ParetoSummary
    reason: str | None = None


def nash_set(edge: ParetoFrontier, floors: UtilityPair) -> Indices:
    """Positions on a rational frontier with the largest product of gains, ties included."""
    return _best((edge.mine - floors[0]) * (edge.theirs - floors[1]))


def kalai_set(edge: ParetoFrontier, floors: UtilityPair) -> Indices:
    """Positions where the smaller of the two gains is largest; needs comparable utility scales."""
    return _best(np.minimum(edge.mine - floors[0], edge.theirs - floors[1]))


def kalai_smorodinsky_set(edge: ParetoFrontier, floors: UtilityPair, *, ideal: UtilityPair | None = None) -> Indices:
    """Positions where the two gains are most nearly the same share of the ideal gains.

    `ideal` defaults to the best utilities in the rational set; some software takes them over all packages.
    """
    if not len(edge.mine):
        return _best(edge.mine)
    top = ideal or (float(edge.mine.max()), float(edge.theirs.max()))
    return _best(-np.abs(_share(edge.mine, floors[0], top[0]) - _share(edge.theirs, floors[1], top[1])))


def _share(utilities: Floats, floor: float, top: float) -> Floats:
    return (utilities - floor) / (top - floor) if top > floor else np.zeros_like(utilities)


def welfare_set(edge: ParetoFrontier) -> Indices:
    """Positions with the largest sum of utilities; needs comparable utility scales."""
    return _best(edge.mine + edge.theirs)


def asymmetric_nash_set(edge: ParetoFrontier, floors: UtilityPair, alpha: float) -> Indices:
    """Positions with the largest g1^alpha · g2^(1-alpha), for a split of power 0 < alpha < 1."""
    gains = (np.maximum(edge.mine - floors[0], 0.0), np.maximum(edge.theirs - floors[1], 0.0))
    return _best(gains[0] ** alpha * gains[1] ** (1.0 - alpha))


def _best(scores: Floats) -> Indices:
    if not len(scores):
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(scores >= scores.max() - TIE_TOLERANCE).astype(np.int64)


def break_tie(space: OutcomeSpace, edge: ParetoFrontier, tied: Indices, floors: UtilityPair) -> SolutionPoint | None:
    """One of the tied positions: the most even gains, then the first values. The choice is deterministic."""
    if not len(tied):
        return None
    ties = len(tied) - 1
    gap = np.abs((edge.mine[tied] - floors[0]) - (edge.theirs[tied] - floors[1]))
    even = tied[gap <= gap.min() + TIE_TOLERANCE]
    columns = [edge.choices[even, k] for k in reversed(range(edge.choices.shape[1]))]
    place = int(even[np.lexsort(columns)[0]])
    return solution_point(space, edge, place, ties=ties)


def solution_point(space: OutcomeSpace, edge: ParetoFrontier, place: int, *, ties: int = 0) -> SolutionPoint:
    """The package at a position of the frontier, with its utilities."""
    package = package_at(space, edge.choices[place])
    return SolutionPoint(package, float(edge.mine[place]), float(edge.theirs[place]), ties)


def pareto_summary(space: OutcomeSpace, edge: ParetoFrontier) -> ParetoSummary:
    """The size of the frontier and up to twelve points, evenly spaced from my best to theirs."""
    count = len(edge.mine)
    spots = np.unique(np.linspace(0, count - 1, min(SUMMARY_POINTS, count)).round().astype(np.int64))
    return ParetoSummary(count, tuple(solution_point(space, edge, int(k)) for k in spots))


def solution_points(space: OutcomeSpace, edge: ParetoFrontier, floors: UtilityPair) -> SolutionPoints:
    """All solution points of a rational frontier; `no_solution` when it is empty."""
    if not len(edge.mine):
        return no_solution(NO_DEAL, pareto_summary(space, edge))
    return SolutionPoints(
        nash=break_tie(space, edge, nash_set(edge, floors), floors),
        kalai=break_tie(space, edge, kalai_set(edge, floors), floors),
        kalai_smorodinsky=break_tie(space, edge, kalai_smorodinsky_set(edge, floors), floors),
        max_welfare=break_tie(space, edge, welfare_set(edge), floors),
        pareto=pareto_summary(space, edge),
    )


def no_solution(reason: str, pareto: ParetoSummary) -> SolutionPoints:
    """Solution points that are all None, with the reason."""
    return SolutionPoints(None, None, None, None, pareto, reason)


@dataclass(frozen=True, slots=True)
class AsymmetricNash:
    """The asymmetric Nash package with both utilities, and its price when the price is the only issue."""

    package: dict[str, Scalar]
    price: Decimal | None
    utility_me: float | None
    utility_them: float | None


def price_precision(span: Decimal) -> Decimal:
    """The unit that prices are rounded to: 0.01, or less when the range is small."""
    fine = Decimal(1).scaleb(span.adjusted() - 6) if span else Decimal("0.01")
    return min(Decimal("0.01"), fine)


def split_price(mine: float, theirs: float, alpha: float) -> float:
    """The price that gives me the share alpha of the surplus between the two walk-aways."""
    return theirs + (1.0 - alpha) * (mine - theirs)


def asymmetric_nash_price(
    walk_aways: UtilityPair,
    alpha: float,
    *,
    better: Literal["higher", "lower"],
    alternatives: tuple[PriceOrUtility | None, PriceOrUtility | None] = (None, None),
) -> float | None:
    """The asymmetric Nash price between the walk-aways (mine, theirs); None when no price is acceptable to both.

    `better` is the direction that is good for me. An alternative (mine, theirs) that is better than the split becomes
    the price; one that is better than everything the other side accepts leaves no agreement.
    """
    sign = 1.0 if better == "higher" else -1.0
    mine, theirs = sign * walk_aways[0], sign * walk_aways[1]
    least = mine if alternatives[0] is None else max(mine, sign * float(alternatives[0]))
    most = theirs if alternatives[1] is None else min(theirs, sign * float(alternatives[1]))
    if mine > theirs or least > most:
        return None
    price = split_price(mine, theirs, alpha)
    return sign * min(max(price, least), most)


def asymmetric_nash_package(
    space: OutcomeSpace,
    edge: ParetoFrontier,
    floors: UtilityPair,
    *,
    alpha: float,
    alternatives: tuple[float | None, float | None] = (None, None),
) -> AsymmetricNash | None:
    """The asymmetric Nash package of a rational frontier, without the packages worse than an alternative."""
    least = [
        floor if option is None else max(floor, option) for floor, option in zip(floors, alternatives, strict=True)
    ]
    open_edge = edge.above(least[0], least[1])
    point = break_tie(space, open_edge, asymmetric_nash_set(open_edge, floors, alpha), floors)
    if point is None:
        return None
    return AsymmetricNash(point.package, None, point.utility_me, point.utility_them)
