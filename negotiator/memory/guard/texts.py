"""Texts as people see them, whatever marks they are made of."""

import hashlib
import re
import unicodedata
from typing import Final

from negotiator.words import folded

_SPACE: Final = re.compile(r"\s+")
_SPELLED: Final = re.compile(r"\b(?:[a-z0-9][ .\-_*|·]){3,}[a-z0-9]\b")
_BETWEEN: Final = re.compile(r"[ .\-_*|·]")
_LOOKALIKES: Final = str.maketrans(
    # Cyrillic, Greek and others that are drawn like Latin letters (Unicode TR 39, the common ones).
    "\u0430\u0432\u0435\u0456\u043a\u043c\u043d\u043e\u0440\u0441\u0442\u0443\u0445\u04bb\u0458\u0455"
    "\u0501\u051b\u051d\u04cf\u0261\u03b1\u03b2\u03b5\u03bd\u03b9\u03ba\u03bf\u03c1\u03c4\u03c5\u03c7"
    "\u03b3\u03f2\u03f3\u0131\u2113\u217c",
    "abeikmhopctyxhjsdqwlgabenikoptuxycjill",
)
_BARRED: Final = frozenset({"Cc", "Cf", "Co", "Cs", "Cn"})


def cleaned(text: str) -> str:
    """The text composed (NFC), without marks that are not seen; line breaks stay.

    Control, format, private and unassigned characters go: zero widths, direction marks and tags among them. The joiner
    in an emoji goes too, which leaves its parts.
    """
    seen = "".join(
        mark
        for mark in unicodedata.normalize("NFC", text)
        if mark in "\n\t" or unicodedata.category(mark) not in _BARRED
    )
    return seen.strip()


def drawn(text: str) -> str:
    """The text as a reader sees it: one case, no accents, look-alikes as Latin, spelled-out words put together."""
    plain = folded(folded(text).translate(_LOOKALIKES))
    joined = _SPELLED.sub(lambda found: f" {_BETWEEN.sub('', found[0])} ", plain)
    return joined.replace("’", "'")


def digest(text: str, counterparty: str | None) -> str:
    """One value for texts about the same party that differ in case, spacing and composition only."""
    parts = (unicodedata.normalize("NFKC", part).casefold() for part in (text, counterparty or ""))
    plain = "\0".join(_SPACE.sub(" ", part).strip() for part in parts)
    return hashlib.sha256(plain.encode()).hexdigest()
