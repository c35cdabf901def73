"""What one value of an issue is worth, which values there are, and which are refused."""

from bisect import bisect_right
from collections.abc import Hashable, Sequence
from decimal import Decimal

from negotiator.negotiations.preferences.issues import (
    Issue,
    Option,
    Refusal,
    Scalar,
    coordinate,
    rendered,
    same_value,
)

GRID = 101
"""Values that stand in for a continuous range: its ends and 99 between, evenly."""
MOST_VALUES = 10_000


def worth_of(issue: Issue, value: object, *, clamp: bool = True) -> float | None:
    """Worth to me of one value before weighting, in [0, 1]; None when the issue has no such value.

    With `clamp=False` a straight line goes on beyond its range, which a walk-away may need.
    """
    if issue.options:
        return next(
            (o.utility for o in issue.options if same_value(issue.type, o.value, value)), None
        )
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
    table = {key_of(issue, option.value): option.utility for option in issue.options}
    return [table.get(key_of(issue, value)) for value in values]


def key_of(issue: Issue, value: Scalar) -> Hashable:
    """What two values that mean the same on this issue share."""
    at = coordinate(issue.type, value)
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


def value_at(issue: Issue, utility: float) -> Decimal | None:
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


def values_of(issue: Issue, grid: int = GRID) -> tuple[Scalar, ...]:
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
    return tuple(rendered(issue.type, Decimal(at)) for at in coordinates)


def is_gridded(issue: Issue) -> bool:
    """Whether `values_of` stands in for the issue's values instead of listing them all."""
    if issue.options or issue.range is None:
        return False
    step = _step(issue)
    return step is None or (issue.range.max - issue.range.min) / step >= MOST_VALUES


def _step(issue: Issue) -> Decimal | None:
    if issue.range is not None and issue.range.step is not None:
        return issue.range.step
    return Decimal(1) if issue.type in {"integer", "duration_days", "date"} else None


def check_value(issue: Issue, value: object, pointer: str) -> list[Refusal]:
    """What is wrong with this value for this issue: outside its options, range or type."""
    if issue.options:
        if any(same_value(issue.type, option.value, value) for option in issue.options):
            return []
        return [Refusal(pointer, f"Not one of the options of {issue.name}.")]
    if issue.type == "boolean":
        return [] if isinstance(value, bool) else [Refusal(pointer, "Must be true or false.")]
    at = coordinate(issue.type, value)
    if at is None:
        return [Refusal(pointer, f"Not a value of type {issue.type}.")]
    if issue.range is not None and not issue.range.min <= at <= issue.range.max:
        ends = (rendered(issue.type, issue.range.min), rendered(issue.type, issue.range.max))
        return [Refusal(pointer, f"Must lie between {ends[0]} and {ends[1]}.")]
    return []


def mirrored(issue: Issue, weight: float) -> Issue:
    """The same issue seen by a counterparty who wants the opposite, with their weight on it."""
    return Issue(
        name=issue.name,
        type=issue.type,
        label=issue.label,
        unit=issue.unit,
        direction="lower" if issue.direction == "higher" else "higher",
        weight=weight,
        range=issue.range,
        options=tuple(Option(o.value, 1.0 - o.utility) for o in issue.options),
        value_points=tuple((x, 1.0 - u) for x, u in issue.value_points),
        tradeable=issue.tradeable,
    )
