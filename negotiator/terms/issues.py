"""An issue: one thing that is negotiated, with the user's value function on it (Keeney and Raiffa 1976).

A value of an ordered issue has a coordinate, a `Decimal`: money and numbers are their own coordinates, a date is its
day ordinal. Only utilities are floats.
"""

from bisect import bisect_right
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Literal, TypeAlias, get_args

from negotiator.base.errors import FieldError
from negotiator.base.values import LARGEST_WHOLE

Scalar: TypeAlias = str | int | float | bool | Decimal
Package: TypeAlias = Mapping[str, Scalar]
IssueType: TypeAlias = Literal["money", "number", "integer", "percent", "duration_days", "date", "enum", "boolean"]
Direction: TypeAlias = Literal["higher", "lower"]

ISSUE_TYPES: tuple[IssueType, ...] = get_args(IssueType)
COUNTABLE_TYPES: frozenset[str] = frozenset({"number", "integer", "duration_days"})
"""Types whose values a unit price can be multiplied by."""
WHOLE_TYPES: frozenset[str] = frozenset({"integer", "duration_days", "date"})
UNORDERED_TYPES: frozenset[str] = frozenset({"enum", "boolean"})

MAX_EXPONENT = 30
"""No coordinate passes 10^30 in size, and below 10^-30 it is 0: no division can overflow."""
_LARGEST_COORDINATE = Decimal(10) ** MAX_EXPONENT


@dataclass(frozen=True, slots=True)
class IssueRange:
    """The values of an ordered issue as coordinates, `min < max`; `step` None means continuous."""

    min: Decimal
    max: Decimal
    step: Decimal | None = None


@dataclass(frozen=True, slots=True)
class IssueOption:
    """One listed value and its worth to me before weighting."""

    value: Scalar
    utility: float
    worth: float | None = None


@dataclass(frozen=True, slots=True)
class Multiple:
    """One number that a unit price is multiplied by to get the total, such as 80 seats.

    Either `count` is the number, or `issue` names the issue whose value it is. `of` says what is counted.
    """

    count: Decimal | None
    of: str
    issue: str | None = None


@dataclass(frozen=True, slots=True)
class Issue:
    """One issue with my value function: a table (`options`), a polyline or a straight line.

    `weight` is normalised over the negotiation (sum 1), `weight_given` is what was sent. `worth` is what the best value
    is worth over the worst, in the unit of the price. Where that is known of all issues but the price, they are
    `compensated`: a gain on one makes up for a loss on another, and the walk-away is kept in all.
    `value_points` are (coordinate, utility) corners in rising coordinate order. `limit` is the worst value that the
    user takes on this issue. `multiples` are what a unit price is multiplied by.
    """

    name: str
    type: IssueType
    label: str = ""
    unit: str | None = None
    direction: Direction = "higher"
    weight: float = 1.0
    weight_given: float | None = None
    worth: float | None = None
    compensated: bool = False
    range: IssueRange | None = None
    options: tuple[IssueOption, ...] = ()
    value_points: tuple[tuple[Decimal, float], ...] = ()
    their_weight: float | None = None
    tradeable: bool = True
    limit: Scalar | None = None
    multiples: tuple[Multiple, ...] = ()


def coordinate(kind: IssueType, value: object) -> Decimal | None:
    """The place of a value on its issue's axis, or None when it has none.

    Takes JSON scalars: numbers or decimal strings, ISO dates for `date`. Refuses (None) booleans,
    NaN, infinities and numbers beyond 10^30 in size.
    """
    if kind in UNORDERED_TYPES or isinstance(value, bool):
        return None
    if kind == "date":
        return _day(value)
    if not isinstance(value, str | int | float | Decimal):
        return None
    try:
        number = value if isinstance(value, Decimal) else Decimal(str(value))
    except (InvalidOperation, ValueError):
        return None
    in_reach = (
        number.is_finite()
        and number.adjusted() <= MAX_EXPONENT
        and -_LARGEST_COORDINATE <= number <= _LARGEST_COORDINATE
    )
    if in_reach and number.adjusted() < -MAX_EXPONENT:
        return Decimal(0)
    whole = kind not in WHOLE_TYPES or (in_reach and number == number.to_integral_value())
    return number if in_reach and whole else None


