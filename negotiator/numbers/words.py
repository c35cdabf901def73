"""Number words of German, French and Spanish, and the language that a short text is in.

`languages.toml` has the words of each language and what each does to the number so far; a German compound such as
"achthundertfünfzig" is taken apart first. English number words are read by `numbers`, which knows more short forms.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final, Literal, get_args

NumberLanguage = Literal["en", "de", "fr", "es"]
NUMBER_LANGUAGES: Final[tuple[NumberLanguage, ...]] = get_args(NumberLanguage)
"""The languages whose number words are read, as ISO 639-1 codes."""

_HALF: Final = Decimal("0.5")


@dataclass(frozen=True, slots=True)
class _Language:
    """The words of a language: numbers below its scales, scales, and what shows that a text is in it."""

    function_words: frozenset[str]
    letters: frozenset[str]
    join: str = ""
    point: str = ""
    half: str = ""
    words: Mapping[str, int] = field(default_factory=dict[str, int])
    scales: Mapping[str, int] = field(default_factory=dict[str, int])


def _language(row: dict[str, Any]) -> _Language:
    sets: dict[str, Any] = {
        "function_words": frozenset(row["function_words"].split()),
        "letters": frozenset(row["letters"]),
    }
    return _Language(**row | sets)


def _with_german_compounds(words: Mapping[str, int]) -> dict[str, int]:
    """The words below a hundred, also without umlauts."""
    ones = {word: value for word, value in words.items() if value < 10 and word not in {"eins", "zwo"}}
    tens = {word: value for word, value in words.items() if value >= 20}
    known = {**words, **{f"{one}und{ten}": ones[one] + tens[ten] for one in ones for ten in tens}}
    for old, new in (("ü", "ue"), ("ö", "oe"), ("ß", "ss")):
        known |= {word.replace(old, new): value for word, value in known.items()}
    return known


TABLES: Final = tomllib.loads(files(__package__ or __name__).joinpath("languages.toml").read_text("utf-8"))
_LANGUAGES: Final = {name: _language(TABLES[name]) for name in NUMBER_LANGUAGES}
_LANGUAGES["de"] = replace(_LANGUAGES["de"], words=_with_german_compounds(_LANGUAGES["de"].words))
BESIDE: Final = {name: frozenset(words.split()) for name, words in TABLES["beside"].items()}
"""Words beside a number that make it another one, in more languages than are read; such a number is left out."""
_NOT_ALONE: Final = frozenset(["un", "ein", "eins", "uno", "mio", "tsd"])
_ALSO_ENGLISH: Final = frozenset(
    ["once", "six", "elf", "dos", "cent", "cents", "mil", "million", "millions", "un", "ein", "lucas"]
)


def is_number_word_of(word: str, language: NumberLanguage) -> bool:
    """Whether a word in lower case is, or opens, a number in a language other than English."""
    if language == "en":
        return False
    known = word in _LANGUAGES[language].words or word in _LANGUAGES[language].scales
    return known or (language == "de" and german_compound(word) is not None)


_NO_WORDS: Final[Mapping[str, frozenset[str]]] = {}


def language_of(words: Sequence[str], known: Mapping[str, frozenset[str]] = _NO_WORDS) -> NumberLanguage:
    """The language that most of these lower-case words belong to; English where nothing tells.

    `known` has more words of each language, for those that the caller expects. Number words that no other language has
    count twice, and letters that only this one has once.
    """
    said = frozenset(words)
    letters = frozenset("".join(words))
    best: NumberLanguage = "en"
    most = len(said & _LANGUAGES["en"].function_words) + len(said & known.get("en", frozenset()))
    for language in NUMBER_LANGUAGES[1:]:
        told = (said & (_LANGUAGES[language].words.keys() | _LANGUAGES[language].scales.keys())) - _ALSO_ENGLISH
        votes = len(said & _LANGUAGES[language].function_words) + 2 * len(told)
        votes += bool(letters & _LANGUAGES[language].letters) + len(said & known.get(language, frozenset()))
        if language == "de":
            votes += 2 * sum(german_compound(word) is not None for word in said if len(word) > 9)
        if votes > most:
            best, most = language, votes
    return best


@lru_cache(maxsize=512)
def german_compound(word: str) -> Decimal | None:
    """The value of one German word: "fünfunddreißig", "zwölfhundert", "siebzehneinhalb", "dreitausendfünfhundert"."""
    if len(word) > 80:
        return None
    if word in ("anderthalb", "eineinhalb"):
        return Decimal("1.5")
    if word.endswith("einhalb") and len(word) > 7:
        whole = german_compound(word[:-7])
        return None if whole is None else whole + _HALF
    if word in _LANGUAGES["de"].words:
        return Decimal(_LANGUAGES["de"].words[word])
    for name, scale in (("tausend", 1000), ("hundert", 100)):
        head, found, tail = word.partition(name)
        if not found:
            continue
        first = Decimal(1) if not head else german_compound(head)
        rest = Decimal(0) if not tail else german_compound(tail.removeprefix("und"))
        if first is None or rest is None or rest >= scale:
            return None
        return first * scale + rest
    return None


def read_number_words(
    words: Sequence[str], at: int, language: NumberLanguage
) -> tuple[tuple[Decimal, ...], int, bool] | None:
    """The number that starts at `at` of lower-case words: its readings, one past its last word, whether it is scaled.

    "dix-sept mille neuf" is 17,900 or 17,009. None where no number starts, or "ein" and "un" stand alone.
    """
    if language == "en" or not is_number_word_of(words[at], language):
        return None
    total, group, i, scaled = Decimal(0), Decimal(0), at, False
    while i < len(words):
        word = words[i]
        scale = _LANGUAGES[language].scales.get(word, 0)
        value = _value(word, language)
        if scale == 100:
            if group % 100 >= 10 and group >= 100:
                break
            group = (group or Decimal(1)) * 100
        elif scale:
            grown = (total + group) * scale if 0 < total < scale else total + (group or Decimal(1)) * scale
            total, group, scaled = grown, Decimal(0), True  # "dos mil millones", "un millón dos mil"
        elif value is None:
            joins = word == _LANGUAGES[language].join and i > at and i + 1 < len(words)
            if joins and words[i + 1].startswith(_LANGUAGES[language].half):
                scale = _LANGUAGES[language].scales.get(words[i - 1], 1)  # "dos millones y medio"
                total, group = (total + _HALF * scale, group) if scale > 1 else (total, group + _HALF)
                i += 2
                continue
            if not (joins and _is_joined(group, words[i + 1], language)):
                break
        elif language == "fr" and word.startswith("vingt") and group % 100 == 4 and i > at:
            group += 76
        elif _fits(group, value):
            group += value
        else:
            break
        i += 1
    if i == at or (i - at == 1 and words[at] in _NOT_ALONE):
        return None
    group, i = _after_point(words, i, group, language)
    plain = total + group
    if total and not total % 1000 and 0 < group < 10 and words[i - 1] not in _LANGUAGES[language].scales:
        step = Decimal(1000 if total < 10**6 else 10**6)
        return (total + group * step / 10, plain), i, True
    return (plain,), i, scaled


def _is_joined(group: Decimal, word: str, language: NumberLanguage) -> bool:
    """ "treinta y dos", "vingt et un"."""
    value = _value(word, language)
    few = value is not None and value < 10 and group % 10 == 0 and group % 100 >= 20
    return few if language == "es" else word in ("un", "onze") and _fits(group, value)


def _value(word: str, language: NumberLanguage) -> Decimal | None:
    if language == "de":
        return german_compound(word)
    known = _LANGUAGES[language].words.get(word)
    return None if known is None else Decimal(known)


def _fits(group: Decimal, value: Decimal | None) -> bool:
    """Whether a word may be added: a smaller one to round tens, hundreds or thousands."""
    if value is None:
        return False
    if not group:
        return True
    if value < 10:
        return group % 10 == 0
    if value < 20:
        return group % 20 == 0 and group % 100 in (0, 60, 80)
    return group % 1000 == 0 if value >= 100 else group % 100 == 0


def _after_point(words: Sequence[str], i: int, value: Decimal, language: NumberLanguage) -> tuple[Decimal, int]:
    """ "fünf Komma fünf", "cinq virgule vingt"."""
    if i + 1 >= len(words) or words[i] != _LANGUAGES[language].point:
        return value, i
    digits = _value(words[i + 1], language)
    if digits is None or digits >= 100 or digits != digits.to_integral_value():
        return value, i
    return value + Decimal(f"0.{int(digits)}"), i + 2


def foreign_scale(word: str, language: NumberLanguage) -> int:
    """What a word after digits multiplies them by: 1,000 for "mil"; 0 for any other word."""
    return 0 if language == "en" else _LANGUAGES[language].scales.get(word, 0)
