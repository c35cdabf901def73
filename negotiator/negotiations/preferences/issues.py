"""An issue: one thing being negotiated, with the asker's own value function on it.

Numbers live as `Decimal` coordinates (money and numbers as themselves, dates as day ordinals), so
that only utilities are floats. Shapes: contract §3 Issue; Keeney and Raiffa (1976) for the model.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Literal, NamedTuple, TypeAlias

Scalar: TypeAlias = str | int | float | bool | Decimal
Package: TypeAlias = Mapping[str, Scalar]
IssueType: TypeAlias = Literal[
    "money", "number", "integer", "percent", "duration_days", "date", "enum", "boolean"
]
Direction: TypeAlias = Literal["higher", "lower"]

ISSUE_TYPES: tuple[IssueType, ...] = (
    "money",
    "number",
    "integer",
    "percent",
    "duration_days",
    "date",
    "enum",
    "boolean",
)
WHOLE_TYPES: frozenset[str] = frozenset({"integer", "duration_days", "date"})
UNORDERED_TYPES: frozenset[str] = frozenset({"enum", "boolean"})

LARGEST_EXPONENT = 30
"""No coordinate passes 10^30 in size, and below 10^-30 it is 0: no division can overflow."""


class Refusal(NamedTuple):
    """One field error: where (RFC 6901 JSON pointer) and what is wrong, in a public sentence."""

    pointer: str
    description: str


@dataclass(frozen=True, slots=True)
class Range:
    """The values of an ordered issue as coordinates, `min < max`; `step` None means continuous."""

    min: Decimal
    max: Decimal
    step: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Option:
    """One listed value and its worth to me before weighting."""

    value: Scalar
    utility: float


@dataclass(frozen=True, slots=True)
class Issue:
    """One issue with my value function: a table (`options`), a polyline or a straight line.

    `weight` is normalised over the negotiation (sum 1), `weight_given` is what was sent.
    `value_points` are (coordinate, utility) corners in rising coordinate order.
    """

    name: str
    type: IssueType
    label: str = ""
    unit: str | None = None
    direction: Direction = "higher"
    weight: float = 1.0
    weight_given: float | None = None
    range: Range | None = None
    options: tuple[Option, ...] = ()
    value_points: tuple[tuple[Decimal, float], ...] = ()
    their_weight: float | None = None
    tradeable: bool = True


def coordinate(kind: IssueType, value: object) -> Decimal | None:
    """The place of a value on its issue's axis, or None when it has none.

    Takes JSON scalars: numbers or decimal strings, ISO dates for `date`. Refuses (None) booleans,
    NaN, infinities and numbers beyond 10^30.
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
    in_reach = number.is_finite() and number.adjusted() <= LARGEST_EXPONENT
    if in_reach and number.adjusted() < -LARGEST_EXPONENT:
        return Decimal(0)
    whole = kind not in WHOLE_TYPES or (in_reach and number == number.to_integral_value())
    return number if in_reach and whole else None


def _day(value: object) -> Decimal | None:
    if not isinstance(value, str):
        return None
    try:
        return Decimal(date.fromisoformat(value).toordinal())
    except ValueError:
        return None


def rendered(kind: IssueType, at: Decimal) -> Scalar:
    """A coordinate as the value clients read: Decimal money, ISO date, int or float."""
    if kind == "date":
        return date.fromordinal(int(at)).isoformat()
    if kind == "money":
        return at
    if kind in WHOLE_TYPES:
        return int(at)
    return float(at)


def same_value(kind: IssueType, left: Scalar, right: object) -> bool:
    """Whether two values mean the same on this kind of issue (`"10"` and `10.0` for money)."""
    if kind in UNORDERED_TYPES:
        return isinstance(left, bool) == isinstance(right, bool) and left == right
    a, b = coordinate(kind, left), coordinate(kind, right)
    return a is not None and a == b
