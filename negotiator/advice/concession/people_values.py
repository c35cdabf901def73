"""The values that people would name on an issue: 12,500 rather than 12,487, 24 months rather than 23.

In 1,299 price talks (CraigslistBargain) 88 % of the figures from 1,000 on are multiples of 25, 73 % of 100.
"""

from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Final

from negotiator.terms.issues import (
    WHOLE_TYPES,
    Issue,
    Scalar,
    coordinate,
    same_value,
    value_at_coordinate,
    worth_of,
    worths_of,
)

STEPS_IN_ROOM: Final = 16
"""A figure is rounded to about a sixteenth of the room that is bargained over, so that every step can be told apart."""
COARSE_UNIT: Final = Decimal(25)
"""From 1,000 on people hardly name other amounts than multiples of this."""
FEWEST_STEPS: Final = 8
MAX_VALUES: Final = 80
_SHARES: Final = tuple(map(Decimal, ("5", "2.5", "1", "0.5", "0.25", "0.1", "0.05", "0.025", "0.01", "0.001")))
_DAYS: Final = (0, 1, 2, 3, 5, 7, 10, 14, 21, 30, 45, 60, 75, 90, 120, 150, 180, 270, 365)
_MONTHS: Final = (1, 2, 3, 6, 9, 12, 18, 24, 30, 36, 48, 60, 72, 84, 96, 120)
_FEW_DAYS: Final = 14
_FEW_WEEKS: Final = 60


def rounding_unit(issue: Issue, room: Decimal, size: Decimal) -> Decimal:
    """The unit to which people round on an issue, for figures of about `size` with `room` to bargain over.

    1, 2.5 or 5 times a power of ten, from half the leading digit's place downwards; whole for whole types.
    """
    cent = Decimal("0.01") if abs(size) >= 1 or not size else Decimal("0.001")
    least = Decimal(1) if issue.type in WHOLE_TYPES else cent
    if issue.type == "percent" and room >= 1:
        least = Decimal("0.5")
    size, room = abs(size) or Decimal(1), abs(room)
    if issue.type == "money" and size >= 1000 and room >= FEWEST_STEPS * COARSE_UNIT:
        least = COARSE_UNIT
    place = Decimal(1).scaleb(size.adjusted() - 1)
    units = [place * share for share in _SHARES]
    fits = [unit for unit in units if unit <= room / STEPS_IN_ROOM and not _is_odd(issue, unit)]
    return max(fits[0] if fits else least, least)


def people_values(issue: Issue, best: Scalar, worst: Scalar, *, named: Sequence[Scalar] = ()) -> tuple[Scalar, ...]:
    """The values from `best` to `worst` that people would name, best for the user first, with falling worth.

    `best`, `worst` and the `named` values between them are always included if the issue has them.
    """
    ends = coordinate(issue.type, best), coordinate(issue.type, worst)
    if ends[0] is None or ends[1] is None:
        found = _options_between(issue, best, worst)
    else:
        found = _ordered(issue, ends[0], ends[1], named)
    return _falling(issue, found, best, worst)


def _options_between(issue: Issue, best: Scalar, worst: Scalar) -> list[Scalar]:
    if issue.options:
        return [option.value for option in issue.options]
    return [best, worst]


def _ordered(issue: Issue, best: Decimal, worst: Decimal, named: Sequence[Scalar]) -> list[Scalar]:
    low, high = min(best, worst), max(best, worst)
    keep = [at for value in named if (at := coordinate(issue.type, value)) is not None]
    keep = [best, worst, *(at for at in keep if low <= at <= high)]
    if issue.options:
        return _round_options(issue, low, high, keep)
    marks = [_on_grid(issue, at) for at in _marks(issue, low, high)]
    every = sorted({*keep, *(at for at in marks if low <= at <= high)})
    if len(every) > MAX_VALUES:
        stride = len(every) // MAX_VALUES + 1
        every = sorted({*keep, *every[::stride]})
    return [value_at_coordinate(issue.type, _plain(at)) for at in every]


def _plain(at: Decimal) -> Decimal:
    """The decimal without an exponent or trailing zeros: 12000 rather than 1.2E+4 or 12000.00."""
    return at.quantize(Decimal(1)) if at == at.to_integral_value() else at.normalize()


