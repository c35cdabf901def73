"""The members of a negotiation's body: issues, limits, what is believed of the other side (docs/contract 6.2, 6.3)."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Final, Literal, cast

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, WithJsonSchema

from negotiator.negotiations.issues import UNORDERED_TYPES
from negotiator.schema import Strict, exactly_one
from negotiator.values import (
    SCALAR_SCHEMA,
    Amount,
    LongText,
    Moment,
    Number,
    Scalar,
    Share,
    ShortText,
    Truth,
    Utility,
    ValuePackage,
    Whole,
    check_scalar,
)

IssueKind = Literal[
    "money", "number", "integer", "percent", "duration_days", "date", "enum", "boolean"
]
Weight = Annotated[Number, Field(ge=0, le=1e12, allow_inf_nan=False)]


class RangeBody(Strict):
    """The values of a numeric issue: both ends, and the step between values (none: continuous)."""

    min: Scalar
    max: Scalar
    step: Scalar | None = None


class OptionBody(Strict):
    """One listed value and what it is worth to you, 0 (worst) to 1 (best)."""

    value: Scalar
    utility: Share | None = Field(None, description="Worth to the user, 0 to 1; for all or none.")


def _as_option(value: Any) -> Any:
    return {"value": value} if isinstance(value, str | int | float) else value


Option = Annotated[
    OptionBody, BeforeValidator(_as_option, json_schema_input_type=OptionBody | Scalar)
]


class IssueBody(Strict):
    """One thing that is negotiated, with your value function on it."""

    name: ShortText = Field(description="Short name, such as price; packages refer to it.")
    label: ShortText | None = Field(None, description="Name for people; `name` if absent.")
    type: IssueKind = Field("money", description="Kind of value.")
    unit: ShortText | None = Field(None, description="Unit of its values, such as seats.")
    direction: Literal["higher", "lower"] | None = Field(
        None, description="Better for the user; on money the role decides."
    )
    weight: Weight | None = Field(None, description="How much it matters; any scale.")
    weight_given: Weight | None = Field(
        None, description="Read-only echo of the weight as it was sent; ignored on input."
    )
    range: RangeBody | None = Field(None, description="Needed for numbers and dates.")
    options: list[Option] | None = Field(
        None,
        max_length=10_000,
        description="Values of an enum, best last unless `direction` is lower.",
    )
    value_points: list[Annotated[list[Scalar], Field(min_length=2, max_length=2)]] | None = Field(
        None, max_length=1000, description="[value, utility] corners of a bent value function."
    )
    their_weight: Weight | None = Field(
        None, description="How much it seems to matter to the other side."
    )
    tradeable: Truth = Field(True, description="Whether it may be given for something else.")


_STAND_INS: Final = {"date": ("2000-01-01", "2000-01-02")}


def lacks_values(issue: Mapping[str, Any]) -> bool:
    """Whether a numeric issue, as written, says nothing of the values it may take."""
    kind = issue.get("type", "money")
    plain = isinstance(kind, str) and kind not in UNORDERED_TYPES
    return plain and not any(issue.get(name) for name in ("range", "options", "value_points"))


def with_stand_in_range(issue: Mapping[str, Any]) -> dict[str, Any]:
    """The issue as written, with a range to read it over where it has none; to be taken off again."""
    if not lacks_values(issue):
        return dict(issue)
    low, high = _STAND_INS.get(str(issue.get("type")), (0, 1))
    return {**issue, "range": {"min": low, "max": high}}


class WorthBody(Strict):
    """A package, or a utility from 0 to 1 outright; exactly one of the two."""

    model_config = ConfigDict(json_schema_extra=exactly_one("package", "utility"))

    package: ValuePackage | None = Field(None, max_length=50, description="Values by issue.")
    utility: Utility | None = Field(None, description="From 0 to 1, in place of a package.")


class WalkAway(WorthBody):
    """The least you would agree to. Below your best alternative only with an `override_reason`."""

    override_reason: LongText | None = Field(
        None, description="Why it may lie below the best alternative."
    )


class Batna(Strict):
    """Your best alternative to this deal."""

    description: LongText | None = Field(None, description="What the user does without this deal.")
    value: WorthBody | None = Field(None, description="What it is worth.")
    probability: Share | None = Field(None, description="Chance that it comes true; 1 if absent.")
    cost: Amount | None = Field(None, description="What taking it would cost, in the currency.")
    available_until: Moment | None = Field(None, description="When it lapses.")
    override_reason: LongText | None = Field(
        None, description="Why the walk-away may lie below this alternative all the same."
    )


class Counterparty(Strict):
    """The other side."""

    name: ShortText | None = Field(None, description="Their name.")
    organisation: ShortText | None = Field(None, description="For whom they negotiate.")
    role: ShortText | None = Field(None, description="Their job or part in it.")
    relationship: Literal["new", "ongoing", "strategic"] | None = Field(
        None, description="How close the two sides are."
    )
    decision_maker: Literal["yes", "no", "unknown"] | None = Field(
        None, description="Whether they decide themselves."
    )
    notes: LongText | None = Field(None, description="What else is known of them.")


def _as_counterparty(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


CounterpartyBody = Annotated[
    Counterparty, BeforeValidator(_as_counterparty, json_schema_input_type=Counterparty | str)
]


class Estimates(Strict):
    """Their walk-away as you believe it; low ≤ likely ≤ high."""

    low: Amount
    likely: Amount
    high: Amount
    unit: Literal["money", "utility"] | None = Field(
        None, description="Default: money when one price is all, else their utility from 0 to 1."
    )


class TheirEstimate(Strict):
    """What you believe of the other side; always an estimate."""

    walk_away: Estimates | None = Field(None, description="Where they would walk away.")
    target: WorthBody | None = Field(None, description="What they aim for.")
    batna: WorthBody | None = Field(None, description="In their utility, or as a package.")
    deadline: Moment | None = Field(None, description="When their time runs out.")
    priorities: list[ShortText] | None = Field(
        None, max_length=50, description="Issues, most important first."
    )
    confidence: Share | None = Field(None, description="How sure you are, 0 to 1.")
    source: LongText | None = Field(None, description="How it is known.")


NO_ESTIMATE: Final = TheirEstimate.model_validate({})
"""Nothing is believed of the other side."""

Operator = Literal["<=", ">=", "<", ">", "==", "!=", "in", "not_in"]


def _values(value: Any) -> Any:
    """One scalar, or a list of them."""
    if isinstance(value, list | tuple):
        rows = cast(list[Any], value)
        if not 1 <= len(rows) <= 1000:
            raise ValueError("Must be a value or a list of 1 to 1000 values")
        return [check_scalar(row) for row in rows]
    return check_scalar(value)


Values = Annotated[
    Any,
    AfterValidator(_values),
    WithJsonSchema(
        {
            "anyOf": [
                SCALAR_SCHEMA,
                {"type": "array", "items": SCALAR_SCHEMA, "minItems": 1, "maxItems": 1000},
            ]
        }
    ),
]


class ConstraintBody(Strict):
    """A rule on one issue. A hard one refuses offers of yours that break it."""

    issue: ShortText = Field(description="Name of the issue.")
    op: Operator = Field(description="How the issue compares to the value.")
    value: Values = Field(description="A value; a list of them for `in` and `not_in`.")
    hard: Truth = Field(True, description="Whether offers that break it are refused.")
    reason: LongText | None = Field(None, description="Why the rule exists.")

    @property
    def values(self) -> list[Any]:
        """The value, or the listed ones."""
        value: Any = self.value
        return [*value] if self.op in {"in", "not_in"} and isinstance(value, list) else [value]


class LimitBody(WorthBody):
    """How far you may go by yourself: an amount on the price issue, a package or a utility."""

    model_config = ConfigDict(json_schema_extra={})

    amount: Amount | None = Field(None, description="On the price issue.")


def _as_limit(value: Any) -> Any:
    return {"amount": value} if isinstance(value, str | int | float | Decimal) else value


class AuthorityBody(Strict):
    """What you may agree to by yourself; beyond it a package waits for approval."""

    limit: Annotated[
        LimitBody | None,
        BeforeValidator(_as_limit, json_schema_input_type=LimitBody | str | float | None),
    ] = Field(None, description="An amount (a plain string will do), or a package or utility.")
    approver: ShortText | None = Field(None, description="Who approves beyond it.")
    needs_approval_above: Amount | None = Field(
        None, description="An amount on the price issue; worse than it needs approval."
    )


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


EvidenceTexts = Annotated[
    list[LongText],
    Field(max_length=50),
    BeforeValidator(_as_list, json_schema_input_type=list[LongText] | LongText),
]


class BaselineBody(Strict):
    """What the result will be measured against; later changes keep the history."""

    kind: Literal[
        "previous_price", "first_quote", "list_price", "budget", "market", "should_cost", "other"
    ] = Field("other", description="Where the figure comes from.")
    value: Amount | None = Field(None, description="The figure.")
    as_of: ShortText | None = Field(None, description="The date or moment the value stood at.")
    evidence: EvidenceTexts | None = Field(
        None, description="What shows it, such as a quote's number."
    )


Count = Annotated[Whole, Field(ge=0, le=1000)]


class SideFactsBody(Strict):
    """What is known of one side's power; what is left out is unknown. Shares run from 0 to 1."""

    delay_cost_per_day: Share | None = Field(
        None, description="Share of the deal's value lost for each day of waiting."
    )
    rivals: Count | None = Field(
        None, description="Live bidders this side could turn to instead of the other."
    )
    dependency: Share | None = Field(None, description="What a break would cost this side.")
    information: Share | None = Field(
        None, description="How well this side knows the other's limits."
    )
    market: Share | None = Field(None, description="How far outside benchmarks support this side.")
    authority: Share | None = Field(None, description="How freely this side decides.")
    commitment: Share | None = Field(None, description="How bound this side already is.")
    relationship: Share | None = Field(
        None, description="How much this side needs the relationship."
    )


class FactsBody(Strict):
    """Facts behind the split of power, for both sides."""

    me: SideFactsBody | None = Field(None, description="The user's side.")
    them: SideFactsBody | None = Field(None, description="The other side.")
