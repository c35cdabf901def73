"""The outcome space: what is enumerated, what is dropped, what is grown."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.advice.leverage import outcomes
from negotiator.advice.leverage.outcomes import all_utilities, outcome_space, package_at, pareto_frontier, undominated
from negotiator.terms.utility import Preferences, opposed_preferences, package_utility, part_worths
from tests.helpers.example_issues import example_issues

UTILITIES = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=0, max_size=40)


@given(UTILITIES)
def test_undominated_points_are_those_nothing_beats(points: list[tuple[int, int]]) -> None:
    mine = np.array([a for a, _ in points], dtype=np.float64)
    theirs = np.array([b for _, b in points], dtype=np.float64)
    beaten = {n for n, (a, b) in enumerate(points) if any(c >= a and d >= b and (c, d) != (a, b) for c, d in points)}
    assert set(undominated(mine, theirs).tolist()) == set(range(len(points))) - beaten


@given(st.integers(0, 2**32 - 1), st.sampled_from([2, 9, 1000]))
def test_the_quick_first_pass_loses_no_undominated_point(seed: int, levels: int) -> None:
    draw = np.random.default_rng(seed)
    mine, theirs = (draw.integers(0, levels, 6000).astype(np.float64) for _ in "ab")
    best = {a: theirs[mine == a].max() for a in np.unique(mine)}
    expected = {(a, b) for a, b in best.items() if all(b > d for c, d in best.items() if c > a)}
    kept = undominated(mine, theirs)
    assert {(mine[k], theirs[k]) for k in kept} == expected
    assert len(kept) == sum((a, b) in expected for a, b in zip(mine, theirs, strict=True))


def three_issues(size: int, seed: int) -> tuple[Preferences, Preferences]:
    draw = np.random.default_rng(seed)
    mine, theirs = (
        part_worths({f"issue {k}": [(f"value {n}", float(draw.random())) for n in range(size + k)] for k in range(3)})
        for _ in "ab"
    )
    return mine, theirs


@given(st.integers(2, 7), st.integers(0, 1000))
def test_growing_issue_by_issue_finds_the_frontier_of_all_packages(size: int, seed: int) -> None:
    space = outcome_space(*three_issues(size, seed))
    whole = pareto_frontier(space, 1.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(outcomes, "EXACT_LIMIT", 1)
        grown = pareto_frontier(space, 1.0)
    assert grown.mine == pytest.approx(whole.mine, abs=1e-12)
    assert grown.theirs == pytest.approx(whole.theirs, abs=1e-12)
    assert np.array_equal(grown.choices, whole.choices)


def test_a_thinned_frontier_keeps_real_packages_near_the_true_one() -> None:
    mine, theirs = three_issues(30, 4)
    space = outcome_space(mine, theirs)
    whole = pareto_frontier(space)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(outcomes, "EXACT_LIMIT", 1)
        patch.setattr(outcomes, "MAX_FRONTIER_POINTS", 4)
        grown = pareto_frontier(space)
    for place, (a, b) in enumerate(zip(grown.mine, grown.theirs, strict=True)):
        package = package_at(space, grown.choices[place])
        assert package_utility(mine, package).low == pytest.approx(a)
        assert package_utility(theirs, package).low == pytest.approx(b)
    assert grown.mine.max() == pytest.approx(whole.mine.max())
    assert grown.theirs.max() == pytest.approx(whole.theirs.max())
    assert (grown.mine * grown.theirs).max() >= 0.9 * (whole.mine * whole.theirs).max()


def test_enumerated_utilities_are_bitwise_those_of_the_packages() -> None:
    issues = example_issues(
        {"name": "price", "type": "money", "range": {"min": 90, "max": 130, "step": 7}},
        {"name": "days", "type": "integer", "direction": "lower", "range": {"min": 1, "max": 9}},
        {"name": "care", "type": "boolean", "weight": 0.3, "their_weight": 2},
    )
    mine = Preferences(issues)
    theirs = opposed_preferences(mine)
    space = outcome_space(mine, theirs)
    utilities = all_utilities(space)
    rows = itertools.product(*(range(len(values)) for values in space.values))
    for place, choice in enumerate(rows):
        package = package_at(space, np.array(choice))
        assert utilities[0][place] == package_utility(mine, package).low
        assert utilities[1][place] == package_utility(theirs, package).low


def test_a_value_only_one_side_lists_is_left_out() -> None:
    space = outcome_space(part_worths({"x": [("a", 1.0), ("b", 0.0)]}), part_worths({"x": [("b", 1.0)]}))
    assert space.values == (("b",),)


def test_an_issue_only_one_side_lists_is_worth_nothing_to_the_other() -> None:
    space = outcome_space(part_worths({"x": [("a", 1.0)]}), part_worths({"y": [("c", 0.4), ("d", 0.9)]}, 0.05))
    assert space.names == ("x", "y")
    mine, theirs = all_utilities(space)
    assert mine.tolist() == [1.0, 1.0]
    assert theirs.tolist() == [pytest.approx(0.45), pytest.approx(0.95)]
