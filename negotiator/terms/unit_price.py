"""What a price is per ("seat and month"), read from an issue's label and unit, and the total that it comes to."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from negotiator.base.values import MINOR_UNITS
from negotiator.numbers.read import WrittenNumber, normalise_text, numbers_in
from negotiator.terms.issue_words import MAX_UNIT_CHARACTERS, IssueWords
from negotiator.terms.issues import Issue, Package, coordinate
from negotiator.terms.plain_text import (
    COUNT_NOUNS,
    VOCABULARY,
    counted,
    cut_at_word,
    join_words,
    plural,
    singular,
    tidy,
    word_set,
)
from negotiator.terms.terms import Terms

_ADVERBS: Final = {
    "hourly": "hour", "daily": "day", "weekly": "week", "monthly": "month", "quarterly": "quarter",
    "yearly": "year", "annual": "year", "annually": "year",
}  # fmt: skip
"""Words before a price that say what it is per."""
_RATES: Final = {"day rate": "day", "hour rate": "hour", "week rate": "week", "month rate": "month"}
_PERIODS: Final = frozenset(["week", "month", "quarter", "year"])
_SPLIT: Final = re.compile(r"/|\bper\b|\band\b|,|×|\*|\ban?\b", re.IGNORECASE)
_PER: Final = re.compile(r"/|\bper\b|\ban?\b(?= (?:hour|day|week|month|quarter|year|annum)\b)", re.IGNORECASE)
_BRACKETED: Final = re.compile(r"[(\[][^()\[\]]*[)\]]")
_NOUN: Final = re.compile(r"[^\W\d_]+(?:[ -][^\W\d_]+){0,2}")
_LINKING: Final = word_set("in on of for with from to after before at by if when each first the")
_MONEY_WORDS: Final = word_set("euro euros dollar dollars pounds pound francs yen € $ £ ¥ us$ chf")


@dataclass(frozen=True, slots=True)
class UnitPrice:
    """A money issue's label without what it is per, and the nouns it is per, singular and in order.

    `is_clear` is false when words follow "per" that are not such nouns; `rest` then holds them as they are written.
    """

    head: str
    per: tuple[str, ...] = ()
    rest: str = ""
    is_clear: bool = True

    @property
    def words(self) -> str:
        """What follows the amount: `per seat and month`, `a year`, or nothing."""
        if not self.is_clear:
            return f"per {self.rest}"
        if len(self.per) == 1 and self.per[0] in {*_PERIODS, "hour", "day"}:
            return f"{'an' if self.per[0] == 'hour' else 'a'} {self.per[0]}"
        return f"per {join_words(self.per)}" if self.per else ""

    @property
    def period(self) -> str | None:
        """The stretch of time that the price is for: week, month, quarter or year."""
        return next((noun for noun in self.per if noun in _PERIODS), None)

    @property
    def counts(self) -> tuple[str, ...]:
        """What the price is for one of: seat, unit, hour."""
        return tuple(noun for noun in self.per if noun not in _PERIODS)


def read_unit_price(label: str, unit: str | None) -> UnitPrice:
    """The unit price that a label such as `price per seat and month` and a unit such as `EUR/seat` say."""
    found = _PER.search(label)
    head, rest = (label, "") if found is None else (label[: found.start()].rstrip(), label[found.end() :].lstrip())
    clear_rest = " ".join(_BRACKETED.sub(" ", rest).split())
    per = _nouns(clear_rest)
    from_head: list[str] = []
    if found is None and re.fullmatch(r"(?:net )?unit (?:price|cost|rate)", label, re.IGNORECASE):
        head, from_head = label.split()[-1], ["unit"]
    for rate, noun in _RATES.items():
        if re.search(rf"\b{rate}$", head, re.IGNORECASE):
            from_head.append(noun)
            head = head[: -len(rate)] + "rate"
    kept: list[str] = []
    for word in head.split():
        noun = _ADVERBS.get(word.lower())
        is_adverb_of_next = word is not head.split()[-1]
        if noun is not None and is_adverb_of_next:
            from_head.append(noun)
        else:
            kept.append(word)
    if per is None:
        return UnitPrice(label if found is None else head, (), rest, is_clear=False)
    nouns = [*per, *from_head, *(_unit_nouns(unit) or ())]
    return UnitPrice(" ".join(kept), tuple(dict.fromkeys(nouns)))


def _nouns(text: str) -> tuple[str, ...] | None:
    """The nouns of `seat and month` or `seat/month`; None when the text says something else."""
    found: list[str] = []
    parts: list[str] = _SPLIT.split(text.lower()) if text else []
    for part in (each.strip() for each in parts):
        if not part or part == "net":
            continue
        words = ["year" if word in {"annum", "yr"} else word for word in part.split()]
        if not _NOUN.fullmatch(part) or _LINKING.intersection(words):
            return None
        if len(words) > 1 and singular(words[-1]) in _PERIODS:  # "seat month"
            found.append(" ".join(words[:-1]))
            words = words[-1:]
        words[-1] = singular(words[-1])
        found.append(" ".join(words))
    return tuple(found)


def _unit_nouns(unit: str | None) -> tuple[str, ...] | None:
    """What the unit of a price says it is per: `EUR/seat` and `per seat` say "seat", `EUR` nothing."""
    if not unit:
        return ()
    plain = tidy(unit)
    found = re.search(r"/|\bper\b|\ban?\b", plain, re.IGNORECASE)
    if found is not None:
        before = plain[: found.start()].strip()
        return _nouns(plain[found.end() :]) if not before or _is_currency(before) else None
    noun = singular(plain.lower())
    return (noun,) if noun in COUNT_NOUNS and not _is_currency(plain) else ()


def _is_currency(text: str) -> bool:
    return text.upper() in MINOR_UNITS or text.lower() in _MONEY_WORDS


# Totals


@dataclass(frozen=True, slots=True)
class Total:
    """What a unit price comes to in all: the amount, the multiplication in words, and what was assumed for it.

    `assumption` is a sentence for the user where a factor was read from a text, and empty where none was. `scope` says
    what the amount is for: `in all`, or a period such as `a year`.
    """

    amount: Decimal
    text: str
    assumed: bool = False
    assumption: str = ""
    scope: str = "in all"


@dataclass(frozen=True, slots=True)
class _Factor:
    value: Decimal
    noun: str
    assumption: str = ""
    each: str = ""

    @property
    def words(self) -> str:
        return counted(self.value, self.noun)

    @property
    def period(self) -> str | None:
        """The period that is counted, if it is one."""
        noun = singular(self.noun.lower())
        return noun if noun in _PERIODS else None


_TERM_WORDS: Final = word_set("term duration length period commitment runtime lease")
_OTHER_PERIODS: Final = VOCABULARY["other_periods"]
_MONTHS: Final = {"month": Decimal(1), "quarter": Decimal(3), "year": Decimal(12)}
_IN_A_YEAR: Final = {"week": Decimal(52), "month": Decimal(12), "quarter": Decimal(4), "year": Decimal(1)}
_REPEATED: Final = re.compile(r"\s*(?:/|(?:per|a|an|each|every)\b)", re.IGNORECASE)
_ALTERNATIVE: Final = re.compile(r"(?:\d\s*[-–—]|\b(?:to|or|and|up|about|than)|[+~<>≥≤])\s*$", re.IGNORECASE)


_EACH_PERIOD: Final = re.compile(r"(.+?) (?:a|per|each|every) (week|month|quarter|year)", re.IGNORECASE)


def total_of(
    terms: Terms,
    package: Package,
    *,
    price: UnitPrice,
    words: Callable[[Issue], IssueWords],
    money: Callable[[Decimal], str],
) -> Total | None:
    """What the package's price comes to, or None where it is a lump sum or a factor is not certain.

    The price is multiplied by the multiples of its issue. What they do not say is read from texts: a price per seat
    and month is multiplied by the seats and by the months of the term, and without a term by 12, said as a year's.
    """
    issue = terms.price
    amount = None if issue is None else coordinate("money", package.get(issue.name))
    if issue is None or amount is None or amount <= 0 or _has_discount(terms, words):
        return None
    given = _given_factors(terms, package, issue)
    if given is None or not ((price.is_clear and price.per) or given):
        return None
    factors = [one for one in given if one.period is None]
    spans = [one for one in given if one.period is not None]
    if price.is_clear and not factors:
        counts = _read_counts(terms, package, price, words)
        if counts is None:
            return None
        factors = counts
    if price.period is not None and spans and all(one.period != price.period for one in spans):
        count = spans[0].value * _IN_A_YEAR[price.period] / _IN_A_YEAR[spans[0].period or ""]
        if len(spans) > 1 or count % 1:
            return None
        spans = [replace(spans[0], value=count, noun=price.period)]
    tail = ""
    if price.is_clear and price.period is not None and not spans:
        if price.period not in _MONTHS:
            return None
        span = _term(terms, package, price.period, words)
        spans = [span or _Factor(_IN_A_YEAR[price.period], price.period)]
        tail = "" if span else " a year"
    elif each := next((one.each for one in spans if one.each), ""):
        tail = f" a {each}"
    elif any(one.each for one in factors) and price.period is None:
        tail = f" a {next(one.each for one in factors if one.each)}"
    elif not price.period and not given and _is_paid_again(terms, price, words):
        return None
    spans = [one for one in spans if one.value != 1 or not tail]
    total = amount
    for factor in (*factors, *spans):
        total *= factor.value
    said = [*(one.words for one in factors), money(amount), *(one.words for one in spans)]
    if len(said) < 2 or total == amount:
        return None
    notes = [one.assumption for one in (*factors, *spans) if one.assumption]
    text = f"{' × '.join(said)} = {money(total)}{tail}"
    return Total(total, text, bool(notes), " ".join(notes), tail.strip() or "in all")


def _has_discount(terms: Terms, words: Callable[[Issue], IssueWords]) -> bool:
    """Whether a percentage is negotiated that lowers the price."""
    return any(one.type == "percent" and set(words(one).words) & {"discount", "rebate"} for one in terms.issues)


def _given_factors(terms: Terms, package: Package, price: Issue) -> list[_Factor] | None:
    """The multiples of the price that the user gave; None where the package lacks the value of one."""
    found: list[_Factor] = []
    for multiple in price.multiples:
        count = multiple.count
        if multiple.issue is not None:
            other = terms.issue(multiple.issue)
            count = None if other is None else coordinate(other.type, package.get(multiple.issue))
        if count is None or count <= 0:
            return None
        noun = cut_at_word(tidy(multiple.of), MAX_UNIT_CHARACTERS) or "times"
        repeated = _EACH_PERIOD.fullmatch(noun)
        found.append(_Factor(count, repeated[1], each=repeated[2].lower()) if repeated else _Factor(count, noun))
    return found


def _read_counts(
    terms: Terms, package: Package, price: UnitPrice, words: Callable[[Issue], IssueWords]
) -> list[_Factor] | None:
    """How many of what the price is per, as texts say it; None where they do not."""
    if len(price.counts) > 1 or len(price.per) - len(price.counts) > 1:
        return None
    if price.period == "year" and not price.counts and not _has_term(terms, words):
        return None
    found = [_count(terms, package, noun, words) for noun in price.counts]
    known = [one for one in found if one is not None]
    return known if len(known) == len(found) else None


def _is_paid_again(terms: Terms, price: UnitPrice, words: Callable[[Issue], IssueWords]) -> bool:
    """Whether the price may be for a period that is not said, as a price per seat beside a term."""
    return bool(set(price.counts) & _SUBSCRIBED) and _has_term(terms, words)


_SUBSCRIBED: Final = word_set("seat user licence license account device site location")
"""What is mostly paid for again each month or year, so that a price without a period is not clear beside a term."""


def _count(terms: Terms, package: Package, noun: str, words: Callable[[Issue], IssueWords]) -> _Factor | None:
    """How many of what the price is per: from an issue of that name, else from the title."""
    last = noun.split()[-1]
    named = [one for one in terms.issues if _counts(one, last, words(one))]
    if len(named) > 1:
        return None
    if named:
        at = coordinate(named[0].type, package.get(named[0].name))
        found = words(named[0])
        plain = found.label if set(found.words) & {"volume", "quantity", "number"} else f"number of {found.label}"
        text = f"The price is multiplied by the {plain}."
        counted_as, each = _split_period(found)
        if counted_as and noun in _ANY_GOODS:
            noun = counted_as
        return None if at is None or at <= 0 else _Factor(at, noun, text, each)
    found = {count for count in _counts_in(terms.title, last) if count is not None}
    if len(found) != 1 or None in _counts_in(terms.title, last):
        return None
    value = found.pop()
    return _Factor(value, noun, f"{counted(value, plural(noun))} is read from the title.")


def _counts(issue: Issue, noun: str, named: IssueWords) -> bool:
    """Whether the issue's values are how many of the noun there are."""
    if issue.type not in {"number", "integer"}:
        return False
    unit, each = _split_period(named)
    words = [singular(word) for word in named.words]
    if each and words[-1] == each:
        words = words[:-2]
    if not words or set(words) & {"minimum", "free", "extra", "additional", "per", "maximum"}:
        return False
    is_volume = bool({"volume", "quantity", "number"} & set(words))
    if unit:
        is_same = unit == noun or (noun in _ANY_GOODS and is_volume)
        return is_same and (words[-1] == noun or is_volume)
    return words in ([noun], ["number", "of", noun], ["volume"], ["quantity"], [noun, "count"])


