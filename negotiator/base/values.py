"""Small values that all modules share: clock, ids, secrets, digests, timestamps, currencies, and types of members.

Times are integers in milliseconds since the epoch; on the wire they are RFC 3339 text. Currencies are the active codes
of ISO 4217 with their minor units. The types of request members each have a plain JSON Schema and one error per fault.
"""

import hashlib
import hmac
import re
import secrets
import time
import unicodedata
from datetime import UTC, date, datetime
from decimal import Context, Decimal, InvalidOperation
from threading import Lock
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BeforeValidator, Field, Strict, StringConstraints, WithJsonSchema
from ulid_transform import bytes_to_ulid, ulid_now, ulid_to_bytes

from negotiator.base.schema import SchemaKeyword

ID_LENGTH: Final = 26
HOUR: Final = 3_600_000
DAY: Final = 24 * HOUR
"""Milliseconds."""
NEWEST: Final = 2**31 - 1
"""Above every revision, version and sequence number: where a list that shows the newest first begins."""
_INVISIBLE_CATEGORIES: Final = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_ID = re.compile(r"[a-z]+_[0-7][0-9a-hjkmnp-tv-z]{25}")


def now() -> int:
    """Milliseconds since the epoch, UTC."""
    return time.time_ns() // 1_000_000


def elapsed() -> float:
    """Seconds of a clock that nobody sets and that a machine's sleep does not stop, where the system has one."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class _Ulids:
    """New ULIDs, strictly increasing within the process, so that lists can be ordered by them."""

    def __init__(self) -> None:
        self._last = 0
        self._turn = Lock()

    def __call__(self) -> str:
        """A lower-case ULID; unique but not secret."""
        drawn = int.from_bytes(ulid_to_bytes(ulid_now()))
        with self._turn:
            self._last = drawn if drawn > self._last else self._last + 1
            return bytes_to_ulid(self._last.to_bytes(16)).lower()


new_ulid: Final = _Ulids()


def new_id(kind: str) -> str:
    """A new id of this kind: `agt` gives `agt_` and a 26-character lower-case ULID, ordered by time."""
    return f"{kind}_{new_ulid()}"


def first_id(kind: str, at: int) -> str:
    """The lowest id of this kind that could be made at the moment `at` (milliseconds), for ranges over ids."""
    return f"{kind}_{bytes_to_ulid((max(0, at) << 80).to_bytes(16)).lower()}"


def is_id(text: str, kind: str) -> bool:
    """Whether `text` has the form of an id of this kind; the id need not exist."""
    return text.startswith(f"{kind}_") and _ID.fullmatch(text) is not None


def new_secret() -> str:
    """256 random bits as 43 URL-safe characters."""
    return secrets.token_urlsafe(32)


def digest(text: str) -> str:
    """SHA-256 in hex, for secrets of full entropy, which need no slow hash (RFC 6819 §5.1.4.1.3)."""
    return hashlib.sha256(text.encode()).hexdigest()


def keyed_digest(pepper: bytes, text: str) -> str:
    """HMAC-SHA-256 in hex, for short codes, which could be found from a plain hash by trying all of them."""
    return hmac.new(pepper, text.encode(), hashlib.sha256).hexdigest()


def equal_in_constant_time(left: str, right: str) -> bool:
    return hmac.compare_digest(left.encode(), right.encode())


def ascii_host(host: str) -> str:
    """A host's name in lower case with A-labels (RFC 5891 §4.4), as browsers and mail servers name it.

    ValueError for what cannot be one.
    """
    if host.isascii():
        return host.lower()
    import idna  # its tables are needed for few hosts

    return idna.encode(host, uts46=True).decode()


def has_invisible_characters(text: str) -> bool:
    """Whether the text has a control, bidirectional or invisible character, which could falsify what a page shows."""
    return any(unicodedata.category(mark) in _INVISIBLE_CATEGORIES for mark in text)


def escape_invisible(text: str) -> str:
    """The text with every control, bidirectional and invisible character as an escape: `\\x1b`, `\\u202e`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        mark.encode("unicode_escape").decode() if unicodedata.category(mark) in _INVISIBLE_CATEGORIES else mark
        for mark in text
    )


