"""What packages are worth to the user after a rehearsal, the best that the person would have signed, and the least.

A price counts on beyond its range here, since the other side may have gone further than the user thought. An issue
without a range has the one that both sides' own figures span. Both sides' measures are sums over issues. The issues
beside the price are tried at a few values each; the price takes what is left, exactly to its step or cent and never
beyond what the person would sign.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from itertools import product
from math import prod
from typing import Final, NamedTuple, TypeAlias, TypeVar

from negotiator.base.values import MINOR_UNITS
from negotiator.rehearsals.counterpart.interests import Interests, Stake
from negotiator.rehearsals.counterpart.person import Person
from negotiator.terms import limits
from negotiator.terms.issues import (
    UNORDERED_TYPES,
    Issue,
    IssueRange,
    Package,
    Scalar,
    canonical_value,
    coordinate,
    coordinate_of_worth,
    is_outside_range,
    value_at_coordinate,
    value_key,
    values_of,
    worth_of,
)
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


MAX_COMBINATIONS: Final = 5_000
MAX_LEVELS: Final = 101
"""Values that are tried of one issue."""
CHECKED: Final = 200
"""Of the best combinations, how many are checked against limits that join issues."""
DIGITS: Final = 4
"""Digits of a price that is told; nobody would name more."""
_NUDGES: Final = 3
_SAME: Final = 1e-9
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _Level:
    """One value of an issue, weighted worth to the user and to the person."""

    value: Scalar
    mine: float
    theirs: float


_Choice: TypeAlias = tuple[_Level, ...]


def best_deal(own: OwnWorth, person: Person, deal: Package | None = None) -> Package | None:
    """The package best for the user that the person signs and the user may sign; None where there is none.

    A `deal` that was made is among the candidates, so that no deal within both limits is better than the best.
    """
    return best_with_deal(own, person, _search(own, person), deal)


def best_with_deal(own: OwnWorth, person: Person, best: Package | None, deal: Package | None) -> Package | None:
    """The better one of the best package that was found and a deal, also at the last price that the person signs."""
    if deal is None:
        return best
    at_floor = price_at_floor(own, person, deal)
    made = [deal] if at_floor is None else [deal, {**deal, **at_floor}]
    kept = [one for one in made if signs(person, one) and limits.keeps_limits(own.terms, one)]
    return max(kept if best is None else [best, *kept], key=own.utility, default=None)


def signs(person: Person, package: Package) -> bool:
    """Whether the person agrees to a whole package in the end."""
    return person.interests.worth(package) >= person.floor


def least_signed(own: OwnWorth, person: Person) -> Package:
    """The person's own floor as a package: where it gives up on each issue, with the price that it needs for that."""
    start = person.interests.floor
    at_floor = price_at_floor(own, person, start)
    if at_floor is not None:
        return {**start, **at_floor}
    levels = _fitted([_levels(own, stake, free=True) for stake in person.interests.stakes])
    if prod(map(len, levels)) > MAX_COMBINATIONS:
        return start if signs(person, start) else person.interests.ask
    by_worth = sorted(product(*levels), key=lambda choice: sum(level.theirs for level in choice))
    for choice in by_worth:
        if sum(level.theirs for level in choice) >= person.floor - _SAME:
            package = _package(person.interests.stakes, choice)
            if signs(person, package):
                return package
    return person.interests.ask


def price_at_floor(own: OwnWorth, person: Person, package: Package) -> Package | None:
    """The last price at which the person signs the other values of a package; None where no price decides it."""
    stake = _price_stake(own, person)
    if stake is None:
        return None
    at = _exact_price(own, person, stake, package)
    if at is None or (at < 0 and _starts_at_zero(stake.issue)):
        return None
    return {stake.name: value_at_coordinate("money", at)}


def _search(own: OwnWorth, person: Person) -> Package | None:
    price = _price_stake(own, person)
    stakes = [stake for stake in person.interests.stakes if stake is not price]
    full = [_levels(own, stake) for stake in stakes]
    if not all(full):
        return None
    line = None if price is None else _price_line(own, person, price)
    if price is not None and line is None:
        return None
    levels = _fitted(full)
    if prod(map(len, levels)) <= MAX_COMBINATIONS:
        choices: list[_Choice] = list(product(*levels))
    else:
        choices = [tuple(max(one, key=lambda level: level.theirs) for one in full)]
    rated = [(worth, n) for n, c in enumerate(choices) if (worth := _rate(c, line, person)) is not None]
    rated.sort(key=lambda pair: (-pair[0], pair[1]))
    if rated:
        choices.append(_ascended(choices[rated[0][1]], full, line, person))
        rated.insert(0, (rated[0][0], len(choices) - 1))
    found: list[Package] = []
    for _, place in rated[:CHECKED]:
        package = _package(stakes, choices[place])
        whole = package if line is None else line.completed(person, package)
        if whole is not None and signs(person, whole) and limits.keeps_limits(own.terms, whole):
            found.append(whole)
            if len(found) > 1:
                break
    return max(found, key=own.utility, default=None)


