"""Additive utility of packages: u(ω) = constant + Σ weight · v(ω_issue)  (Keeney and Raiffa 1976).

Weights compare swings over the stated ranges, so changing a range changes what a weight means.
Sums run in issue order, left to right, so that equal packages have bitwise equal utilities.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal, NamedTuple, TypeAlias

from negotiator.base.errors import FieldError
from negotiator.terms.issues import (
    Issue,
    IssueOption,
    IssueType,
    Package,
    Scalar,
    check_value,
    coordinate_of_worth,
    is_outside_range,
    opposed_issue,
    worth_of,
)


class UtilityInterval(NamedTuple):
    """A utility known only between two ends; equal ends mean it is known."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        """The utility half-way between the ends."""
        return (self.low + self.high) / 2.0


@dataclass(frozen=True, slots=True)
class Preferences:
    """One side's additive utility over the issues it cares about."""

    issues: tuple[Issue, ...]
    constant: float = 0.0


@dataclass(frozen=True, slots=True)
class Worth:
    """A target, walk-away or alternative as it was given: a package, or a utility outright."""

    package: Package | None = None
    utility: float | None = None


Fill: TypeAlias = Literal["low", "high"]


def normalised_weights(issues: Sequence[Issue]) -> tuple[Issue, ...]:
    """Weights brought to a sum of 1; a missing weight counts as the mean of the given ones.

    An issue with a worth weighs as much beside the price as its worth is beside the price's range. An issue that is
    worth the same at every value carries weight 0. No positive weight at all means equal weights, since a package must
    be worth something.
    """
    price = next((i for i in issues if i.type == "money" and i.range is not None), None)
    given = [i.weight_given for i in issues if i.weight_given is not None and i.worth is None]
    mean = math.fsum(given) / len(given) if given else 1.0
    raw = [0.0 if _is_constant(i) else mean if i.weight_given is None else i.weight_given for i in issues]
    if price is not None and price.range is not None:
        unit = (price.weight_given or mean) / float(price.range.max - price.range.min)
        raw = [weight if i.worth is None else i.worth * unit for i, weight in zip(issues, raw, strict=True)]
    total = math.fsum(raw)
    if total <= 0:
        raw, total = [1.0] * len(issues), float(len(issues))
    return tuple(replace(i, weight=w / total) for i, w in zip(issues, raw, strict=True))


def _is_constant(issue: Issue) -> bool:
    listed = [o.utility for o in issue.options] or [u for _, u in issue.value_points]
    return bool(listed) and min(listed) == max(listed)


def part_worths(
    table: Mapping[str, Sequence[tuple[Scalar, float]]],
    constant: float = 0.0,
    *,
    kinds: Mapping[str, IssueType] | None = None,
) -> Preferences:
    """Full preferences written as part worths, already weighted: {issue: [(value, worth), …]}.

    `kinds` names issue types, so that `"10.00"` and `10` meet on a money issue; default `enum`.
    """
    kind = kinds or {}
    issues = tuple(
        Issue(name, kind.get(name, "enum"), options=tuple(IssueOption(value, worth) for value, worth in rows))
        for name, rows in table.items()
    )
    return Preferences(issues, constant)


def opposed_preferences(preferences: Preferences) -> Preferences:
    """A counterparty assumed to want the opposite on each issue, by `their_weight` where given."""
    known = [i.their_weight for i in preferences.issues if i.their_weight is not None]
    mean = math.fsum(known) / len(known) if known else 1.0
    if known:
        raw = [mean if i.their_weight is None else i.their_weight for i in preferences.issues]
    else:
        raw = [i.weight for i in preferences.issues]
    total = math.fsum(raw)
    weights = [w / total for w in raw] if total > 0 else [1.0 / len(raw)] * len(raw)
    return Preferences(tuple(opposed_issue(i, w) for i, w in zip(preferences.issues, weights, strict=True)))


def issue_bounds(issue: Issue) -> UtilityInterval:
    """Least and greatest unweighted worth of an issue's values."""
    if issue.options:
        worths = [option.utility for option in issue.options]
    elif issue.value_points:
        worths = [u for _, u in issue.value_points]
    else:
        return UtilityInterval(0.0, 1.0)
    return UtilityInterval(min(worths), max(worths))


def package_utility(preferences: Preferences, package: Package) -> UtilityInterval:
    """What a package is worth; an issue it leaves out spans from its worst to its best fill.

    A value the issue does not have counts as left out: `check_package` is what refuses it. A number beyond
    the range is worth as much as the end of the range.
    """
    low = high = preferences.constant
    for issue in preferences.issues:
        worth = worth_of(issue, package[issue.name]) if issue.name in package else None
        ends = issue_bounds(issue) if worth is None else UtilityInterval(worth, worth)
        a, b = issue.weight * ends.low, issue.weight * ends.high
        low, high = low + min(a, b), high + max(a, b)
    return UtilityInterval(low, high)


def utility_bounds(preferences: Preferences) -> UtilityInterval:
    """The worst and the best any package can be worth."""
    return package_utility(preferences, {})


def is_complete(issues: Sequence[Issue], package: Package) -> bool:
    """Whether the package names a value for every issue."""
    return all(issue.name in package for issue in issues)


