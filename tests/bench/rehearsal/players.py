"""Players of known strength: the advice for people, a reference advisor, Boulware, the middle, and chance.

A talk has a stated end, as the published strategies ask for. They know nothing of the person.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import product
from math import prod
from random import Random
from typing import Any, Final

import numpy as np

from negotiator.negotiations.offer_queries import OfferRow
from negotiator.terms.issues import (
    UNORDERED_TYPES,
    VALUE_GRID_SIZE,
    Issue,
    Package,
    Scalar,
    coordinate,
    same_value,
    values_of,
)
from tests.bench.haggling.advisers import (
    AdviceForPeople,
    MeetInTheMiddle,
    between,
    floor_of,
    last_packages,
    utility,
    whole_package,
)
from tests.bench.haggling.play import Adviser, Case, Move, TalkState

BETA: Final = 0.2
"""The exponent of concession is 1 / β: below 1 is Boulware (Faratin, Sierra and Jennings 1998, §4.1)."""
ABOVE_FLOOR: Final = 0.02
"""The reference advisor stops this much above its floor."""
MAX_OUTCOMES: Final = 20_000
"""The reference advisor looks at no more packages."""
OTHER_VALUES: Final = 5
"""Values of an issue beside the price."""
ACCEPTS: Final = 0.15
ENDS: Final = 0.1
"""Chances of the random negotiator of NegMAS: `p_acceptance` and `p_ending`."""


class Boulware:
    """Each issue goes from the user's best value to the walk-away as t^(1/β); accepts what is as good as its next."""

    def advise(self, negotiation: Mapping[str, Any], ledger: Sequence[OfferRow], state: TalkState) -> Move:
        terms, rounds = state.terms, end_of(state)
        gone = share_of_time(state) ** (1 / BETA)
        start = whole_package(terms, None, best=True)
        package = between(terms, start, whole_package(terms, terms.walk_away, best=False), gone)
        theirs = last_packages(ledger, "them")
        if theirs and utility(terms, theirs[-1]) >= max(utility(terms, package), floor_of(terms)):
            return Move("accept")
        return Move("leave") if state.round >= rounds else Move("offer", package)


class ReferenceAdvisor:
    """Time-dependent target with e = .2, a frequency model of the other side, accepts what is as good as its next.

    Of the packages of at least the target it offers the one that the model holds best for the other side.
    """

    def advise(self, negotiation: Mapping[str, Any], ledger: Sequence[OfferRow], state: TalkState) -> Move:
        space, rounds = _space(state.case), end_of(state)
        floor = max(floor_of(state.terms), 0.0) + ABOVE_FLOOR
        wanted = floor + (1.0 - floor) * (1 - share_of_time(state) ** (1 / BETA))
        theirs = last_packages(ledger, "them")
        liked = space.model([space.places(package) for package in theirs])
        enough = space.worths >= wanted - 1e-9
        place = int(np.argmax(np.where(enough, liked, -1.0)) if enough.any() else np.argmax(space.worths))
        if theirs:
            offered = utility(state.terms, theirs[-1])
            is_last = rounds - state.round <= 1
            if offered > floor_of(state.terms) and (
                offered >= float(space.worths[place]) - 1e-9 or offered >= wanted or is_last
            ):
                return Move("accept")
        return Move("offer", space.packages[place])


class _Space:
    """The packages of a case on a grid, best value of each issue first."""

    def __init__(self, case: Case) -> None:
        terms = case.terms
        self.issues = terms.issues
        others = [_grid(issue, OTHER_VALUES) for issue in terms.issues if issue is not terms.price]
        left = max(2, min(VALUE_GRID_SIZE, MAX_OUTCOMES // prod(map(len, others))))
        self.values = [_grid(issue, left if issue is terms.price else OTHER_VALUES) for issue in terms.issues]
        self.packages: list[Package] = [
            dict(zip((issue.name for issue in terms.issues), choice, strict=True)) for choice in product(*self.values)
        ]
        self.indices = np.array(list(product(*(range(len(one)) for one in self.values))))
        self.worths = np.array([utility(terms, package) for package in self.packages])

    def places(self, package: Package) -> list[int]:
        """The grid value nearest to each value of a package."""
        found: list[int] = []
        for issue, values in zip(self.issues, self.values, strict=True):
            value = package[issue.name]
            exact = [n for n, one in enumerate(values) if same_value(issue.type, one, value)]
            found.append(exact[0] if exact else _nearest(issue, values, value))
        return found

    def model(self, offers: Sequence[Sequence[int]]) -> np.ndarray:
        """How much the other side is held to like each package: frequent values, weighted by how frequent they are."""
        tables: list[np.ndarray] = []
        for column, values in enumerate(self.values):
            counts = np.ones(len(values))
            for offer in offers:
                counts[offer[column]] += 1
            weight = ((counts / counts.sum()) ** 2).sum()
            tables.append(weight * counts / counts.max())
        total = sum(table.max() for table in tables)
        return (
            sum((table[self.indices[:, column]] for column, table in enumerate(tables)), np.zeros(len(self.packages)))
            / total
        )


class ByChance:
    """Offers any package, accepts and leaves by chance, as the random negotiator of NegMAS does."""

    def advise(self, negotiation: Mapping[str, Any], ledger: Sequence[OfferRow], state: TalkState) -> Move:
        theirs = last_packages(ledger, "them")
        rng = Random(f"{state.case.name} {state.round} {theirs}")
        drawn = rng.random()
        if theirs and drawn < ACCEPTS:
            return Move("accept")
        if theirs and drawn < ACCEPTS + ENDS:
            return Move("leave")
        return Move("offer", rng.choice(_space(state.case).packages))


def end_of(state: TalkState) -> int:
    """How many offers the user can make."""
    rounds = state.terms.max_rounds
    assert rounds is not None
    return rounds


def share_of_time(state: TalkState) -> float:
    """How much of the time is gone: 0 at the first offer, 1 at the last one."""
    return min(1.0, state.round / max(1, end_of(state) - 1))


_SPACES: dict[str, _Space] = {}


def _space(case: Case) -> _Space:
    if case.name not in _SPACES:
        _SPACES[case.name] = _Space(case)
    return _SPACES[case.name]


def _grid(issue: Issue, count: int) -> list[Scalar]:
    values = list(values_of(issue))
    if len(values) > count and issue.type not in UNORDERED_TYPES:
        values = [values[round(n * (len(values) - 1) / (count - 1))] for n in range(count)]
    if issue.direction == "lower":
        values.reverse()
    return values[::-1]


def _nearest(issue: Issue, values: Sequence[Scalar], value: Scalar) -> int:
    at = coordinate(issue.type, value)
    if at is None:
        return 0
    gaps = [abs((coordinate(issue.type, one) or Decimal(0)) - at) for one in values]
    return gaps.index(min(gaps))


PLAYERS: Final[Mapping[str, Adviser]] = {
    "engine": AdviceForPeople(),
    "reference": ReferenceAdvisor(),
    "boulware": Boulware(),
    "midpoint": MeetInTheMiddle(),
    "random": ByChance(),
}
"""In the order in which their mean scores must come."""
