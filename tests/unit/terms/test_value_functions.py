"""Value functions: what a value is worth, which values exist, which are refused."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.terms.issues import (
    Direction,
    Issue,
    IssueOption,
    IssueRange,
    IssueType,
    check_value,
    coordinate,
    coordinate_of_worth,
    is_gridded,
    opposed_issue,
    value_at_coordinate,
    values_of,
    worth_of,
    worths_of,
)

DIRECTIONS: tuple[Direction, ...] = ("higher", "lower")
NUMBERS: tuple[IssueType, ...] = ("money", "number", "percent")
AMOUNT = st.decimals(-(10**9), 10**9, places=2)
PRICE = Issue("price", "money", direction="lower", range=IssueRange(Decimal(100), Decimal(300)))


@st.composite
def ranged(draw: st.DrawFn) -> Issue:
    low = draw(AMOUNT)
    wide = draw(st.decimals("0.01", 10**6, places=2))
    direction = draw(st.sampled_from(DIRECTIONS))
    kind = draw(st.sampled_from(NUMBERS))
    return Issue("x", kind, direction=direction, range=IssueRange(low, low + wide))


@given(ranged(), AMOUNT, AMOUNT)
def test_worth_is_between_zero_and_one_and_rises_in_the_good_direction(
    issue: Issue, one: Decimal, other: Decimal
) -> None:
    low, high = (worth_of(issue, value) for value in sorted((one, other)))
    assert low is not None
    assert high is not None
    assert 0.0 <= min(low, high) <= max(low, high) <= 1.0
    assert low <= high if issue.direction == "higher" else low >= high


@given(ranged())
def test_the_ends_of_a_range_are_worth_nothing_and_everything(issue: Issue) -> None:
    assert issue.range is not None
    ends = [worth_of(issue, issue.range.min), worth_of(issue, issue.range.max)]
    assert ends == ([0.0, 1.0] if issue.direction == "higher" else [1.0, 0.0])


@given(ranged(), st.floats(0, 1))
def test_the_value_of_a_utility_has_that_utility(issue: Issue, utility: float) -> None:
    at = coordinate_of_worth(issue, utility)
    assert at is not None
    assert worth_of(issue, at) == pytest.approx(utility, abs=1e-9)


@given(ranged(), st.floats(0, 1))
def test_the_other_side_of_an_issue_wants_the_opposite(issue: Issue, place: float) -> None:
    value = coordinate_of_worth(issue, place)
    assert value is not None
    mine, theirs = worth_of(issue, value), worth_of(opposed_issue(issue, 0.5), value)
    assert mine is not None
    assert theirs is not None
    assert mine + theirs == pytest.approx(1.0)


def test_money_is_the_same_as_text_or_number() -> None:
    assert worth_of(PRICE, "150.00") == worth_of(PRICE, 150) == worth_of(PRICE, 150.0) == 0.75


def test_a_bent_line_is_followed_between_its_corners() -> None:
    bent = Issue(
        "x",
        "number",
        range=IssueRange(Decimal(0), Decimal(10)),
        value_points=((Decimal(0), 0.0), (Decimal(2), 0.8), (Decimal(10), 1.0)),
    )
    assert [worth_of(bent, x) for x in (0, 1, 2, 6, 10)] == pytest.approx([0, 0.4, 0.8, 0.9, 1])
    assert coordinate_of_worth(bent, 0.9) == pytest.approx(Decimal(6))
    assert coordinate_of_worth(bent, 1.1) is None
    assert 2.0 in values_of(bent, 4)


def test_tables_and_bent_lines_are_turned_upside_down_for_the_other_side() -> None:
    corners = ((Decimal(0), 0.0), (Decimal(2), 0.8), (Decimal(10), 1.0))
    bent = Issue("x", "number", range=IssueRange(Decimal(0), Decimal(10)), value_points=corners)
    table = Issue("x", "enum", options=(IssueOption("a", 0.25), IssueOption("b", 1.0)))
    assert worth_of(opposed_issue(bent, 1.0), 2) == pytest.approx(0.2)
    assert [worth_of(opposed_issue(table, 1.0), v) for v in "ab"] == [0.75, 0.0]
    assert worth_of(opposed_issue(Issue("x", "boolean"), 1.0), False) == 1.0


def test_options_are_worth_what_their_table_says() -> None:
    issue = Issue("x", "enum", options=(IssueOption("a", 0.3), IssueOption(True, 1.0), IssueOption(1, 0.5)))
    assert worths_of(issue, ["a", True, 1, "b"]) == [0.3, 1.0, 0.5, None]
    assert [worth_of(issue, value) for value in ("a", True, 1, "b")] == [0.3, 1.0, 0.5, None]


@pytest.mark.parametrize(
    ("kind", "limits", "expected"),
    [
        ("integer", ("1", "4", None), (1, 2, 3, 4)),
        ("number", ("0", "1", "0.25"), (0.0, 0.25, 0.5, 0.75, 1.0)),
        ("money", ("10", "15", "2"), (10, 12, 14, 15)),
        ("date", ("738000", "738002", None), ("2021-07-29", "2021-07-30", "2021-07-31")),
    ],
)
def test_values_are_listed_by_step_and_both_ends_are_among_them(
    kind: IssueType, limits: tuple[str, str, str | None], expected: tuple[object, ...]
) -> None:
    low, high, step = limits
    grid = None if step is None else Decimal(step)
    issue = Issue("x", kind, range=IssueRange(Decimal(low), Decimal(high), grid))
    assert values_of(issue) == expected
    assert not is_gridded(issue)


@given(ranged(), st.integers(2, 60))
def test_a_continuous_range_has_an_even_stand_in_from_end_to_end(issue: Issue, grid: int) -> None:
    assert is_gridded(issue)
    assert issue.range is not None
    found = [coordinate(issue.type, value) for value in values_of(issue, grid)]
    assert len(found) == grid
    assert float(found[0] or 0) == float(issue.range.min)
    assert float(found[-1] or 0) == float(issue.range.max)


@pytest.mark.parametrize(
    ("issue", "value"),
    [
        (PRICE, 99),
        (PRICE, "300.01"),
        (PRICE, "NaN"),
        (PRICE, float("inf")),
        (PRICE, True),
        (PRICE, None),
        (PRICE, "1e999999999"),
        (PRICE, [100]),
        (Issue("x", "boolean"), "yes"),
        (Issue("x", "integer", range=IssueRange(Decimal(0), Decimal(9))), 1.5),
        (Issue("x", "date", range=IssueRange(Decimal(1), Decimal(9))), "2021-13-01"),
        (Issue("x", "enum", options=(IssueOption("a", 0), IssueOption("b", 1))), "c"),
        (Issue("x", "enum", options=(IssueOption(0, 0), IssueOption(1, 1))), True),
    ],
)
def test_a_value_the_issue_does_not_have_is_refused_with_its_pointer(issue: Issue, value: object) -> None:
    assert [refusal.pointer for refusal in check_value(issue, value, "/here")] == ["/here"]


def test_values_the_issue_has_pass() -> None:
    assert check_value(PRICE, "100.00", "") == []
    assert check_value(Issue("x", "boolean"), False, "") == []
    assert check_value(Issue("x", "enum", options=(IssueOption("a", 0), IssueOption("b", 1))), "b", "") == []


@given(st.dates())
def test_dates_go_to_an_axis_and_back(day: object) -> None:
    at = coordinate("date", str(day))
    assert at is not None
    assert value_at_coordinate("date", at) == str(day)