def missing_issues(issues: Sequence[Issue], package: Package) -> tuple[str, ...]:
    """Names of the issues a package is silent about."""
    return tuple(issue.name for issue in issues if issue.name not in package)


def issues_outside_range(issues: Sequence[Issue], package: Package) -> tuple[str, ...]:
    """Names of the issues on which a package lies beyond the range."""
    return tuple(
        issue.name for issue in issues if issue.name in package and is_outside_range(issue, package[issue.name])
    )


def without_ranges(issues: Sequence[Issue]) -> tuple[Issue, ...]:
    """The issues with any value of their type, for packages that may lie beyond a range."""
    return tuple(replace(issue, range=None) for issue in issues)


def escape_pointer(name: str) -> str:
    """A member name, escaped for use in a JSON pointer (RFC 6901 §3)."""
    return name.replace("~", "~0").replace("/", "~1")


def check_package(
    issues: Sequence[Issue], package: Mapping[str, object], pointer: str = "/package"
) -> list[FieldError]:
    """Field errors of a package: unknown issues, values outside their issue. Partial is fine."""
    by_name = {issue.name: issue for issue in issues}
    found: list[FieldError] = []
    for name, value in package.items():
        place = f"{pointer}/{escape_pointer(name)}"
        if name in by_name:
            found += check_value(by_name[name], value, place)
        else:
            found.append(FieldError(place, "No issue of this negotiation has this name."))
    return found


def utility_of_worth(preferences: Preferences, given: Worth | None, *, fill: Fill) -> float | None:
    """The utility of a target, walk-away or alternative; None when none was given.

    A package that leaves issues out is filled: a walk-away and an alternative at worst ("low"),
    a target at best ("high"). The caller says so among its assumptions.
    """
    if given is None:
        return None
    if given.utility is not None:
        return given.utility
    if given.package is None:
        return None
    ends = package_utility(preferences, given.package)
    return ends.low if fill == "low" else ends.high


def utility_of_alternative(preferences: Preferences, given: Worth | None) -> float | None:
    """The utility of a best alternative, never below the worst package: a worse one is no worse.

    An outside option that does not bind does nothing (Binmore, Shaked and Sutton 1989).
    """
    found = utility_of_worth(preferences, given, fill="low")
    return None if found is None else max(found, utility_bounds(preferences).low)


def alternative_price(issue: Issue, price: Decimal | None) -> Decimal | None:
    """The same for the price of an alternative: no worse than the bad end of the range."""
    if price is None or issue.range is None:
        return price
    lower = issue.direction == "lower"
    return min(price, issue.range.max) if lower else max(price, issue.range.min)


def single_price_issue(mine: Preferences, theirs: Preferences) -> Issue | None:
    """My issue when one price is all, on a range both sides see in opposite ways, else None."""
    ours, others = mine.issues, theirs.issues
    if len(ours) != 1 or len(others) != 1 or ours[0].name != others[0].name:
        return None
    plain = _is_plain_price(ours[0]) and _is_plain_price(others[0])
    return ours[0] if plain and ours[0].direction != others[0].direction else None


def _is_plain_price(issue: Issue) -> bool:
    """Money on a range whose worth never falls in the good direction."""
    worths = [u for _, u in issue.value_points]
    rising = sorted(worths, reverse=issue.direction == "lower") == worths
    return issue.type == "money" and issue.range is not None and not issue.options and rising


def price_of(preferences: Preferences, at: float) -> Decimal | None:
    """The price worth `at` when one money issue is all; None where no price is."""
    issue = preferences.issues[0]
    return coordinate_of_worth(issue, (at - preferences.constant) / issue.weight) if issue.weight else None


def utility_at(preferences: Preferences, price: Decimal) -> float:
    """What a price is worth when it is all, also beyond the range: a walk-away may lie there."""
    issue = preferences.issues[0]
    return preferences.constant + issue.weight * (worth_of(issue, price, clamp=False) or 0.0)


def check_worth(preferences: Preferences, given: Worth | None, pointer: str) -> list[FieldError]:
    """Field errors of a target, walk-away or alternative: a bad package, an unreachable utility."""
    if given is None:
        return []
    if (given.package is None) == (given.utility is None):
        return [FieldError(pointer, "Must have either a package or a utility.")]
    if given.package is not None:
        return check_package(preferences.issues, given.package, f"{pointer}/package")
    if given.utility is None or not math.isfinite(given.utility):
        return [FieldError(f"{pointer}/utility", "Must be a finite number.")]
    return []


def missing_inputs(issues: Sequence[Issue], **given: object | None) -> tuple[str, ...]:
    """Names of what advice would need and does not have: each None in `given`, and weights.

    `missing_inputs(issues, walk_away=None, batna=Worth(...))` answers `("walk_away", …)`.
    """
    names = [name for name, value in given.items() if value is None]
    several = len(issues) > 1
    for place, issue in enumerate(issues):
        if several and issue.weight_given is None and issue.worth is None and not issue.compensated:
            names.append(f"issues/{place}/weight")
        if several and issue.their_weight is None:
            names.append(f"issues/{place}/their_weight")
    return tuple(names)
