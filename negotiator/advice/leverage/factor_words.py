"""What the factors of power are called in sentences, from `words/factors.toml`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from pydantic import TypeAdapter

from negotiator.advice.words.sentences import table
from negotiator.terms.plain_text import sentence

PowerSide: TypeAlias = Literal["me", "them"]

NEARLY_EVEN: Final = 0.1
"""A factor of at most this size, of 1, is called about even."""
SMALL_SHIFT: Final = 0.04
LARGE_SHIFT: Final = 0.1
"""Below the first, a change of the user's share of the power is a little one, from the second on a large one."""
_PRONOUNS: Final[Mapping[PowerSide, Mapping[str, str]]] = {
    "me": {"they": "you", "them": "you", "their": "your", "theirs": "yours"},
    "them": {"they": "they", "them": "them", "their": "their", "theirs": "theirs"},
}


@dataclass(frozen=True, slots=True)
class Question:
    """A question about one side's fact, and what its answer tells. `ask` is who can answer it."""

    question: str
    why: str
    ask: Literal["yourself", "them"]


@dataclass(frozen=True, slots=True)
class FactorWords:
    """The words of one factor; `words/factors.toml` says what each of them is."""

    favours: str
    better: str
    even: str
    strong: str
    usual: str
    weak: str
    unknown: str
    action: str
    mine: Question
    others: Question


FACTOR_WORDS: Final = TypeAdapter(dict[str, FactorWords]).validate_python(table("factors"))


def factor_clause(name: str, value: float, known: frozenset[PowerSide]) -> str:
    """What a factor says of the two sides, for example "a break would cost them more than you".

    `value` is the factor from -1 to 1, positive in the user's favour; `known` are the sides of which something is
    known, not empty.
    """
    words = FACTOR_WORDS[name]
    even = abs(value) <= NEARLY_EVEN
    if len(known) == 2:
        return words.even if even else _about(words.better, "me" if value > 0 else "them")
    side: PowerSide = "me" if "me" in known else "them"
    good = value > 0 if side == "me" else value < 0
    return _about(words.usual if even else words.strong if good else words.weak, side)


def favour_clause(name: str, value: float) -> str:
    """Which side a factor favours, for example "time favours you"."""
    side = "neither side" if abs(value) <= NEARLY_EVEN else "you" if value > 0 else "them"
    return FACTOR_WORDS[name].favours.format(them=side)


def factor_explanation(name: str, value: float, known: frozenset[PowerSide], *, judged: bool = False) -> str:
    """The sentence that explains a factor; it says what is not known."""
    if judged:
        return sentence(f"in your own judgement, {favour_clause(name, value)}")
    if not known:
        return FACTOR_WORDS[name].unknown
    text = sentence(factor_clause(name, value, known))
    if len(known) == 2:
        return text
    return f"{text} {'Their' if 'me' in known else 'Your'} side of this is not known."


def _about(template: str, side: PowerSide) -> str:
    other: PowerSide = "them" if side == "me" else "me"
    counterpart = {f"other_{name}": word for name, word in _PRONOUNS[other].items()}
    return template.format(**_PRONOUNS[side], **counterpart)


def size_of_shift(change: float) -> str:
    """How much a change of the user's share of the power is, in words."""
    size = abs(change)
    return "a little" if size < SMALL_SHIFT else "quite a bit" if size < LARGE_SHIFT else "a lot"
