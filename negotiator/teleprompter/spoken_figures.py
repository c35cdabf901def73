"""What a number in talk is: money, a percentage, a number of days, or a count that concerns nobody."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal

from negotiator.numbers import CURRENCY_WORDS, NumberRun, Token, number_runs, number_tokens

Measure = Literal["money", "percent", "days"]

QUOTE_WORDS: Final = 5
MORE_THAN_A_CLOCK_TIME: Final = 100


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_DAYS: Final = {"day": 1, "days": 1, "week": 7, "weeks": 7, "month": 30, "months": 30}
_YEARS: Final = {"year": 365, "years": 365}
_PERCENT: Final = frozenset(["percent", "%", "percentage"])
_OFF: Final = frozenset(
    ["off", "discount", "rebate", "reduction", "less", "cheaper", "lower", "below"]
)
PERIODS: Final = {"hour": "hour", "day": "day", "week": "week", "month": "month", "year": "year",
               "annum": "year", "unit": "unit", "seat": "seat", "user": "seat", "piece": "unit",
               "head": "head", "hourly": "hour", "daily": "day", "monthly": "month",
               "yearly": "year", "annually": "year"}  # fmt: skip
_PRICE_TALK: Final = _words(
    """price pay paying offer offering offered cost costs charge charging fee rent rate salary budget quote quoted
    asking ask worth bid give settle accept do sell buy spend deposit earn earning minimum maximum least most limit
    figure number total"""
)
_PERHAPS: Final = _words(
    """go at for say make take come down up to between around about only want need get below above under over knock
    of expecting thinking hoping"""
)
_NO_PRICE: Final = _words(
    """people persons employees users customers clients countries offices pages units pieces seats licences licenses
    rooms bedrooms minutes minute hours hour times points miles kilometres square years year old o'clock am pm of them
    us questions things options branches sites colleagues children degrees tons engineers staff visitors copies boxes
    cars servers stores other others more street avenue weeks months days"""
)
_YEAR_WORDS: Final = frozenset(["in", "since", "year"])
_NO_PLURALS: Final = frozenset(
    ["plus", "less", "thats", "this", "always", "as", "is", "was", "yes", "unless", "perhaps"]
)
_REACH: Final = 6


@dataclass(frozen=True, slots=True)
class SpokenFigure:
    """One figure heard, or a range of them: `low` and `high` are equal unless it is a range.

    `readings` are other values a single figure may have meant, the likeliest first. `off` marks a percentage or an
    amount that is taken from a price. Days count a month as thirty. `per` is the period or thing the money is for.
    """

    measure: Measure
    low: Decimal
    high: Decimal
    readings: tuple[Decimal, ...]
    quote: str
    currency: str = ""
    per: str = ""
    off: bool = False


def find_figures(text: str, tokens: Sequence[Token] | None = None) -> tuple[SpokenFigure, ...]:
    """The figures in the first 4,000 characters that may concern a deal, in their order.

    `tokens` are those that `numbers.find_tokens` gives for the text, if they are known.
    """
    words = number_tokens(text, tokens)
    found: list[SpokenFigure] = []
    numbers = number_runs(words)
    at = 0
    while at < len(numbers):
        pair = _range(words, numbers, at)
        figure = _figure(words, *(pair or (numbers[at], numbers[at])), text=text)
        if figure is not None:
            found.append(figure)
        at += 2 if pair else 1
    return tuple(found)


def _range(
    words: Sequence[Token], numbers: Sequence[NumberRun], at: int
) -> tuple[NumberRun, NumberRun] | None:
    """ "ten to twelve thousand", "between ten and twelve": two runs with one word between them."""
    if at + 1 >= len(numbers):
        return None
    low, high = numbers[at], numbers[at + 1]
    between = [word.text for word in words[low.last : high.first]]
    opened = low.first > 0 and words[low.first - 1].text == "between"
    if between not in (["to"], ["or"], ["and"]) or (between == ["and"] and not opened):
        return None
    if high.scaled and not low.scaled:
        scale = _scale_of(high.value)
        low = NumberRun((low.value * scale, *low.readings), low.first, low.last, scaled=True)
    return (low, high) if low.value <= high.value else None


def _scale_of(value: Decimal) -> int:
    return 1_000_000 if value >= 1_000_000 else 1_000


def _figure(
    words: Sequence[Token], low: NumberRun, high: NumberRun, *, text: str
) -> SpokenFigure | None:
    after = [word.text for word in words[high.last : high.last + _REACH]]
    before = [word.text for word in words[max(low.first - _REACH, 0) : low.first]]
    following = after[0] if after else ""
    quote = _quote(words, low.first, high.last, text=text)
    off = bool(_OFF & set(_upto_stop(after)[:3])) or before[-2:] == ["off", "by"]
    same = low.first == high.first
    readings = high.readings if same else (high.value,)
    if following in _PERCENT:
        value = readings[-1] if same else high.value
        start = value if same else low.value
        return SpokenFigure("percent", start, value, (value,), quote, off=off)
    if (days := _days(before, after)) is not None:
        return SpokenFigure(
            "days", low.value * days, high.value * days, (high.value * days,), quote
        )
    currency = _currency(before, after)
    if not currency and not _is_money(before, after, low=low, high=high):
        return None
    return SpokenFigure(
        "money",
        low.value,
        high.value,
        readings,
        quote,
        currency=currency,
        per=_per(after),
        off=off,
    )


def _days(before: Sequence[str], after: Sequence[str]) -> int | None:
    if before[-1:] == ["net"]:
        return 1
    if after[1:2] and after[1] in {"a", "per", "each", "every"}:  # "two days a week" is no term
        return None
    return _DAYS.get(after[0]) if after else None


def _currency(before: Sequence[str], after: Sequence[str]) -> str:
    near = [*before[-1:], *after[:1]]
    return next((CURRENCY_WORDS[word] for word in near if word in CURRENCY_WORDS), "")


def _is_money(
    before: Sequence[str], after: Sequence[str], *, low: NumberRun, high: NumberRun
) -> bool:
    following = after[0] if after else ""
    counted = len(following) > 3 and following.endswith("s") and following not in _NO_PLURALS
    if counted or following in _NO_PRICE or following in _YEARS or following.endswith("th"):
        return False
    if _looks_like_a_year(before, high):
        return False
    if high.scaled or low.scaled or _PRICE_TALK & set(before):
        return True
    is_large = high.value >= MORE_THAN_A_CLOCK_TIME
    return is_large and bool(_PERHAPS & set(before) or _per(after))


def _looks_like_a_year(before: Sequence[str], run: NumberRun) -> bool:
    return 1900 <= run.value <= 2100 and bool(_YEAR_WORDS & set(before[-1:]))


def _per(after: Sequence[str]) -> str:
    for at, word in enumerate(after[:4]):
        if word in {"a", "an", "per", "each", "every", "the"} and at + 1 < len(after):
            return PERIODS.get(after[at + 1], "")
        if word.endswith("ly") and word in PERIODS:
            return PERIODS[word]
    return ""


def _upto_stop(after: Sequence[str]) -> list[str]:
    return list(after[: next((i for i, word in enumerate(after) if word in ".!?;,"), len(after))])


def _quote(words: Sequence[Token], first: int, last: int, *, text: str) -> str:
    start = words[max(first - QUOTE_WORDS, 0)].start
    end = words[min(last + 2, len(words)) - 1].end
    return " ".join(text[start:end].split())
