"""The debrief of a rehearsal on the wire. Money is a decimal string in all; `words` have it for one unit too."""

from typing import Any

from typing_extensions import TypedDict

from negotiator.rehearsals.counterpart.person import Hardness, PersonKind, Ploy
from negotiator.rehearsals.record import RehearsalState, Side, TurnAction


class SaidPackage(TypedDict):
    """A package and how it is said."""

    package: dict[str, Any]
    words: str


class SaidMoney(TypedDict):
    """An amount in all, null where no money says it, and how it is said."""

    money: str | None
    words: str


class LeftPart(TypedDict):
    """What one issue adds to what was left on the table; below zero where the best deal is worse on it."""

    issue: str
    deal: str | float | bool
    best: str | float | bool
    money: str | None
    words: str


class LeftOnTable(TypedDict):
    """What the best deal was better by than the deal, or than no deal; `turn` is the one that cost most of it."""

    money: str | None
    currency: str | None
    utility: float | None
    words: str
    turn: int | None
    parts: list[LeftPart]


class SameTerms(SaidPackage):
    """The deal at the last price that they would have signed it at."""

    money: str | None


class OpeningView(SaidPackage):
    """The user's first offer."""

    turn: int
    against_target: SaidMoney | None


OfferChangeView = TypedDict(
    "OfferChangeView",
    {"turn": int, "by": Side, "from": SaidPackage, "to": SaidPackage, "money": str | None, "words": str},
)
"""An offer that is worse for its own side than the one before; `money` is what it costs or brings the user."""


class PassedOwnLimitView(TypedDict):
    """A limit of the user's that an offer or the deal passed; `issue` is null for the walk-away as a whole."""

    turn: int
    issue: str | None
    money: str | None
    words: str


class UnansweredPloyView(TypedDict):
    """A tactic of theirs that the user gave in to in turn `reply`."""

    turn: int
    reply: int
    ploy: Ploy
    money: str | None
    words: str


class DebriefPoint(SaidPackage):
    """A turn with a package, for the chart: its worth to the user, its price, and the last price they would sign."""

    turn: int
    by: Side
    action: TurnAction
    utility: float
    price: str | None
    floor_price: str | None
    final: bool
    withdraws: bool
    lost: str | None


class DebriefLevels(TypedDict):
    """Worths to the user that a chart draws as lines."""

    target: float | None
    walk_away: float
    best_deal: float | None


class AttemptView(TypedDict):
    """Another rehearsal of the same negotiation with the same person."""

    id: str
    created_at: str
    score: int
    money: str | None
    state: RehearsalState


class DebriefView(TypedDict):
    """What a rehearsal that is over shows."""

    rehearsal_id: str
    state: RehearsalState
    score: int
    kind: PersonKind
    hardness: Hardness
    seed: int
    floor: SaidPackage
    deal: SaidPackage | None
    best_deal: SaidPackage | None
    same_terms: SameTerms | None
    left_on_table: LeftOnTable
    opening: OpeningView | None
    first_mover: Side | None
    moves: list[OfferChangeView]
    own_limits_passed: list[PassedOwnLimitView]
    unanswered: list[UnansweredPloyView]
    sentences: list[str]
    try_next: str
    lesson: str
    ledger: list[DebriefPoint]
    levels: DebriefLevels
    attempts: list[AttemptView]