def timestamp(at: int) -> str:
    """RFC 3339 in UTC with milliseconds and `Z`."""
    return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds")[:-6] + "Z"


def parse_timestamp(text: str) -> int:
    """Milliseconds since the epoch of an RFC 3339 text with its offset."""
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def timestamp_or_none(at: int | None) -> str | None:
    """The timestamp, or None for None."""
    return None if at is None else timestamp(at)


def decimal_string(amount: Decimal) -> str:
    """A decimal string with at least two places, never an exponent: `12500.00`."""
    quantised = amount if -int(amount.as_tuple().exponent) > 2 else amount.quantize(Decimal("0.01"))
    return format(quantised, "f")


_BY_MINOR_UNITS: Final[dict[int, str]] = {
    0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
    2: (
        "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF "
        "CHE CHF CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD "
        "GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL "
        "MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR "
        "PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP "
        "TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG"
    ),
    3: "BHD IQD JOD KWD LYD OMR TND",
    4: "CLF UYW",
}
_WIDE: Final = Context(prec=100)
MINOR_UNITS: Final[dict[str, int]] = {code: units for units, codes in _BY_MINOR_UNITS.items() for code in codes.split()}
CURRENCY_PATTERN: Final = f"^({'|'.join(sorted(MINOR_UNITS))})$"
"""A pattern that matches exactly the active codes. Funds and precious metals without minor units are left out."""


def format_money(amount: Decimal, currency: str | None) -> str:
    """A decimal string with at least the currency's minor units, two if it is unknown; never an exponent."""
    places = MINOR_UNITS.get(currency or "", 2)
    plain = _WIDE.plus(amount.normalize(_WIDE))
    if -int(plain.as_tuple().exponent) <= places:
        plain = plain.quantize(Decimal(1).scaleb(-places), context=_WIDE)
    return format(plain, "f")


def number_text(value: Decimal, places: int = 0) -> str:
    """A number with its thousands separated: `12,500`, `43.5`; a fraction has at least `places` digits."""
    plain = _WIDE.plus(value.normalize(_WIDE)) if value else Decimal(0)
    exponent = plain.as_tuple().exponent
    if isinstance(exponent, int) and 0 < -exponent < places:
        plain = plain.quantize(Decimal(1).scaleb(-places), context=_WIDE)
    return format(plain, ",f")


_SYMBOLS: Final = {"EUR": "€", "USD": "$", "GBP": "£", "JPY": "¥"}
"""Signs that stand before an amount; any other currency is said by its code."""


def day_text(day: date) -> str:
    """A day: `3 December 2026`."""
    return f"{day.day} {day:%B} {day.year}"


def money_text(amount: Decimal, currency: str) -> str:
    """An amount: `€12,500`, `€43.50`, `CHF 12,000`; no decimals if it is whole."""
    plain = number_text(abs(amount), MINOR_UNITS.get(currency, 2))
    sign = "-" if amount < 0 else ""
    return sign + (f"{_SYMBOLS[currency]}{plain}" if currency in _SYMBOLS else f"{currency} {plain}".lstrip())


LARGEST_WHOLE: Final = 2**53
_LARGEST_POWER: Final = 15
_SMALLEST_POWER: Final = -12
_LONGEST: Final = 500


def _no_null(text: str) -> str:
    if "\x00" in text:
        raise ValueError("Must not hold the null character")
    return text


_DIRECTIONS: Final = re.compile("[\u202a-\u202e\u2066-\u2069]")


def _readable(text: str) -> str:
    """A text that people tell from others: something of it is seen, and it does not turn what stands beside it."""
    if all(mark.isspace() or unicodedata.category(mark) in _INVISIBLE_CATEGORIES for mark in text):
        raise ValueError("Must have a character that can be seen")
    if _DIRECTIONS.search(text):
        raise ValueError("Must not hold characters that change the direction of writing")
    return text


def check_scalar(value: Any) -> Any:
    """The value if it is a JSON scalar other than null, with limits on numbers and texts; else `ValueError`."""
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
        raise ValueError("Must be an amount of money")
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        raise ValueError("Must be an amount of money") from None
    if not amount.is_finite() or amount.adjusted() > _LARGEST_POWER:
        raise ValueError("Must be a finite amount below 10^16")
    if int(amount.as_tuple().exponent) < _SMALLEST_POWER:
        raise ValueError("Must not have more than 12 decimal places")
    return amount


