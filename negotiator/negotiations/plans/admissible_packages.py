"""The packages a plan may name: within every hard constraint, at or above the walk-away, not dominated."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

import numpy as np

from negotiator.negotiations.issues import (
    WHOLE_TYPES,
    Issue,
    IssueOption,
    IssueRange,
    Package,
    Scalar,
    coordinate,
    is_gridded,
    value_at_coordinate,
    values_of,
    worth_of,
)
from negotiator.negotiations.leverage.concessions import LedgerOffer, completed_offers
from negotiator.negotiations.leverage.outcomes import (
    OutcomeSpace,
    ParetoFrontier,
    outcome_space,
    package_at,
    pareto_frontier,
)
from negotiator.negotiations.limits import (
    broken_constraints,
    is_below_floor,
    utility_floor,
    within_limit,
)
from negotiator.negotiations.plans.brief import PlanBrief
from negotiator.negotiations.terms import Terms
from negotiator.negotiations.utility import (
    Preferences,
    opposed_preferences,
    package_utility,
    utility_of_alternative,
    utility_of_worth,
)

MAX_VALUES: Final = 201
MAX_OPTIONS: Final = 300
TOLERANCE: Final = 1e-9
OPENING_REACH: Final = 0.35
"""How much of the way from the target to the best package the opening goes."""
UNINFORMED_OPENING_REACH: Final = 0.9
"""Where to open between the worst and the best package when neither target nor walk-away is known."""
ROUND_STEPS: Final = (Decimal(1), Decimal(2), Decimal(5), Decimal(10))

PackageUtility = tuple[float, Package]


@dataclass(frozen=True, slots=True)
class AdmissiblePackages:
    """The packages that a plan may use; `edge` is their frontier, empty when no package is admissible.

    `floor`, `goal` and `opening` are utilities: the least one to accept, the one to aim for (`goal_given` if it is the
    target), and the one to open at. `said` is the user's last offer. `stand_ins` names the issues whose range is
    assumed.
    """

    terms: Terms
    theirs: Preferences
    space: OutcomeSpace
    edge: ParetoFrontier
    floor: float | None
    goal: float | None
    goal_given: bool
    opening: float | None
    said: LedgerOffer | None
    stand_ins: tuple[str, ...]

    @property
    def top(self) -> float:
        """My utility of the best admissible package."""
        return float(self.edge.mine[0])

    def package(self, place: int) -> dict[str, Scalar]:
        """The package at a position of `edge`."""
        return package_at(self.space, self.edge.choices[place])

    def worth(self, package: Package) -> float:
        """My utility of a package; an issue that it leaves out counts at its worst value."""
        return package_utility(self.terms.preferences, package).low

    def their_gain(self, before: Package, after: Package) -> float:
        """The other side's estimated gain from a change of package."""
        return package_utility(self.theirs, after).low - package_utility(self.theirs, before).low

    def is_admissible(self, package: Package) -> bool:
        """Whether a package keeps the walk-away, as an acceptance must, and every hard constraint."""
        above = self.floor is None or self.worth(package) >= self.floor - TOLERANCE
        terms = self.terms
        return (
            above
            and not is_below_floor(terms, package, binding=True)
            and not broken_constraints(terms, package)
        )


def admissible_packages(brief: PlanBrief) -> AdmissiblePackages:
    """The packages that a plan of this brief may use."""
    terms, stand_ins = _valued(brief.terms)
    listed = Preferences(tuple(_listed(terms, issue) for issue in terms.issues))
    open_ = all(issue.options for issue in listed.issues)
    theirs = opposed_preferences(listed) if open_ else opposed_preferences(terms.preferences)
    space = outcome_space(listed, theirs)
    floor = utility_floor(terms)
    if floor is None and not terms.unvalued:
        floor = utility_of_alternative(terms.preferences, terms.batna)
    edge = _edge(space, floor) if open_ else _nothing()
    own = [row for row in completed_offers(brief.ledger) if row.by == "me"]
    admissible = AdmissiblePackages(
        terms, theirs, space, edge, floor, None, False, None, own[-1] if own else None, stand_ins
    )
    return _aimed(admissible, brief) if len(edge.mine) else admissible


def nearest_package(
    admissible: AdmissiblePackages, level: float, *, like: Package | None = None
) -> int:
    """The position of the package with the utility nearest to `level`; of near ones the most similar to `like`."""
    gaps = np.abs(admissible.edge.mine - level)
    least = float(gaps.min())
    near = np.flatnonzero(gaps <= least + (0.01 if like is not None else TOLERANCE))
    if like is None:
        return int(near[0])
    return min(
        (int(place) for place in near[:400]),
        key=lambda place: (
            count_changes(admissible.package(place), like),
            float(gaps[place]),
            place,
        ),
    )


def count_changes(package: Package, other: Package) -> int:
    """The number of issues on which two packages differ."""
    return sum(other.get(name) != value for name, value in package.items())


