"""What the other side wants, in its own measure, and the packages in round figures that it names.

On each issue a value is worth 0 where the other side would give up and 1 where it opens; a straight line runs between
and beyond. A package is worth the weighted sum, so the floor package is worth 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Final

from negotiator.terms.issues import (
    UNORDERED_TYPES,
    WHOLE_TYPES,
    Issue,
    Package,
    Scalar,
    coordinate,
    same_value,
    value_at_coordinate,
)

BEYOND_ASK: Final = 0.25
"""Slope of worth beyond the first ask, except on money: three years were asked, five are hardly better."""
MONEY_UNITS: Final = tuple(
    Decimal(unit)
    for unit in (
        *("0.05", "0.1", "0.25", "0.5", "1", "5", "10", "25", "50", "100", "250", "500"),
        *("1000", "2500", "5000", "10000", "25000", "50000"),
    )
)
WHOLE_UNITS: Final = tuple(Decimal(unit) for unit in (1, 5, 10, 50, 100, 500, 1000, 5000, 10000))
SMALLEST_MONEY_UNITS: Final = (
    (Decimal(20), Decimal("0.05")),
    (Decimal(100), Decimal("0.5")),
    (Decimal(1_000), Decimal(5)),
    (Decimal(10_000), Decimal(50)),
    (Decimal(100_000), Decimal(100)),
)
"""Below each size, the unit in which people still name an amount; beyond them 500."""
LARGEST_UNIT_SHARE: Final = 0.6
"""A unit is at most this share of the step, so that rounding does not swallow the step."""
FINER: Final = 0.02
"""By how much worth a concession becomes smaller until its round figure is not below the floor."""
MIDDLE_OF_MONTH: Final = 15
LONG_DISTANCE_DAYS: Final = 10
"""A date that moves this far moves to the first or the middle of a month; so long a duration is in fives."""


@dataclass(frozen=True, slots=True)
class Stake:
    """One issue as the other side sees it: where it gives up, where it opens, and its weight.

    `worths` has the worth of each value of an issue without an order.
    """

    issue: Issue
    floor: Scalar
    ask: Scalar
    weight: float
    worths: Mapping[Scalar, float] | None = None

    @property
    def name(self) -> str:
        return self.issue.name

    @property
    def ends(self) -> tuple[Decimal, Decimal]:
        """The coordinates of the floor and of the first ask, of an ordered issue."""
        return self._coordinate(self.floor), self._coordinate(self.ask)

    def worth(self, value: Scalar) -> float:
        """Unweighted worth of a value: 0 at the floor, 1 at the first ask."""
        if self.worths is not None:
            return self._listed(value) - self._listed(self.floor)
        floor, ask = self.ends
        if floor == ask:
            return 0.0
        found = float((self._coordinate(value) - floor) / (ask - floor))
        beyond = found - 1.0
        return 1.0 + beyond * BEYOND_ASK if beyond > 0 and self.issue.type != "money" else found

    def value_of(self, worth: float, near: Scalar) -> Scalar:
        """A value that people would name for about this worth, rounded by its distance from `near`."""
        if self.worths is not None:
            listed = [option.value for option in self.issue.options] or [False, True]
            return min(listed, key=lambda value: abs(self.worth(value) - worth))
        floor, ask = self.ends
        if floor == ask:
            return near
        at = floor + (ask - floor) * Decimal(repr(worth))
        unit = round_unit(self.issue, at, abs(at - self._coordinate(near)))
        return value_at_coordinate(self.issue.type, rounded(self.issue, at, unit))

    def conceded(self, worth: float, now: Scalar, last: Scalar, bound: Scalar) -> Scalar:
        """A value of about this worth, no worse for them than `bound` and no better than `now`.

        It is rounded by its distance from `last`, the value of their last offer.
        """
        found = self.value_of(worth, last)
        if self.worth(found) >= self.worth(now):
            return now
        return found if self.worth(found) > self.worth(bound) else bound

    def _coordinate(self, value: Scalar) -> Decimal:
        at = coordinate(self.issue.type, value)
        if at is None:
            raise ValueError(f"{value!r} is not a value of {self.name}")
        return at

    def _listed(self, value: Scalar) -> float:
        for known, worth in (self.worths or {}).items():
            if same_value(self.issue.type, known, value):
                return worth
        raise ValueError(f"{value!r} is not a value of {self.name}")


@dataclass(frozen=True, slots=True)
class Interests:
    """Everything the other side cares about; weights add up to 1."""

    stakes: tuple[Stake, ...]

    @property
    def floor(self) -> Package:
        """The package at which it gives up, worth 0."""
        return {stake.name: stake.floor for stake in self.stakes}

    @property
    def ask(self) -> Package:
        """The package a fair person opens with, worth 1."""
        return {stake.name: stake.ask for stake in self.stakes}

    def worth(self, package: Package) -> float:
        return sum(stake.weight * stake.worth(package[stake.name]) for stake in self.stakes)

    def weighted(self, factors: Sequence[float]) -> "Interests":
        """The same with each weight multiplied, and brought back to a sum of 1."""
        raw = [stake.weight * factor for stake, factor in zip(self.stakes, factors, strict=True)]
        total = sum(raw) or 1.0
        return Interests(
            tuple(replace(stake, weight=weight / total) for stake, weight in zip(self.stakes, raw, strict=True))
        )

    def heaviest(self) -> Stake:
        """The issue that weighs most, money before others of the same weight."""
        return max(self.stakes, key=lambda stake: (stake.weight, stake.issue.type == "money"))

    def conceded(self, last: Package, theirs: Package | None, demand: float, floor: float) -> Package:
        """Their `last` package changed until it is worth about `demand`, never less than `floor`.

        They give on one thing that weighs little to them first, and leave the rest to the heaviest issue. No issue goes
        beyond what the other side itself offers, and none goes back.
        """
        found = dict(last)
        heaviest = self.heaviest()
        cheap = sorted(
            (stake for stake in self.stakes if stake is not heaviest and stake.weight > 0),
            key=lambda stake: stake.weight,
        )
        shares = [(stake, 0.6) for stake in cheap] + [(heaviest, 1.0)] + [(s, 1.0) for s in cheap]
        eased = False
        for stake, share in shares:
            give = self.worth(found) - demand
            if give <= 0:
                break
            if eased and stake is not heaviest:
                continue
            here = stake.worth(found[stake.name])
            bound = stake.floor if theirs is None else theirs[stake.name]
            if stake.worth(bound) >= here:
                continue
            goal = max(here - give * share / stake.weight, stake.worth(bound))
            value = stake.conceded(goal, found[stake.name], last[stake.name], bound)
            if stake.worths is not None and stake.weight * (here - stake.worth(value)) > 1.5 * give:
                continue
            while self.worth({**found, stake.name: value}) < floor and goal < here:
                goal += FINER
                value = stake.conceded(goal, found[stake.name], last[stake.name], bound)
            if self.worth({**found, stake.name: value}) >= floor:
                eased = eased or (stake is not heaviest and value != found[stake.name])
                found[stake.name] = value
        return found

    def traded(self, last: Package, insisted: Package, demand: float, opening: Package) -> Package | None:
        """Their `last` package with the values that the other side insists on, at a price that makes it worth `demand`.

        The price is never beyond the one they opened with. None without a price.
        """
        price = next((stake for stake in self.stakes if stake.issue.type == "money"), None)
        if price is None or price.weight <= 0 or price.name in insisted:
            return None
        moved = {**last, **insisted}
        goal = price.worth(moved[price.name]) + (demand - self.worth(moved)) / price.weight
        goal = min(max(goal, 0.0), price.worth(opening[price.name]))
        return {**moved, price.name: price.value_of(goal, last[price.name])}


def round_unit(issue: Issue, at: Decimal, distance: Decimal) -> Decimal:
    """The unit to which people round a value of this size when they move it by this distance."""
    step = issue.range.step if issue.range is not None else None
    if issue.type == "date":
        return Decimal(MIDDLE_OF_MONTH) if distance >= LONG_DISTANCE_DAYS else Decimal(1)
    if issue.type == "money":
        smallest = next((unit for size, unit in SMALLEST_MONEY_UNITS if abs(at) < size), Decimal(500))
        units = [unit for unit in MONEY_UNITS if unit >= smallest]
    elif issue.type in WHOLE_TYPES:
        long = issue.type == "duration_days" and at >= LONG_DISTANCE_DAYS
        units = list(WHOLE_UNITS[1:] if long else WHOLE_UNITS)
    else:
        units = [Decimal("0.5"), *WHOLE_UNITS]
    if step is not None:
        units = [step, *(unit for unit in units if unit > step and unit % step == 0)]
    wide = [unit for unit in units if unit <= distance * Decimal(repr(LARGEST_UNIT_SHARE))]
    return max(wide, default=units[0])


def rounded(issue: Issue, at: Decimal, unit: Decimal) -> Decimal:
    """The nearest multiple of the unit; a date goes to the first or the middle of a month when the unit is long."""
    if issue.type in UNORDERED_TYPES:
        return at
    if issue.type == "date":
        return _round_day(at, unit)
    start = Decimal(0)
    if issue.range is not None and issue.range.step == unit:
        start = issue.range.min
    return start + ((at - start) / unit).to_integral_value(ROUND_HALF_EVEN) * unit


def _round_day(at: Decimal, unit: Decimal) -> Decimal:
    whole = int(at)
    if unit == 1:
        return Decimal(whole)
    days = (Decimal(whole + gap) for gap in sorted(range(-9, 10), key=abs))
    marks = ("-01", "-15")
    return next((day for day in days if str(value_at_coordinate("date", day)).endswith(marks)), Decimal(whole))
