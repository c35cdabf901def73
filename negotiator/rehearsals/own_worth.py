"""What packages are worth to the user after a rehearsal: their utility, what no deal leaves them, amounts of money.

A price counts on beyond its range here, since the other side may have gone further than the user thought. An issue
without a range has the one that both sides' own figures span.
"""

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import NamedTuple

from negotiator.rehearsals.counterpart.interests import Interests
from negotiator.terms import limits
from negotiator.terms.issues import Issue, IssueRange, Package, Scalar, coordinate, coordinate_of_worth, worth_of
from negotiator.terms.terms import Terms
from negotiator.terms.utility import Worth, issue_bounds, utility_bounds


class Gap(NamedTuple):
    """By how much something is better: in utility, and as an amount on the price; None where no money says it."""

    utility: float
    money: Decimal | None


@dataclass(frozen=True, slots=True)
class OwnWorth:
    """The user's measure of packages. `terms` have a range for each ordered issue that both sides' figures span."""

    terms: Terms

    @property
    def only_price(self) -> Issue | None:
        """The price where it is all that is negotiated."""
        issue = self.terms.issues[0]
        alone = len(self.terms.issues) == 1 and issue.type == "money" and not issue.options
        return issue if alone else None

    def utility(self, package: Package) -> float:
        """What a package is worth; what it leaves out, or the issue does not have, counts at its worst."""
        found = self.terms.preferences.constant
        for issue in self.terms.issues:
            worth = self.issue_worth(issue, package.get(issue.name))
            found += issue.weight * (issue_bounds(issue).low if worth is None else worth)
        return found

    def issue_worth(self, issue: Issue, value: Scalar | None) -> float | None:
        """The unweighted worth of one value; a price beyond its range goes on along its line."""
        is_price = self.terms.price is not None and issue.name == self.terms.price.name
        return None if value is None else worth_of(issue, value, clamp=not is_price)

    def issue_gap(self, issue: Issue, better: Scalar, worse: Scalar) -> float:
        """By how much weighted utility one value of an issue is better than another."""
        return issue.weight * ((self.issue_worth(issue, better) or 0.0) - (self.issue_worth(issue, worse) or 0.0))

    @property
    def reservation(self) -> float:
        """What no deal leaves: the walk-away, else the alternative, else the worst package."""
        at = self.reservation_price
        if at is not None and self.only_price is not None:
            return self.utility({self.only_price.name: at})
        least = utility_bounds(self.terms.preferences).low
        return max(limits.utility_floor(self.terms) or least, least)

    @property
    def reservation_price(self) -> Decimal | None:
        """The same as a price, where the price is all."""
        issue = self.only_price
        if issue is None:
            return None
        given = self.terms.walk_away or self.terms.certain_batna
        named = coordinate("money", given.package.get(issue.name)) if given and given.package else None
        if named is not None:
            return named
        floor = limits.utility_floor(self.terms)
        if floor is None:
            return _bad_end(issue)
        shown = (floor - self.terms.preferences.constant) / issue.weight
        return coordinate_of_worth(issue, min(1.0, max(0.0, shown)))

    @property
    def target(self) -> Package | None:
        """The target where it names a value."""
        given = self.terms.target
        return given.package or None if given is not None else None

    def target_utility(self) -> float | None:
        """What the target is worth; what it leaves out counts at its best."""
        given = self.terms.target
        if given is None:
            return None
        if given.utility is not None:
            return given.utility
        best = {issue.name: issue.weight * issue_bounds(issue).high for issue in self.terms.issues}
        found = self.terms.preferences.constant
        for issue in self.terms.issues:
            worth = self.issue_worth(issue, (given.package or {}).get(issue.name))
            found += best[issue.name] if worth is None else issue.weight * worth
        return found

    def gap(self, better: Package | None, worse: Package | None) -> Gap:
        """By how much the first is better than the second; None is no deal."""
        return Gap(self._utility(better) - self._utility(worse), self.money(better, worse))

    def money(self, better: Package | None, worse: Package | None) -> Decimal | None:
        """A gap as an amount on the price: the difference of two prices, else the change that is worth as much.

        It is negative where the first is worse; None where no money says it.
        """
        issue = self.only_price
        if issue is None:
            return self.money_of(self._utility(better) - self._utility(worse))
        one, other = (self._price(issue, package) for package in (better, worse))
        if one is None or other is None:
            return None
        return other - one if issue.direction == "lower" else one - other

    def money_of(self, utility: float) -> Decimal | None:
        """The change of the price that is worth as much; None without a price on a straight line."""
        found = self.terms.money_of_utility(abs(utility))
        return None if found is None else found if utility >= 0 else -found

    def keeps_limits(self, package: Package) -> bool:
        """Whether the user may sign a whole package: walk-away, hard constraints, and the limit of each issue."""
        return limits.keeps_limits(self.terms, package)

    def _utility(self, package: Package | None) -> float:
        return self.reservation if package is None else self.utility(package)

    def _price(self, issue: Issue, package: Package | None) -> Decimal | None:
        if package is None:
            return self.reservation_price
        return coordinate("money", package.get(issue.name))


def own_worth(terms: Terms, interests: Interests) -> OwnWorth:
    """The user's measure; an issue without a range gets the one that the figures of both sides span."""
    asked = {stake.name: stake for stake in interests.stakes}
    issues: list[Issue] = []
    for issue in terms.issues:
        stake = asked.get(issue.name)
        lacks = issue.range is None and not issue.options and issue.type not in {"enum", "boolean"}
        if not lacks or issue.value_points or stake is None:
            issues.append(issue)
            continue
        named = [stake.floor, stake.ask, *_named(issue, terms.walk_away, terms.target, terms.batna)]
        places = [at for value in named if (at := coordinate(issue.type, value)) is not None]
        low, high = min(places), max(places)
        issues.append(replace(issue, range=IssueRange(low, high)) if low < high else issue)
    return OwnWorth(replace(terms, preferences=replace(terms.preferences, issues=tuple(issues))))


def _named(issue: Issue, *given: Worth | None) -> list[Scalar]:
    found = [one.package[issue.name] for one in given if one and one.package and issue.name in one.package]
    return found if issue.limit is None else [*found, issue.limit]


def _bad_end(issue: Issue) -> Decimal | None:
    if issue.range is None:
        return None
    return issue.range.max if issue.direction == "lower" else issue.range.min
