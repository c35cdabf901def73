"""Amounts, numbers, percentages and days as people write them: `€500`, `1,500.00`, `12 lakh`, `12 %`, `1 March 2027`.

A decimal string (`"12500.00"`) is what programs send and stays what it is. A comma before three digits parts thousands.
What can be read in two ways is refused with both readings: `1.500` is 1,500 to one reader and 1.5 to another, and
`03/04/2027` two different days. A form has one rule for a point before three digits (`Point`). A word or sign beside a
number that is not known is refused by its name, since it may change the number. Every reader takes one short text and
raises `ValueError` with a sentence.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import pairwise
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from negotiator.base.errors import FieldError
from negotiator.base.schema import SchemaKeyword
from negotiator.base.values import (
    CURRENCY_PATTERN,
    MINOR_UNITS,
    Moment,
    ShortText,
    day_text,
    has_invisible_characters,
    number_text,
)
from negotiator.numbers.read import (
    CURRENCY_WORDS,
    TENS,
    UNITS,
    WRITTEN_DIGITS,
    WRITTEN_SCALES,
    digit_readings,
    may_be_currency,
    numbers_in,
)
from negotiator.numbers.words import TABLES

Point = Literal["thousands", "decimal"]
"""What a point before three digits is; without a rule both readings are refused."""
LONGEST_WRITTEN: Final = 60
"""Characters of a text that is read; a longer one is no number and no day."""
_MACHINE: Final = re.compile(r"[+-]?(?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,3})?")
_TWO_READINGS: Final = re.compile(r"[+-]?[1-9][0-9]{0,2}\.[0-9]{2}0")
"""A decimal string that no program writes and that people write for thousands: `1.500`."""
_THREE_DECIMALS: Final = re.compile(r"-?[0-9]{1,3}\.[0-9]{3}")
_AROUND: Final = re.compile(r"(?:us|ca?|au?|nz|s|hk)\$|[^\W\d_]+|[^\s\w]|_", re.IGNORECASE)
_SIGN: Final = re.compile(r"^[-−–+]|[-−–+]$")
_NO_CENTS: Final = re.compile(r"^[.,][-–—=]{1,2}")
"""What Swiss and German prices have for whole amounts: `45.–`."""
SCALES: Final[Mapping[str, int]] = WRITTEN_SCALES | {
    word: 10 ** int(zeros) for zeros, words in TABLES["written_scales"].items() for word in words.split()
}
"""What multiplies the number before it."""
_INDIAN: Final = {"l": 10**5, "cr": 10**7}
_HUNDREDTHS: Final = {"p": "GBP", "pence": "GBP"} | dict.fromkeys(
    ["cent", "cents", "ct", "c", "¢"], "EUR USD CAD AUD NZD SGD HKD ZAR"
)
"""What is a hundredth of an amount, and the currencies that have it."""
_SCALE: Final = re.compile(
    r"\s?(?:([tkm])(?=[€$£]|(?:EUR|USD|GBP|CHF)\b)|([百千万萬億亿천만억]|[^\W\d_百千万萬億亿천만억]+|¢)\.?)",
    re.IGNORECASE,
)
_BEFORE_CURRENCY: Final = {"t": 10**3, "k": 10**3, "m": 10**6}
_PER: Final = frozenset(["per", "a", "an", "/", "each", "every", "and", "pro", "im"])
_SHORT_PER: Final = re.compile(r"\bp[./]?\s?(a|w|m|cm|d|h)\b\.?", re.IGNORECASE)
PERIODS: Final = {word: noun for noun, words in TABLES["written_periods"].items() for word in words.split()}
"""Short, German and other words of a stretch of time."""
_ORDERED: Final = re.compile("z|(?:G?b)?(?:G?m)?(?:G?k)?G?".replace("G", "(?:(?:Tu?|t|u)?h(?:Tu?|t|u)?|Tu?|t|u)"))
"""The kinds of the words of one number, in order: `twelve five` is none."""
_PERCENT: Final = frozenset(["%", "percent", "percentage", "pct", "per", "cent"])
_DOLLARS: Final = {
    "us$": "USD", "c$": "CAD", "ca$": "CAD", "a$": "AUD", "au$": "AUD", "nz$": "NZD", "s$": "SGD", "hk$": "HKD",
}  # fmt: skip
_CURRENCY_WORDS: Final = CURRENCY_WORDS | _DOLLARS | {"円": "JPY", "元": "CNY", "r": "ZAR"}
_OWN_CURRENCY: Final = frozenset(
    ["€", "euro", "euros", "£", "pound", "pounds", "quid", "₹", "zł", "zloty", "kč", "rand", "franken", "円", *_DOLLARS]
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


def read_amount(
    text: str, currency: str | None = None, *, per: Collection[str] = (), point: Point | None = None
) -> WrittenAmount:
    """An amount of money; `currency` is that of everything around it, where it is known.

    `per` is what the amount is for, as nouns such as month and seat; beside the amount only these may be said.
    """
    value, words = _read(text, "an amount of money, such as €500, 1,500.00 or 15k", point, None, currency)
    said: str | None = None
    for word in _without_per(words, per):
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


def read_with_unit(text: str, units: Collection[str] = (), point: Point | None = None) -> tuple[Decimal, str]:
    """A number and the word beside it in lower case, empty where there is none: `12 months`.

    A unit may be a word that else multiplies, as the `m` of metres.
    """
    value, words = _read(text, "one number, such as 12 or 12 months", point, units)
    if len(words) > 1 or (words and not words[0].isalpha()):
        said = _shown(" ".join(words))
        raise ValueError(f"Must be one number with its unit at most, such as 12 months, without {said}")
    return value, words[0] if words else ""


def read_percentage(text: str, point: Point | None = None) -> Decimal:
    """A percentage: `12 %`, `12.5 percent`, `12`."""
    value, words = _read(text, "a percentage, such as 12 or 12%", point)
    if strange := next((word for word in words if word not in _PERCENT), None):
        raise ValueError(f"Must be a percentage, such as 12 or 12%, without {_shown(strange)}")
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


def _read(
    text: str, wanted: str, point: Point | None = None, units: Collection[str] | None = (), currency: str | None = None
) -> tuple[Decimal, list[str]]:
    """The number of a text and the words beside it, in lower case; it is money where `units` is None."""
    _check_text(text, wanted)
    plain = " ".join(text.split())
    has_thirds = MINOR_UNITS.get(currency or "") == 3
    if _MACHINE.fullmatch(plain) and not (point and _THREE_DECIMALS.fullmatch(plain)):
        if _TWO_READINGS.fullmatch(plain) and not has_thirds:
            raise _ambiguous(Decimal(plain.replace(".", "")), Decimal(plain))
        return Decimal(plain), []
    digits = [*WRITTEN_DIGITS.finditer(plain)]
    if len(digits) == 1:
        start, end = digits[0].span()
        readings = digit_readings(plain[start:end])
    elif not digits and len(found := numbers_in(plain)) == 1 and _is_one_number(plain[found[0].start : found[0].end]):
        start, end, readings = found[0].start, found[0].end, {*found[0].readings}
    else:
        raise ValueError(f"Must be {wanted}")
    before, after = plain[:start].strip(), _NO_CENTS.sub("", plain[end:])
    sign = _SIGN.search(before)
    before = _SIGN.sub("", before, count=1)
    if not digits:
        before = re.sub(r"\ban?$", "", before.lower())
    known: dict[str, Decimal | int] = {word: factor for word, factor in SCALES.items() if word not in (units or ())}
    if units is None:
        after = _SHORT_PER.sub(lambda found: f" per {PERIODS[found[1].lower()]} ", after)
        known |= {word: Decimal("0.01") for word, codes in _HUNDREDTHS.items() if currency and currency in codes}
        known |= _INDIAN if currency == "INR" or re.search(r"₹|\b(?:rs|inr)\b", plain, re.IGNORECASE) else {}
    scale, after = _scale(after, known)
    words = [word.lower() for word in _AROUND.findall(f"{before} {after}")]
    value = scale * _value(plain[start:end], readings, scale, point, has_thirds=has_thirds)
    return -value if sign and sign[0] != "+" else value, [word for word in words if word != "."]


def _is_one_number(text: str) -> bool:
    """Whether these words, in this order, are one number."""
    kinds = {"zero": "z", "hundred": "h", "thousand": "k", "million": "m", "billion": "b"} | dict.fromkeys(TENS, "T")
    words = [word for word in re.split(r"\W+", text.lower()) if word != "and"]
    said = "".join(kinds.get(word) or ("x" if word not in UNITS else "tu"[UNITS[word] < 10]) for word in words)
    return _ORDERED.fullmatch(said) is not None


def _scale(after: str, known: Mapping[str, Decimal | int]) -> tuple[Decimal, str]:
    """What the words directly behind a number multiply it by, and the text behind them."""
    scale = Decimal(1)
    while found := _SCALE.match(after):
        joined, word = (found[1] or "").lower(), (found[2] or "").lower()
        if word == "mil":
            raise ValueError("Could be thousands or millions: write the number without “mil”")
        factor = _BEFORE_CURRENCY.get(joined) or known.get(word)
        if factor is None:
            break
        scale *= factor
        after = after[found.end() :]
    return scale, after


def _value(
    written: str, readings: Collection[Decimal], scale: Decimal, point: Point | None, *, has_thirds: bool
) -> Decimal:
    """The one reading of a number; `ValueError` with both where there are two."""
    low, high = min(readings), max(readings)
    has_point, has_comma = "." in written, "," in written
    if low == high or written.startswith("0") or (has_point and not has_comma and (has_thirds or point == "decimal")):
        return low
    if not has_thirds and ((has_comma and not has_point) or (point == "thousands" and scale == 1)):
        return high
    raise _ambiguous(high * scale, low * scale)


def _without_per(words: Sequence[str], per: Collection[str]) -> list[str]:
    """The words without what the amount is for; `ValueError` where that is something else than `per`."""
    kept: list[str] = []
    for before, word in pairwise(["", *words]):
        if word in _PER or not (before in _PER or word.endswith("ly")):
            kept += [] if word in _PER and word is not words[-1] else [word]
            continue
        noun = PERIODS.get(word, word)
        if noun not in per:
            known = f"Amounts here are per {' and '.join(per)}" if per else "Nothing says here what an amount is for"
            raise ValueError(f"{known}, and this says per {noun[:20]}: write the amount alone")
    return kept


def _ambiguous(high: Decimal, low: Decimal) -> ValueError:
    return ValueError(
        f"Could be {number_text(high)} or {number_text(low)}: write {high.normalize():f} or {low.normalize():f}"
    )


def _check_text(text: str, wanted: str) -> None:
    strange = len(text) > LONGEST_WRITTEN or has_invisible_characters(text)
    if strange or any(mark.isnumeric() and mark not in SCALES and not "0" <= mark <= "9" for mark in text):
        raise ValueError(f"Must be {wanted}")


def _currency(word: str, known: str | None) -> str:
    """The code that a sign or word names; the known currency where the word may name it."""
    code = word.upper() if word.upper() in MINOR_UNITS else _CURRENCY_WORDS.get(word)
    if code is None:
        raise ValueError(f"Must be one amount of money, without {_shown(word)}")
    is_exact = word in _OWN_CURRENCY or word.upper() == code
    if known is not None:
        if code == known or (not is_exact and may_be_currency(code, known)) or (word == "¥" and known in _YENS):
            return known
        raise ValueError(f"All money here is in {known}, and this says {code}; nothing is converted")
    if is_exact:
        return code
    raise ValueError(f"{_shown(word)} is money of several countries: name the currency by its code, such as {code}")


def _shown(word: str) -> str:
    return f"“{word[:20]}”"


class AmountReader:
    """Reads the amounts of one body; `currency` is the one that was said, `errors` are what could not be read."""

    def __init__(self, currency: str | None = None) -> None:
        self.currency = currency
        self.errors: list[FieldError] = []

    def read(self, value: Any, pointer: str, per: Collection[str] = ()) -> Any:
        """An amount of money as a decimal string; anything else than a text stays."""
        if not isinstance(value, str):
            return value
        try:
            found = read_amount(value, self.currency, per=per)
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
        said = " or ".join(map(day_text, days))
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
