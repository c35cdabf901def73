"""Numbers in text, read from digits and from words.

Three readers share the tables and the tokens of this module, since a number means something else to each of them:

- `numbers_in` reads what is written: every value that `1.250` or `nine thousand five hundred` can mean. A text that a
  language model reworded is checked with it.
- `number_runs` reads what is said in a talk, spoken or typed: "twelve five" beside a price, "two million and a half",
  "€ 1.250,00", "9,5k". English, German, French and Spanish number words are known.
- `digit_runs` reads digits that name something instead of counting it: telephone, card and account numbers.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, NamedTuple

from negotiator.numbers.words import BESIDE, TABLES, NumberLanguage, foreign_scale, language_of, read_number_words

_DIGIT_NAMES: Final = "zero one two three four five six seven eight nine"
_TEEN_NAMES: Final = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
_TEN_NAMES: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
UNITS: Final = {word: value for value, word in enumerate(f"{_DIGIT_NAMES} {_TEEN_NAMES}".split())}
"""The words for 0 to 19."""
TENS: Final = {word: 10 * value for value, word in enumerate(_TEN_NAMES.split(), start=2)}
_THOUSANDS: Final = {"thousand": 10**3, "million": 10**6, "billion": 10**9}
_ABBREVIATIONS: Final = {"k": 10**3, "m": 10**6, "bn": 10**9}
SPOKEN_SCALES: Final = {
    **{**_THOUSANDS, **_ABBREVIATIONS, "grand": 10**3, "mil": 10**6, "mio": 10**6, "mn": 10**6},
    **{"lakh": 10**5, "lakhs": 10**5, "crore": 10**7, "crores": 10**7},
}
"""What multiplies a spoken number; "hundred" belongs to the number itself ("two hundred thousand")."""
WRITTEN_SCALES: Final = {**{"hundred": 100, **_THOUSANDS}, **{**_ABBREVIATIONS, "mn": 10**6, "mio": 10**6}}
"""What multiplies digits in a written text: `9.5k`, `3 million`."""
COUNT_WORDS: Final = frozenset([*list(UNITS)[2:], *TENS, "hundred", "thousand", "million", "dozen"])
"""The words that count more than one: "zero" and "one" are left out, since "one" is mostly a pronoun."""
CURRENCY_WORDS: Final = {word: code for code, words in TABLES["currencies"].items() for word in words.split()}
"""Signs and words of a currency, with its ISO 4217 code; the commonest one where several countries use the word."""
_SHARED_NAMES: Final = (
    frozenset(["USD", "CAD", "AUD", "NZD", "SGD", "HKD", "MXN", "CLP", "ARS", "COP"]),
    frozenset(["SEK", "NOK", "DKK", "ISK", "CZK"]),
)


def may_be_currency(said: str, code: str) -> bool:
    """Whether a currency read from a sign or a word may be `code`: "$" and "pesos" are said in many countries."""
    return said == code or any(said in family and code in family for family in _SHARED_NAMES)


class Token(NamedTuple):
    """A piece of a text in lower case, and where it stands.

    `kind` is `word`, `digits`, `amount` (a price, percentage, date or time), `mark` (any other character) or `redacted`
    from `find_tokens`, and `word`, `number`, `sign`, `stop` or `other` (a clock time, a date, an ordinal) from
    `number_tokens`. `readings` are the values that a `number` may have, the likeliest first.
    """

    text: str
    kind: str
    start: int
    end: int
    readings: tuple[Decimal, ...] = ()
    scaled: bool = False

    @property
    def value(self) -> Decimal | None:
        return self.readings[0] if self.readings else None


# Tokens

REDACTION_MARKS: Final = ("card", "iban", "id", "email", "phone", "secret", "number")
"""The kinds of what is taken out of a text; `[card]` stands in its place."""
MAX_SPOKEN_CHARACTERS: Final = 4000
_TOKEN: Final = re.compile(
    rf"(?P<redacted>\[(?:{'|'.join(REDACTION_MARKS)})\])"
    r"|(?P<amount>[$€£¥]\s?\d[\d.,]{0,20}"
    r"|\d{1,3}(?:[,.]\d{3}){1,5}(?:[.,]\d{1,2})?(?![.,]?\d)"
    r"|\d{1,12}[.,]\d{1,2}(?![.,]?\d)|\d{1,12}(?:[kKmM]|bn)(?!\w)|\d{1,12}\s?[%€$£¥]"
    r"|\d{4}-\d{1,2}-\d{1,2}(?![-\d])|\d{1,2}[./-]\d{1,2}[./-](?:\d{4}|\d{2})(?![./-]?\d)"
    r"|\d{1,2}:\d{2}(?!\d))"
    r"|(?P<digits>[0-9]+(?![^\W_]))|(?P<word>[^\W_]+(?:['’][^\W\d_]+)?)|(?P<mark>[^\w\s]|_)"
)
_NUMBER_TOKEN: Final = re.compile(
    r"(?P<number>(?:(?P<grouped>\d{1,3}(?P<sep>[.,'’\u00a0\u202f ])\d{3}(?:(?P=sep)\d{3}){0,3}"
    r"(?!\d)(?:(?!(?P=sep))[.,]\d{1,2}(?!\d))?|\d{1,2}(?:,\d{2}){1,3},\d{3}(?!\d))"
    r"|(?P<other>\d{4}-\d{1,2}-\d{1,2}(?!\d)|\d{1,2}\.\d{1,2}\.\d{4}(?!\d)|\d{1,2}\.(?:0[1-9]|1[0-2])\.(?=\s[a-z]|,)"
    r"|(?:\d+ )?\d+(?:[:/⁄'’x]\d{1,4}){1,3}(?!\d)|\d+(?:[.,]\d+)?(?:\s?[½¼¾⅓⅔⅛]|[km]\d+)"
    r"|\d+(?:st|nd|rd|th|e|er|ère|ème|eme|º|ª|°)(?!\w))"
    r"|\d+(?:[.,]\d+)?)(?:[.,](?:[-–—]{1,2}|=))?(?P<scale>(?:m|\s?(?:k|bn|mn|mio|hundred|thousand|grand))(?![\w²])"
    r"|\s?[mt](?=[€$£](?!\s?\d)|(?:eur|usd|gbp|chf)\b))?)"
    r"|(?P<word>[^\W\d_]+(?:['’][^\W\d_]+)?)|(?P<sign>[%$€£¥₹])|(?P<stop>[.!?;,:\n¿¡(]|\s[-–—]\s)",
    re.IGNORECASE,
)
_SHORTENED: Final = frozenset(["kr", "fr", "sfr", "rs", "approx", "ca", "no", "rd", "mio", "tsd", "mrd", "md"])


def find_tokens(text: str) -> list[Token]:
    """Every token of a text; only blanks lie between two of them. An amount is one token."""
    return [
        Token(found.group().lower(), found.lastgroup or "", found.start(), found.end())
        for found in _TOKEN.finditer(text)
    ]


def number_tokens(text: str, language: NumberLanguage | None = None) -> list[Token]:
    """What `number_runs` reads, of the first 4,000 characters: "forty-two" gives two words, "42k" one number.

    In German, French and Spanish ("dreihundertfünfzig", "mille deux cents", "treinta y dos mil") the words of a number
    are one token. `language` is the language of the text, found by its words where it is not given.
    """
    found = list(_scan_numbers(text))
    if language is None:
        language = language_of([token.text for token in found])
    return found if language == "en" else list(_fold_words(found, language))


def _scan_numbers(text: str) -> Iterator[Token]:
    before = ""
    for found in _NUMBER_TOKEN.finditer(text, 0, min(len(text), MAX_SPOKEN_CHARACTERS)):
        kind, start = found.lastgroup or "", found.start()
        said = found.group().lower()
        if kind == "word":
            said = said.replace("’", "'")
            if said.endswith("'s") and (said[:-2] in UNITS or said[:-2] in TENS):  # "seventeen's a lot"
                said = said[:-2]
        elif kind == "stop" and said == "." and before.rpartition(" ")[2] in _SHORTENED:
            continue
        readings: tuple[Decimal, ...] = ()
        scale = (found["scale"] or "").strip().lower()
        if found["number"] is not None:
            kind = "number"
            is_code = start > 0 and text[start - 1].isalpha() and before not in _GLUED
            short = None if is_code else _SHORT_THOUSANDS.fullmatch(said)
            if short is not None:
                readings = (Decimal(int(short[1]) * 1000 + int(short[2]) * 100),)
                scale = "k"
            elif is_code or found["other"] is not None:
                kind = "other"
            else:
                readings = _digit_readings(found)
                if scale:
                    factor = SPOKEN_SCALES.get(scale) or {"t": 1000}.get(scale, 100)
                    readings = tuple(value * factor for value in readings)
        before = said
        yield Token(said, kind, start, found.end(), readings, bool(scale))


_GLUED: Final = frozenset(["r", "rs", "kr", "fr", "chf", "eur", "usd", "gbp", "us", "s"])
"""What stands directly before the digits of a price: "R1800"; other letters make a code ("A4")."""


def _digit_readings(found: re.Match[str]) -> tuple[Decimal, ...]:
    """The values that digits with separators may have: "1.250" is 1,250 or 1.25, "14 500" 14,500 or two numbers."""
    grouped, sep = found["grouped"], found["sep"]
    if grouped is None:
        plain = _PLAIN.match(found["number"])
        return (Decimal(plain.group().replace(",", ".")),) if plain else ()
    if sep is None:  # "1,20,000"
        return (Decimal(grouped.replace(",", "")),)
    whole, decimals = grouped, ""
    if whole.startswith("0") and sep in ".,":  # "0.125"
        return (Decimal(whole.replace(sep, ".")),)
    if len(grouped) > 3 and grouped[-3] in ".," and grouped[-3] != sep:
        whole, decimals = grouped[:-3], grouped[-2:]
    elif len(grouped) > 2 and grouped[-2] in ".," and grouped[-2] != sep:
        whole, decimals = grouped[:-2], grouped[-1:]
    digits = whole.replace(sep, "")
    value = Decimal(f"{digits}.{decimals}" if decimals else digits)
    if decimals or whole.count(sep) > 1:
        return (value,)
    if sep in ".,":
        return value, Decimal(whole.replace(sep, "."))
    return (value, Decimal(whole[-3:])) if sep == " " else (value,)


_PLAIN: Final = re.compile(r"\d+(?:[.,]\d+)?")
_SHORT_THOUSANDS: Final = re.compile(r"(\d{1,3})k(\d)")
"""`12k6` is 12,600."""


def _fold_words(tokens: Sequence[Token], language: NumberLanguage) -> Iterator[Token]:
    """The tokens with each number in words of a language other than English as one token."""
    words = [token.text if token.kind == "word" else "" for token in tokens]
    at = 0
    while at < len(tokens):
        token = tokens[at]
        scale = foreign_scale(words[at + 1], language) if at + 1 < len(words) else 0
        if token.readings and scale:  # "12 mil", "1,2 Millionen", "3 mil millones"
            last = at + 1
            while last + 1 < len(words) and (more := foreign_scale(words[last + 1], language)):
                scale, last = scale * more, last + 1
            readings = tuple(value * scale for value in token.readings)
            yield Token(token.text, "number", token.start, tokens[last].end, readings, scaled=True)
            at = last + 1
            continue
        if words[at] in ("pour", "por") and words[at + 1 : at + 2] in (["cent"], ["ciento"]):
            yield Token("%", "sign", token.start, tokens[at + 1].end)
            at += 2
            continue
        read = read_number_words(words, at, language) if words[at] else None
        if read is None:
            yield token
            at += 1
            continue
        readings, after, scaled = read
        yield Token(token.text, "number", token.start, tokens[after - 1].end, readings, scaled)
        at = after


# Spoken numbers

LARGEST_NUMBER: Final = Decimal(10) ** 12


@dataclass(frozen=True, slots=True)
class NumberRun:
    """A spoken number: its readings, likeliest first, and its first and one past its last token.

    "Twelve five" is 12,500 beside a price and 12.5 beside a rate, so the caller chooses a reading by the scale of what
    is spoken about. `scaled` tells whether a word such as "thousand" was said.
    """

    readings: tuple[Decimal, ...]
    first: int
    last: int
    scaled: bool

    @property
    def value(self) -> Decimal:
        return self.readings[0]


def number_runs(words: Sequence[Token]) -> list[NumberRun]:
    """The spoken numbers in order, of the tokens that `number_tokens` gives.

    Left out are ordinals, digits said one by one (a telephone number), "one" and "zero" alone, and what is larger than
    10^12.
    """
    found: list[NumberRun] = []
    at = 0
    while at < len(words):
        run = _run(words, at)
        if run is not None and run.readings and run.value <= LARGEST_NUMBER and not _is_partly_read(words, run):
            found.append(run)
        at = run.last if run is not None else at + 1
    return found


def _is_partly_read(words: Sequence[Token], run: NumberRun) -> bool:
    """Whether words beside a number make it another one, which is not read: "two thirds of a million", "5 Mrd"."""
    of, part = _text(words, run.first - 1), _text(words, run.first - 2)
    after, article, more = (_text(words, run.last + n) for n in range(3))
    parts, multiples, scales = BESIDE["parts"], BESIDE["multiples"], BESIDE["scales"]
    is_part = of in multiples or of.startswith(("halb", "dreiviertel")) or (run.scaled and of in parts)
    is_part = is_part or (of in BESIDE["of"] and part in parts | multiples)
    is_more = after in BESIDE["and"] and (article in parts or more in parts)
    is_scaled = after in parts | scales or after.startswith(tuple("万億亿萬千百"))
    is_scaled = is_scaled or (after in ("m", "t") and words[run.first - 1].kind == "sign")  # "28 m" are metres
    return is_part or is_more or is_scaled


def _run(words: Sequence[Token], at: int) -> NumberRun | None:
    """The longest number that starts here."""
    groups: list[Decimal] = []
    i, scaled, total = at, False, Decimal(0)
    joined = False
    while i < len(words):
        group, after = _group(words, i, opening=not groups and not scaled)
        if group is None:
            break
        i = after + (_text(words, after) == "odd" and _is_scale(words, after + 1))
        if _is_scale(words, i):  # "28 m" are metres, "1.2m" is a million
            scale = SPOKEN_SCALES[words[i].text]
            if len(groups) == 1 and group >= 10:  # "two fifty thousand"
                group += groups.pop() * 100
            total, scaled, i = total + (sum(groups) + group) * scale, True, i + 1
            groups = []
            more, i = _more(words, i)
            total += more * scale
        else:
            groups.append(group)
        if scaled and not groups and _text(words, i) == "and":  # "two thousand and fifty"
            joined, i = True, i + 1
    if i == at:
        return None
    if _text(words, i - 1) == "and":
        i -= 1
    if i - at == 1 and words[at].text in {"one", "zero"}:
        return None
    if i - at == 1 and words[at].readings:
        return NumberRun(words[at].readings, at, i, words[at].scaled)
    if not scaled and len(groups) > 2:  # digits said one by one
        return NumberRun((), at, i, scaled)
    return NumberRun(_spoken_readings(total, groups, short=scaled and not joined), at, i, scaled)


def _group(words: Sequence[Token], i: int, *, opening: bool) -> tuple[Decimal | None, int]:
    """A number below a thousand in words, or digits; "a hundred", "half a million", "one point five"."""
    token = words[i]
    if not opening and words[i - 1].readings:
        return None, i  # "10 12" are two numbers
    if token.value is not None:
        return (token.value, i + 1) if token.scaled else _after_point(words, i + 1, token.value)
    if opening and token.text == "hundred" and not _is_counted(words, i - 1):
        return _after_hundred(words, i + 1, Decimal(100))
    if opening and (fraction := _fraction(words, i)):
        return fraction
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


def _fraction(words: Sequence[Token], i: int) -> tuple[Decimal, int] | None:
    """ "half a million", "three quarters of a million": the fraction, and where its scale stands."""
    count = {"a": 1, "one": 1, "three": 3}.get(_text(words, i))
    at = i + (count is not None)
    part = _HALVES.get(_text(words, at))
    at += 1
    for filler in ("of", "a"):
        at += _text(words, at) == filler
    return ((count or 1) * part, at) if part and _is_scale(words, at) else None


def _more(words: Sequence[Token], i: int) -> tuple[Decimal, int]:
    """ "and a half", "and three quarters": what it adds, and what comes behind it; 0 where nothing is added."""
    count = {"a": 1, "three": 3}.get(_text(words, i + 1), 0)
    part = _HALVES.get(_text(words, i + 2)) if _text(words, i) == "and" and count else None
    return (count * part, i + 3) if part else (Decimal(0), i)


def _is_counted(words: Sequence[Token], i: int) -> bool:
    """Whether the word before "hundred" says how many in a way that is not read: "a few hundred", "2½ hundred"."""
    return i >= 0 and (words[i].kind == "other" or words[i].text in _PER_HUNDRED)


_HALVES: Final = {"half": Decimal("0.5"), "quarter": Decimal("0.25"), "quarters": Decimal("0.25")}
_ORDINALS: Final = frozenset(["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"])
_PER_HUNDRED: Final = frozenset(["per", "few", "several", "couple", "of", "every"])


def _below_hundred(words: Sequence[Token], i: int) -> tuple[Decimal | None, int]:
    text = _text(words, i)
    if text in TENS:
        if _text(words, i + 1) in _ORDINALS:
            return None, i
        unit = UNITS.get(_text(words, i + 1), 0)
        return (Decimal(TENS[text] + unit), i + 2) if 0 < unit < 10 else (Decimal(TENS[text]), i + 1)
    return (Decimal(UNITS[text]), i + 1) if text in UNITS else (None, i)


def _after_hundred(words: Sequence[Token], i: int, value: Decimal) -> tuple[Decimal, int]:
    rest, after = _below_hundred(words, i + 1 if _text(words, i) == "and" else i)
    return (value + rest, after) if rest else (value, i)


def _after_point(words: Sequence[Token], i: int, value: Decimal) -> tuple[Decimal, int]:
    more, after = _more(words, i)
    if more:
        return value + more, after
    if _text(words, i) != "point":
        return value, i
    digits, after = "", i + 1
    while (digit := UNITS.get(_text(words, after), 10)) < 10:
        digits, after = f"{digits}{digit}", after + 1
    return (value + Decimal(f"0.{digits}"), after) if digits else (value, i)


def _spoken_readings(total: Decimal, groups: Sequence[Decimal], *, short: bool) -> tuple[Decimal, ...]:
    if total:  # "forty two thousand three hundred", "two million five"
        plain = total + sum(groups)
        few = short and len(groups) == 1 and 0 < groups[0] < 10
        return (total + groups[0] * _step(total) / 10, plain) if few else (plain,)
    if len(groups) == 2 and 0 < groups[0] < 100:
        first, second = groups
        if 10 <= second < 100:  # "two fifty", "twelve ninety nine": hundreds, or a price in cents
            return first * 100 + second, first + second / 100, (first * 100 + second) * 1000
        if 0 < second < 10:  # "twelve five": twelve thousand five hundred, or a decimal
            return first * 1000 + second * 100, first + second / 10
    return tuple(groups[:1])


def _step(total: Decimal) -> int:
    """The scale a spoken remainder belongs to: "two million five" is 2,500,000."""
    return 1_000_000 if total % 1_000_000 == 0 else 1_000


def _is_scale(words: Sequence[Token], i: int) -> bool:
    return _text(words, i) in SPOKEN_SCALES and _text(words, i) != "m"


def _text(words: Sequence[Token], i: int) -> str:
    return words[i].text if 0 <= i < len(words) and not words[i].readings else ""


# Digits that count nothing


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ONES: Final = {word: str(UNITS[word]) for word in _DIGIT_NAMES.split()} | {"nought": "0", "oh": "0"}
_TEENS: Final = {word: str(UNITS[word]) for word in _TEEN_NAMES.split()}
_TIMES: Final = {"double": 2, "triple": 3, "treble": 3}
_BETWEEN: Final = frozenset(["dash", "hyphen", "space", "slash"])
_AMOUNTS: Final = _words(
    "percent per thousand grand k million mil m billion bn dollar dollars bucks euro euros pound pounds "
    "quid usd eur gbp chf yen francs day days week weeks month months year years hour hours minute "
    "minutes units unit pieces seats users licences licenses people points kilos tons am pm"
)
_BEFORE_AMOUNTS: Final = _words("usd eur gbp chf jpy dollars euros pounds net")


class DigitChunk(NamedTuple):
    """Digits, or a single letter, that were said or written in one piece."""

    text: str
    start: int
    end: int
    is_spoken: bool


@dataclass(frozen=True, slots=True)
class DigitRun:
    """Chunks with only separators between them; `first` is the position of the first one among the tokens."""

    chunks: tuple[DigitChunk, ...]
    first: int
    has_plus: bool

    @property
    def text(self) -> str:
        return "".join(chunk.text for chunk in self.chunks)

    def parts(self) -> Iterator["DigitRun"]:
        """Its stretches of digits, without the letters between."""
        part: list[DigitChunk] = []
        for chunk in (*self.chunks, None):
            if chunk is not None and chunk.text.isdigit():
                part.append(chunk)
            elif part:
                opens = part[0] is self.chunks[0]
                yield DigitRun(tuple(part), self.first, self.has_plus and opens)
                part = []


def digit_runs(words: Sequence[Token]) -> Iterator[DigitRun]:
    """Runs of digits however they were said: "4111 1111", "four one double one", "forty one eleven".

    Single letters belong to a run, since account numbers are spelled. An amount, a date or a time belongs to none, so
    that a price is never taken for somebody's number.
    """
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


def is_number_word(word: Token) -> bool:
    """Whether a token is digits, or a number word below a hundred."""
    return word.kind == "digits" or word.text in UNITS or word.text in TENS or word.text in _ONES


def _separates(word: Token, before: DigitChunk) -> bool:
    """Whether a run goes on after this token; written numbers with commas between them are a list."""
    if word.text == ",":
        return before.is_spoken
    return word.text in _BETWEEN or (word.kind == "mark" and word.text in "-./()–—")


def _chunk(words: Sequence[Token], at: int) -> tuple[DigitChunk | None, int]:
    word = words[at]
    if word.kind == "digits":
        before = words[at - 1].text if at > 0 else ""
        counted = _next(words, at) in _AMOUNTS or before in _BEFORE_AMOUNTS
        return (None if counted else DigitChunk(word.text, word.start, word.end, False)), at + 1
    if word.kind != "word":
        return None, at + 1
    times = _TIMES.get(word.text, 0)
    if times and (digits := _ONES.get(_next(words, at))):
        return DigitChunk(digits * times, word.start, words[at + 1].end, True), at + 2
    if times and _next(words, at).isdigit() and len(_next(words, at)) == 1:
        return DigitChunk(words[at + 1].text * times, word.start, words[at + 1].end, True), at + 2
    if word.text in TENS:
        unit = int(_ONES.get(_next(words, at), "0"))
        last = at + (unit > 0)
        digits = str(TENS[word.text] + unit)
        return DigitChunk(digits, word.start, words[last].end, True), last + 1
    digits = _ONES.get(word.text) or _TEENS.get(word.text)
    if digits is None and word.text == "hundred" and at > 0 and words[at - 1].text in _ONES:
        digits = "00"
    if digits is None and len(word.text) == 1 and word.text.isascii() and word.text.isalpha():
        digits = "0" if word.text == "o" else word.text
    return (None if digits is None else DigitChunk(digits, word.start, word.end, True)), at + 1


def _next(words: Sequence[Token], at: int) -> str:
    return words[at + 1].text if at + 1 < len(words) else ""


# Written numbers

MAX_WRITTEN_CHARACTERS: Final = 20_000
_FRACTIONS: Final = {"half": Decimal("0.5"), "quarter": Decimal("0.25"), "dozen": Decimal(12)}
WRITTEN_DIGITS: Final = re.compile(
    r"(?<!\d)\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?(?!\d)|"  # 1,23,456
    r"(?<![\d])\d{1,400}(?:[.,'\u2019\u00a0\u202f ]\d{3}(?!\d))*(?:[.,]\d+)?|(?<!\d)[.,]\d+",
    re.ASCII,
)
_SUFFIX: Final = re.compile(r"\s?(k|mn|mio|m|bn|hundred|thousand|million|billion)\b", re.IGNORECASE)
_WORD: Final = re.compile(r"[a-z]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class WrittenNumber:
    """One number in a text: where it stands and every value it may mean (`1.250` has two)."""

    start: int
    end: int
    readings: frozenset[Decimal]
    in_words: bool = False


def normalise_text(text: str) -> str:
    """At most 20,000 characters, with compatibility forms folded (NFKC) and invisible characters removed."""
    folded = unicodedata.normalize("NFKC", text[:MAX_WRITTEN_CHARACTERS])
    return "".join(c for c in folded if c in "\n\t" or unicodedata.category(c)[0] != "C")


def numbers_in(text: str) -> list[WrittenNumber]:
    """Every number of a normalised text, in order: digits with separators and suffixes, and words."""
    return sorted([*_in_digits(text), *_in_words(text)], key=lambda found: found.start)


def number_readings(values: Iterable[object]) -> frozenset[Decimal]:
    """The readings of all numbers in these values, written as text."""
    return frozenset(r for value in values for n in numbers_in(normalise_text(str(value))) for r in n.readings)


def _in_digits(text: str) -> Iterator[WrittenNumber]:
    for match in WRITTEN_DIGITS.finditer(text):
        found = digit_readings(match.group())
        end = match.end()
        if suffix := _SUFFIX.match(text, end):
            scale = WRITTEN_SCALES[suffix[1].lower()]
            found |= {value * scale for value in found}
            end = suffix.end()
        yield WrittenNumber(match.start(), end, frozenset(found))


def digit_readings(raw: str) -> set[Decimal]:
    """The values of `WRITTEN_DIGITS`: separators as thousands, and the last as a decimal point where it can be."""
    found = {Decimal(re.sub(r"\D", "", raw))}
    last = max(raw.rfind("."), raw.rfind(","))
    if last >= 0 and raw[last + 1 :].isdigit():  # in "1.250 900" another separator follows
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
        if _is_written_word(name):
            if run and not joined:
                yield from _written_run(run)
                run = []
            run.append(word)
        elif run and not (name == "and" and joined):
            yield from _written_run(run)
            run = []
        elif run:
            run.append(word)
    yield from _written_run(run)


def _is_written_word(name: str) -> bool:
    return name in UNITS or name in TENS or name in _FRACTIONS or _scale_word(name) > 0


def _scale_word(name: str) -> int:
    return 100 if name == "hundred" else _THOUSANDS.get(name, 0)


def _written_run(run: list[re.Match[str]]) -> Iterator[WrittenNumber]:
    while run and run[-1].group().lower() == "and":
        run = run[:-1]
    if not run:
        return
    total, group = Decimal(0), Decimal(0)
    for word in (match.group().lower() for match in run):
        if word in UNITS or word in TENS:
            group += UNITS.get(word, TENS.get(word, 0))
        elif word in _FRACTIONS:
            group += _FRACTIONS[word]
        elif word == "hundred":
            group = (group or Decimal(1)) * 100
        elif word in _THOUSANDS:
            total, group = total + (group or Decimal(1)) * _THOUSANDS[word], Decimal(0)
    yield WrittenNumber(run[0].start(), run[-1].end(), frozenset({total + group}), in_words=True)
