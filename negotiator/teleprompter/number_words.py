"""Runs of number words and digits, read into values.

A spoken number is often shorter than what it means: "twelve five" is 12,500 beside a price and 12.5 beside a rate, "two
fifty" is 250. So a run has readings, the likeliest first; who knows the scale of the matter chooses among them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

TEXT_LIMIT: Final = 4000
LARGEST_NUMBER: Final = Decimal(10) ** 12

_SMALL: Final = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
fifteen sixteen seventeen eighteen nineteen"""
_UNITS: Final = {word: value for value, word in enumerate(_SMALL.split())}
_ROUND: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
_TENS: Final = {word: 10 * value for value, word in enumerate(_ROUND.split(), start=2)}
_SCALES: Final = {
    "thousand": 1_000,
    "grand": 1_000,
    "k": 1_000,
    "million": 1_000_000,
    "mil": 1_000_000,
    "m": 1_000_000,
    "billion": 1_000_000_000,
    "bn": 1_000_000_000,
}
_TOKEN: Final = re.compile(
    r"(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?P<scale>k|m|bn)?(?![\w])"
    r"|(?P<word>[^\W\d_]+(?:'[^\W\d_]+)?)|(?P<sign>[%$€£¥])|(?P<stop>[.!?;,\n])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class NumberToken:
    """A word, number or sign in lower case, and where it stands."""

    text: str
    start: int
    end: int
    value: Decimal | None = None
    is_stop: bool = False


@dataclass(frozen=True, slots=True)
class NumberRun:
    """A spoken number: its readings, likeliest first, and its first and one past its last token."""

    readings: tuple[Decimal, ...]
    first: int
    last: int
    scaled: bool

    @property
    def value(self) -> Decimal:
        """The likeliest reading."""
        return self.readings[0]


def number_tokens(text: str) -> list[NumberToken]:
    """The tokens of the first 4,000 characters; "forty-two" gives two words, "42k" one number."""
    found: list[NumberToken] = []
    for one in _TOKEN.finditer(text[:TEXT_LIMIT]):
        if (digits := one["number"]) is not None:
            value = Decimal(digits.replace(",", "")) * _SCALES.get((one["scale"] or "").lower(), 1)
            found.append(NumberToken(one.group().lower(), one.start(), one.end(), value))
        else:
            is_stop = one["stop"] is not None
            found.append(NumberToken(one.group().lower(), one.start(), one.end(), is_stop=is_stop))
    return found


def number_runs(words: Sequence[NumberToken]) -> list[NumberRun]:
    """Every number in order; ordinals, digits told one by one, and "one" that counts nothing are none."""
    found: list[NumberRun] = []
    at = 0
    while at < len(words):
        run = _run(words, at)
        if run is not None and run.readings and run.value <= LARGEST_NUMBER:
            found.append(run)
        at = run.last if run is not None else at + 1
    return found


def _run(words: Sequence[NumberToken], at: int) -> NumberRun | None:
    """The longest number that starts here."""
    groups: list[Decimal] = []
    i, scaled, total = at, False, Decimal(0)
    joined = False
    while i < len(words):
        group, after = _group(words, i, opening=not groups and not scaled)
        if group is None:
            break
        i = after
        if i < len(words) and (scale := _SCALES.get(words[i].text)) is not None:
            total, scaled, i = total + (sum(groups) + group) * scale, True, i + 1
            groups = []
            group, i = _half_more(words, i, scale)
            total += group
        else:
            groups.append(group)
        if scaled and not groups and _text(words, i) == "and":  # "two thousand and fifty"
            joined, i = True, i + 1
    if i == at:
        return None
    if _text(words, i - 1) == "and":
        i -= 1
    if _counts_nothing(words, at, i):
        return None
    if not scaled and len(groups) > 2:  # digits one by one: a telephone, an invoice
        return NumberRun((), at, i, scaled)
    return NumberRun(_readings(total, groups, short=scaled and not joined), at, i, scaled)


def _group(words: Sequence[NumberToken], i: int, *, opening: bool) -> tuple[Decimal | None, int]:
    """A number below a thousand in words, or digits; "a hundred", "half a million", "one point five"."""
    token = words[i]
    if token.value is not None:
        if not opening and i > 0 and words[i - 1].value is not None:
            return None, i  # "10 12" are two numbers
        return token.value, i + 1
    if opening and token.text == "half" and _is_scale(words, i + 2) and words[i + 1].text == "a":
        return Decimal("0.5"), i + 2
    if opening and token.text in {"a", "an"}:
        if _text(words, i + 1) == "hundred":
            return _after_hundred(words, i + 2, Decimal(100))
        return (Decimal(1), i + 1) if _is_scale(words, i + 1) else (None, i)
    value, i = _below_hundred(words, i)
    if value is None:
        return None, i
    if _text(words, i) == "hundred":
        return _after_hundred(words, i + 1, value * 100)
    return _after_point(words, i, value)


def _below_hundred(words: Sequence[NumberToken], i: int) -> tuple[Decimal | None, int]:
    text = _text(words, i)
    if text in _TENS:
        unit = _UNITS.get(_text(words, i + 1), 0)
        return (
            (Decimal(_TENS[text] + unit), i + 2) if 0 < unit < 10 else (Decimal(_TENS[text]), i + 1)
        )
    return (Decimal(_UNITS[text]), i + 1) if text in _UNITS else (None, i)


def _after_hundred(words: Sequence[NumberToken], i: int, value: Decimal) -> tuple[Decimal, int]:
    rest, after = _below_hundred(words, i + 1 if _text(words, i) == "and" else i)
    return (value + rest, after) if rest else (value, i)


def _after_point(words: Sequence[NumberToken], i: int, value: Decimal) -> tuple[Decimal, int]:
    if _text(words, i) == "and" and [_text(words, i + 1), _text(words, i + 2)] == ["a", "half"]:
        return value + Decimal("0.5"), i + 3
    if _text(words, i) != "point":
        return value, i
    digits, after = "", i + 1
    while (digit := _UNITS.get(_text(words, after), 10)) < 10:
        digits, after = f"{digits}{digit}", after + 1
    return (value + Decimal(f"0.{digits}"), after) if digits else (value, i)


def _half_more(words: Sequence[NumberToken], i: int, scale: int) -> tuple[Decimal, int]:
    """ "a million and a half"."""
    if [_text(words, i + n) for n in range(3)] == ["and", "a", "half"]:
        return Decimal(scale) / 2, i + 3
    return Decimal(0), i


def _readings(total: Decimal, groups: Sequence[Decimal], *, short: bool) -> tuple[Decimal, ...]:
    if total:  # "forty two thousand three hundred", "two million five"
        plain = total + sum(groups)
        few = short and len(groups) == 1 and 0 < groups[0] < 10
        return (total + groups[0] * _step(total) / 10, plain) if few else (plain,)
    if len(groups) == 2 and 0 < groups[0] < 100:
        first, second = groups
        if (
            10 <= second < 100
        ):  # "two fifty", "twelve ninety nine": hundreds, or a price with its cents
            return first * 100 + second, first + second / 100, (first * 100 + second) * 1000
        if 0 < second < 10:  # "twelve five": twelve thousand five hundred, or a decimal
            return first * 1000 + second * 100, first + second / 10
    return tuple(groups[:1])


def _step(total: Decimal) -> int:
    """The scale a spoken remainder belongs to: "two million five" is 2,500,000."""
    return 1_000_000 if total % 1_000_000 == 0 else 1_000


def _counts_nothing(words: Sequence[NumberToken], first: int, last: int) -> bool:
    return last - first == 1 and words[first].text in {"one", "zero"}


def _is_scale(words: Sequence[NumberToken], i: int) -> bool:
    return _text(words, i) in _SCALES


def _text(words: Sequence[NumberToken], i: int) -> str:
    return words[i].text if 0 <= i < len(words) and words[i].value is None else ""
