"""How far an author is believed, and whether two texts say the same."""

import re
from typing import Final, Literal

from negotiator.words import terms, words

Author = Literal["user", "agent", "transcript", "import"]

UNTRUSTED: Final = 0
UNBOUND: Final = 1
BOUND: Final = 2
CONFIRMED: Final = 3

_DENIALS: Final = (
    "not no never none nothing neither nor without refuse refuses refused reject rejects rejected"
)
_NEGATIONS: Final = frozenset(_DENIALS.split())
_WORD: Final = re.compile(r"[a-z]+(?:['’]t)?")


def trust_of(author: Author, *, bound: bool) -> int:
    """How far an author is believed: a person 3, their agent 2, an agent of nobody's 1, what was heard or read 0."""
    if author == "user":
        return CONFIRMED
    if author == "agent":
        return BOUND if bound else UNBOUND
    return UNTRUSTED


def repeats(left: str, right: str) -> bool:
    """Whether two texts are one in all but spelling: the same telling words in the same order."""
    return terms(left) == terms(right) and agrees(left, right)


def agrees(left: str, right: str) -> bool:
    """Whether two texts have the same numbers and deny as much: others cannot say nearly the same."""
    return _held(left) == _held(right)


def _held(text: str) -> tuple[list[str], int]:
    denials = sum(
        word in _NEGATIONS or word.endswith(("'t", "’t")) for word in _WORD.findall(text.casefold())
    )
    return sorted(word for word in words(text) if word[0].isdigit()), denials % 2