def _ascended(
    choice: _Choice, levels: Sequence[Sequence[_Level]], line: "_PriceLine | None", person: Person
) -> _Choice:
    """The choice after each issue in turn has taken its best value, as long as that helps."""
    best = _rate(choice, line, person)
    for _ in range(10):
        before = best
        for place, listed in enumerate(levels):
            for level in listed:
                tried = (*choice[:place], level, *choice[place + 1 :])
                worth = _rate(tried, line, person)
                if worth is not None and (best is None or worth > best + _SAME):
                    choice, best = tried, worth
        if best == before:
            break
    return choice


def _rate(choice: _Choice, line: "_PriceLine | None", person: Person) -> float | None:
    """What a choice is worth to the user with the best price that is left; None where the person signs none."""
    mine, theirs = sum(one.mine for one in choice), sum(one.theirs for one in choice)
    if line is None:
        return mine if theirs >= person.floor - _SAME else None
    left = line.best_worth(person.floor - theirs)
    return None if left is None else mine + left


def _package(stakes: Sequence[Stake], choice: _Choice) -> dict[str, Scalar]:
    return {stake.name: level.value for stake, level in zip(stakes, choice, strict=True)}


# Values of an issue


def _levels(own: OwnWorth, stake: Stake, *, free: bool = False) -> list[_Level]:
    """The values of an issue that the user may sign (all, if `free`), none that another beats for both sides."""
    issue = own.terms.issue(stake.name) or stake.issue
    listed: dict[object, Scalar] = {}
    for value in (*_thinned(values_of(issue)), *_corners(own, issue, stake)):
        listed.setdefault(value_key(issue.type, value), canonical_value(issue.type, value))
    found: list[_Level] = []
    for value in listed.values():
        worth = own.issue_worth(issue, value)
        if worth is not None and (free or _is_allowed(own, issue, value)):
            found.append(_Level(value, issue.weight * worth, stake.weight * stake.worth(value)))
    if free:
        return found
    found.sort(key=lambda level: (-level.mine, -level.theirs))
    kept: list[_Level] = []
    for level in found:
        if not kept or level.theirs > kept[-1].theirs:
            kept.append(level)
    return kept


def _corners(own: OwnWorth, issue: Issue, stake: Stake) -> Iterator[Scalar]:
    """Values at which a side's worth bends or ends, as far as the issue has them."""
    named = [one.package for one in (own.terms.target, own.terms.walk_away) if one and one.package]
    limit = limits.own_limit(own.terms, issue)
    values = [stake.floor, stake.ask, *(p[issue.name] for p in named if issue.name in p)]
    for value in values if limit is None else [*values, limit]:
        if not is_outside_range(issue, value):
            yield value


def _is_allowed(own: OwnWorth, issue: Issue, value: Scalar) -> bool:
    limit = limits.own_limit(own.terms, issue)
    traded = any(trade.issue == issue.name for trade in own.terms.allowed)
    kept = traded or limit is None or not limits.falls_short(issue, value, limit)
    return kept and limits.within_limit(own.terms, issue, value)


def _fitted(levels: Sequence[Sequence[_Level]]) -> list[list[_Level]]:
    """The values thinned until their combinations are few enough, at least two of each issue."""
    count = MAX_LEVELS
    while True:
        thinned = [_thinned(one, count) for one in levels]
        if count <= 2 or prod(map(len, thinned)) <= MAX_COMBINATIONS:
            return thinned
        count -= 1


def _thinned(values: Sequence[_T], count: int = MAX_LEVELS) -> list[_T]:
    """At most so many of the values, evenly, both ends among them."""
    if len(values) <= count:
        return list(values)
    return [values[round(n * (len(values) - 1) / (count - 1))] for n in range(count)]


# The price


@dataclass(frozen=True, slots=True)
class _PriceLine:
    """The price as both sides see it: the person's straight line from floor to ask, the user's bounds.

    `fixed` are the ends, rounded inward to whole steps, and the corners of the user's line.
    """

    own: OwnWorth
    issue: Issue
    stake: Stake
    low: Decimal
    high: Decimal
    fixed: tuple[Decimal, ...]

    def best_worth(self, need: float) -> float | None:
        """The best weighted worth to the user of a price that is worth at least `need` to the person."""
        floor, ask = map(float, self.stake.ends)
        bound = floor + (ask - floor) * need / self.stake.weight
        slack = _SAME * max(1.0, abs(bound))
        low, high = float(self.low) - slack, float(self.high) + slack
        signed = (max(low, bound - slack), high) if ask > floor else (low, min(high, bound + slack))
        places = (bound, *map(float, self.fixed))
        kept = [self._worth(at) for at in places if signed[0] <= at <= signed[1]]
        return max(kept, default=None)

    def completed(self, person: Person, package: Package) -> Package | None:
        """The package with the best price that the person signs; None where no price within the bounds is signed."""
        at = _exact_price(self.own, person, self.stake, package)
        found = [
            {**package, self.issue.name: value_at_coordinate("money", place)}
            for place in (*self.fixed, *([] if at is None else [at]))
            if self.low <= place <= self.high
        ]
        signed = [one for one in found if signs(person, one)]
        return max(signed, key=self.own.utility, default=None)

    def _worth(self, at: float) -> float:
        span = self.issue.range
        if self.issue.value_points or span is None:
            value = value_at_coordinate("money", Decimal(repr(at)))
            return self.issue.weight * (self.own.issue_worth(self.issue, value) or 0.0)
        low, high = float(span.min), float(span.max)
        gone = high - at if _falls(self.issue) else at - low
        return self.issue.weight * gone / (high - low)


