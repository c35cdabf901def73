"""The opening, the concession path and the trades of a plan, all from the admissible packages."""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from negotiator.negotiations.issues import Issue, Package, Scalar, worth_of
from negotiator.negotiations.leverage.outcomes import Indices
from negotiator.negotiations.plans.admissible_packages import (
    TOLERANCE,
    AdmissiblePackages,
    count_changes,
    nearest_package,
)

STEP_RATIO: Final = 0.75
"""Each concession is about this share of the one before: shrinking steps signal a limit."""
RESERVED_SHARE: Final = 0.1
"""The share of the way to the walk-away that the path keeps in reserve."""
MAX_STEPS: Final = 6
MAX_TRADES: Final = 3
MAX_PACKAGES: Final = 3
MAX_PAIRED_ISSUES: Final = 6
"""Issues tried on each end of a trade: those whose weights for the two sides differ most."""
MIN_GAIN: Final = 1e-3
EQUIVALENCE_TOLERANCE: Final = 0.02
_TRIED: Final = 25


@dataclass(frozen=True, slots=True)
class ConcessionStep:
    """One package of the path, its utility to me, and the utility given up since the previous one."""

    package: dict[str, Scalar]
    utility: float
    given: float


@dataclass(frozen=True, slots=True)
class IssueTrade:
    """A concession on one issue for a gain on another, with the resulting gains of utility (mine and theirs)."""

    give: Issue
    get: Issue
    before: Package
    after: dict[str, Scalar]
    mine: float
    theirs: float


def opening_package(admissible: AdmissiblePackages) -> ConcessionStep | None:
    """The package nearest the opening level; None without one."""
    if admissible.opening is None or not len(admissible.edge.mine):
        return None
    place = nearest_package(admissible, admissible.opening)
    return ConcessionStep(admissible.package(place), float(admissible.edge.mine[place]), 0.0)


def concession_steps(
    admissible: AdmissiblePackages, start: ConcessionStep | None, *, rounds: int | None
) -> list[ConcessionStep]:
    """Packages of falling utility from `start` towards the walk-away, in shrinking steps, never below it.

    Without a walk-away the path ends at the target; without either it is empty. `rounds` limits the number of steps.
    """
    if start is None:
        return []
    end = _end(admissible, start.utility)
    if end is None or start.utility - end <= TOLERANCE:
        return []
    count = MAX_STEPS if rounds is None else max(1, min(MAX_STEPS, rounds - 1))
    first = (start.utility - end) * (1 - STEP_RATIO) / (1 - STEP_RATIO**count)
    path: list[ConcessionStep] = []
    now, wished, most = start, start.utility, math.inf
    for k in range(count):
        wished -= first * STEP_RATIO**k
        step = _next(admissible, now, wished, end=end, most=most)
        if step is None:
            break
        path.append(step)
        now, most = step, step.given
    return path


def similar_packages(
    admissible: AdmissiblePackages, start: ConcessionStep | None
) -> list[ConcessionStep]:
    """Other packages of about the same utility to me as `start`, for multiple equivalent simultaneous offers."""
    if start is None or len(admissible.terms.issues) < 2:
        return []
    near = np.flatnonzero(np.abs(admissible.edge.mine - start.utility) <= EQUIVALENCE_TOLERANCE)
    found = list[ConcessionStep]()
    spread: Indices = np.unique(
        np.linspace(0, len(near) - 1, min(len(near), 60)).round().astype(np.int64)
    )
    for place in near[spread].tolist():
        package = admissible.package(place)
        if all(count_changes(package, kept.package) > 1 for kept in (start, *found)):
            found.append(ConcessionStep(package, float(admissible.edge.mine[place]), 0.0))
    return found[:MAX_PACKAGES]