def _number(value: Any) -> Any:
    """A JSON number; booleans and numeric strings, which pydantic would accept, are refused."""
    if isinstance(value, bool | str):
        raise ValueError("Must be a number")
    return value


def _whole_in_text(value: Any) -> Any:
    """A number of a query: of texts that pydantic would accept, `1_0`, `10.0` and ` 10` are refused."""
    if isinstance(value, str) and not re.fullmatch(r"-?[0-9]{1,40}", value):
        raise ValueError("Must be a whole number")
    return value


def _number_in_text(value: Any) -> Any:
    if isinstance(value, str) and not re.fullmatch(r"-?[0-9]{1,40}(?:\.[0-9]{1,40})?(?:e-[0-9]{1,3})?", value):
        raise ValueError("Must be a number")
    return value


_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:[Zz]|[+-]\d\d:\d\d)", re.ASCII)


def read_moment(value: Any) -> datetime:
    """An RFC 3339 timestamp with an offset, as UTC; the seconds may be left out."""
    try:
        if isinstance(value, datetime) and value.tzinfo:
            moment = value.astimezone(UTC)
        elif isinstance(value, str) and _MOMENT.fullmatch(value):
            moment = datetime.fromisoformat(value.upper()).astimezone(UTC)
        else:
            raise ValueError("no timestamp")
    except (ValueError, OverflowError):
        raise ValueError("Must be a moment with its date, time and offset") from None
    if not 1970 <= moment.year < 9999:
        raise ValueError("Must lie between 1970 and 9998")
    return moment


def milliseconds(at: datetime | None) -> int | None:
    """A moment as milliseconds since the epoch."""
    return None if at is None else round(at.timestamp() * 1000)


NO_NULL: Final = r"^[^\x00]*$"
"""A pattern for text without the null character, which PostgreSQL cannot store."""
SCALAR_SCHEMA: Final[dict[str, Any]] = {
    "anyOf": [
        {"type": "string", "minLength": 1, "maxLength": _LONGEST, "pattern": NO_NULL},
        {"type": "number", "minimum": -LARGEST_WHOLE, "maximum": LARGEST_WHOLE},
        {"type": "boolean"},
    ]
}
Scalar = Annotated[Any, AfterValidator(check_scalar), WithJsonSchema(SCALAR_SCHEMA)]
Amount = Annotated[
    Any,
    AfterValidator(_amount),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "minLength": 1, "maxLength": 60},
                {"type": "number", "exclusiveMinimum": -1e16, "exclusiveMaximum": 1e16},
            ],
            "examples": ["12500.00"],
            "description": "Money, best as a decimal string; also €500, 1,500.00 or 15k.",
        }
    ),
]
Moment = Annotated[Any, AfterValidator(read_moment), WithJsonSchema({"type": "string", "format": "date-time"})]
_WithoutNull = SchemaKeyword("pattern", NO_NULL)
TitleText = Annotated[
    str,
    StringConstraints(min_length=1, max_length=200),
    AfterValidator(_no_null),
    AfterValidator(_readable),
    _WithoutNull,
]
ShortText = Annotated[str, StringConstraints(min_length=1, max_length=100), AfterValidator(_no_null), _WithoutNull]
LongText = Annotated[str, StringConstraints(min_length=1, max_length=2000), AfterValidator(_no_null), _WithoutNull]
Whole = Annotated[int, BeforeValidator(_number)]
Number = Annotated[float, BeforeValidator(_number)]
QueryWhole = Annotated[int, BeforeValidator(_whole_in_text)]
QueryNumber = Annotated[float, BeforeValidator(_number_in_text)]
Truth = Annotated[bool, Strict()]
Share = Annotated[Number, Field(ge=0, le=1, examples=[0.8])]
Utility = Annotated[Number, Field(ge=-1e6, le=1e6, allow_inf_nan=False)]
Origin = Annotated[
    str | None,
    Field(description="The agent that made this before its user claimed it, agt_…; null for everything else."),
]
ValuePackage = dict[ShortText, Scalar]
