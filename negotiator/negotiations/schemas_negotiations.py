"""A negotiation on the wire: what is sent, what is asked for, what comes back."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import ConfigDict, Field, WithJsonSchema, model_validator
from typing_extensions import TypedDict

from negotiator.http.cursors import Cursor
from negotiator.http.field_errors import pointed_error
from negotiator.negotiations.schemas_terms import (
    AllowedTradeBody,
    AuthorityBody,
    BaselineInput,
    BatnaInput,
    ConstraintBody,
    CounterpartyBody,
    FactsBody,
    Issues,
    TheirEstimateInput,
    WalkAwayInput,
    WorthInput,
)
from negotiator.negotiations.short_forms import expand_body
from negotiator.schema import MergePatch, Strict, example_schema
from negotiator.values import Origin, ShortText, TitleText, Truth, Whole
from negotiator.written_values import Currency, Deadline

NegotiationRole = Literal["buyer", "seller", "employer", "candidate", "landlord", "tenant", "party"]
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


class NegotiationBody(Strict):
    """A negotiation. Title, role and one issue are needed; what else advice lacks is named in `missing`."""

    model_config = ConfigDict(
        json_schema_extra=example_schema(
            {
                "title": "Laptops for the Berlin office",
                "role": "buyer",
                "kind": "new_purchase",
                "currency": "EUR",
                "issues": [
                    {
                        "name": "price",
                        "type": "money",
                        "direction": "lower",
                        "range": {"min": "40000.00", "max": "60000.00", "step": "500.00"},
                        "weight": 0.7,
                    },
                    {
                        "name": "payment_days",
                        "type": "duration_days",
                        "direction": "higher",
                        "range": {"min": 0, "max": 60, "step": 15},
                        "weight": 0.3,
                    },
                ],
                "walk_away": {"package": {"price": "56000.00", "payment_days": 0}},
            }
        )
    )

    title: TitleText = Field(description="Name to find it by.")
    role: NegotiationRole = Field(description="The user's side.")
    issues: Issues = Field(description="What is negotiated, one entry each.")
    category: ShortText = Field("other", description="What is bought, sold or settled, such as software.")
    kind: ShortText = Field("other", description="new_purchase, renewal, sale, salary, lease, dispute or other.")
    counterparty: CounterpartyBody | None = Field(None, description="The other side.")
    currency: Currency | None = Field(None, description="ISO 4217 code of all money issues.")
    target: WorthInput | None = Field(None, description="What the user aims for: a value for each issue.")
    walk_away: WalkAwayInput | None = Field(
        None, description="The least they would agree to; its values limit each issue. Private."
    )
    batna: BatnaInput | None = Field(None, description="The user's best alternative. Private.")
    their_estimate: TheirEstimateInput | None = Field(
        None, description="What is believed of the other side; an estimate."
    )
    deadline: Deadline | None = Field(None, description="RFC 3339, or a day.")
    max_rounds: Whole | None = Field(None, ge=1, le=10_000, description="After how many rounds talks end.")
    constraints: list[ConstraintBody] | None = Field(
        None, max_length=50, description="Rules that the user's offers must keep."
    )
    authority: AuthorityBody | None = Field(None, description="What the user may agree to without approval.")
    baseline: BaselineInput | None = Field(None, description="What the result is measured against.")
    allow: list[AllowedTradeBody] | None = Field(
        None, max_length=20, description="Steps beyond an issue's limit, and their price."
    )
    facts: FactsBody | None = Field(None, description="Facts behind the split of power.")
    example: Truth = Field(False, description="Only an example: no win of it is recorded, no benchmark counts it.")

    @model_validator(mode="before")
    @classmethod
    def _expand(cls, sent: Any) -> Any:
        """The body with its short forms in long form."""
        body, errors = expand_body(sent)
        if errors:
            raise pointed_error(errors)
        return body


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
    limit: int = Field(20, ge=1, le=100, description="How many at most.")
    cursor: Cursor = None


class ListOf(NegotiationId):
    """A page of what belongs to a negotiation, newest first."""

    limit: int = Field(20, ge=1, le=100, description="How many at most.")
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
    """A negotiation as its owner sees it; private throughout."""

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
