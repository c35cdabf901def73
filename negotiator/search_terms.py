"""The words of a text as search sees them: folded, stemmed, without the words that say nothing.

One reading for everything that is searched, so that a memory and a tool are found by the same rules.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

_WORD: Final = re.compile(r"\d+(?:[.,]\d+)*|[^\W_]+(?:['’][^\W_]+)?")
_GROUPED: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_OWNED: Final = re.compile("['’]")
_LONGEST: Final = 40
_SAID_OFTEN: Final = (
    "a an and are as at be been but by can could did do does for from had has have he her his i if in into is it its "
    "me my of on or our she so such than that the their them then there these they this those to us was we were what "
    "when where which who why will with would you your"
)
STOP_WORDS: Final = frozenset(_SAID_OFTEN.split())


@cache
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]


def fold_text(text: str) -> str:
    """Compatibility form, case folded, accents removed: `Ｃafé` and `cafe` are one spelling."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return "".join(mark for mark in apart if not unicodedata.combining(mark))


def split_words(text: str) -> Iterator[str]:
    """The words in their order; digits of one number stay together, `10,000` reads `10000`."""
    plain = fold_text(text)
    for word in _WORD.findall(_GROUPED.sub("", plain) if "," in plain else plain):
        if "'" in word or "’" in word:
            word = _OWNED.split(word)[0]
        yield word[:_LONGEST]


def stemmed_terms(text: str) -> list[str]:
    """The stems that a text is found by; all of its words when it has none but stop words."""
    found = list(split_words(text))
    telling = [word for word in found if word not in STOP_WORDS] or found
    stemmed: list[str] = _stemmer().stemWords(telling)
    return stemmed
