"""Plain text from strangers: what a reader sees is all there is (UTS 39 §3, UAX 9 §2).

Text of the directory is read by people and by models. What neither can see, but a machine obeys, is taken out where it
gets in by accident and refused where nobody has it by accident.
"""

import unicodedata
from collections.abc import Callable
from typing import Final

_STRIPPED: Final = frozenset(
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180e\u180f"
    "\u200b\u200e\u200f\u2060\u2061\u2062\u2063\u2064\u2800\u3164\ufeff\uffa0"
)
"""Zero-width characters and blank letters, direction marks, soft hyphens: pasted along with real text."""
_JOINERS: Final = "\u200c\u200d"
"""They shape Persian and Indic script and join emoji; anywhere else they show nothing."""
_VARIANTS: Final = ("\ufe00", "\ufe0f")
_MORE_VARIANTS: Final = ("\U000e0100", "\U000e01ef")
_REFUSED: Final = frozenset(
    {
        "Cc",  # control characters
        "Cf",  # format characters: bidi overrides and isolates, tags, annotations
        "Cs",  # halves of a surrogate pair
        "Co",  # private use
        "Cn",  # not a character
        "Zl",
        "Zp",
    }
)
_MARKS: Final = 4
"""Combining marks on one letter: more hide the text below them."""


def plain(text: str, *, lines: bool = False) -> str:
    """The text in NFC with outer white space and invisible characters taken out.

    ValueError for control, bidirectional and unassigned characters and for letters buried under marks; a line feed and
    a tab pass where `lines` are allowed. What comes out goes in again unchanged.
    """
    if text.isascii() and text.isprintable():
        return text.strip()
    if lines:
        text = text.replace("\r\n", "\n")
    composed, kept = unicodedata.normalize("NFC", text), list[str]()
    marks = 0
    for character in composed:
        if _is_invisible(character, kept[-1] if kept else ""):
            continue
        category = unicodedata.category(character)
        if category in _REFUSED and not (
            character in _JOINERS or (lines and character in {"\n", "\t"})
        ):
            raise ValueError(
                f"Must be plain text; U+{ord(character):04X} is a character that is not shown"
            )
        marks = marks + 1 if category in {"Mn", "Me"} else 0
        if marks > _MARKS:
            raise ValueError(f"Must not put more than {_MARKS} marks on a letter")
        kept.append(character)
    cleaned = unicodedata.normalize("NFC", "".join(kept)).strip().rstrip(_JOINERS)
    return cleaned if cleaned == text else plain(cleaned, lines=lines)


def _is_invisible(character: str, before: str) -> bool:
    """Whether to leave it out: a joiner or a variant that follows nothing it could join or vary carries only data."""
    if character in _STRIPPED or _MORE_VARIANTS[0] <= character <= _MORE_VARIANTS[1]:
        return True
    if character in _JOINERS:
        return not before or before.isascii() or before.isspace() or before in _JOINERS
    if _VARIANTS[0] <= character <= _VARIANTS[1]:
        keycap = character == _VARIANTS[1] and before.isascii()
        bare = not before or before.isspace() or before in _JOINERS
        return bare or (before.isascii() and not keycap) or _VARIANTS[0] <= before <= _VARIANTS[1]
    return False


def plain_within(longest: int, *, least: int = 0, lines: bool = False) -> Callable[[str], str]:
    """A validator: plain text whose length, once cleaned, is within these bounds."""

    def check(text: str) -> str:
        cleaned = plain(text, lines=lines)
        if not least <= len(cleaned) <= longest:
            raise ValueError(f"Must have {least} to {longest} characters that show")
        return cleaned

    return check
