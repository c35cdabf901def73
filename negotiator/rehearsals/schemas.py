"""Rehearsals on the wire (docs/contract 6.10)."""

from typing import Any, Literal, NotRequired

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from negotiator.base.schema import example_schema
from negotiator.base.values import LongText, ShortText, Whole
from negotiator.negotiations.schemas_negotiations import NegotiationId
from negotiator.rehearsals.counterpart.person import Hardness, PersonKind, Ploy
from negotiator.rehearsals.counterpart.remarks import Remark
from negotiator.rehearsals.stored import RehearsalState, Side, TurnAction
from negotiator.terms.schemas_terms import PackageInput

LARGEST_SEED = 2**31 - 1
_KIND = (
    "Their character: `fair`, `stubborn` (small steps), `extreme_anchor` (a first figure far off), "
    "`takes_back` (a concession once), `deadline_bluff` (calls an offer final)."
)
_HARDNESS = "How far they move and how patient they are; their limit stays the same."
_SEED = "Seed: the same number gives the same person."
_ACTION = "`say` is words alone, `wait` silence."
_TEXT = "What the user says."


class StartRehearsal(NegotiationId):
    """Whom to meet. The counterpart is drawn from `their_estimate` and the ranges, never from the user's limits."""

    model_config = ConfigDict(json_schema_extra=example_schema({"kind": "stubborn", "hardness": "normal", "seed": 7}))

    kind: PersonKind = Field("fair", description=_KIND)
    hardness: Hardness = Field("normal", description=_HARDNESS)
    seed: Whole | None = Field(None, ge=0, le=LARGEST_SEED, description=_SEED)


class RehearsalId(NegotiationId):
    """One rehearsal of a negotiation."""

    rehearsal_id: ShortText = Field(description="The rehearsal, reh_….")


class PlayTurn(RehearsalId):
    """What the user does next."""

    model_config = ConfigDict(
        json_schema_extra=example_schema(
            {"action": "offer", "package": {"price": "12500"}, "text": "Because two others ask less."}
        )
    )

    action: TurnAction = Field(description=_ACTION)
    package: PackageInput | None = Field(None, description="Values by issue.")
    text: LongText | None = Field(None, description=_TEXT)


class Rehearse(NegotiationId):
    """A rehearsal begun, or its next turn."""

    model_config = ConfigDict(json_schema_extra=example_schema({"kind": "fair"}))

    rehearsal_id: ShortText | None = Field(None, description="reh_…; a new one begins without it.")
    kind: PersonKind = Field("fair", description="Their character.")
    hardness: Hardness = Field("normal", description="How hard.")
    seed: Whole | None = Field(None, ge=0, le=LARGEST_SEED, description=_SEED)
    action: TurnAction | None = Field(None, description=_ACTION)
    package: PackageInput | None = Field(None, description="Values by issue.")
    text: LongText | None = Field(None, description=_TEXT)


class SaidPackage(TypedDict):
    """A package and how it is said."""

    package: dict[str, Any]
    words: str


class RehearsalTurnView(TypedDict):
    """One turn of either side. `heard` is what the user's words were taken for."""

    number: int
    at: str
    by: Side
    action: TurnAction
    package: dict[str, Any] | None
    words: str | None
    said: str
    heard: list[Remark]
    final: bool
    withdraws: bool


class RehearsalResult(TypedDict):
    """How a rehearsal ended: 0 to 100 points, and what was left on the table, in money where there is a price."""

    score: int
    deal: SaidPackage | None
    left_on_table: str
    money: str | None


class RehearsalHead(TypedDict):
    """A rehearsal without its turns. `result` is there once it is over. Nothing in it counts outside of it."""

    id: str
    negotiation_id: str
    rehearsal: Literal[True]
    kind: PersonKind
    hardness: Hardness
    seed: int
    state: RehearsalState
    rounds: int
    result: RehearsalResult | None
    created_at: str
    updated_at: str


class RehearsalView(RehearsalHead):
    """A whole rehearsal. `says` is the counterpart's last sentence, `debrief`, a DebriefView, follows the end."""

    turns: list[RehearsalTurnView]
    says: str
    worded_by: str
    their_offer: SaidPackage | None
    my_offer: SaidPackage | None
    outcome: SaidPackage | None
    debrief: NotRequired[dict[str, Any]]


class RehearsalList(TypedDict):
    """A page of a negotiation's rehearsals, newest first."""

    items: list[RehearsalHead]
    next_cursor: str | None


# The debrief. Money is a decimal string in all; `words` have it for one unit too.


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