def _round_options(issue: Issue, low: Decimal, high: Decimal, keep: Sequence[Decimal]) -> list[Scalar]:
    """The listed values between the ends; of a long list those that are round, and those to keep."""
    places = [(coordinate(issue.type, option.value), option.value) for option in issue.options]
    inside = [(at, value) for at, value in places if at is not None and low <= at <= high]
    if len(inside) <= 12 or issue.type == "date":
        return [value for _, value in inside][:MAX_VALUES]
    unit = rounding_unit(issue, high - low, max(abs(low), abs(high)))
    found = [value for at, value in inside if at % unit == 0 or at in keep]
    return found if len(found) >= 5 else [value for _, value in inside][:: len(inside) // 40 + 1]


def _marks(issue: Issue, low: Decimal, high: Decimal) -> list[Decimal]:
    if issue.type == "date":
        return _dates(low, high)
    unit_words = f"{issue.unit or ''} {issue.label} {issue.name}".lower()
    if (issue.type == "duration_days" or (issue.type == "integer" and "day" in unit_words)) and high - low > _FEW_DAYS:
        usual = [Decimal(n) for n in _DAYS if low <= n <= high]
        if len(usual) >= 2:
            return usual
    if issue.type in {"integer", "number"} and "month" in unit_words and high - low >= 6:
        usual = [Decimal(n) for n in _MONTHS if low <= n <= high]
        if len(usual) >= 2:
            return usual
    unit = rounding_unit(issue, high - low, max(abs(low), abs(high)))
    first = (low / unit).to_integral_value()
    count = min(int((high - low) / unit) + 2, 20 * MAX_VALUES)
    return [(first + k) * unit for k in range(count)]


def _dates(low: Decimal, high: Decimal) -> list[Decimal]:
    """Days for a few days, Mondays for a few weeks, else the first and the fifteenth of each month.

    Where an end is such a first or fifteenth, so are the days between, if there are any.
    """
    start, days = date.fromordinal(int(low)), int(high - low)
    every = [start + timedelta(days=n) for n in range(min(days, 366 * 5) + 1)]
    halves = [day for day in every if day.day in {1, 15}]
    usual = {every[0], every[-1]} & set(halves)
    if days > _FEW_WEEKS or (usual and len(halves) > 1):
        every = halves
    elif days > _FEW_DAYS:
        every = [day for day in every if day.weekday() == 0]
    return [Decimal(day.toordinal()) for day in every]


def _on_grid(issue: Issue, at: Decimal) -> Decimal:
    """The nearest value of the issue's own steps."""
    span = issue.range
    if span is None or span.step is None:
        return at
    return span.min + ((at - span.min) / span.step).to_integral_value() * span.step


def _falling(issue: Issue, found: Sequence[Scalar], best: Scalar, worst: Scalar) -> tuple[Scalar, ...]:
    """The values in order of falling worth between the ends, one per worth; the ends and coordinates run one way."""
    top, bottom = worth_of(issue, best), worth_of(issue, worst)
    if top is None or bottom is None or top <= bottom:
        return (best,)
    pairs = [(worth, value) for value, worth in zip(found, worths_of(issue, found), strict=True) if worth is not None]
    inside = [(worth, value) for worth, value in pairs if bottom - 1e-12 <= worth <= top + 1e-12]
    ordered = coordinate(issue.type, best) is not None
    if ordered:
        a, b = coordinate(issue.type, best), coordinate(issue.type, worst)
        rising = a is not None and b is not None and a <= b
        inside.sort(key=lambda pair: coordinate(issue.type, pair[1]) or Decimal(0), reverse=not rising)
    else:
        inside.sort(key=lambda pair: -pair[0])
    kept: list[Scalar] = []
    last = 2.0
    for worth, value in inside:
        if worth < last - 1e-12:
            kept.append(value)
            last = worth
    if kept and not same_value(issue.type, kept[-1], worst) and last > bottom + 1e-12:
        kept.append(worst)
    return tuple(kept) or (best,)


def _is_odd(issue: Issue, unit: Decimal) -> bool:
    """Units that people do not count in: 2.5 of whole things, quarters of thousandths."""
    if issue.type in WHOLE_TYPES and unit != unit.to_integral_value():
        return True
    quarter = str(unit.normalize().as_tuple().digits[-2:]) == "(2, 5)"
    return quarter and (unit < Decimal("0.25") or Decimal(1) < unit < Decimal(25))
