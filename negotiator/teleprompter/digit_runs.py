"""Runs of digits, however they were said: "4111 1111", "four one double one", "forty one eleven".

What is an amount, a date or a time belongs to no run, so that prices are never taken for numbers of people.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from negotiator.teleprompter.check_digits import word_list

REDACTION_MARKS: Final = ("card", "iban", "id", "email", "phone", "secret", "number")
_ONES: Final = {
    word: str(value)
    for value, word in enumerate(word_list("zero one two three four five six seven eight nine"))
} | {"nought": "0", "oh": "0"}
_TEENS: Final = {
    word: str(value)
    for value, word in enumerate(
        word_list(
            "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
        ),
        10,
    )
}
_TENS: Final = {
    word: str(value)
    for value, word in enumerate(
        word_list("twenty thirty forty fifty sixty seventy eighty ninety"), 2
    )
}
_TIMES: Final = {"double": 2, "triple": 3, "treble": 3}
_BETWEEN: Final = frozenset(["dash", "hyphen", "space", "slash"])
_AMOUNTS: Final = frozenset(
    word_list(
        "percent per thousand grand k million mil m billion bn dollar dollars bucks euro euros pound pounds "
        "quid usd eur gbp chf yen francs day days week weeks month months year years hour hours minute "
        "minutes units unit pieces seats users licences licenses people points kilos tons am pm"
    )
)
_CURRENCIES: Final = frozenset(word_list("usd eur gbp chf jpy dollars euros pounds net"))
_TOKEN: Final = re.compile(
    rf"(?P<redacted>\[(?:{'|'.join(REDACTION_MARKS)})\])"
    r"|(?P<amount>[$€£¥]\s?\d[\d.,]{0,20}"
    r"|\d{1,3}(?:[,.]\d{3}){1,5}(?:[.,]\d{1,2})?(?![.,]?\d)"
    r"|\d{1,12}[.,]\d{1,2}(?![.,]?\d)|\d{1,12}(?:[kKmM]|bn)(?!\w)|\d{1,12}\s?[%€$£¥]"
    r"|\d{4}-\d{1,2}-\d{1,2}(?![-\d])|\d{1,2}[./-]\d{1,2}[./-](?:\d{4}|\d{2})(?![./-]?\d)"
    r"|\d{1,2}:\d{2}(?!\d))"
    r"|(?P<digits>[0-9]+(?![^\W_]))|(?P<word>[^\W_]+(?:['’][^\W\d_]+)?)|(?P<mark>[^\w\s]|_)"
)


@dataclass(frozen=True, slots=True)
class RedactionToken:
    """A token of a text: in lower case, what kind it is, and where it stands."""

    text: str
    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class DigitChunk:
    """Digits, or a single letter, that were said or written in one piece."""

    text: str
    start: int
    end: int
    is_spoken: bool


@dataclass(frozen=True, slots=True)
class DigitRun:
    """Chunks that follow each other with nothing but separators between; `first` is the place of its first word."""

    chunks: tuple[DigitChunk, ...]
    first: int
    has_plus: bool

    @property
    def text(self) -> str:
        """All its characters."""
        return "".join(chunk.text for chunk in self.chunks)

    def parts(self) -> Iterator["DigitRun"]:
        """Its stretches of digits alone."""
        part: list[DigitChunk] = []
        for chunk in (*self.chunks, None):
            if chunk is not None and chunk.text.isdigit():
                part.append(chunk)
            elif part:
                opens = part[0] is self.chunks[0]
                yield DigitRun(tuple(part), self.first, self.has_plus and opens)
                part = []


def redaction_tokens(text: str) -> list[RedactionToken]:
    """The tokens of a text."""
    return [
        RedactionToken(one.group().lower(), one.lastgroup or "", one.start(), one.end())
        for one in _TOKEN.finditer(text)
    ]


def digit_runs(words: Sequence[RedactionToken]) -> Iterator[DigitRun]:
    """Every run, in order; single letters count, since accounts are spelled."""
    chunks: list[DigitChunk] = []
    first, at, has_plus = 0, 0, False
    while at < len(words):
        chunk, after = _chunk(words, at)
        if chunk is not None:
            if not chunks:
                first, has_plus = at, at > 0 and words[at - 1].text in {"+", "plus"}
            chunks.append(chunk)
        elif chunks and not _separates(words[at], chunks[-1]):
            yield DigitRun(tuple(chunks), first, has_plus)
            chunks = []
        at = after
    if chunks:
        yield DigitRun(tuple(chunks), first, has_plus)


def _separates(word: RedactionToken, before: DigitChunk) -> bool:
    """Whether a run goes on behind this; written numbers with commas between them are a list."""
    if word.text == ",":
        return before.is_spoken
    return word.text in _BETWEEN or (word.kind == "mark" and word.text in "-./()–—")


def _chunk(words: Sequence[RedactionToken], at: int) -> tuple[DigitChunk | None, int]:
    word = words[at]
    if word.kind == "digits":
        counted = _next(words, at) in _AMOUNTS or (at > 0 and words[at - 1].text in _CURRENCIES)
        return (None if counted else DigitChunk(word.text, word.start, word.end, False)), at + 1
    if word.kind != "word":
        return None, at + 1
    times = _TIMES.get(word.text, 0)
    if times and (said := _ONES.get(_next(words, at))):
        return DigitChunk(said * times, word.start, words[at + 1].end, True), at + 2
    if times and _next(words, at).isdigit() and len(_next(words, at)) == 1:
        return DigitChunk(words[at + 1].text * times, word.start, words[at + 1].end, True), at + 2
    if word.text in _TENS:
        tens, unit = _TENS[word.text], _ONES.get(_next(words, at), "0")
        joined = unit != "0"
        last = at + joined
        return DigitChunk(tens + unit, word.start, words[last].end, True), last + 1
    said = _ONES.get(word.text) or _TEENS.get(word.text)
    if said is None and word.text == "hundred" and at > 0 and words[at - 1].text in _ONES:
        said = "00"
    if said is None and len(word.text) == 1 and word.text.isascii() and word.text.isalpha():
        said = "0" if word.text == "o" else word.text
    return (None if said is None else DigitChunk(said, word.start, word.end, True)), at + 1


def _next(words: Sequence[RedactionToken], at: int) -> str:
    return words[at + 1].text if at + 1 < len(words) else ""


def is_number(word: RedactionToken) -> bool:
    """Whether a word is digits, or a number word below a hundred."""
    said = word.text in _ONES or word.text in _TEENS or word.text in _TENS
    return said or word.kind == "digits"
