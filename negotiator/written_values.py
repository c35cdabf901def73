"""Amounts, numbers, percentages and days as people write them: `€500`, `1,500.00`, `15k`, `12 %`, `1 March 2027`.

A decimal string (`"12500.00"`) is what programs send and stays what it is. A comma before three digits parts thousands.
What can be read in two ways is refused with both readings: `1.500` is 1,500 to one reader and 1.5 to another, and
`03/04/2027` two different days. Every reader takes one short text and raises `ValueError` with a sentence.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from negotiator.errors import FieldError
from negotiator.numbers import CURRENCY_WORDS, WRITTEN_SCALES, WrittenNumber, may_be_currency, numbers_in
from negotiator.schema import SchemaKeyword
from negotiator.values import CURRENCY_PATTERN, MINOR_UNITS, Moment, ShortText, has_invisible_characters, number_text

LONGEST_WRITTEN: Final = 60
"""Characters of a text that is read; a longer one is no number and no day."""
_MACHINE: Final = re.compile(r"[+-]?(?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,3})?")
_TWO_READINGS: Final = re.compile(r"[+-]?[1-9][0-9]{0,2}\.[0-9]{2}0")
"""A decimal string that no program writes and that people write for thousands: `1.500`."""
_THREE_DECIMALS: Final = re.compile(r"-?[0-9]{1,3}\.[0-9]{3}")
_AROUND: Final = re.compile(r"[^\W\d_]+|[^\s\w]|_")
_LETTERS: Final = re.compile(r"[^A-Za-z]")
_PERCENT: Final = frozenset(["%", "percent", "percentage", "pct", "per", "cent"])
_OWN_CURRENCY: Final = frozenset(
    ["€", "euro", "euros", "£", "pound", "pounds", "quid", "₹", "zł", "zloty", "kč", "rand", "franken"]
)
"""Signs and words that name one currency; `$`, `kr` and `pesos` name several."""
_YENS: Final = frozenset(["JPY", "CNY"])


@dataclass(frozen=True, slots=True)
class WrittenAmount:
    """A number, and the code of the currency that stands beside it, if one does."""

    value: Decimal
    currency: str | None = None


def is_machine_number(text: str) -> bool:
    """Whether the text is a decimal string, as programs write numbers."""
    return len(text) <= LONGEST_WRITTEN and _MACHINE.fullmatch(text) is not None


def read_amount(text: str, currency: str | None = None) -> WrittenAmount:
    """An amount of money; `currency` is that of everything around it, where it is known."""
    value, words = _read(text, "an amount of money, such as €500, 1,500.00 or 15k", currency)
    said: str | None = None
    for word in words:
        code = _currency(word, currency)
        if said not in (None, code):
            raise ValueError(f"Names two currencies, {said} and {code}")
        said = code
    return WrittenAmount(value, said)


def read_number(text: str, units: Collection[str] = ()) -> Decimal:
    """A number, beside which only one of these words may stand."""
    value, words = _read(text, "one number, such as 12 or 1,500")
    if strange := next((word for word in words if word not in units), None):
        raise ValueError(f"Must be one number, without {_shown(strange)}")
    return value


def read_with_unit(text: str) -> tuple[Decimal, str]:
    """A number and the word beside it in lower case, empty where there is none: `12 months`."""
    value, words = _read(text, "one number, such as 12 or 12 months")
    if len(words) > 1 or (words and not words[0].isalpha()):
        raise ValueError("Must be one number with its unit at most, such as 12 months")
    return value, words[0] if words else ""


def read_percentage(text: str) -> Decimal:
    """A percentage: `12 %`, `12.5 percent`, `12`."""
    value, words = _read(text, "a percentage, such as 12 or 12%")
    if any(word not in _PERCENT for word in words):
        raise ValueError("Must be a percentage, such as 12 or 12%")
    return value


def read_currency(text: str) -> str:
    """The ISO 4217 code of a currency: `eur`, `€`, `euros`."""
    plain = text.strip()
    if len(plain) > LONGEST_WRITTEN:
        raise ValueError("Must be an active ISO 4217 code")
    return _currency(plain.lower(), None)


def currency_code(value: Any) -> Any:
    """The code where a sign, a word or a code in any case names one currency, else the value."""
    try:
        return read_currency(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _check_code(code: str) -> str:
    if code not in MINOR_UNITS:
        raise ValueError("Must be an active ISO 4217 code")
    return code


CurrencyCode = Annotated[ShortText, AfterValidator(_check_code), SchemaKeyword("pattern", CURRENCY_PATTERN)]
"""An ISO 4217 code."""
Currency = Annotated[
    ShortText,
    BeforeValidator(currency_code, json_schema_input_type=ShortText),
    AfterValidator(_check_code),
    Field(examples=["EUR"]),
]
"""An ISO 4217 code, or what names one currency, such as eur or €."""


def _read(text: str, wanted: str, currency: str | None = None) -> tuple[Decimal, list[str]]:
    """The number of a text and the words beside it, in lower case."""
    _check_text(text, wanted)
    plain = " ".join(text.split())
    if _MACHINE.fullmatch(plain):
        if _TWO_READINGS.fullmatch(plain) and MINOR_UNITS.get(currency or "") != 3:
            raise _ambiguous(Decimal(plain.replace(".", "")), Decimal(plain))
        return Decimal(plain), []
    found = [one for one in numbers_in(plain) if not (one.in_words and _is_scale(plain, one))]
    if len(found) != 1:
        raise ValueError(f"Must be {wanted}")
    number = found[0]
    before, after = plain[: number.start].rstrip(), plain[number.end :]
    sign = -1 if before[-1:] in ("-", "−") else 1
    if before[-1:] in ("-", "−", "+"):
        before = before[:-1]
    words = [word.lower() for word in _AROUND.findall(f"{before} {after}")]
    if number.in_words and words[:1] in (["a"], ["an"]):
        words = words[1:]
    return sign * _value(plain, number, currency), [word for word in words if word != "."]


def _is_scale(plain: str, number: WrittenNumber) -> bool:
    """Whether a number in words multiplies the digits before it: the `million` of `5 million`."""
    return plain[: number.start].rstrip()[-1:].isdigit() and plain[number.start : number.end] in WRITTEN_SCALES


def _value(plain: str, number: WrittenNumber, currency: str | None) -> Decimal:
    """The one reading of a number; `ValueError` with both where there are two."""
    written = plain[number.start : number.end]
    readings = number.readings
    if scale := WRITTEN_SCALES.get(_LETTERS.sub("", written).lower()):
        readings = [one for one in readings if one / scale in readings]
    low, high = min(readings), max(readings)
    if low == high or written.startswith("0"):
        return low
    thirds = MINOR_UNITS.get(currency or "") == 3
    if "," in written and "." not in written and not thirds:
        return high
    raise _ambiguous(high, low)


def _ambiguous(high: Decimal, low: Decimal) -> ValueError:
    return ValueError(
        f"Could be {number_text(high)} or {number_text(low)}: write {high.normalize():f} or {low.normalize():f}"
    )


def _check_text(text: str, wanted: str) -> None:
    strange = len(text) > LONGEST_WRITTEN or has_invisible_characters(text)
    if strange or any(mark.isnumeric() and not "0" <= mark <= "9" for mark in text):
        raise ValueError(f"Must be {wanted}")


def _currency(word: str, known: str | None) -> str:
    """The code that a sign or word names; the known currency where the word may name it."""
    code = word.upper() if word.upper() in MINOR_UNITS else CURRENCY_WORDS.get(word)
    if code is None:
        raise ValueError(f"Must be one amount of money, without {_shown(word)}")
    if known is not None:
        if may_be_currency(code, known) or (word == "¥" and known in _YENS):
            return known
        raise ValueError(f"All money here is in {known}, and this says {code}; nothing is converted")
    if word in _OWN_CURRENCY or word.upper() == code:
        return code
    raise ValueError(f"{_shown(word)} is money of several countries: name the currency by its code, such as {code}")


def _shown(word: str) -> str:
    return f"“{word[:20]}”"


class AmountReader:
    """Reads the amounts of one body; `currency` is the one that was said, `errors` are what could not be read."""

    def __init__(self, currency: str | None = None) -> None:
        self.currency = currency
        self.errors: list[FieldError] = []

    def read(self, value: Any, pointer: str) -> Any:
        """An amount of money as a decimal string; anything else than a text stays."""
        if not isinstance(value, str):
            return value
        try:
            found = read_amount(value, self.currency)
        except ValueError as fault:
            self.errors.append(FieldError(pointer, f"{fault}."))
            return value
        self.currency = self.currency or found.currency
        return value if is_machine_number(value) else decimal_text(found.value)


def decimal_text(value: Decimal) -> str:
    """A decimal string without an exponent; three decimals get a fourth, since they have two readings."""
    text = f"{value:f}"
    return f"{text}0" if _THREE_DECIMALS.fullmatch(text) else text


# Days

_MONTH_NAMES: Final = "january february march april may june july august september october november december"
_MONTHS: Final = {
    name[:length]: number for number, name in enumerate(_MONTH_NAMES.split(), start=1) for length in (3, len(name))
} | {"sept": 9}
_DAY_ENDING: Final = r"(?:st|nd|rd|th)?"
_YEAR_FIRST: Final = re.compile(r"([0-9]{4})[-/.]([0-9]{1,2})[-/.]([0-9]{1,2})")
_YEAR_LAST: Final = re.compile(r"([0-9]{1,2})[-/.] ?([0-9]{1,2})[-/.] ?([0-9]{4})")
_DAY_MONTH: Final = re.compile(rf"([0-9]{{1,2}}){_DAY_ENDING}\.? (?:of )?([a-z]{{3,9}})\.?,? ([0-9]{{4}})")
_MONTH_DAY: Final = re.compile(rf"([a-z]{{3,9}})\.? ([0-9]{{1,2}}){_DAY_ENDING},? ([0-9]{{4}})")
_WANTED_DAY: Final = "a day, such as 2027-03-01 or 1 March 2027"


def read_day(text: str) -> str:
    """A day as ISO 8601: `2027-3-1`, `1 March 2027`, `March 1, 2027`, `13/04/2027`."""
    _check_text(text, _WANTED_DAY)
    plain = " ".join(text.split()).lower()
    if found := _YEAR_FIRST.fullmatch(plain):
        return _day(int(found[1]), int(found[2]), int(found[3])).isoformat()
    if found := _DAY_MONTH.fullmatch(plain):
        return _day(int(found[3]), _MONTHS.get(found[2], 0), int(found[1])).isoformat()
    if found := _MONTH_DAY.fullmatch(plain):
        return _day(int(found[3]), _MONTHS.get(found[1], 0), int(found[2])).isoformat()
    if found := _YEAR_LAST.fullmatch(plain):
        return _either_day(int(found[3]), int(found[1]), int(found[2]))
    raise ValueError(f"Must be {_WANTED_DAY}")


def _either_day(year: int, first: int, second: int) -> str:
    """The day of two numbers of which either may be the month."""
    days: list[date] = []
    for month, day in ((second, first), (first, second)):
        try:
            days.append(date(year, month, day))
        except ValueError:
            continue
    if not days:
        raise ValueError(f"Must be {_WANTED_DAY}")
    if days[0] != days[-1]:
        said = " or ".join(f"{day.day} {day:%B} {day.year}" for day in days)
        raise ValueError(f"Could be {said}: write {days[0].isoformat()} or {days[1].isoformat()}")
    return days[0].isoformat()


def _day(year: int, month: int, day: int) -> date:
    try:
        return date(year, month, day)
    except ValueError:
        raise ValueError(f"Must be {_WANTED_DAY}") from None


def _as_moment(value: Any) -> Any:
    if not isinstance(value, str) or ":" in value or "T" in value[8:12]:
        return value
    return f"{read_day(value)}T23:59:59Z"


Deadline = Annotated[
    Moment,
    BeforeValidator(_as_moment),
    WithJsonSchema({"type": "string", "minLength": 1, "examples": ["2027-03-31T17:00:00Z"]}),
]
"""A moment until which something holds; a day without a time is the end of that day, UTC."""
