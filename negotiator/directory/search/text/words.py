"""From text to terms: folded, split, stemmed; the same for what is indexed and what is asked."""

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import Final

import Stemmer

LONGEST: Final = 40
"""Characters of a word that count; a longer one is nobody's word."""
_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SPELLED: Final = (
    (re.compile(r"\bc\+\+"), "cpp "),
    (re.compile(r"\b([cf])#"), r"\1sharp "),
    (re.compile(r"(?<!\w)\.net\b"), "dotnet "),
)
_FUNCTION_WORDS: Final = """
    a about an and any are as at be by can do for from get has have help how i in into is it its make me my need of on
    or our so some something that the their them there these they this to tool tools us use used using want we what
    which with you your
"""
STOP_WORDS: Final = frozenset(_FUNCTION_WORDS.split())
# The library ships no types.
_stem: Callable[[str], str] = Stemmer.Stemmer("english").stemWord  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]


def fold(text: str) -> str:
    """Lower case without marks and compatibility forms: `Café` and `ｃａｆｅ` are `cafe`."""
    decomposed = unicodedata.normalize("NFKD", text)
    bare = (
        decomposed
        if decomposed.isascii()
        else "".join(char for char in decomposed if not unicodedata.combining(char))
    )
    return bare.casefold()


def words(text: str) -> list[str]:
    """The words of a text in their order, folded; punctuation separates."""
    folded = fold(text)
    for pattern, spelled in _SPELLED:
        folded = pattern.sub(spelled, folded)
    return [word[:LONGEST] for word in _WORD.findall(folded)]


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """The stem of a folded word (Snowball English, which leaves what is not English mostly alone)."""
    return _stem(word)


def joined(text: str) -> str:
    """A name as one word: `Chat GPT`, `chat-gpt` and `ChatGPT` are the same."""
    return "".join(words(text))


def parts(name: str) -> list[str]:
    """The words inside the words of a name: `ClickHouse` has `click` and `house`, `node.js` also `nodejs`."""
    found: list[str] = []
    for chunk in name.split():
        pieces = words(chunk)
        if len(pieces) > 1:
            found.append("".join(pieces)[:LONGEST])
        camel = [fold(piece) for piece in _CAMEL.findall(chunk)]
        if len(camel) > 1:
            found.extend(piece for piece in camel if len(piece) > 2)
    plain = words(name)
    found.extend(a + b for a, b in pairwise(plain) if len(a + b) <= LONGEST)
    return [piece for piece in found if piece not in plain]
