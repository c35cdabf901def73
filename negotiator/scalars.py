"""The small types of request bodies, each with one clean pointer and a plain JSON Schema."""

from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, Final

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    Strict,
    StringConstraints,
    WithJsonSchema,
)

from negotiator.json_schema import Declared

LARGEST_WHOLE: Final = 2**53
_LARGEST_POWER: Final = 15
_SMALLEST_POWER: Final = -12
_LONGEST: Final = 500
_DECIMAL: Final = r"^[+-]?([0-9]{1,16}(\.[0-9]{0,12})?|\.[0-9]{1,12})$"


def _no_null(text: str) -> str:
    if "\x00" in text:
        raise ValueError("Must not hold the null character")
    return text


def scalar(value: Any) -> Any:
    """A JSON scalar other than null that every part of the service can carry."""
    match value:
        case bool():
            return value
        case int() if abs(value) <= LARGEST_WHOLE:
            return value
        case float() if abs(value) <= LARGEST_WHOLE:
            return value
        case str() if 1 <= len(value) <= _LONGEST and "\x00" not in value:
            _utf8(value)
            return value
        case Decimal() if value.is_finite():
            return value
        case _:
            raise ValueError("Must be a string, a finite number within 2^53 or a boolean")


def _utf8(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("Must be Unicode text") from None


def _amount(value: Any) -> Decimal:
    """Money as a string or a number, within 10^15 and no finer than 10^-12."""
    if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal):
        raise ValueError("Must be a decimal string or a number")
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        raise ValueError("Must be a decimal string or a number") from None
    if not amount.is_finite() or amount.adjusted() > _LARGEST_POWER:
        raise ValueError("Must be a finite amount below 10^16")
    if int(amount.as_tuple().exponent) < _SMALLEST_POWER:
        raise ValueError("Must not have more than 12 decimal places")
    return amount


def _number(value: Any) -> Any:
    """A JSON number; neither true and false, which Python counts with, nor text that looks like one."""
    if isinstance(value, bool | str):
        raise ValueError("Must be a number")
    return value


def _moment(value: Any) -> datetime:
    """An RFC 3339 timestamp with its offset, as UTC."""
    try:
        if not isinstance(value, str | datetime):
            raise ValueError("no text")
        at = value if isinstance(value, datetime) else datetime.fromisoformat(value)
        if at.tzinfo is None:
            raise ValueError("no offset")
        moment = at.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError("Must be an RFC 3339 timestamp with an offset") from None
    if not 1970 <= moment.year < 9999:
        raise ValueError("Must lie between 1970 and 9998")
    return moment


def milliseconds(at: datetime | None) -> int | None:
    """A moment as milliseconds since the epoch."""
    return None if at is None else round(at.timestamp() * 1000)


NO_NULL: Final = r"^[^\x00]*$"
"""A pattern for text without the null character, which no database keeps."""
SCALAR: Final[dict[str, Any]] = {
    "anyOf": [
        {"type": "string", "minLength": 1, "maxLength": _LONGEST, "pattern": NO_NULL},
        {"type": "number", "minimum": -LARGEST_WHOLE, "maximum": LARGEST_WHOLE},
        {"type": "boolean"},
    ]
}
"""The JSON Schema of `Scalar`."""
Scalar = Annotated[Any, AfterValidator(scalar), WithJsonSchema(SCALAR)]
Amount = Annotated[
    Any,
    AfterValidator(_amount),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "pattern": _DECIMAL},
                {"type": "number", "exclusiveMinimum": -1e16, "exclusiveMaximum": 1e16},
            ],
            "examples": ["12500.00"],
            "description": "Money, best as a decimal string.",
        }
    ),
]
Moment = Annotated[
    Any, AfterValidator(_moment), WithJsonSchema({"type": "string", "format": "date-time"})
]
_WithoutNull = Declared("pattern", NO_NULL)
Title = Annotated[
    str, StringConstraints(min_length=1, max_length=200), AfterValidator(_no_null), _WithoutNull
]
Word = Annotated[
    str, StringConstraints(min_length=1, max_length=100), AfterValidator(_no_null), _WithoutNull
]
Prose = Annotated[
    str, StringConstraints(min_length=1, max_length=2000), AfterValidator(_no_null), _WithoutNull
]
Whole = Annotated[int, BeforeValidator(_number)]
Number = Annotated[float, BeforeValidator(_number)]
Truth = Annotated[bool, Strict()]
Share = Annotated[Number, Field(ge=0, le=1)]
Utility = Annotated[Number, Field(ge=-1e6, le=1e6, allow_inf_nan=False)]
Origin = Annotated[
    str | None,
    Field(
        description="The agent that made this before its user claimed it, agt_…; null for everything else."
    ),
]
Package = dict[Word, Scalar]