def find_trades(admissible: AdmissiblePackages) -> list[IssueTrade]:
    """Trades that cost me nothing and help the other side, largest gain first; empty without their weights.

    They start from the middle value of every issue, which a negotiation without trades tends to reach.
    """
    issues = [issue for issue in admissible.terms.issues if issue.tradeable]
    if not len(admissible.edge.mine) or all(issue.their_weight is None for issue in issues):
        return []
    start = {issue.name: _middle_value(admissible, issue) for issue in admissible.terms.issues}
    ratio = {issue.name: _pull(admissible, issue) for issue in issues}
    issues.sort(key=lambda issue: (-ratio[issue.name], issue.name))
    found = [
        trade
        for give in issues[:MAX_PAIRED_ISSUES]
        for get in issues[::-1][:MAX_PAIRED_ISSUES]
        if give.name != get.name and (trade := _best_trade(admissible, start, give, get))
    ]
    found.sort(key=lambda trade: (-trade.theirs, -trade.mine, trade.give.name, trade.get.name))
    return found[:MAX_TRADES]


def _end(admissible: AdmissiblePackages, start: float) -> float | None:
    if admissible.floor is not None:
        least = max(admissible.floor, float(admissible.edge.mine[-1]))
        return least + RESERVED_SHARE * (start - least)
    return admissible.goal if admissible.goal_given else None


def _next(
    admissible: AdmissiblePackages, now: ConcessionStep, wished: float, *, end: float, most: float
) -> ConcessionStep | None:
    """The package nearest the wished level among those that concede something, but less than the last step."""
    mine = admissible.edge.mine
    given = now.utility - mine
    fits = np.flatnonzero((given > 1e-6) & (given < most - 1e-6) & (mine >= end - TOLERANCE))
    if not len(fits):
        return None
    gaps = np.abs(mine[fits] - wished)
    near = fits[gaps <= gaps.min() + 0.005][:400]
    place = min(
        (int(one) for one in near),
        key=lambda one: (
            count_changes(admissible.package(one), now.package),
            -int(mine[one] * 1e9),
            one,
        ),
    )
    level = float(mine[place])
    return ConcessionStep(admissible.package(place), level, now.utility - level)


def _best_trade(
    admissible: AdmissiblePackages, before: Package, give: Issue, get: Issue
) -> IssueTrade | None:
    """The trade on two issues with the largest gain to them, among the admissible ones that cost me nothing."""
    pairs = [
        (their_loss + their_gain, my_loss + my_gain, given, got)
        for given, my_loss, their_gain in _moves(admissible, give, before)
        if my_loss < -TOLERANCE
        for got, my_gain, their_loss in _moves(admissible, get, before)
        if my_gain > TOLERANCE
    ]
    good = [pair for pair in pairs if pair[0] > MIN_GAIN and pair[1] >= -TOLERANCE]
    good.sort(key=lambda pair: (-pair[0], -pair[1]))
    for theirs, mine, given, got in good[:_TRIED]:
        after = {**before, give.name: given, get.name: got}
        if admissible.is_admissible(after):
            return IssueTrade(give, get, before, after, max(mine, 0.0), theirs)
    return None


def _moves(
    admissible: AdmissiblePackages, issue: Issue, before: Package
) -> list[tuple[Scalar, float, float]]:
    """Values of an issue, each with its change of my utility and of theirs."""
    place = admissible.space.names.index(issue.name)
    values = admissible.space.values[place]
    mine, theirs = admissible.space.mine[place], admissible.space.theirs[place]
    start = next(k for k, value in enumerate(values) if value == before[issue.name])
    spots = np.unique(np.linspace(0, len(values) - 1, min(_TRIED, len(values))).round())
    return [
        (values[k], float(mine[k] - mine[start]), float(theirs[k] - theirs[start]))
        for k in (int(spot) for spot in spots)
    ]


def _pull(admissible: AdmissiblePackages, issue: Issue) -> float:
    """How much more an issue matters to them than to me, as a difference of utility ranges."""
    place = admissible.space.names.index(issue.name)
    mine, theirs = (
        float(np.ptp(side[place])) for side in (admissible.space.mine, admissible.space.theirs)
    )
    return theirs - mine


def _middle_value(admissible: AdmissiblePackages, issue: Issue) -> Scalar:
    values = admissible.space.values[admissible.space.names.index(issue.name)]
    return min(values, key=lambda value: abs((worth_of(issue, value) or 0.0) - 0.5))