def known_coordinate(kind: IssueType, value: object) -> Decimal:
    """The place of a value that is known to have one; ValueError otherwise."""
    at = coordinate(kind, value)
    if at is None:
        raise ValueError(f"{value!r} is not a value of type {kind}")
    return at


def step_type(kind: IssueType) -> IssueType:
    """The type of the step of a range: a date goes on by whole days."""
    return "integer" if kind == "date" else kind


def _day(value: object) -> Decimal | None:
    if not isinstance(value, str):
        return None
    try:
        return Decimal(date.fromisoformat(value).toordinal())
    except ValueError:
        return None


def value_at_coordinate(kind: IssueType, at: Decimal) -> Scalar:
    """A coordinate as the value clients read: Decimal money, ISO date, int or float."""
    if kind == "date":
        return date.fromordinal(int(at)).isoformat()
    if kind == "money":
        return at
    if kind in WHOLE_TYPES:
        return int(at)
    return float(at)


def canonical_value(kind: IssueType, value: Scalar) -> Scalar:
    """The value in the form of its type, such as `"14000"` as a Decimal on money.

    The value itself where it has no coordinate, or is a whole number that JSON cannot carry exactly.
    """
    at = coordinate(kind, value)
    if at is None or (kind in WHOLE_TYPES and abs(at) > LARGEST_WHOLE):
        return value
    return value_at_coordinate(kind, at)


def same_value(kind: IssueType, left: Scalar, right: object) -> bool:
    """Whether two values mean the same on this kind of issue (`"10"` and `10.0` for money)."""
    if kind in UNORDERED_TYPES:
        return isinstance(left, bool) == isinstance(right, bool) and left == right
    a, b = coordinate(kind, left), coordinate(kind, right)
    return a is not None and a == b


VALUE_GRID_SIZE = 101
"""Values that stand in for a continuous range: its ends and 99 between, evenly."""
MAX_LISTED_VALUES = 10_000


def worth_of(issue: Issue, value: object, *, clamp: bool = True) -> float | None:
    """Worth to me of one value before weighting, in [0, 1]; None when the issue has no such value.

    With `clamp=False` a straight line goes on beyond its range, which a walk-away may need.
    """
    if issue.options:
        return next((o.utility for o in issue.options if same_value(issue.type, o.value, value)), None)
    if issue.type == "boolean":
        return float(value == (issue.direction == "higher")) if isinstance(value, bool) else None
    at = coordinate(issue.type, value)
    if at is None:
        return None
    if issue.value_points:
        return _on_polyline(issue.value_points, at)
    return _on_line(issue, at, clamp=clamp)


def worths_of(issue: Issue, values: Sequence[Scalar]) -> list[float | None]:
    """`worth_of` over many values, through one look-up table where the issue has options."""
    if not issue.options:
        return [worth_of(issue, value) for value in values]
    table = {value_key(issue.type, option.value): option.utility for option in issue.options}
    return [table.get(value_key(issue.type, value)) for value in values]


def value_key(kind: IssueType, value: Scalar) -> Hashable:
    """A key that two values share exactly when they mean the same on this type of issue."""
    at = coordinate(kind, value)
    return (isinstance(value, bool), value) if at is None else at


def _on_line(issue: Issue, at: Decimal, *, clamp: bool) -> float | None:
    if issue.range is None:
        return None
    span = issue.range.max - issue.range.min
    gone = at - issue.range.min if issue.direction == "higher" else issue.range.max - at
    share = float(gone / span)
    return min(1.0, max(0.0, share)) if clamp else share


def _on_polyline(corners: tuple[tuple[Decimal, float], ...], at: Decimal) -> float:
    right = bisect_right(corners, at, key=lambda corner: corner[0])
    if right == 0:
        return corners[0][1]
    if right == len(corners):
        return corners[-1][1]
    (x0, u0), (x1, u1) = corners[right - 1], corners[right]
    return u0 + (u1 - u0) * float((at - x0) / (x1 - x0))


