"""The packages a plan may speak of: inside every hard constraint, at or above the walk-away, undominated."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

import numpy as np

from negotiator.negotiations.leverage.outcomes import (
    Frontier,
    OutcomeSpace,
    frontier,
    outcome_space,
    package_of,
)
from negotiator.negotiations.leverage.signals import LedgerOffer, filled
from negotiator.negotiations.plans.brief import PlanBrief
from negotiator.negotiations.preferences.issues import (
    WHOLE_TYPES,
    Issue,
    Option,
    Package,
    Range,
    Scalar,
    coordinate,
    rendered,
)
from negotiator.negotiations.preferences.utility import (
    Preferences,
    alternative,
    opposed,
    utility,
    worth,
)
from negotiator.negotiations.preferences.values import is_gridded, values_of, worth_of
from negotiator.negotiations.terms.guard import broken, floor_of, is_below, within_limit
from negotiator.negotiations.terms.terms import Terms

MOST_VALUES: Final = 201
MOST_OPTIONS: Final = 300
HAIR: Final = 1e-9
OPENING_REACH: Final = 0.35
"""How much of the way from the target to the best package the opening goes."""
BLIND_REACH: Final = 0.9
"""Where to open between the worst and the best package when neither target nor walk-away is known."""
ROUND_STEPS: Final = (Decimal(1), Decimal(2), Decimal(5), Decimal(10))

Floored = tuple[float, Package]


@dataclass(frozen=True, slots=True)
class Ground:
    """What the sections of a plan stand on; `edge` is empty when no package can be agreed to.

    `floor` is my least utility, `goal` what is aimed for (`goal_given` if it is the target), `opening` the level to
    open at, `said` my last offer. `stand_ins` names issues whose range had to be put together.
    """

    terms: Terms
    theirs: Preferences
    space: OutcomeSpace
    edge: Frontier
    floor: float | None
    goal: float | None
    goal_given: bool
    opening: float | None
    said: LedgerOffer | None
    stand_ins: tuple[str, ...]

    @property
    def top(self) -> float:
        """The most that can be asked for."""
        return float(self.edge.mine[0])

    def package(self, place: int) -> dict[str, Scalar]:
        """The package at a place of the edge."""
        return package_of(self.space, self.edge.choices[place])

    def worth(self, package: Package) -> float:
        """What a package is worth to me; what it leaves out counts at its worst."""
        return utility(self.terms.preferences, package).low

    def their_gain(self, before: Package, after: Package) -> float:
        """How much the other side is believed to win by a change of package."""
        return utility(self.theirs, after).low - utility(self.theirs, before).low

    def lawful(self, package: Package) -> bool:
        """Whether a package keeps the walk-away, as a binding one, and every hard constraint."""
        above = self.floor is None or self.worth(package) >= self.floor - HAIR
        terms = self.terms
        return above and not is_below(terms, package, binding=True) and not broken(terms, package)


def lay(brief: PlanBrief) -> Ground:
    """The ground of a brief."""
    terms, stand_ins = _valued(brief.terms)
    listed = Preferences(tuple(_listed(terms, issue) for issue in terms.issues))
    open_ = all(issue.options for issue in listed.issues)
    theirs = opposed(listed) if open_ else opposed(terms.preferences)
    space = outcome_space(listed, theirs)
    floor = floor_of(terms)
    if floor is None and not terms.unvalued:
        floor = alternative(terms.preferences, terms.batna)
    edge = _edge(space, floor) if open_ else _nothing()
    own = [row for row in filled(brief.ledger) if row.by == "me"]
    ground = Ground(
        terms, theirs, space, edge, floor, None, False, None, own[-1] if own else None, stand_ins
    )
    return _aimed(ground, brief) if len(edge.mine) else ground


def nearest(ground: Ground, level: float, *, like: Package | None = None) -> int:
    """The place of the edge that is worth most nearly `level`; among near ones the most like `like`."""
    gaps = np.abs(ground.edge.mine - level)
    least = float(gaps.min())
    near = np.flatnonzero(gaps <= least + (0.01 if like is not None else HAIR))
    if like is None:
        return int(near[0])
    return min(
        (int(place) for place in near[:400]),
        key=lambda place: (changes(ground.package(place), like), float(gaps[place]), place),
    )


def changes(package: Package, other: Package) -> int:
    """On how many issues two packages differ."""
    return sum(other.get(name) != value for name, value in package.items())


def _edge(space: OutcomeSpace, floor: float | None) -> Frontier:
    return frontier(space) if floor is None else frontier(space, floor - HAIR)


def _nothing() -> Frontier:
    none = np.zeros(0)
    return Frontier(none, none, np.zeros((0, 0), dtype=np.int64))


def _valued(terms: Terms) -> tuple[Terms, tuple[str, ...]]:
    """Issues without a range run from the walk-away past the target, by half of the way between the two."""
    found: list[str] = []
    issues: list[Issue] = []
    for issue in terms.issues:
        span = _span(terms, issue) if issue.name in terms.unvalued else None
        if span is not None:
            found.append(issue.name)
        issues.append(_thinned(terms, issue) if span is None else replace(issue, range=span))
    left = tuple(name for name in terms.unvalued if name not in found)
    return replace(terms, preferences=Preferences(tuple(issues)), unvalued=left), tuple(found)


def _thinned(terms: Terms, issue: Issue) -> Issue:
    """Of very many options an even choice, with those that were named: nobody reads on, and all must be weighed."""
    if len(issue.options) <= MOST_OPTIONS:
        return issue
    given = (terms.target, terms.walk_away, terms.batna)
    packages = [worth.package for worth in given if worth is not None and worth.package is not None]
    named = {package[issue.name] for package in packages if issue.name in package}
    stride = len(issue.options) // MOST_OPTIONS + 1
    kept = [
        option
        for place, option in enumerate(issue.options)
        if place % stride == 0 or option.utility in {0.0, 1.0} or option.value in named
    ]
    return replace(issue, options=tuple(kept[: 2 * MOST_OPTIONS]))


def _span(terms: Terms, issue: Issue) -> Range | None:
    """From the worst value that was named to the target and half as far again, whole where values are."""
    ends = [
        coordinate(issue.type, given.package.get(issue.name))
        for given in (terms.target, terms.walk_away or terms.batna)
        if given is not None and given.package is not None
    ]
    if len(ends) < 2 or ends[0] is None or ends[1] is None or ends[0] == ends[1]:
        return None
    goal, worst = ends[0], ends[1]
    best = goal + (goal - worst) / 2
    if issue.type in WHOLE_TYPES:
        best = best.to_integral_value()
    best = max(best, Decimal(0)) if min(goal, worst) >= 0 else best
    return Range(min(best, worst), max(best, worst))


def _listed(terms: Terms, issue: Issue) -> Issue:
    """The issue as a list of its values that no hard rule forbids, each with its worth."""
    pairs = ((value, worth_of(issue, value)) for value in _few(issue, _said(terms, issue)))
    options = tuple(
        Option(value, worth)
        for value, worth in pairs
        if worth is not None and within_limit(terms, issue, value)
    )
    return replace(issue, range=None, value_points=(), options=options)


def _said(terms: Terms, issue: Issue) -> list[Decimal]:
    """Places on the issue's axis that the user named: they must not fall through the grid."""
    given = (terms.target, terms.walk_away, terms.batna)
    values = [w.package.get(issue.name) for w in given if w is not None and w.package is not None]
    found = [coordinate(issue.type, value) for value in values]
    found += [
        coordinate(issue.type, value)
        for rule in terms.constraints
        if rule.issue == issue.name
        for value in rule.values
    ]
    return [at for at in found if at is not None]


