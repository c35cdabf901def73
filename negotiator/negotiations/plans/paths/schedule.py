"""The path of concessions and the trades: packages chosen on the ground, each with its figures."""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from negotiator.negotiations.leverage.outcomes import Places
from negotiator.negotiations.plans.paths.ground import HAIR, Ground, changes, nearest
from negotiator.negotiations.preferences.issues import Issue, Package, Scalar
from negotiator.negotiations.preferences.values import worth_of

SHRINK: Final = 0.75
"""Each concession is about this share of the one before (reference §5: shrinking steps signal a limit)."""
RESERVE: Final = 0.1
"""The share of the way to the walk-away that the schedule keeps back."""
MOST_STEPS: Final = 6
MOST_TRADES: Final = 3
MOST_PACKAGES: Final = 3
MOST_PAIRED: Final = 6
"""Issues tried on either end of a trade: those that pull furthest apart."""
LEAST_GAIN: Final = 1e-3
SAME_WORTH: Final = 0.02
_TRIED: Final = 25


@dataclass(frozen=True, slots=True)
class Step:
    """One package of the path, what it is worth to me, and how much it gives against the one before."""

    package: dict[str, Scalar]
    utility: float
    given: float


@dataclass(frozen=True, slots=True)
class Trade:
    """Giving on one issue and getting on another, from a starting package."""

    give: Issue
    get: Issue
    before: Package
    after: dict[str, Scalar]
    mine: float
    theirs: float


def opening(ground: Ground) -> Step | None:
    """The package to open with: at the opening level the one they are believed to like best."""
    if ground.opening is None or not len(ground.edge.mine):
        return None
    place = nearest(ground, ground.opening)
    return Step(ground.package(place), float(ground.edge.mine[place]), 0.0)


def concessions(ground: Ground, start: Step | None, *, rounds: int | None) -> list[Step]:
    """Falling packages from `start` towards the walk-away, by ever smaller steps, never below it.

    Without a walk-away the path ends at the target; without either there is none.
    """
    if start is None:
        return []
    end = _end(ground, start.utility)
    if end is None or start.utility - end <= HAIR:
        return []
    count = MOST_STEPS if rounds is None else max(1, min(MOST_STEPS, rounds - 1))
    first = (start.utility - end) * (1 - SHRINK) / (1 - SHRINK**count)
    path: list[Step] = []
    now, wished, most = start, start.utility, math.inf
    for k in range(count):
        wished -= first * SHRINK**k
        step = _next(ground, now, wished, end=end, most=most)
        if step is None:
            break
        path.append(step)
        now, most = step, step.given
    return path


def packages_alike(ground: Ground, start: Step | None) -> list[Step]:
    """Other packages worth about as much to me as `start`, to be offered side by side (MESO)."""
    if start is None or len(ground.terms.issues) < 2:
        return []
    near = np.flatnonzero(np.abs(ground.edge.mine - start.utility) <= SAME_WORTH)
    found = list[Step]()
    spread: Places = np.unique(
        np.linspace(0, len(near) - 1, min(len(near), 60)).round().astype(np.int64)
    )
    for place in near[spread].tolist():
        package = ground.package(place)
        if all(changes(package, kept.package) > 1 for kept in (start, *found)):
            found.append(Step(package, float(ground.edge.mine[place]), 0.0))
    return found[:MOST_PACKAGES]


def trades(ground: Ground) -> list[Trade]:
    """Exchanges that cost me nothing and give them something, by their gain; needs their weights.

    They start from the compromise that meets in the middle of every issue: what a talk drifts to without trading.
    """
    issues = [issue for issue in ground.terms.issues if issue.tradeable]
    if not len(ground.edge.mine) or all(issue.their_weight is None for issue in issues):
        return []
    start = {issue.name: _middle_value(ground, issue) for issue in ground.terms.issues}
    ratio = {issue.name: _pull(ground, issue) for issue in issues}
    issues.sort(key=lambda issue: (-ratio[issue.name], issue.name))
    found = [
        trade
        for give in issues[:MOST_PAIRED]
        for get in issues[::-1][:MOST_PAIRED]
        if give.name != get.name and (trade := _best_trade(ground, start, give, get))
    ]
    found.sort(key=lambda trade: (-trade.theirs, -trade.mine, trade.give.name, trade.get.name))
    return found[:MOST_TRADES]


def _end(ground: Ground, start: float) -> float | None:
    if ground.floor is not None:
        least = max(ground.floor, float(ground.edge.mine[-1]))
        return least + RESERVE * (start - least)
    return ground.goal if ground.goal_given else None


def _next(ground: Ground, now: Step, wished: float, *, end: float, most: float) -> Step | None:
    """The package nearest the wished level that gives something, less than the last step, and not too much."""
    mine = ground.edge.mine
    given = now.utility - mine
    fits = np.flatnonzero((given > 1e-6) & (given < most - 1e-6) & (mine >= end - HAIR))
    if not len(fits):
        return None
    gaps = np.abs(mine[fits] - wished)
    near = fits[gaps <= gaps.min() + 0.005][:400]
    place = min(
        (int(one) for one in near),
        key=lambda one: (changes(ground.package(one), now.package), -int(mine[one] * 1e9), one),
    )
    level = float(mine[place])
    return Step(ground.package(place), level, now.utility - level)


def _best_trade(ground: Ground, before: Package, give: Issue, get: Issue) -> Trade | None:
    """The exchange on two issues that gives them most, among those that are lawful and cost me nothing."""
    pairs = [
        (their_loss + their_gain, my_loss + my_gain, given, got)
        for given, my_loss, their_gain in _moves(ground, give, before)
        if my_loss < -HAIR
        for got, my_gain, their_loss in _moves(ground, get, before)
        if my_gain > HAIR
    ]
    good = [pair for pair in pairs if pair[0] > LEAST_GAIN and pair[1] >= -HAIR]
    good.sort(key=lambda pair: (-pair[0], -pair[1]))
    for theirs, mine, given, got in good[:_TRIED]:
        after = {**before, give.name: given, get.name: got}
        if ground.lawful(after):
            return Trade(give, get, before, after, max(mine, 0.0), theirs)
    return None


def _moves(ground: Ground, issue: Issue, before: Package) -> list[tuple[Scalar, float, float]]:
    """Other values of an issue, and how each changes my utility and theirs."""
    place = ground.space.names.index(issue.name)
    values = ground.space.values[place]
    mine, theirs = ground.space.mine[place], ground.space.theirs[place]
    start = next(k for k, value in enumerate(values) if value == before[issue.name])
    spots = np.unique(np.linspace(0, len(values) - 1, min(_TRIED, len(values))).round())
    return [
        (values[k], float(mine[k] - mine[start]), float(theirs[k] - theirs[start]))
        for k in (int(spot) for spot in spots)
    ]


def _pull(ground: Ground, issue: Issue) -> float:
    """How much more an issue is believed to matter to them than to me."""
    place = ground.space.names.index(issue.name)
    mine, theirs = (float(np.ptp(side[place])) for side in (ground.space.mine, ground.space.theirs))
    return theirs - mine


def _middle_value(ground: Ground, issue: Issue) -> Scalar:
    values = ground.space.values[ground.space.names.index(issue.name)]
    return min(values, key=lambda value: abs((worth_of(issue, value) or 0.0) - 0.5))
