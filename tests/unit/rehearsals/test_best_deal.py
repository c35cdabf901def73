"""The best deal is one that both sides may sign, no candidate is better, and its price is exact."""

from dataclasses import replace
from decimal import Decimal
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from negotiator.rehearsals.best_deal import best_deal, least_signed, own_worth, price_at_floor, signs
from negotiator.rehearsals.counterpart.interests import Interests, Stake
from negotiator.rehearsals.counterpart.person import Person, draw_person
from negotiator.terms import limits
from negotiator.terms.issues import Issue, IssueOption, IssueRange
from negotiator.terms.terms import Constraint, Terms
from negotiator.terms.utility import Preferences, Worth
from tests.helpers.generated_rehearsals import made_up_package, made_up_rehearsal

SEEDS = st.integers(0, 10**6)


def price_issue(step: str | None = None, *, weight: float = 1.0) -> Issue:
    span = IssueRange(Decimal(9000), Decimal(14000), None if step is None else Decimal(step))
    return Issue("price", "money", "Price", direction="lower", weight=weight, range=span)


def terms_of(*issues: Issue, **members: Any) -> Terms:
    return Terms("Used car", "buyer", "vehicles", "new_purchase", "EUR", Preferences(issues), **members)


def person_of(floor: float, *stakes: Stake) -> Person:
    interests = Interests(stakes)
    return replace(draw_person(interests, "fair", 1), interests=interests, floor=floor)


PRICE_STAKE = Stake(price_issue(), "12000", "13500", 1.0)


@pytest.mark.parametrize(
    ("step", "floor", "expected"),
    [
        (None, 0.0, "12000"),
        (None, 0.1, "12150"),
        (None, 1 / 3.1, "12490"),  # 12,000 + 1,500 / 3.1 = 12,483.870…, in four digits
        ("50", 0.11, "12200"),
        ("500", -0.9, "11000"),
    ],
)
def test_a_single_price_is_the_last_that_the_person_signs(step: str | None, floor: float, expected: str) -> None:
    own = own_worth(terms_of(price_issue(step)), Interests((PRICE_STAKE,)))
    person = person_of(floor, PRICE_STAKE)
    found = best_deal(own, person)
    assert found == {"price": Decimal(expected)}
    assert least_signed(own, person) == found
    cheaper = {"price": Decimal(expected) - Decimal(step or "10")}
    assert signs(person, {"price": Decimal(expected)})
    assert not signs(person, cheaper)


def test_no_deal_is_best_where_the_limits_leave_no_room() -> None:
    terms = terms_of(price_issue(), walk_away=Worth(package={"price": Decimal(11500)}))
    own = own_worth(terms, Interests((PRICE_STAKE,)))
    assert best_deal(own, person_of(0.0, PRICE_STAKE)) is None


def test_a_hard_constraint_bounds_the_price() -> None:
    rule = Constraint("price", ">=", (Decimal(12400),))
    own = own_worth(terms_of(price_issue(), constraints=(rule,)), Interests((PRICE_STAKE,)))
    assert best_deal(own, person_of(0.0, PRICE_STAKE)) == {"price": Decimal(12400)}


def test_what_matters_little_to_the_user_is_given_for_a_better_price() -> None:
    """A month of term is worth €375 to them and €139 to the user: they get all of it, and the price pays for it."""
    term = Issue("term", "integer", "Term", direction="lower", weight=0.25, range=IssueRange(Decimal(0), Decimal(12)))
    price = price_issue(weight=0.75)
    stakes = (Stake(price, "12000", "13500", 0.25), Stake(term, 0, 12, 0.75))
    own = own_worth(terms_of(price, term), Interests(stakes))
    found = best_deal(own, person_of(0.5, *stakes))
    assert found == {"price": Decimal(10500), "term": 12}


def test_without_a_price_the_best_listed_package_is_found() -> None:
    colour = Issue(
        "colour", "enum", "Colour", weight=0.6,
        options=(IssueOption("red", 1.0), IssueOption("blue", 0.5), IssueOption("grey", 0.0)),
    )  # fmt: skip
    tyres = Issue("tyres", "boolean", "Winter tyres", weight=0.4)
    stakes = (
        Stake(colour, "blue", "grey", 0.5, {"red": -1.0, "blue": 0.0, "grey": 1.0}),
        Stake(tyres, True, False, 0.5, {True: 0.0, False: 1.0}),
    )
    own = own_worth(terms_of(colour, tyres), Interests(stakes))
    assert best_deal(own, person_of(0.0, *stakes)) == {"colour": "blue", "tyres": True}
    assert best_deal(own, person_of(0.5, *stakes)) == {"colour": "grey", "tyres": True}
    assert best_deal(own, person_of(1.5, *stakes)) is None


def test_more_combinations_than_are_enumerated_are_climbed() -> None:
    price = price_issue(weight=0.3)
    others = [Issue(f"extra_{n}", "boolean", weight=0.05) for n in range(14)]
    weights = [0.01 + 0.005 * (n % 5) for n in range(14)]
    stakes = [
        Stake(one, True, False, weight, {True: 0.0, False: 1.0}) for one, weight in zip(others, weights, strict=True)
    ]
    stakes = [Stake(price, "12000", "13500", 1 - sum(weights)), *stakes]
    own = own_worth(terms_of(price, *others), Interests(tuple(stakes)))
    person = person_of(0.2, *stakes)
    found = best_deal(own, person)
    assert found is not None
    for name in (one.name for one in others):  # no single change is better
        other = {**found, name: not found[name]}
        at = price_at_floor(own, person, other)
        assert at is not None
        assert own.utility({**other, **at}) <= own.utility(found) + 1e-9


@given(SEEDS)
@settings(deadline=None, max_examples=60)
def test_the_best_deal_is_signed_by_both_and_no_other_package_is_better(seed: int) -> None:
    terms, person, _, _ = made_up_rehearsal(seed, max_issues=4)
    own = own_worth(terms, person.interests)
    found = best_deal(own, person)
    if found is not None:
        assert signs(person, found)
        assert limits.keeps_limits(own.terms, found)
        assert set(found) == {issue.name for issue in terms.issues}
    chance = Random(seed)  # noqa: S311
    for _ in range(10):
        package = made_up_package(chance, person)
        if not signs(person, package) or not limits.keeps_limits(own.terms, package):
            continue
        if found is None or own.utility(package) > own.utility(found):
            better = best_deal(own, person, package)
            assert better is not None
            assert own.utility(better) >= own.utility(package)
    assert set(least_signed(own, person)) == {issue.name for issue in terms.issues}