def coordinate_of_worth(issue: Issue, utility: float) -> Decimal | None:
    """The coordinate on a straight or bent line whose worth is `utility`; None when it has none.

    Of several (a flat stretch) the one that is better by the issue's direction.
    """
    if issue.range is None or issue.options:
        return None
    if not issue.value_points:
        gone = (issue.range.max - issue.range.min) * Decimal(repr(utility))
        return issue.range.min + gone if issue.direction == "higher" else issue.range.max - gone
    hits: list[Decimal] = []
    for (x0, u0), (x1, u1) in zip(issue.value_points, issue.value_points[1:], strict=False):
        if min(u0, u1) <= utility <= max(u0, u1):
            share = 1.0 if u0 == u1 else (utility - u0) / (u1 - u0)
            hits.append(x0 + (x1 - x0) * Decimal(repr(share)))
    if not hits:
        return None
    return max(hits) if issue.direction == "higher" else min(hits)


def values_of(issue: Issue, grid: int = VALUE_GRID_SIZE) -> tuple[Scalar, ...]:
    """Every value of the issue in rising order, options as listed.

    A range without a step, or with more than 10,000 values, is stood in for by `grid` even values
    (whole numbers where the type asks for them); `is_gridded` tells.
    """
    if issue.options:
        return tuple(option.value for option in issue.options)
    if issue.type == "boolean":
        return (False, True)
    if issue.range is None:
        return ()
    low, high = issue.range.min, issue.range.max
    step = _step(issue)
    if step is not None and not is_gridded(issue):
        count = int((high - low) / step) + 1
        coordinates = [low + step * k for k in range(count)]
        if coordinates[-1] != high:
            coordinates.append(high)
    else:
        places = [low + (high - low) * k / (grid - 1) for k in range(grid)]
        coordinates = places if step is None else [low, *map(round, places[1:-1]), high]
        corners = [x for x, _ in issue.value_points if low < x < high]
        coordinates = sorted({*map(Decimal, coordinates), *corners})
    return tuple(value_at_coordinate(issue.type, Decimal(at)) for at in coordinates)


def is_gridded(issue: Issue) -> bool:
    """Whether `values_of` stands in for the issue's values instead of listing them all."""
    if issue.options or issue.range is None:
        return False
    step = _step(issue)
    return step is None or (issue.range.max - issue.range.min) / step >= MAX_LISTED_VALUES


def _step(issue: Issue) -> Decimal | None:
    if issue.range is not None and issue.range.step is not None:
        return issue.range.step
    return Decimal(1) if issue.type in {"integer", "duration_days", "date"} else None


def check_value(issue: Issue, value: object, pointer: str) -> list[FieldError]:
    """What is wrong with this value for this issue: outside its options, range or type."""
    if issue.options:
        if any(same_value(issue.type, option.value, value) for option in issue.options):
            return []
        return [FieldError(pointer, f"Not one of the options of {issue.name}.")]
    if issue.type == "boolean":
        return [] if isinstance(value, bool) else [FieldError(pointer, "Must be true or false.")]
    at = coordinate(issue.type, value)
    if at is None:
        return [FieldError(pointer, f"Not a value of type {issue.type}.")]
    if issue.range is not None and is_outside_range(issue, value):
        ends = (value_at_coordinate(issue.type, issue.range.min), value_at_coordinate(issue.type, issue.range.max))
        return [FieldError(pointer, f"Must lie between {ends[0]} and {ends[1]}.")]
    return []


def is_outside_range(issue: Issue, value: object) -> bool:
    """Whether a value of an ordered issue lies beyond an end of its range; options and other values do not."""
    at = coordinate(issue.type, value)
    if issue.range is None or issue.options or at is None:
        return False
    return not issue.range.min <= at <= issue.range.max


def nearest_in_range(issue: Issue, value: Scalar) -> Scalar:
    """The value itself, or the end of the range that it lies beyond."""
    at = coordinate(issue.type, value)
    if issue.range is None or at is None or not is_outside_range(issue, value):
        return value
    return value_at_coordinate(issue.type, min(issue.range.max, max(issue.range.min, at)))


def opposed_issue(issue: Issue, weight: float) -> Issue:
    """The same issue seen by a counterparty who wants the opposite, with their weight on it."""
    return Issue(
        name=issue.name,
        type=issue.type,
        label=issue.label,
        unit=issue.unit,
        direction="lower" if issue.direction == "higher" else "higher",
        weight=weight,
        range=issue.range,
        options=tuple(IssueOption(o.value, 1.0 - o.utility) for o in issue.options),
        value_points=tuple((x, 1.0 - u) for x, u in issue.value_points),
        tradeable=issue.tradeable,
    )
