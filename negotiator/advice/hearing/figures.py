"""The figures of a message, and what each may be a value of."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property, lru_cache
from itertools import islice
from typing import Final

from negotiator.numbers.read import CURRENCY_WORDS, Token, number_runs, number_tokens
from negotiator.terms.issues import Issue, Package, Scalar, coordinate
from negotiator.terms.plain_text import word_set

_TIME_UNITS: Final = {
    word: unit
    for unit, words in {
        "day": "day days tag tage tagen jour jours día días dia dias",
        "week": "week weeks wk wks woche wochen semaine semaines semana semanas",
        "month": "month months mo mos mth mths monat monate monaten mois mes meses",
        "year": "year years yr yrs jahr jahre jahren an ans année années año años",
        "hour": "hour hours hr hrs stunde stunden heure heures hora horas h",
    }.items()
    for word in word_set(words)
}
_IN_DAYS: Final = {"day": Decimal(1), "week": Decimal(7), "month": Decimal(30), "year": Decimal(365)}
_IN_MONTHS: Final = {"month": Decimal(1), "year": Decimal(12)}
_PERCENT: Final = word_set("% percent prozent pct pourcent ciento points point")
_REACH: Final = Decimal(2)
"""A figure may be a value that lies up to this factor beyond all that is known of an issue."""
_SHORTHAND: Final = (Decimal(1), Decimal(1000), Decimal(100))
_WORDS: Final = re.compile(r"[^\W\d_]+")
_FEW_LETTERS: Final = 3
_NEAR_LABEL: Final = 8
MAX_FIGURES: Final = 200
"""The figures of a message that are read; people write far fewer."""


@dataclass(frozen=True, slots=True)
class Told:
    """What was known before a message: the issues, and the packages of both sides so far, oldest first."""

    issues: tuple[Issue, ...]
    mine: tuple[Package, ...] = ()
    theirs: tuple[Package, ...] = ()
    currency: str | None = None
    channel: str = ""


@dataclass(frozen=True, slots=True)
class MessageFigure:
    """A number of a message: its place in the text, its first and one past its last token, and what it may be worth.

    `unit` is the unit of time that follows it, `measure` what sign or word stands beside it.
    """

    start: int
    end: int
    first: int
    last: int
    readings: tuple[Decimal, ...]
    scaled: bool
    unit: str
    measure: str


@dataclass(frozen=True, slots=True)
class IssueFit:
    """A figure as a value of an issue: the value in its unit, and where that lies to what both sides offered."""

    issue: Issue
    value: Decimal
    relation: str
    features: tuple[str, ...]


@dataclass(frozen=True)
class Message:
    """A message taken apart. `words` has a word for each token, `0` for those of a number."""

    text: str
    told: Told
    tokens: Sequence[Token] = field(repr=False)
    figures: tuple[MessageFigure, ...]

    @cached_property
    def words(self) -> list[str]:
        """One word a token; a figure is `0` at its first token and `~` at the others."""
        said = [token.text if token.kind in ("word", "sign", "stop") else "0" for token in self.tokens]
        for one in self.figures:
            said[one.first : one.last] = ["0", *["~"] * (one.last - one.first - 1)]
        return said

    @cached_property
    def sentences(self) -> list[tuple[int, int]]:
        """The first and one past the last token of each sentence."""
        found, begin = list[tuple[int, int]](), 0
        for at, token in enumerate(self.tokens):
            if token.kind == "stop" and token.text.strip() in (".", "!", "?", "\n", "") and at >= begin:
                is_end = (
                    at + 1 == len(self.tokens) or self.text[token.end : token.end + 1].isspace() or token.text == "\n"
                )
                if is_end:
                    found.append((begin, at + 1))
                    begin = at + 1
        if begin < len(self.tokens):
            found.append((begin, len(self.tokens)))
        return found

    def quote(self, first: int, last: int) -> str:
        """The text of these tokens."""
        return self.text[self.tokens[first].start : self.tokens[last - 1].end].strip()


def read_message(text: str, told: Told) -> Message:
    """The message with its figures, in their order."""
    tokens = number_tokens(text.replace("’", "'"))
    return Message(text, told, tokens, tuple(islice(_figures(tokens), MAX_FIGURES)))


def _figures(tokens: Sequence[Token]) -> Iterator[MessageFigure]:
    runs = {run.first: run for run in number_runs(tokens)}
    at = 0
    while at < len(tokens):
        run = runs.get(at)
        if run is not None:
            first, last, readings, scaled = run.first, run.last, run.readings, run.scaled
        elif tokens[at].kind in ("number", "other"):
            first, last, readings, scaled = at, at + 1, tokens[at].readings, False
        elif tokens[at].text in ("a", "an", "one", "half", "ein", "un", "une") and _unit_at(tokens, at + 1):
            first, last, scaled = at, at + 1, False
            readings = (Decimal("0.5") if tokens[at].text == "half" else Decimal(1),)
        else:
            at += 1
            continue
        yield MessageFigure(
            tokens[first].start,
            tokens[last - 1].end,
            first,
            last,
            readings,
            scaled,
            _unit_at(tokens, last),
            _measure(tokens, first, last),
        )
        at = last


def _unit_at(tokens: Sequence[Token], at: int) -> str:
    """The unit of time at a token, or one after "full" or "more"."""
    for place in (at, at + 1):
        word = tokens[place].text.removesuffix("'s").removesuffix("'") if place < len(tokens) else ""
        if word in _TIME_UNITS:
            return _TIME_UNITS[word]
        if word not in ("full", "whole", "more", "working", "business", "calendar", "a", "volle", "weitere"):
            break
    return ""


def _measure(tokens: Sequence[Token], first: int, last: int) -> str:
    near = [tokens[at].text for at in (first - 1, last) if 0 <= at < len(tokens)]
    if any(word in CURRENCY_WORDS for word in near):
        return "money"
    return "percent" if near[-1:] and near[-1] in _PERCENT else ""


# What a figure may be a value of


@lru_cache(1024)
def issue_group(issue: Issue) -> str:
    """What an issue is counted in: money, percent, a unit of time, date or count."""
    if issue.type in ("money", "percent", "date", "enum", "boolean"):
        return issue.type
    if issue.type == "duration_days":
        return "day"
    words = _WORDS.findall(f"{issue.unit or ''} {issue.label} {issue.name.replace('_', ' ')}".lower())
    if "percent" in words or "%" in (issue.unit or ""):
        return "percent"
    unit = next((_TIME_UNITS[word] for word in words if word in _TIME_UNITS), "")
    return unit or "count"


@lru_cache(1024)
def label_words(issue: Issue) -> frozenset[str]:
    """The words that name an issue, without its unit."""
    words = _WORDS.findall(f"{issue.label} {issue.name.replace('_', ' ')} {issue.unit or ''}".lower())
    return frozenset(word.rstrip("s") for word in words if len(word) >= _FEW_LETTERS and word not in _TIME_UNITS)


def issue_fits(message: Message, figure: MessageFigure) -> list[IssueFit]:
    """The figure as a value of each issue that numbers are values of."""
    return [
        _fit(message, figure, issue) for issue in message.told.issues if issue.type not in ("boolean", "enum", "date")
    ]


def _fit(message: Message, figure: MessageFigure, issue: Issue) -> IssueFit:
    group, told = issue_group(issue), message.told
    sides = {side: known_values(issue, packages) for side, packages in (("mine", told.mine), ("theirs", told.theirs))}
    known = [value for values in sides.values() for value in values]
    if issue.range is not None:
        known += [issue.range.min, issue.range.max]
    value = _value(figure, group, known)
    relation = _relation(value, sides, known)
    is_time = group in ("day", "week", "month", "year", "hour")
    names, start = label_words(issue), max(0, figure.first - _NEAR_LABEL)
    window = message.words[start : figure.first + _NEAR_LABEL + 1]
    near = [at - figure.first for at, word in enumerate(window, start) if word.rstrip("s") in names]
    closest = min(near, key=abs, default=None)
    label = "far" if closest is None else f"{'left' if closest < 0 else 'right'}{min(abs(closest), 4) // 2}"
    alike = sum(issue_group(one) == group for one in told.issues)
    shape = "time" if is_time else group
    unit = "same" if figure.unit and figure.unit == group else figure.unit or "none"
    words = message.words
    before, after = words[max(0, figure.first - 1) : figure.first], words[figure.last : figure.last + 1]
    basics = {
        "g": shape,
        "r": relation,
        "l": label,
        "u": unit if is_time else ("time" if figure.unit else "none"),
        "m": figure.measure or "none",
        "n": str(min(alike, 3)),
        "i": str(min(len(told.issues), 3)),
        "b": " ".join(before),
        "a": " ".join(after),
    }
    pairs = ("gr", "gm", "gu", "gl", "gn", "gb", "ga", "rl", "ru", "rm", "gru", "grm", "grl", "gmul", "grmu", "gi")
    features = tuple(f"{pair}={'|'.join(basics[one] for one in pair)}" for pair in (*basics, *pairs))
    return IssueFit(issue, value, relation, features)


def known_values(issue: Issue, packages: Sequence[Package]) -> list[Decimal]:
    """What these packages name on an issue, oldest first."""
    found = (coordinate(issue.type, package.get(issue.name)) for package in packages)
    return [at for at in found if at is not None]


def _value(figure: MessageFigure, group: str, known: Sequence[Decimal]) -> Decimal:
    """The reading that suits what is known of the issue, else the likeliest."""
    readings = figure.readings or (Decimal(0),)
    factors: Sequence[Decimal] = (Decimal(1),)
    if group in ("money", "count") and not figure.scaled:
        factors = _SHORTHAND
    table = next((table for table in (_IN_MONTHS, _IN_DAYS) if {group, figure.unit} <= table.keys()), None)
    if table is not None:
        factors = (table[figure.unit] / table[group],)
    least, most = (min(known), max(known)) if known else (Decimal(0), Decimal(0))
    for reach in (Decimal("1.15"), _REACH):
        for factor in factors:
            for reading in readings:
                if known and least / reach <= reading * factor <= most * reach:
                    return reading * factor
    return readings[0] * (factors[0] if len(factors) == 1 else 1)


def _relation(value: Decimal, sides: Mapping[str, Sequence[Decimal]], known: Sequence[Decimal]) -> str:
    """Where a value lies: equal to an offer of a side, between both, near to one, or elsewhere."""
    for side, values in sides.items():
        if values and value == values[-1]:
            return side
    for side, values in sides.items():
        if value in values:
            return f"{side} before"
    if not known:
        return "unknown"
    least, most = min(known), max(known)
    if least <= value <= most:
        return "between"
    if least * Decimal("0.75") <= value <= most * Decimal("1.25"):
        return "near"
    return "around" if least / _REACH <= value <= most * _REACH else "elsewhere"


def as_value(issue: Issue, value: Decimal) -> Scalar:
    """The value as the ledger has it."""
    return value if issue.type == "money" else int(value) if value == value.to_integral_value() else float(value)
