"""Issues as clients send them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.base.errors import ValidationFailed
from negotiator.http.input import validate
from negotiator.negotiations.engine_input import described_terms
from negotiator.negotiations.schemas_advice import LeverageBody
from negotiator.terms.issues import ISSUE_TYPES, Issue
from tests.helpers.example_issues import example_issues

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner), max_leaves=6
)
WILD = st.fixed_dictionaries(
    {},
    optional={
        "name": JSON,
        "type": JSON | st.sampled_from(ISSUE_TYPES),
        "direction": JSON,
        "weight": JSON,
        "their_weight": JSON,
        "range": JSON | st.fixed_dictionaries({"min": SCALARS, "max": SCALARS, "step": SCALARS}),
        "options": JSON | st.lists(st.fixed_dictionaries({"value": JSON, "utility": JSON})),
        "value_points": JSON | st.lists(st.tuples(SCALARS, SCALARS).map(list)),
    },
)


def read_or_refused(bodies: list[Any]) -> tuple[tuple[Issue, ...], list[str]]:
    """The issues of full preferences, or the pointers of what is wrong with them."""
    try:
        body = validate(LeverageBody, {"my_preferences": {"issues": bodies}})
        return described_terms(body).issues, []
    except ValidationFailed as refused:
        return (), [error.pointer.removeprefix("/my_preferences") for error in refused.errors]


@given(st.lists(JSON | WILD, max_size=3))
def test_any_json_is_read_or_refused_and_never_raises(bodies: list[Any]) -> None:
    issues, pointers = read_or_refused(bodies)
    assert bool(issues) != bool(pointers)
    assert all(pointer.startswith("/issues") for pointer in pointers if pointer), (
        "one without a place says there are more"
    )
    if issues:
        assert sum(issue.weight for issue in issues) == pytest.approx(1.0, abs=1e-6)


def money(**more: object) -> dict[str, object]:
    return {"name": "price", "type": "money", "range": {"min": "1", "max": "9"}, **more}


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ("text", "/issues/0"),
        (money(name=" "), "/issues/0/name"),
        (money(type="colour"), "/issues/0/type"),
        (money(direction="up"), "/issues/0/direction"),
        (money(weight=-1), "/issues/0/weight"),
        (money(weight=float("nan")), "/issues/0/weight"),
        (money(weight=True), "/issues/0/weight"),
        (money(range=None), "/issues/0/range"),
        (money(range={"min": 9, "max": 9}), "/issues/0/range/max"),
        (money(range={"max": 9}), "/issues/0/range/min"),
        (money(range={"min": 1, "max": 9, "step": 0}), "/issues/0/range/step"),
        (money(range={"min": 1, "max": 9, "step": "0.0001"}), "/issues/0/range/step"),
        (money(range={"min": 1, "max": 9, "step": "1e-300"}), "/issues/0/range/step"),
        (money(options=[1]), "/issues/0/options"),
        (money(options=[1, "1.0"]), "/issues/0/options"),
        (money(options=[1, "x"]), "/issues/0/options/1"),
        (money(options=[{"value": 1, "utility": 2}, {"value": 2}]), "/issues/0/options/0/utility"),
        (money(options=[{"value": 1, "utility": 1}, {"value": 2}]), "/issues/0/options"),
        (money(value_points=[[1, 0], [1, 1]]), "/issues/0/value_points"),
        (money(value_points=[[1, 0]]), "/issues/0/value_points"),
        ({"name": "x", "type": "enum"}, "/issues/0/options"),
    ],
)
def test_what_is_wrong_with_an_issue_is_pointed_at(body: object, pointer: str) -> None:
    assert read_or_refused([body]) == ((), [pointer])


def test_names_are_unique_and_there_is_at_least_one_issue() -> None:
    assert read_or_refused([money(), money()]) == ((), ["/issues/1/name"])
    after_a_bad_one = read_or_refused([None, money(), money()])
    assert after_a_bad_one == ((), ["/issues/0", "/issues/2/name"])
    assert read_or_refused([]) == ((), ["/issues"])


def test_weights_are_normalised_and_the_given_ones_kept() -> None:
    issues = example_issues(money(weight=30), money(name="b", weight=10), money(name="c"))
    assert [issue.weight for issue in issues] == pytest.approx([0.5, 1 / 6, 1 / 3])
    assert [issue.weight_given for issue in issues] == [30, 10, None]


def test_an_issue_that_is_always_worth_the_same_weighs_nothing() -> None:
    same = [{"value": v, "utility": 0.4} for v in "ab"]
    flat = {"name": "x", "type": "enum", "weight": 5, "options": same}
    issues = example_issues(money(weight=1), flat)
    assert [issue.weight for issue in issues] == [1.0, 0.0]


def test_options_without_utilities_rise_by_size_or_by_listed_order() -> None:
    terms = {"name": "t", "type": "integer", "direction": "lower", "options": [30, 90, 60]}
    colour = {"name": "c", "type": "enum", "options": ["bad", "fair", "good"]}
    issues = example_issues(terms, colour)
    assert [option.utility for option in issues[0].options] == [1.0, 0.0, 0.5]
    assert [option.utility for option in issues[1].options] == [0.0, 0.5, 1.0]


def test_dates_and_corners_are_read() -> None:
    start = {
        "name": "start",
        "type": "date",
        "range": {"min": "2026-01-01", "max": "2026-01-31", "step": 7},
        "value_points": [["2026-01-01", 1], ["2026-01-31", 0]],
    }
    issues = example_issues(start)
    assert [u for _, u in issues[0].value_points] == [1.0, 0.0]
