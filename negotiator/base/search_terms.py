"""The search terms of a text: folded and stemmed, without stop words. Memories and tools are searched by the same."""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

_WORD: Final = re.compile(r"\d+(?:[.,]\d+)*|[^\W_]+(?:['’][^\W_]+)?")
_FIRST_CYRILLIC: Final = "\u0400"
_OPTIONAL: Final = range(10, 37)
"""The combining classes of the points that Hebrew, Arabic and Syriac are mostly written without."""
_GROUPED: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_OWNED: Final = re.compile("['’]")
_LONGEST: Final = 40
_FREQUENT_WORDS: Final = (
    "a an and are as at be been but by can could did do does for from had has have he her his i if in into is it its "
    "me my of on or our she so such than that the their them then there these they this those to us was we were what "
    "when where which who why will with would you your"
)
STOP_WORDS: Final = frozenset(_FREQUENT_WORDS.split())


@cache
def stemmer(language: str = "english") -> Any:
    """Snowball's stemmer of a language, by its English name."""
    import Stemmer

    return Stemmer.Stemmer(language)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]


def fold_text(text: str) -> str:
    """The text in compatibility form, case-folded, without accents: `Ｃafé` becomes `cafe`.

    Marks on other than Latin and Greek letters tell letters apart and stay: `й`, `パ`, Hindi vowels.
    """
    if text.isascii():
        return text.lower()
    kept: list[str] = []
    base = ""
    for each in unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold()):
        if unicodedata.category(each)[0] != "M":
            base = each
        elif base < _FIRST_CYRILLIC or unicodedata.combining(each) in _OPTIONAL or _chooses_a_form(each):
            continue
        kept.append(each)
    return unicodedata.normalize("NFC", "".join(kept))


def bare_text(text: str) -> str:
    """The text in compatibility form, case-folded, without any mark, to compare what looks alike."""
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return "".join(mark for mark in apart if not unicodedata.combining(mark))


def _chooses_a_form(mark: str) -> bool:
    return "\ufe00" <= mark <= "\ufe0f" or mark >= "\U000e0100"


@cache
def _marked_word() -> re.Pattern[str]:
    """`_WORD` where marks belong to a word; Python's `\\w` leaves them out."""
    marks = "".join(one for one in map(chr, range(0x300, 0x1F000)) if unicodedata.category(one)[0] == "M")
    letter = rf"(?:[^\W_][{marks}]*)+"
    return re.compile(rf"\d+(?:[.,]\d+)*(?![{marks}])|{letter}(?:['’]{letter})?")


def split_words(text: str) -> Iterator[str]:
    """The words in order; the digits of a number stay together, `10,000` becomes `10000`."""
    plain = fold_text(text)
    word_form = _WORD if plain.isascii() else _marked_word()
    for word in word_form.findall(_GROUPED.sub("", plain) if "," in plain else plain):
        if "'" in word or "’" in word:
            word = _OWNED.split(word)[0]
        yield word[:_LONGEST]


def stemmed_terms(text: str) -> list[str]:
    """The stems of the words that are not stop words; of all words if there are only stop words."""
    words = list(split_words(text))
    significant = [word for word in words if word not in STOP_WORDS] or words
    stemmed: list[str] = stemmer().stemWords(significant)
    return stemmed