def _edge(space: OutcomeSpace, floor: float | None) -> ParetoFrontier:
    return pareto_frontier(space) if floor is None else pareto_frontier(space, floor - TOLERANCE)


def _nothing() -> ParetoFrontier:
    none = np.zeros(0)
    return ParetoFrontier(none, none, np.zeros((0, 0), dtype=np.int64))


def _valued(terms: Terms) -> tuple[Terms, tuple[str, ...]]:
    """Assume a range for each issue without one: from the walk-away to half as far again past the target."""
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
    """Reduce an issue with more than `MAX_OPTIONS` options to evenly chosen ones, the best, the worst and the named."""
    if len(issue.options) <= MAX_OPTIONS:
        return issue
    given = (terms.target, terms.walk_away, terms.batna)
    packages = [worth.package for worth in given if worth is not None and worth.package is not None]
    named = {package[issue.name] for package in packages if issue.name in package}
    stride = len(issue.options) // MAX_OPTIONS + 1
    kept = [
        option
        for place, option in enumerate(issue.options)
        if place % stride == 0 or option.utility in {0.0, 1.0} or option.value in named
    ]
    return replace(issue, options=tuple(kept[: 2 * MAX_OPTIONS]))


def _span(terms: Terms, issue: Issue) -> IssueRange | None:
    """The range from the walk-away (or alternative) to half as far again past the target; None without both."""
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
    return IssueRange(min(best, worst), max(best, worst))


def _listed(terms: Terms, issue: Issue) -> Issue:
    """The issue as a list of the values that no hard constraint forbids, each with its worth."""
    pairs = ((value, worth_of(issue, value)) for value in _few(issue, _said(terms, issue)))
    options = tuple(
        IssueOption(value, worth)
        for value, worth in pairs
        if worth is not None and within_limit(terms, issue, value)
    )
    return replace(issue, range=None, value_points=(), options=options)


def _said(terms: Terms, issue: Issue) -> list[Decimal]:
    """Values of the issue that the user named, which the grid must include."""
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
    """About two hundred values at most; round ones when the range is continuous or long."""
    values = values_of(issue)
    if issue.range is None or (len(values) <= MAX_VALUES and not is_gridded(issue)):
        return values
    low, high = issue.range.min, issue.range.max
    grain = issue.range.step or (Decimal(1) if issue.type in WHOLE_TYPES else None)
    step = _round_step((high - low) / 100, grain)
    start = low if grain else (low / step).to_integral_value() * step
    marks = (start + step * k for k in range(int((high - low) / step) + 2))
    bends = [x for x, _ in issue.value_points]
    kept: Iterable[Decimal] = {low, high, *marks, *(() if grain else bends)}
    kept = {*kept, *(at for at in said if not grain or (at - low) % grain == 0)}
    return [value_at_coordinate(issue.type, at) for at in sorted(kept) if low <= at <= high]


def _round_step(raw: Decimal, grain: Decimal | None) -> Decimal:
    """The smallest of 1, 2 or 5 times a power of ten that is at least `raw`, or such a multiple of the grain."""
    if grain is not None and raw <= grain:
        return grain
    unit = grain or Decimal(1)
    power = Decimal(1).scaleb((raw / unit).adjusted())
    least = next(step for step in ROUND_STEPS if step * power >= raw / unit)
    return least * power * unit


def _aimed(admissible: AdmissiblePackages, brief: PlanBrief) -> AdmissiblePackages:
    """Set the goal and the opening level."""
    terms, top = admissible.terms, admissible.top
    bottom = float(admissible.edge.mine[-1])
    least = bottom if admissible.floor is None else max(bottom, admissible.floor)
    goal = utility_of_worth(terms.preferences, terms.target, fill="high")
    given = goal is not None
    expected = brief.leverage.expected if brief.leverage else None
    if goal is None and admissible.floor is not None:
        known = expected.utility_me if expected else None
        goal = (least + top) / 2 if known is None else known
    if goal is not None:
        goal = min(top, max(least, goal))
    if goal is None:
        level = bottom + UNINFORMED_OPENING_REACH * (top - bottom)
    else:
        level = max(goal + OPENING_REACH * (top - goal), _past_their_limit(admissible))
    return replace(admissible, goal=goal, goal_given=given, opening=min(top, max(least, level)))


def _past_their_limit(admissible: AdmissiblePackages) -> float:
    """My utility at the end of their estimated walk-away that is better for me; opening below it would lose value."""
    terms, estimate = admissible.terms, admissible.terms.their_walk_away
    bottom = float(admissible.edge.mine[-1])
    if estimate is None:
        return bottom
    low, _, high = estimate.ends
    if estimate.unit == "utility":
        taken = admissible.edge.mine[admissible.edge.theirs >= low]
        return float(taken.max()) if len(taken) else bottom
    if len(terms.issues) != 1:
        return bottom
    issue = terms.issues[0]
    return admissible.worth({issue.name: low if issue.direction == "lower" else high})
