"""How a word sounds, roughly: what people hear right and write wrong is written the same here.

In the manner of Soundex and Metaphone (Philips 1990), with less of English: vowels count only where a word begins,
letters that sound alike are one, doubled ones single.
"""

import re
from functools import lru_cache
from typing import Final

_ALIKE: Final = (
    (re.compile("ph"), "f"),
    (re.compile("qu"), "kw"),
    (re.compile("c(?=[eiy])|z"), "s"),
    (re.compile("ck|c(?!h)|q"), "k"),
    (re.compile("x"), "ks"),
    (re.compile("(?<!^)[aeiouy]"), ""),
    (re.compile("^[aeiouy]"), "a"),
    (re.compile(r"(.)\1+"), r"\1"),
)


@lru_cache(maxsize=4096)
def sound(word: str) -> str:
    """What a folded word sounds like: `phrase` and `frase` alike, `video` and `vdeo` too."""
    for pattern, written in _ALIKE:
        word = pattern.sub(written, word)
    return word
