"""From text to terms: folded, split, stemmed; the same for what is indexed and what is asked."""

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import Final

import Stemmer

from negotiator import words as reading
from negotiator.words import folded

_LONGEST: Final = 40
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SPELLED: Final = (
    (re.compile(r"\bc\+\+"), "cpp "),
    (re.compile(r"\b([cf])#"), r"\1sharp "),
    (re.compile(r"(?<!\w)\.net\b"), "dotnet "),
)
_MARKS: Final = frozenset("+#.")
_ASKING: Final = (
    "about any best better build create find get good great help how like make makes making need our run some something"
    " tool tools turn us use used using want without"
)
STOP_WORDS: Final = reading.STOP | frozenset(_ASKING.split())
"""What says nothing about a tool: the words that say nothing anywhere, and those that people ask for tools with."""
# The library ships no types.
_stem: Callable[[str], str] = Stemmer.Stemmer("english").stemWord  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]


def words(text: str) -> list[str]:
    """The words of a text in their order, as everything that is searched is read; `C++`, `C#` and `.NET` are words."""
    spelled = folded(text)
    if not _MARKS.isdisjoint(spelled):
        for pattern, written in _SPELLED:
            spelled = pattern.sub(written, spelled)
    return list(reading.words(spelled))


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
            found.append("".join(pieces)[:_LONGEST])
        camel = [folded(piece) for piece in _CAMEL.findall(chunk)]
        if len(camel) > 1:
            found.extend(piece for piece in camel if len(piece) > 2)
    plain = words(name)
    found.extend(a + b for a, b in pairwise(plain) if len(a + b) <= _LONGEST)
    known = set(plain)
    return [piece for piece in found if piece not in known]
