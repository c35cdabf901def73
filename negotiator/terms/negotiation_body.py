"""What a negotiation is opened with, as it is sent."""

from typing import Any, Literal

from pydantic import ConfigDict, Field, model_validator

from negotiator.base.field_errors import pointed_error
from negotiator.base.schema import Strict, example_schema
from negotiator.base.values import ShortText, TitleText, Truth, Whole
from negotiator.numbers.written import Currency, Deadline
from negotiator.terms.schemas_terms import (
    AllowedTradeBody,
    ArgumentInput,
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
from negotiator.terms.short_forms import expand_body

NegotiationRole = Literal["buyer", "seller", "employer", "candidate", "landlord", "tenant", "party"]


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
    issues: Issues = Field(description="What is negotiated.")
    category: ShortText = Field("other", description="Such as software.")
    kind: ShortText = Field("other", description="new_purchase, renewal, sale, salary, lease, dispute or other.")
    counterparty: CounterpartyBody | None = Field(None, description="The other side.")
    currency: Currency | None = Field(None, description="ISO 4217 code.")
    target: WorthInput | None = Field(None, description="What the user aims for.")
    walk_away: WalkAwayInput | None = Field(None, description="The least they would take on each issue. Private.")
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
    arguments: list[ArgumentInput] | None = Field(None, max_length=30, description="What speaks for the user.")
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
