"""What a figure in a talk is and whose, as the models of `advice/hearing` read it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from negotiator.advice.hearing import hear as hearing
from negotiator.numbers.words import NUMBER_LANGUAGES

FigureKind = Literal["offer", "limit", "reduction", "rival", "list_price", "question", "history", "other"]
"""An offer or a limit of the speaker, an amount off a price, a quote of somebody else, the price on the tag, a figure
asked about, one of the past, or one about another matter."""
FigureOwner = Literal["speaker", "listener", "third"]
"""Whose figure it is: of the person who says it, of the person spoken to, or of somebody else."""
FIGURE_LANGUAGES: Final = NUMBER_LANGUAGES
"""The languages that figures are read in, as ISO 639-1 codes."""

MEANT: Final[Mapping[hearing.FigureKind, tuple[FigureKind, FigureOwner]]] = {
    "offer": ("offer", "speaker"),
    "cut": ("reduction", "speaker"),
    "mine": ("history", "listener"),
    "theirs": ("history", "speaker"),
    "rival": ("rival", "third"),
    "market": ("rival", "third"),
    "past": ("history", "speaker"),
    "limit": ("limit", "speaker"),
}
"""What a figure of the models is on the wire."""
OFFERED: Final = 0.7
"""From this chance on a figure is an offer that the user is asked to confirm: of 268 sentences of a writer whom no model
saw, 52 of 68 offers are found, and 9 of 200 sentences that offer nothing are taken for one."""
MAY_BE_ASKED: Final = ("history", "other")
"""What a figure in a question may be to count as one that is asked about."""


@dataclass(frozen=True, slots=True)
class FigureSense:
    """What a figure is and whose. `stands` tells whether its owner offers it now, `is_doubtful` whether only likely, in
    a question or under a condition."""

    kind: FigureKind
    whose: FigureOwner = "speaker"
    stands: bool = False
    is_doubtful: bool = False


OFFER: Final = FigureSense("offer", stands=True)
UNREAD: Final = FigureSense("other")
