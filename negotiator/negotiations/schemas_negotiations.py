"""A negotiation on the wire: what is sent, what is asked for, what comes back."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field, WithJsonSchema
from typing_extensions import TypedDict

from negotiator.base.schema import MergePatch, Strict
from negotiator.base.values import Origin, QueryWhole, ShortText, TitleText, Truth
from negotiator.http.cursors import Cursor
from negotiator.terms.negotiation_body import NegotiationBody

NegotiationState = Literal[
    "draft",
    "planned",
    "active",
    "paused",
    "awaiting_approval",
    "agreed",
    "won",
    "lost",
    "walked_away",
    "cancelled",
    "expired",
]


class NegotiationId(Strict):
    """One negotiation, by its id in the path."""

    id: str = Field(description="The negotiation, neg_….")


# A patch is believed once it has been merged; until then a schema only says what is meant.
_Text = Annotated[Any, WithJsonSchema({"type": ["string", "null"]})]
_Number = Annotated[Any, WithJsonSchema({"type": ["integer", "null"]})]
_Flag = Annotated[Any, WithJsonSchema({"type": ["boolean", "null"]})]
_Entries = Annotated[Any, WithJsonSchema({"anyOf": [{"type": "array", "items": {"type": "object"}}, {"type": "null"}]})]
_Members = Annotated[Any, WithJsonSchema({"type": ["object", "string", "null"]})]


class EditNegotiation(MergePatch, NegotiationId):
    """A JSON merge patch (RFC 7396): members left out stay, null removes; the result is checked whole."""

    patched = NegotiationBody

    title: _Text = Field(None, description="A new title.")
    role: _Text = Field(None, description="Another role.")
    issues: _Entries = Field(None, description="The whole new list.")
    category: _Text = Field(None, description="Another category, or null for `other`.")
    kind: _Text = Field(None, description="Another kind, or null for `other`.")
    counterparty: _Members = Field(None, description="Members to change of the other side.")
    currency: _Text = Field(None, description="ISO 4217 code.")
    target: _Members = Field(None, description="What the user aims for.")
    walk_away: _Members = Field(None, description="The least the user would agree to now.")
    batna: _Members = Field(None, description="The user's best alternative now.")
    their_estimate: _Members = Field(None, description="Where they seem to walk away.")
    deadline: _Text = Field(None, description="RFC 3339 with offset, in the future.")
    max_rounds: _Number = Field(None, description="Another number of rounds.")
    constraints: _Entries = Field(None, description="The whole new list of rules.")
    authority: _Members = Field(None, description="Members to change of your authority.")
    baseline: _Members = Field(None, description="Members to change of the baseline.")
    allow: _Entries = Field(None, description="The whole new list of allowed trades.")
    arguments: _Entries = Field(None, description="The whole new list of what speaks for the user.")
    facts: _Members = Field(None, description="Members to change of the facts behind power.")
    example: _Flag = Field(None, description="Whether it is only an example.")


class ListNegotiations(Strict):
    """Which negotiations, and in which order."""

    state: NegotiationState | None = Field(None, description="Only those in this state.")
    phase: Literal["running", "ended"] | None = Field(
        None, description="Only those that are running, or only those that have ended."
    )
    category: ShortText | None = Field(None, description="Only those of this category.")
    query: ShortText | None = Field(None, description="Words in the title or the other side's name.")
    sort: Literal["newest", "changed", "deadline"] = Field(
        "newest", description="By opening, last change or deadline (soonest first)."
    )
    latest: bool = Field(False, description="Adds `latest` to each: last offers, newest plan, what is unconfirmed.")
    limit: QueryWhole = Field(20, ge=1, le=100, description="How many at most.")
    cursor: Cursor = None


class ListOf(NegotiationId):
    """A page of what belongs to a negotiation, newest first."""

    limit: QueryWhole = Field(20, ge=1, le=100, description="How many at most.")
    cursor: Cursor = None


class MoveNegotiation(NegotiationId):
    """A state to move to."""

    to: NegotiationState = Field(description="The new state; a refusal lists the `allowed` ones.")
    reason: TitleText | None = Field(None, description="Needed to reopen, to refuse approval or to override.")
    approved: Truth | None = Field(None, description="In awaiting_approval: what the approver decided.")
    package_sha256: ShortText | None = Field(None, description="Needed to approve: copied from `pending_approval`.")
    offer_id: ShortText | None = Field(None, description="For agreed: the offer; the latest live one if absent.")
    override: Truth = Field(False, description="For agreed, if the user insists: below the walk-away.")


class NegotiationView(TypedDict):
    """A negotiation as its owner sees it; private throughout. Before its next change an old one has no `arguments`."""

    id: str
    title: str
    category: str
    kind: str
    role: str
    counterparty: dict[str, Any] | None
    currency: str | None
    issues: list[dict[str, Any]]
    target: dict[str, Any] | None
    walk_away: dict[str, Any] | None
    batna: dict[str, Any] | None
    their_estimate: dict[str, Any] | None
    deadline: str | None
    max_rounds: int | None
    constraints: list[dict[str, Any]]
    authority: dict[str, Any] | None
    baseline: dict[str, Any] | None
    baseline_history: list[dict[str, Any]]
    allow: list[dict[str, Any]]
    arguments: NotRequired[list[dict[str, Any]]]
    facts: dict[str, Any] | None
    example: bool
    state: str
    state_reason: str | None
    pending_approval: dict[str, Any] | None
    outcome: dict[str, Any] | None
    missing: list[str]
    origin: Origin
    revision: int
    created_at: str
    updated_at: str


class LatestOffer(TypedDict):
    """A side's last offer that counts: neither detected in speech nor held for approval.

    Offers follow each other by `seq`; `at` is by the clock of the machine that recorded the offer.
    """

    id: str
    seq: int
    at: str
    package: dict[str, Any]


class LatestPlan(TypedDict):
    """The newest plan; it is stale once the negotiation has changed."""

    version: int
    stale: bool


class LatestView(TypedDict):
    """Where a negotiation stands: each side's last offer, its plan, and the number of unconfirmed offers."""

    mine: LatestOffer | None
    theirs: LatestOffer | None
    plan: LatestPlan | None
    unconfirmed: int


class ListedNegotiation(NegotiationView):
    """A negotiation in a list."""

    latest: NotRequired[LatestView]


class NegotiationList(TypedDict):
    """A page of negotiations."""

    items: list[ListedNegotiation]
    next_cursor: str | None


class EventView(TypedDict):
    """One thing that happened to a negotiation, and who did it."""

    id: str
    seq: int
    at: str
    kind: str
    actor: dict[str, str]
    from_state: str | None
    to_state: str | None
    reason: str | None
    revision: int
    detail: dict[str, Any]


class EventList(TypedDict):
    """A page of events."""

    items: list[EventView]
    next_cursor: str | None
