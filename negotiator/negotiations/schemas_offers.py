"""Rows of the ledger on the wire (docs/contract 6.5)."""

from typing import Any, Literal

from pydantic import AliasChoices, ConfigDict, Field
from typing_extensions import TypedDict

from negotiator.base.schema import example_schema
from negotiator.base.values import LongText, ShortText, Truth
from negotiator.negotiations.schemas_negotiations import NegotiationId
from negotiator.numbers.written import Deadline
from negotiator.terms.schemas_terms import PackageInput

OfferKind = Literal["offer", "counter", "final", "withdrawal", "acceptance", "rejection"]
OfferSource = Literal["typed", "detected_in_speech", "imported"]


class RecordOffer(NegotiationId):
    """What one side put on the table, or its answer to what the other side did."""

    model_config = ConfigDict(
        json_schema_extra=example_schema(
            {"by": "them", "kind": "offer", "package": {"price": "52000.00", "payment_days": 30}}
        )
    )

    by: Literal["me", "them"] = Field(description="Who made the move: the user or the other side.")
    kind: OfferKind = Field("offer", description="What kind of move.")
    package: PackageInput | None = Field(None, description="Values by issue; needed for offer, counter, final.")
    conditions: list[LongText] = Field(
        default_factory=list[str], max_length=50, description="What the offer depends on."
    )
    valid_until: Deadline | None = Field(None, description="After it the offer cannot be accepted.")
    claimed_final: Truth = Field(False, description="Whether they called it final.")
    in_reply_to: ShortText | None = Field(None, description="A live offer to accept, a detected one to dismiss.")
    rationale: LongText | None = Field(
        None, description="What was said with it, word for word; so that nothing is said twice."
    )
    channel: ShortText | None = Field(None, description="Where it was said, such as email.")
    source: OfferSource = Field("typed", description="Detected offers stay unconfirmed.")
    confirms: ShortText | None = Field(None, description="The detected offer that this row confirms.")
    override: Truth = Field(False, description="If the user insists on going beyond a limit.")
    reason: LongText | None = Field(
        None, validation_alias=AliasChoices("reason", "override_reason"), description="Why the override is right."
    )


class IntervalView(TypedDict):
    """A utility between its worst and best fill; equal ends for a complete package."""

    low: float
    high: float


class PastLimit(TypedDict):
    """An issue on which an offer or acceptance of the user passes their own limit without an allowed trade."""

    issue: str
    limit: str | int | float | bool
    value: str | int | float | bool | None


class OfferView(TypedDict):
    """A row of the ledger as its owner sees it. Concessions are utility given up since the same side's last offer."""

    id: str
    seq: int
    at: str
    by: str
    kind: str
    package: dict[str, Any] | None
    complete: bool
    outside_range: bool
    conditions: list[str]
    valid_until: str | None
    claimed_final: bool
    in_reply_to: str | None
    rationale: str | None
    channel: str | None
    source: str
    confirms: str | None
    status: Literal[
        "live",
        "superseded",
        "withdrawn",
        "expired",
        "accepted",
        "unconfirmed",
        "confirmed",
        "dismissed",
        "awaiting_approval",
        "not_approved",
        "recorded",
    ]
    utility_me: IntervalView | None
    utility_them_estimate: float | None
    concession_me: float | None
    concession_them: float | None
    past_limits: list[PastLimit]
    override: dict[str, Any] | None
    approval: dict[str, Any] | None


class OfferList(TypedDict):
    """A page of the ledger, newest first."""

    items: list[OfferView]
    next_cursor: str | None
