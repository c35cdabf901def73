"""A negotiation on the wire: what is sent, what is asked for, what comes back."""

from typing import Annotated, Any, Literal, Self, cast

from pydantic import (
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError
from typing_extensions import TypedDict

from negotiator.http.cursors import Cursor
from negotiator.negotiations.issue_parsing import parse_issues
from negotiator.negotiations.issues import IssueFault
from negotiator.negotiations.schemas_terms import (
    AuthorityBody,
    BaselineBody,
    Batna,
    ConstraintBody,
    CounterpartyBody,
    FactsBody,
    IssueBody,
    TheirEstimate,
    WalkAway,
    WorthBody,
    with_stand_in_range,
)
from negotiator.schema import MergePatch, SchemaKeyword, Strict, example_schema
from negotiator.values import CURRENCY_PATTERN, Moment, Origin, ShortText, TitleText, Truth, Whole

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
    issues: list[IssueBody] = Field(
        min_length=1, max_length=50, description="What is negotiated, one entry each."
    )
    category: ShortText = Field(
        "other", description="What is bought, sold or settled, such as software."
    )
    kind: ShortText = Field(
        "other", description="new_purchase, renewal, sale, salary, lease, dispute or other."
    )
    counterparty: CounterpartyBody | None = Field(None, description="The other side.")
    currency: Annotated[ShortText, SchemaKeyword("pattern", CURRENCY_PATTERN)] | None = Field(
        None, description="ISO 4217 code of all money issues."
    )
    target: WorthBody | None = Field(
        None, description="What the user aims for: a value for each issue."
    )
    walk_away: WalkAway | None = Field(
        None, description="The least the user would agree to. Private."
    )
    batna: Batna | None = Field(None, description="The user's best alternative. Private.")
    their_estimate: TheirEstimate | None = Field(
        None, description="What is believed of the other side; an estimate."
    )
    deadline: Moment | None = Field(None, description="RFC 3339 with offset.")
    max_rounds: Whole | None = Field(
        None, ge=1, le=10_000, description="After how many rounds talks end."
    )
    constraints: list[ConstraintBody] | None = Field(
        None, max_length=50, description="Rules that the user's offers must keep."
    )
    authority: AuthorityBody | None = Field(
        None, description="What the user may agree to without approval."
    )
    baseline: BaselineBody | None = Field(None, description="What the result is measured against.")
    facts: FactsBody | None = Field(None, description="Facts behind the split of power.")

    @model_validator(mode="wrap")
    @classmethod
    def _name_every_fault(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """When a member is malformed, the issues are still read, so that one answer names all faults."""
        try:
            return handler(data)
        except ValidationError as fault:
            raise _together(cls.__name__, fault, data) from None


def _together(title: str, fault: ValidationError, data: Any) -> ValidationError:
    seen = fault.errors(include_url=False, include_input=False)
    found = [
        InitErrorDetails(
            type=PydanticCustomError("refused", "{said}", {"said": error["msg"]}),
            loc=error["loc"],
            input=None,
        )
        for error in seen
    ]
    places = {"/".join(map(str, ("", *error["loc"]))) for error in seen}
    for refusal in _issue_refusals(data):
        if any(_covers(place, refusal.pointer) for place in places):
            continue
        said = PydanticCustomError("refused", "{said}", {"said": refusal.description})
        loc = tuple(int(p) if p.isdigit() else p for p in refusal.pointer.split("/")[1:])
        found.append(InitErrorDetails(type=said, loc=loc, input=None))
    return ValidationError.from_exception_data(title, found)


def _issue_refusals(data: Any) -> list[IssueFault]:
    members = cast(dict[str, Any], data) if isinstance(data, dict) else {}
    sent = members.get("issues")
    rows = cast(list[Any], sent) if isinstance(sent, list) else []
    read = [
        with_stand_in_range(cast(dict[str, Any], r)) if isinstance(r, dict) else r for r in rows
    ]
    return parse_issues(read)[1] if read else []


def _covers(place: str, pointer: str) -> bool:
    return place == pointer or place.startswith(f"{pointer}/") or pointer.startswith(f"{place}/")


class NegotiationId(Strict):
    """One negotiation, by its id in the path."""

    id: str = Field(description="The negotiation, neg_….")


# A patch is believed once it has been merged; until then a schema only says what is meant.
_Text = Annotated[Any, WithJsonSchema({"type": ["string", "null"]})]
_Number = Annotated[Any, WithJsonSchema({"type": ["integer", "null"]})]
_Entries = Annotated[
    Any,
    WithJsonSchema(
        {"anyOf": [{"type": "array", "items": {"type": "object"}}, {"type": "null"}]},
    ),
]
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
    their_estimate: _Members = Field(None, description="What is believed of them now.")
    deadline: _Text = Field(None, description="RFC 3339 with offset, in the future.")
    max_rounds: _Number = Field(None, description="Another number of rounds.")
    constraints: _Entries = Field(None, description="The whole new list of rules.")
    authority: _Members = Field(None, description="Members to change of your authority.")
    baseline: _Members = Field(None, description="Members to change of the baseline.")
    facts: _Members = Field(None, description="Members to change of the facts behind power.")


class ListNegotiations(Strict):
    """Which negotiations, newest first."""

    state: NegotiationState | None = Field(None, description="Only those in this state.")
    category: ShortText | None = Field(None, description="Only those of this category.")
    query: ShortText | None = Field(
        None, description="Words in the title or the other side's name."
    )
    limit: int = Field(20, ge=1, le=100, description="How many at most.")
    cursor: Cursor = None


class ListOf(NegotiationId):
    """A page of what belongs to a negotiation, newest first."""

    limit: int = Field(20, ge=1, le=100, description="How many at most.")
    cursor: Cursor = None


class MoveNegotiation(NegotiationId):
    """A state to move to."""

    to: NegotiationState = Field(description="The new state; a refusal lists the `allowed` ones.")
    reason: TitleText | None = Field(
        None, description="Needed to reopen, to refuse approval or to override."
    )
    approved: Truth | None = Field(
        None, description="In awaiting_approval: what the approver decided."
    )
    package_sha256: ShortText | None = Field(
        None, description="Needed to approve: copied from `pending_approval`."
    )
    offer_id: ShortText | None = Field(
        None, description="For agreed: the offer; the latest live one if absent."
    )
    override: Truth = Field(
        False, description="For agreed, if the user insists: below the walk-away."
    )


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
    facts: dict[str, Any] | None
    state: str
    state_reason: str | None
    pending_approval: dict[str, Any] | None
    outcome: dict[str, Any] | None
    missing: list[str]
    origin: Origin
    revision: int
    created_at: str
    updated_at: str


class NegotiationList(TypedDict):
    """A page of negotiations."""

    items: list[NegotiationView]
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