def _few(issue: Issue, said: Sequence[Decimal]) -> Sequence[Scalar]:
    """At most some two hundred values, round ones where the range is continuous or long."""
    values = values_of(issue)
    if issue.range is None or (len(values) <= MOST_VALUES and not is_gridded(issue)):
        return values
    low, high = issue.range.min, issue.range.max
    grain = issue.range.step or (Decimal(1) if issue.type in WHOLE_TYPES else None)
    step = _round_step((high - low) / 100, grain)
    start = low if grain else (low / step).to_integral_value() * step
    marks = (start + step * k for k in range(int((high - low) / step) + 2))
    bends = [x for x, _ in issue.value_points]
    kept: Iterable[Decimal] = {low, high, *marks, *(() if grain else bends)}
    kept = {*kept, *(at for at in said if not grain or (at - low) % grain == 0)}
    return [rendered(issue.type, at) for at in sorted(kept) if low <= at <= high]


def _round_step(raw: Decimal, grain: Decimal | None) -> Decimal:
    """The next of 1, 2, 5 times a power of ten from `raw` up, or a round multiple of the grain."""
    if grain is not None and raw <= grain:
        return grain
    unit = grain or Decimal(1)
    power = Decimal(1).scaleb((raw / unit).adjusted())
    least = next(step for step in ROUND_STEPS if step * power >= raw / unit)
    return least * power * unit


def _aimed(ground: Ground, brief: PlanBrief) -> Ground:
    """The goal and the level to open at."""
    terms, top = ground.terms, ground.top
    bottom = float(ground.edge.mine[-1])
    least = bottom if ground.floor is None else max(bottom, ground.floor)
    goal = worth(terms.preferences, terms.target, fill="high")
    given = goal is not None
    expected = brief.leverage.expected if brief.leverage else None
    if goal is None and ground.floor is not None:
        known = expected.utility_me if expected else None
        goal = (least + top) / 2 if known is None else known
    if goal is not None:
        goal = min(top, max(least, goal))
    if goal is None:
        level = bottom + BLIND_REACH * (top - bottom)
    else:
        level = max(goal + OPENING_REACH * (top - goal), _past_their_limit(ground))
    return replace(ground, goal=goal, goal_given=given, opening=min(top, max(least, level)))


def _past_their_limit(ground: Ground) -> float:
    """My utility at the better end of their estimated walk-away: opening short of it would be a gift."""
    terms, estimate = ground.terms, ground.terms.their_walk_away
    bottom = float(ground.edge.mine[-1])
    if estimate is None:
        return bottom
    if estimate.unit == "utility":
        taken = ground.edge.mine[ground.edge.theirs >= estimate.low]
        return float(taken.max()) if len(taken) else bottom
    if len(terms.issues) != 1:
        return bottom
    issue = terms.issues[0]
    end = estimate.low if issue.direction == "lower" else estimate.high
    return ground.worth({issue.name: end})
