"""Numbers as people write them: digits with separators, `k` and `million`, or English words."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

MAX_TEXT_CHARACTERS: Final = 20_000

_UNITS: Final = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19,
}  # fmt: skip
_TENS: Final = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
_SCALES: Final = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
_SUFFIXES: Final = {"k": 1000, "m": 10**6, "mn": 10**6, "mio": 10**6, "bn": 10**9, **_SCALES}
_LOOSE: Final = {"half": Decimal("0.5"), "quarter": Decimal("0.25"), "dozen": Decimal(12)}

_DIGITS = re.compile(
    r"(?<![\d])\d{1,400}(?:[.,'\u2019\u00a0\u202f ]\d{3}(?!\d))*(?:[.,]\d+)?|(?<!\d)[.,]\d+",
    re.ASCII,
)
_SUFFIX = re.compile(r"\s?(k|mn|mio|m|bn|hundred|thousand|million|billion)\b", re.IGNORECASE)
_WORD = re.compile(r"[a-z]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class WrittenNumber:
    """One number in a text: where it stands and every value it may mean (`1.250` is two of them)."""

    start: int
    end: int
    readings: frozenset[Decimal]
    in_words: bool = False


def normalise_text(text: str) -> str:
    """Compatibility forms folded, invisible characters gone: what a reader sees."""
    folded = unicodedata.normalize("NFKC", text[:MAX_TEXT_CHARACTERS])
    return "".join(c for c in folded if c in "\n\t" or unicodedata.category(c)[0] != "C")


def numbers_in(text: str) -> list[WrittenNumber]:
    """Every number of a flat text, in order."""
    return sorted([*_in_digits(text), *_in_words(text)], key=lambda found: found.start)


def number_readings(values: Iterable[object]) -> frozenset[Decimal]:
    """The readings of all numbers in these values, written as text."""
    return frozenset(
        r for value in values for n in numbers_in(normalise_text(str(value))) for r in n.readings
    )


def _in_digits(text: str) -> Iterator[WrittenNumber]:
    for match in _DIGITS.finditer(text):
        found = _readings(match.group())
        end = match.end()
        if suffix := _SUFFIX.match(text, end):
            times = _SUFFIXES[suffix[1].lower()]
            found |= {value * times for value in found}
            end = suffix.end()
        yield WrittenNumber(match.start(), end, frozenset(found))


def _readings(raw: str) -> set[Decimal]:
    """Separators as thousands, and the last one as a decimal point where it can be."""
    found = {Decimal(re.sub(r"\D", "", raw))}
    last = max(raw.rfind("."), raw.rfind(","))
    if last >= 0:
        whole, rest = re.sub(r"\D", "", raw[:last]), raw[last + 1 :]
        point = Decimal(f"{whole or '0'}.{rest}")
        several = sum(raw.count(mark) for mark in ".,") > 1 and raw.count(raw[last]) > 1
        if len(rest) != 3 or not whole:
            return {point}
        if not several:
            found.add(point)
    return found


def _in_words(text: str) -> Iterator[WrittenNumber]:
    """Runs like `nine thousand five hundred`, `twenty-five`, `a hundred and ten`, `half`."""
    run: list[re.Match[str]] = []
    for word in _WORD.finditer(text):
        name = word.group().lower()
        joined = bool(run) and re.fullmatch(r"[\s\-]*", text[run[-1].end() : word.start()])
        if name in _UNITS or name in _TENS or name in _SCALES or name in _LOOSE:
            if run and not joined:
                yield from _run(run)
                run = []
            run.append(word)
        elif run and not (name == "and" and joined):
            yield from _run(run)
            run = []
        elif run:
            run.append(word)
    yield from _run(run)


def _run(run: list[re.Match[str]]) -> Iterator[WrittenNumber]:
    while run and run[-1].group().lower() == "and":
        run = run[:-1]
    if not run:
        return
    total, group = Decimal(0), Decimal(0)
    for word in (match.group().lower() for match in run):
        if word in _UNITS or word in _TENS:
            group += _UNITS.get(word, _TENS.get(word, 0))
        elif word in _LOOSE:
            group = _LOOSE[word] if not group else group + _LOOSE[word]
        elif word == "hundred":
            group = (group or Decimal(1)) * 100
        elif word in _SCALES:
            total, group = total + (group or Decimal(1)) * _SCALES[word], Decimal(0)
    yield WrittenNumber(run[0].start(), run[-1].end(), frozenset({total + group}), in_words=True)