def _price_line(own: OwnWorth, person: Person, stake: Stake) -> _PriceLine | None:
    """The price within the user's limits; None where they leave none.

    It goes beyond the user's range as far as the person's own floor does.
    """
    issue = own.terms.price or stake.issue
    at_floor = _exact_price(own, person, stake, person.interests.floor)
    ends = [] if at_floor is None else [at_floor]
    if issue.range is not None:
        ends += [issue.range.min, issue.range.max]
    low, high = min(ends), max(ends)
    low = max(low, Decimal(0)) if _starts_at_zero(issue) else low
    low, high = _within_rules(own, issue, low, high)
    limit = limits.own_limit(own.terms, issue)
    if limit is not None:
        named = [limit, *(trade.to for trade in own.terms.allowed if trade.issue == issue.name)]
        places = [at for value in named if (at := coordinate("money", value)) is not None]
        if places and _falls(issue):
            high = min(high, max(places))
        elif places:
            low = max(low, min(places))
    if low > high:
        return None
    rounded = (_rounded(own, issue, low, up=True), _rounded(own, issue, high, up=False))
    return _PriceLine(own, issue, stake, low, high, (*rounded, *(at for at, _ in issue.value_points)))


def _within_rules(own: OwnWorth, issue: Issue, low: Decimal, high: Decimal) -> tuple[Decimal, Decimal]:
    """The bounds of the price within the hard constraints on it."""
    unit = _unit(own, issue, high)
    for rule in own.terms.constraints:
        at = coordinate("money", rule.values[0])
        if not rule.hard or rule.issue != issue.name or at is None:
            continue
        match rule.op:
            case "<=":
                high = min(high, at)
            case "<":
                high = min(high, at - unit)
            case ">=":
                low = max(low, at)
            case ">":
                low = max(low, at + unit)
            case _:
                pass
    return low, high


def _price_stake(own: OwnWorth, person: Person) -> Stake | None:
    """The person's stake in the price, where a change of the price can make up for the other issues."""
    price = own.terms.price
    if price is None or price.options or price.type in UNORDERED_TYPES:
        return None
    if any(rule.hard and rule.issue == price.name and rule.op in {"==", "in"} for rule in own.terms.constraints):
        return None
    stake = next((one for one in person.interests.stakes if one.name == price.name), None)
    if stake is None or stake.worths is not None or stake.weight <= 0 or stake.floor == stake.ask:
        return None
    return stake


def _exact_price(own: OwnWorth, person: Person, stake: Stake, package: Package) -> Decimal | None:
    """The last price that the person signs with the other values of the package, at a step or cent."""
    issue = own.terms.price or stake.issue
    floor, ask = stake.ends
    rest = person.interests.worth({**package, stake.name: stake.floor})
    need = (person.floor - rest) / stake.weight
    unit, better = _unit(own, issue, floor), Decimal(1 if ask > floor else -1)
    at = _rounded(own, issue, floor + (ask - floor) * Decimal(repr(need)), up=ask > floor)
    for _ in range(_NUDGES):
        if signs(person, {**package, stake.name: value_at_coordinate("money", at)}):
            return at
        at += better * unit
    return None


def _unit(own: OwnWorth, issue: Issue, size: Decimal) -> Decimal:
    """The step of the price, else a unit of the fourth digit of a price of this size, at least the smallest one."""
    if issue.range is not None and issue.range.step is not None:
        return issue.range.step
    least = -MINOR_UNITS.get(own.terms.currency or "", 2)
    return Decimal(1).scaleb(max(least, size.adjusted() - DIGITS + 1) if size else least)


def _rounded(own: OwnWorth, issue: Issue, at: Decimal, *, up: bool) -> Decimal:
    unit = _unit(own, issue, at)
    stepped = issue.range is not None and issue.range.step is not None
    start = issue.range.min if stepped and issue.range is not None else Decimal(0)
    count = ((at - start) / unit).to_integral_value(ROUND_CEILING if up else ROUND_FLOOR)
    return start + count * unit


def _falls(issue: Issue) -> bool:
    """Whether less money is better for the user."""
    return issue.direction == "lower"


def _starts_at_zero(issue: Issue) -> bool:
    """Whether a price below zero makes no sense."""
    return issue.range is None or issue.range.min >= 0