_ANY_GOODS: Final = frozenset(["unit", "piece", "item"])
"""Nouns of a unit price that stand for whatever the volume counts."""


def _split_period(named: IssueWords) -> tuple[str, str]:
    """The unit in the singular, and the period that the number is for: `pieces per year` gives piece and year."""
    unit, _, each = (named.unit or "").lower().partition(" per ")
    if not each and len(named.words) > 2 and named.words[-2] == "per":
        each = named.words[-1]
    each = singular(each.strip())
    return singular(unit.strip()), each if each in _MONTHS else ""


def _counts_in(title: str, noun: str) -> list[Decimal | None]:
    """Every count of the noun in a title; None for one that is a range, repeated or not whole."""
    text = normalise_text(title)
    found: list[Decimal | None] = []
    for number in numbers_in(text):
        after = text[number.end :]
        match = re.match(r"[\s-]+(?:[^\W\d_]+\s+){0,2}?" + f"(?:{noun}|{plural(noun)})" + r"\b", after, re.IGNORECASE)
        if match is None:
            continue
        unclear = _ALTERNATIVE.search(text[: number.start]) or _REPEATED.match(after[match.end() :])
        found.append(None if unclear else _whole_reading(text, number))
    return found


def _whole_reading(text: str, number: WrittenNumber) -> Decimal | None:
    whole = [one for one in number.readings if one == one.to_integral_value() and one > 1]
    if text[number.start : number.end][-1:].isalpha() and whole:
        return max(whole)
    return whole[0] if len(whole) == 1 else None


def _has_term(terms: Terms, words: Callable[[Issue], IssueWords]) -> bool:
    return any(_is_term(words(one)) for one in terms.issues)


def _is_term(named: IssueWords) -> bool:
    words = set(named.words)
    if words <= {"months", "years", "number", "of"}:
        return True
    return bool(words & _TERM_WORDS) and not words & _OTHER_PERIODS


def _term(terms: Terms, package: Package, period: str, words: Callable[[Issue], IssueWords]) -> _Factor | None:
    """How many months or years the package's term has, in the price's period; None when it is not known."""
    named = [one for one in terms.issues if _is_term(words(one))]
    if len(named) != 1 or named[0].type not in {"number", "integer"}:
        return None
    unit = singular((words(named[0]).unit or "").lower())
    at = coordinate(named[0].type, package.get(named[0].name))
    if unit not in _MONTHS or at is None or at <= 0:
        return None
    count = at * _MONTHS[unit] / _MONTHS[period]
    return _Factor(count, period) if count * 2 == (count * 2).to_integral_value() else None
