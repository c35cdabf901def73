"""The figures that people would name, over random issues and in ordinary ones."""

from decimal import Decimal
from random import Random

import pytest
from hypothesis import given, settings

from negotiator.advice.concession.aims import find_aims
from negotiator.advice.concession.path import concession_path
from negotiator.advice.concession.people_values import people_values, rounding_unit
from negotiator.terms.issues import Issue, IssueRange, IssueType, coordinate, is_outside_range
from tests.helpers.generated_talks import SEEDS, negotiation, random_value
from tests.helpers.limit_checks import worth


def issue(low: int | str, high: int | str, type: IssueType = "money", unit: str | None = None) -> Issue:
    return Issue("x", type, unit=unit, range=IssueRange(Decimal(low), Decimal(high)))


@given(SEEDS)
@settings(max_examples=300)
def test_values_lie_between_the_ends_and_fall_in_worth(seed: int) -> None:
    chance = Random(seed)  # noqa: S311  a sample, not a secret
    for one in negotiation(seed).terms.issues:
        best, worst = sorted((random_value(chance, one) for _ in range(2)), key=lambda v, one=one: -worth(one, v))
        values = people_values(one, best, worst)
        falling = [worth(one, value) for value in values]
        assert values[0] == best or falling[0] == worth(one, best)
        assert falling == sorted(set(falling), reverse=True)
        assert falling[-1] >= worth(one, worst) - 1e-9
        assert not any(is_outside_range(one, value) for value in values)


def test_amounts_from_a_thousand_on_are_multiples_of_25_in_at_least_95_percent() -> None:
    """Figures of the path that the user did not name, on issues without steps or options of their own."""
    figures: list[Decimal] = []
    for seed in range(500):
        aims = find_aims(negotiation(seed).terms)
        path = concession_path(aims)
        free = [
            aim
            for aim in aims.issues
            if aim.issue.type == "money"
            and not aim.issue.options
            and aim.issue.range is not None
            and aim.issue.range.step is None
            and len(aim.values) > 1
        ]
        for package in (path.now.package, *(step.package for step in path.steps)):
            for aim in free:
                at = coordinate("money", package[aim.issue.name])
                if at is not None and at >= 1000 and package[aim.issue.name] != aim.target:
                    figures.append(at)
    assert len(figures) > 200
    assert sum(at % 25 == 0 for at in figures) >= 0.95 * len(figures)


@pytest.mark.parametrize(
    ("best", "worst", "unit"),
    [
        ("10500", "12500", 100),
        ("100", "120", 1),
        ("850000", "1200000", 10_000),
        ("45", "56", "0.5"),
        ("4.20", "5.40", "0.05"),
    ],
)
def test_people_round_by_the_size_and_the_room(best: str, worst: str, unit: object) -> None:
    size, room = Decimal(worst), abs(Decimal(worst) - Decimal(best))
    assert rounding_unit(issue(1, 2_000_000), room, size) == Decimal(str(unit))


def test_months_and_days_are_the_usual_ones() -> None:
    term = issue(12, 48, "integer", "months")
    assert people_values(term, 12, 48)[::-1] == () or set(people_values(term, 48, 12)) == {
        48, 36, 30, 24, 18, 12,
    }  # fmt: skip
    payment = issue(0, 120, "duration_days")
    assert set(people_values(payment, 90, 14)) <= {14, 21, 30, 45, 60, 75, 90}


def test_an_issue_with_steps_keeps_to_them() -> None:
    one = Issue("x", "money", range=IssueRange(Decimal(7), Decimal(997), Decimal(33)))
    values = [coordinate("money", value) for value in people_values(one, Decimal(997), Decimal(7))]
    assert all(at is not None and (at - 7) % 33 == 0 for at in values)
