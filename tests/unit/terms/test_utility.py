"""Package utility: intervals, completeness, weights, walk-aways in either form."""

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.terms.issues import Issue, Package, Scalar
from negotiator.terms.schemas_terms import IssueBody
from negotiator.terms.terms_parsing import parse_issues
from negotiator.terms.utility import (
    Preferences,
    UtilityInterval,
    Worth,
    check_package,
    check_worth,
    is_complete,
    missing_inputs,
    missing_issues,
    normalised_weights,
    opposed_preferences,
    package_utility,
    part_worths,
    single_price_issue,
    utility_bounds,
    utility_of_worth,
)
from tests.helpers.example_issues import example_issues


def deal() -> tuple[Issue, ...]:
    return example_issues(
        {"name": "price", "type": "money", "direction": "lower", "weight": 6, "range": {"min": 100, "max": 200}},
        {"name": "days", "type": "integer", "weight": 3, "range": {"min": 0, "max": 10}},
        {"name": "care", "type": "boolean", "weight": 1, "their_weight": 4},
    )


PACKAGES = st.fixed_dictionaries({"price": st.floats(100, 200), "days": st.integers(0, 10), "care": st.booleans()})


@given(PACKAGES, st.sets(st.sampled_from(["price", "days", "care"])))
def test_a_partial_package_is_worth_an_interval_around_every_fill(package: Package, silent: set[str]) -> None:
    mine = Preferences(deal())
    whole = package_utility(mine, package)
    part = package_utility(mine, {name: v for name, v in package.items() if name not in silent})
    assert whole.low == whole.high
    assert 0.0 <= part.low <= whole.low <= part.high <= 1.0 + 1e-12
    assert (part.low < part.high) == bool(silent)


@given(PACKAGES)
def test_the_opposed_side_loses_what_i_gain_when_weights_agree(package: Package) -> None:
    mine = Preferences(deal())
    plain = opposed_preferences(Preferences(tuple(replace(i, their_weight=None) for i in mine.issues)))
    assert package_utility(plain, package).low == pytest.approx(1.0 - package_utility(mine, package).low)


def test_their_weights_shape_the_opposed_side() -> None:
    theirs = opposed_preferences(Preferences(deal()))
    assert [issue.weight for issue in theirs.issues] == pytest.approx([1 / 3] * 3)
    assert [issue.direction for issue in theirs.issues] == ["higher", "lower", "lower"]


def test_completeness_and_what_is_left_out() -> None:
    assert is_complete(deal(), {"price": 1, "days": 2, "care": True})
    assert not is_complete(deal(), {"price": 1})
    assert missing_issues(deal(), {"days": 1}) == ("price", "care")


def test_a_walk_away_is_given_as_a_package_or_as_a_utility() -> None:
    mine = Preferences(deal())
    package: Package = {"price": "150.00", "days": 5, "care": True}
    assert utility_of_worth(mine, Worth(package), fill="low") == pytest.approx(0.3 + 0.15 + 0.1)
    assert utility_of_worth(mine, Worth(utility=0.4), fill="low") == 0.4
    assert utility_of_worth(mine, None, fill="low") is None
    assert utility_of_worth(mine, Worth(), fill="low") is None
    ends = [utility_of_worth(mine, Worth({"price": 150}), fill=fill) for fill in ("low", "high")]
    assert ends == pytest.approx([0.3, 0.7])


def test_unknown_issues_and_values_are_pointed_at() -> None:
    found = check_package(deal(), {"price": 99, "a/b": 1, "days": 3})
    assert [refusal.pointer for refusal in found] == ["/package/price", "/package/a~1b"]


@pytest.mark.parametrize(
    ("given_worth", "pointers"),
    [
        (None, []),
        (Worth(utility=0.5), []),
        (Worth({"price": 150}), []),
        (Worth({"price": 1}), ["/batna/package/price"]),
        (Worth(), ["/batna"]),
        (Worth({"price": 150}, 0.5), ["/batna"]),
        (Worth(utility=float("nan")), ["/batna/utility"]),
    ],
)
def test_targets_and_alternatives_are_checked(given_worth: Worth | None, pointers: list[str]) -> None:
    found = check_worth(Preferences(deal()), given_worth, "/batna")
    assert [refusal.pointer for refusal in found] == pointers


def test_what_advice_lacks_is_named() -> None:
    names = missing_inputs(deal(), walk_away=None, target=Worth(utility=0.9), deadline=None)
    assert names == ("walk_away", "deadline", "issues/0/their_weight", "issues/1/their_weight")
    assert missing_inputs(deal()[:1], batna=None) == ("batna",)


def test_part_worths_carry_their_own_weights_and_a_constant() -> None:
    table = part_worths({"x": [("10.00", 3.0), (20, -1.0)]}, 0.5, kinds={"x": "money"})
    assert package_utility(table, {"x": 10}) == UtilityInterval(3.5, 3.5)
    assert utility_bounds(table) == UtilityInterval(-0.5, 3.5)


def test_only_one_shared_price_makes_a_price_talk() -> None:
    price = Preferences(normalised_weights(deal()[:1]))
    assert single_price_issue(price, opposed_preferences(price)) == price.issues[0]
    assert single_price_issue(Preferences(deal()), opposed_preferences(Preferences(deal()))) is None
    assert single_price_issue(price, part_worths({"price": [(100, 1.0), (200, 0.0)]})) is None


def test_a_price_both_want_to_move_the_same_way_is_no_price_talk() -> None:
    price = Preferences(normalised_weights(deal()[:1]))
    assert single_price_issue(price, price) is None
    peak = replace(price.issues[0], value_points=((Decimal(100), 0.0), (Decimal(200), 1.0)))
    assert single_price_issue(Preferences((peak,)), opposed_preferences(price)) is None


def test_a_worth_in_money_weighs_an_issue_beside_the_price() -> None:
    price = {"name": "price", "type": "money", "range": {"min": 17000, "max": 23500}}
    options = [{"value": "collected", "worth": 0}, {"value": "delivered", "worth": -350}]
    delivery = {"name": "delivery", "type": "enum", "options": options}
    wait = {"name": "wait", "type": "duration_days", "direction": "lower", "range": {"min": 0, "max": 30}, "worth": 300}
    issues = parse_issues([IssueBody.model_validate(one) for one in (price, delivery, wait)], "seller")
    mine = Preferences(issues)

    def worth(**package: Scalar) -> float:
        return package_utility(mine, package).low

    assert worth(price=20350, delivery="delivered", wait=0) == pytest.approx(
        worth(price=20000, delivery="collected", wait=0)
    )
    assert worth(price=20150, delivery="collected", wait=15) == pytest.approx(
        worth(price=20000, delivery="collected", wait=0)
    )
