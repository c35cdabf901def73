"""Bargaining solutions on the Pareto frontier of the individually rational packages.

Rational first, solution after: the product of two losses is positive too. Nash (1950): most
g1·g2. Kalai (1977): most min(g1, g2). Kalai and Smorodinsky (1975), discrete form chosen here:
smallest gap |g1/(I1-d1) - g2/(I2-d2)|, ideal I over the rational set. Welfare: most u1 + u2.

The agreement to expect when power splits the surplus: the asymmetric Nash solution.

Outside options bind or do nothing (Binmore, Shaked and Sutton 1989): an alternative is never
added to the split, it only cuts off agreements that are worse than itself.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, TypeAlias

import numpy as np

from negotiator.negotiations.issues import Scalar
from negotiator.negotiations.leverage.outcomes import (
    Floats,
    Indices,
    OutcomeSpace,
    ParetoFrontier,
    package_at,
)
from negotiator.negotiations.leverage.zone_of_agreement import PriceOrUtility

TIE_TOLERANCE = 1e-12
"""Two scores nearer than this are the same score."""
SUMMARY_POINTS = 12
NO_DEAL = "No package gives both sides at least their walk-away."

UtilityPair: TypeAlias = tuple[float, float]


@dataclass(frozen=True, slots=True)
class SolutionPoint:
    """One package, what it is worth to each side, and how many others score the same."""

    package: dict[str, Scalar]
    utility_me: float
    utility_them: float
    ties: int = 0


@dataclass(frozen=True, slots=True)
class ParetoSummary:
    """How many packages are undominated, and a few of them spread from my best to theirs."""

    size: int
    sample: tuple[SolutionPoint, ...]


@dataclass(frozen=True, slots=True)
class SolutionPoints:
    """The solution points; all null, with `reason`, when no agreement is preferred by both."""

    nash: SolutionPoint | None
    kalai: SolutionPoint | None
    kalai_smorodinsky: SolutionPoint | None
    max_welfare: SolutionPoint | None
    pareto: ParetoSummary
    reason: str | None = None


def nash_set(edge: ParetoFrontier, floors: UtilityPair) -> Indices:
    """Places on a rational frontier with the largest product of gains (all ties)."""
    return _best((edge.mine - floors[0]) * (edge.theirs - floors[1]))


def kalai_set(edge: ParetoFrontier, floors: UtilityPair) -> Indices:
    """Places with the largest smaller gain; needs comparable utility scales."""
    return _best(np.minimum(edge.mine - floors[0], edge.theirs - floors[1]))


def kalai_smorodinsky_set(
    edge: ParetoFrontier, floors: UtilityPair, *, ideal: UtilityPair | None = None
) -> Indices:
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


def welfare_set(edge: ParetoFrontier) -> Indices:
    """Places with the largest sum of utilities; needs comparable utility scales."""
    return _best(edge.mine + edge.theirs)


def asymmetric_nash_set(edge: ParetoFrontier, floors: UtilityPair, alpha: float) -> Indices:
    """Places with the largest g1^alpha · g2^(1-alpha), my power alpha strictly between 0 and 1."""
    gains = (np.maximum(edge.mine - floors[0], 0.0), np.maximum(edge.theirs - floors[1], 0.0))
    return _best(gains[0] ** alpha * gains[1] ** (1.0 - alpha))


def _best(scores: Floats) -> Indices:
    if not len(scores):
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(scores >= scores.max() - TIE_TOLERANCE).astype(np.int64)


def break_tie(
    space: OutcomeSpace, edge: ParetoFrontier, tied: Indices, floors: UtilityPair
) -> SolutionPoint | None:
    """One of the tied places: the most even gains, then the earliest values, so it never wavers."""
    if not len(tied):
        return None
    ties = len(tied) - 1
    gap = np.abs((edge.mine[tied] - floors[0]) - (edge.theirs[tied] - floors[1]))
    even = tied[gap <= gap.min() + TIE_TOLERANCE]
    columns = [edge.choices[even, k] for k in reversed(range(edge.choices.shape[1]))]
    place = int(even[np.lexsort(columns)[0]])
    return solution_point(space, edge, place, ties=ties)


def solution_point(
    space: OutcomeSpace, edge: ParetoFrontier, place: int, *, ties: int = 0
) -> SolutionPoint:
    """The frontier's row as a point."""
    package = package_at(space, edge.choices[place])
    return SolutionPoint(package, float(edge.mine[place]), float(edge.theirs[place]), ties)


def pareto_summary(space: OutcomeSpace, edge: ParetoFrontier) -> ParetoSummary:
    """Size and up to twelve points, evenly spaced from my best to theirs."""
    count = len(edge.mine)
    spots = np.unique(
        np.linspace(0, count - 1, min(SUMMARY_POINTS, count)).round().astype(np.int64)
    )
    return ParetoSummary(count, tuple(solution_point(space, edge, int(k)) for k in spots))


def solution_points(
    space: OutcomeSpace, edge: ParetoFrontier, floors: UtilityPair
) -> SolutionPoints:
    """All solution points of a rational frontier, or nulls with the reason when it is empty."""
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
    """No points, and why."""
    return SolutionPoints(None, None, None, None, pareto, reason)


@dataclass(frozen=True, slots=True)
class ExpectedAgreement:
    """The expected agreement: a package with both utilities, and the price if that is all."""

    package: dict[str, Scalar]
    price: Decimal | None
    utility_me: float | None
    utility_them: float | None


def price_precision(span: Decimal) -> Decimal:
    """The last digit a price is rounded to: a cent, finer when the whole range is small."""
    fine = Decimal(1).scaleb(span.adjusted() - 6) if span else Decimal("0.01")
    return min(Decimal("0.01"), fine)


def split_price(mine: float, theirs: float, alpha: float) -> float:
    """The price that gives me the share alpha of the room between the two walk-aways."""
    return theirs + (1.0 - alpha) * (mine - theirs)


def expected_price(
    walk_aways: UtilityPair,
    alpha: float,
    *,
    better: Literal["higher", "lower"],
    alternatives: tuple[PriceOrUtility | None, PriceOrUtility | None] = (None, None),
) -> float | None:
    """Expected price between (mine, theirs), `better` being my good direction; None without room.

    An alternative (mine, theirs) that beats the split moves it to itself; one that beats
    everything the other side accepts leaves no agreement.
    """
    sign = 1.0 if better == "higher" else -1.0
    mine, theirs = sign * walk_aways[0], sign * walk_aways[1]
    least = mine if alternatives[0] is None else max(mine, sign * float(alternatives[0]))
    most = theirs if alternatives[1] is None else min(theirs, sign * float(alternatives[1]))
    if mine > theirs or least > most:
        return None
    price = split_price(mine, theirs, alpha)
    return sign * min(max(price, least), most)


def expected_package(
    space: OutcomeSpace,
    edge: ParetoFrontier,
    floors: UtilityPair,
    *,
    alpha: float,
    alternatives: tuple[float | None, float | None] = (None, None),
) -> ExpectedAgreement | None:
    """The asymmetric Nash package of a rational frontier, cut at binding alternatives."""
    least = [
        floor if option is None else max(floor, option)
        for floor, option in zip(floors, alternatives, strict=True)
    ]
    open_edge = edge.above(least[0], least[1])
    point = break_tie(space, open_edge, asymmetric_nash_set(open_edge, floors, alpha), floors)
    if point is None:
        return None
    return ExpectedAgreement(point.package, None, point.utility_me, point.utility_them)
