"""Text written at models instead of readers: found by pattern, and left to a person to judge.

Tool descriptions reach the models of whoever searches (tool poisoning, OWASP LLM01). A pattern is no proof, and its
absence none either: what it finds is never approved by a machine, what it does not find is still only data.
"""

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from negotiator.directory.checks.names import unconfused


@dataclass(frozen=True, slots=True)
class Flag:
    """A pattern found in a field: which kind, where (RFC 6901)."""

    kind: str
    pointer: str


_PATTERNS: Final = tomllib.loads(Path(__file__).with_name("patterns.toml").read_text())
_PART = re.compile(r"@(\w+)")


def _whole(pattern: str) -> str:
    """A pattern with its parts put in."""
    return "(?:" + _PART.sub(lambda part: _PATTERNS["word"][part[1]], pattern) + ")"


_FOLDED: Final = {
    kind: re.compile("|".join(map(_whole, patterns)))
    for kind, patterns in _PATTERNS["folded"].items()
}
_PLAIN: Final = {
    kind: tuple(re.compile(pattern, re.MULTILINE) for pattern in patterns)
    for kind, patterns in _PATTERNS["plain"].items()
}
_WORD = re.compile(r"[^\W\d_]{2,}")
_SPACE = re.compile(r"[\s_*~`'\"’‘“”|]+")
_SPLIT = re.compile(r"[-.·]")
_ADDRESSES: Final = ("url", "domain", "sha256", "identifier", "mcp_registry", "urn_air")
"""Members that are no prose: their own forms leave no room for a sentence, and base64 or capitals are normal."""


def kinds(text: str) -> list[str]:
    """Which kinds of pattern are in a text, in a fixed order."""
    folded = _SPACE.sub(" ", unconfused(text))
    spellings = {folded, _SPLIT.sub(" ", folded), _SPLIT.sub("", folded)}
    found = [
        kind
        for kind, pattern in _FOLDED.items()
        if any(pattern.search(spelling) for spelling in spellings)
    ]
    found += [kind for kind, patterns in _PLAIN.items() if any(p.search(text) for p in patterns)]
    if any(_is_mixed(word) for word in _WORD.findall(text)):
        found.append("mixed_script")
    return found


def flags(document: Mapping[str, Any]) -> list[Flag]:
    """Every pattern in every text of a document, the names of its members left out."""
    return [Flag(kind, pointer) for pointer, text in texts(document, "") for kind in kinds(text)]


def texts(value: object, pointer: str) -> Iterator[tuple[str, str]]:
    """Every text of a JSON value that is prose, with the pointer to it."""
    if isinstance(value, str):
        yield pointer, value
    elif isinstance(value, Mapping):
        for name, inner in cast(Mapping[str, object], value).items():
            if not name.endswith(_ADDRESSES):
                yield from texts(inner, f"{pointer}/{name}")
    elif isinstance(value, Sequence):
        for place, inner in enumerate(cast(Sequence[object], value)):
            yield from texts(inner, f"{pointer}/{place}")


def _is_mixed(word: str) -> bool:
    """Whether one word has letters of Latin and of a script that has look-alikes of it."""
    scripts = {
        unicodedata.name(letter, "").partition(" ")[0] for letter in word if letter.isalpha()
    }
    return "LATIN" in scripts and bool(scripts & {"CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"})
