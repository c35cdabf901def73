"""What is heard in a message; `hear` finds it."""

from dataclasses import dataclass
from typing import Final, Literal, get_args

from negotiator.terms.issues import Scalar

FigureKind = Literal["offer", "cut", "mine", "theirs", "rival", "market", "past", "limit", "gap", "wish", "count"]
"""What a figure of theirs is: offered now, an amount off or on their earlier one (`cut`), mine or theirs from before,
a rival's, a market price, a cost or price of the past, a limit that is told, a difference, unreal, or a count of
anything else."""
FIGURE_KINDS: Final[tuple[FigureKind, ...]] = get_args(FigureKind)
SURE: Final = 0.9
"""From this chance on a figure is taken as offered; of others, one in a hundred is then taken wrongly."""
LIKELY: Final = 0.5
"""From this chance on, and below `SURE`, the user is asked."""


@dataclass(frozen=True, slots=True)
class HeardFigure:
    """A figure of the message: its words, what it is, and where it is a value of an issue, that value."""

    quote: str
    kind: FigureKind
    chance: float
    issue: str | None
    value: Scalar | None
    sentence: tuple[int, int]
    first: int


@dataclass(frozen=True, slots=True)
class HeardOffer:
    """A package that they offer: what it names, the least chance of one of its values, its sentence and conditions."""

    package: dict[str, Scalar]
    chance: float
    quote: str
    conditions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HeardAct:
    """What a sentence does, such as `ask` `of` a reason, with its words and the chance."""

    name: str
    of: str
    quote: str
    chance: float


@dataclass(frozen=True, slots=True)
class Heard:
    """All that a message says. `offers` holds the packages in their order; two of them are a choice for the user."""

    figures: tuple[HeardFigure, ...] = ()
    offers: tuple[HeardOffer, ...] = ()
    acts: tuple[HeardAct, ...] = ()

    def act(self, name: str, of: str = "") -> HeardAct | None:
        """The likeliest act of this name, and of this kind where one is given."""
        found = [one for one in self.acts if one.name == name and (not of or one.of == of)]
        return max(found, key=lambda one: one.chance, default=None)


NOTHING_HEARD: Final = Heard()
