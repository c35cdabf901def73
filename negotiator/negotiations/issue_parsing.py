"""Issues as clients write them (docs/contract 6.3) into `Issue` values, or field errors.

Nothing here raises on bad input: every problem is a `Refusal` with its pointer.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from typing import cast

from negotiator.negotiations.issues import (
    ISSUE_TYPES,
    MAX_LISTED_VALUES,
    UNORDERED_TYPES,
    Issue,
    IssueFault,
    IssueOption,
    IssueRange,
    IssueType,
    Scalar,
    coordinate,
    same_value,
    value_key,
)
from negotiator.negotiations.utility import normalised_weights

Json = Mapping[str, object]


def parse_issues(
    bodies: Sequence[object], pointer: str = "/issues"
) -> tuple[tuple[Issue, ...], list[IssueFault]]:
    """Issues with normalised weights, or an empty tuple and every field error found."""
    found: list[IssueFault] = []
    issues = [_read_issue(body, f"{pointer}/{n}", found) for n, body in enumerate(bodies)]
    if not bodies:
        found.append(IssueFault(pointer, "At least one issue is needed."))
    names = [issue.name if issue is not None else "" for issue in issues]
    found += [
        IssueFault(f"{pointer}/{n}/name", "Another issue already has this name.")
        for n, name in enumerate(names)
        if name and name in names[:n]
    ]
    if found:
        return (), found
    return normalised_weights([issue for issue in issues if issue is not None]), []


def _read_issue(body: object, at: str, found: list[IssueFault]) -> Issue | None:
    if not isinstance(body, Mapping):
        found.append(IssueFault(at, "Must be an object."))
        return None
    fields = cast(Json, body)
    name, kind = fields.get("name"), fields.get("type", "money")
    if not isinstance(name, str) or not name.strip():
        found.append(IssueFault(f"{at}/name", "A name is needed."))
        name = ""
    if kind not in ISSUE_TYPES:
        found.append(IssueFault(f"{at}/type", f"Must be one of {', '.join(ISSUE_TYPES)}."))
        return None
    direction = fields.get("direction") or "higher"
    if direction not in ("higher", "lower"):
        found.append(IssueFault(f"{at}/direction", "Must be higher or lower."))
        direction = "higher"
    label, unit = fields.get("label"), fields.get("unit")
    issue = Issue(
        name=name,
        type=kind,
        label=label if isinstance(label, str) else name,
        unit=unit if isinstance(unit, str) else None,
        direction=direction,
        weight_given=_weight(fields.get("weight"), f"{at}/weight", found),
        their_weight=_weight(fields.get("their_weight"), f"{at}/their_weight", found),
        tradeable=fields.get("tradeable") is not False,
    )
    issue = replace(issue, range=_read_range(issue, fields.get("range"), f"{at}/range", found))
    issue = replace(issue, options=_read_options(issue, fields.get("options"), at, found))
    _check_values(issue, at, found)
    points = _read_points(issue, fields.get("value_points"), f"{at}/value_points", found)
    return replace(issue, value_points=points)


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _weight(value: object, at: str, found: list[IssueFault]) -> float | None:
    if value is None:
        return None
    number = _number(value)
    if number is None or not 0 <= number <= 1e12:
        found.append(IssueFault(at, "Must be a number from 0 up."))
        return None
    return number


def _read_range(issue: Issue, body: object, at: str, found: list[IssueFault]) -> IssueRange | None:
    if body is None:
        return None
    if not isinstance(body, Mapping) or issue.type in UNORDERED_TYPES:
        found.append(IssueFault(at, "Must be an object with min and max, on an ordered issue."))
        return None
    fields = cast(Json, body)
    low, high = (coordinate(issue.type, fields.get(end)) for end in ("min", "max"))
    for end, value in (("min", low), ("max", high)):
        if value is None:
            found.append(IssueFault(f"{at}/{end}", f"Must be a value of type {issue.type}."))
    if low is None or high is None:
        return None
    if low >= high:
        found.append(IssueFault(f"{at}/max", "Must be greater than min."))
        return None
    given = fields.get("step")
    kind: IssueType = "integer" if issue.type == "date" else issue.type
    step = None if given is None else coordinate(kind, given)
    if given is not None and (
        step is None or step <= 0 or (high - low) / step >= MAX_LISTED_VALUES
    ):
        found.append(
            IssueFault(f"{at}/step", f"Must make at most {MAX_LISTED_VALUES} values, above 0.")
        )
        return None
    return IssueRange(low, high, step)


def _read_options(
    issue: Issue, body: object, at: str, found: list[IssueFault]
) -> tuple[IssueOption, ...]:
    at = f"{at}/options"
    if body is None or body == []:
        return ()
    if not isinstance(body, Sequence) or isinstance(body, str) or len(cast(list[object], body)) < 2:
        found.append(IssueFault(at, "Must be a list of at least two options."))
        return ()
    rows = cast(Sequence[object], body)
    if len(rows) > MAX_LISTED_VALUES:
        found.append(IssueFault(at, f"At most {MAX_LISTED_VALUES} options."))
        return ()
    read = [_read_option(issue, row, f"{at}/{n}", found) for n, row in enumerate(rows)]
    options = [option for option in read if option is not None]
    if len(options) < len(rows):
        return ()
    keys = [value_key(issue, value) for value, _ in options]
    if len(set(keys)) < len(keys):
        found.append(IssueFault(at, "Two options have the same value."))
        return ()
    given = [worth for _, worth in options if worth is not None]
    if given and len(given) < len(options):
        found.append(IssueFault(at, "Give every option a utility, or none."))
        return ()
    worths = given or _default_worths(issue, [value for value, _ in options])
    return tuple(IssueOption(value, u) for (value, _), u in zip(options, worths, strict=True))


def _read_option(
    issue: Issue, row: object, at: str, found: list[IssueFault]
) -> tuple[Scalar, float | None] | None:
    fields = cast(Json, row) if isinstance(row, Mapping) else {"value": row}
    value, given = fields.get("value"), fields.get("utility")
    if not isinstance(value, str | int | float | bool) or not same_value(issue.type, value, value):
        found.append(IssueFault(f"{at}/value", f"Not a value of type {issue.type}."))
        return None
    worth = _number(given)
    if given is not None and (worth is None or not 0 <= worth <= 1):
        found.append(IssueFault(f"{at}/utility", "Must be a number from 0 to 1."))
        return None
    return value, worth


def _default_worths(issue: Issue, values: list[Scalar]) -> list[float]:
    """Without utilities: by size where values have one, else by listed order."""
    found = [coordinate(issue.type, value) for value in values]
    places = [at for at in found if at is not None]
    if len(places) < len(values):
        places = [Decimal(n) for n in range(len(values))]
    low, span = min(places), max(places) - min(places)
    rising = [float((at - low) / span) for at in places]
    return rising if issue.direction == "higher" else [1.0 - u for u in rising]


def _read_points(
    issue: Issue, body: object, at: str, found: list[IssueFault]
) -> tuple[tuple[Decimal, float], ...]:
    if body is None or body == []:
        return ()
    corners: list[tuple[Decimal, float]] = []
    rows = cast(Sequence[object], body) if isinstance(body, list | tuple) else ()
    for row in rows:
        pair = cast(Sequence[object], row) if isinstance(row, list | tuple) else ()
        x = coordinate(issue.type, pair[0]) if len(pair) == 2 else None
        u = _number(pair[1]) if len(pair) == 2 else None
        if x is not None and u is not None and 0 <= u <= 1:
            corners.append((x, u))
    rising = all(a[0] < b[0] for a, b in pairwise(corners))
    if len(corners) < max(2, len(rows)) or not rising or issue.range is None:
        text = "Must be [value, utility] pairs by rising value, utilities 0 to 1, on a range."
        found.append(IssueFault(at, text))
        return ()
    return tuple(corners)


def _check_values(issue: Issue, at: str, found: list[IssueFault]) -> None:
    """An issue must have values: options for an enum, a range or options for a number."""
    if issue.options or issue.type == "boolean" or any(r.pointer.startswith(at) for r in found):
        return
    if issue.type == "enum":
        found.append(IssueFault(f"{at}/options", "An enum needs its options."))
    elif issue.range is None:
        found.append(IssueFault(f"{at}/range", "A range or options are needed."))
