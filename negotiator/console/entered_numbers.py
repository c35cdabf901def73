"""Numbers as people type them into a form: `45`, `43,200`, `1.250,00`, `15k`, `€ 45`, `12 %`, `nine thousand`."""

import re
from collections.abc import Set
from decimal import Decimal
from typing import Final

from negotiator.negotiations.issues import WHOLE_TYPES, IssueType
from negotiator.negotiations.plain_text import singular
from negotiator.numbers import CURRENCY_WORDS, WrittenNumber, normalise_text, numbers_in
from negotiator.values import MINOR_UNITS

LARGEST_ENTERED: Final = Decimal(10) ** 15
_LARGEST_TEXT: Final = 100
_MINUS: Final = re.compile(r"[-–−] ?[$€£¥]? ?$")
_WORD: Final = re.compile(r"[^\W\d_]+|[$€£¥]")
_PERIODS: Final = frozenset(["hour", "day", "week", "month", "quarter", "year"])


def read_entered(text: str, kind: IssueType, *, unit: str = "", currency: str = "") -> Decimal:
    """The number in the text; ValueError with a sentence for the user where there is not exactly one.

    A single separator before three digits parts thousands in an amount of money and in a whole number: `1.250` is
    1,250. On a number or a percentage, a full stop is a decimal point. What is counted in another unit or another
    currency is refused.
    """
    plain = " ".join(normalise_text(text).split())
    found = numbers_in(plain)
    if len(found) != 1 or len(plain) > _LARGEST_TEXT:
        raise ValueError("Write one number, such as 45, 43,200 or 15k.")
    number = found[0]
    words = set(_WORD.findall(f"{plain[: number.start]} {plain[number.end :]}"))
    if kind == "money":
        _refuse_other_currency(words, currency)
    else:
        _refuse_other_period(words, unit)
    value = _reading(plain, number, kind)
    if abs(value) > LARGEST_ENTERED:
        raise ValueError("This number is too large.")
    if kind in WHOLE_TYPES and value != value.to_integral_value():
        raise ValueError("Write a whole number.")
    return -value if _MINUS.search(plain[: number.start]) else value


def _reading(plain: str, number: WrittenNumber, kind: IssueType) -> Decimal:
    written = plain[number.start : number.end]
    is_decimal = written.startswith("0") or ("." in written and kind != "money" and kind not in WHOLE_TYPES)
    return min(number.readings) if is_decimal else max(number.readings)


def _refuse_other_currency(words: Set[str], currency: str) -> None:
    named = {code for word in words if (code := CURRENCY_WORDS.get(word.lower()))}
    named |= {word for word in words if word in MINOR_UNITS}
    other = next(iter(sorted(named - {currency})), "")
    if currency and other:
        raise ValueError(f"All money here is in {currency}, and this says {other}.")


def _refuse_other_period(words: Set[str], unit: str) -> None:
    counted = next((one for one in map(singular, unit.lower().split()) if one in _PERIODS), None)
    said = {singular(word.lower()) for word in words} & _PERIODS
    if counted and said and counted not in said:
        raise ValueError(f"This point is counted in {unit}.")
