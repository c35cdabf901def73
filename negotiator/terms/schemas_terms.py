"""The members of a negotiation's body, and the rules that each of them keeps (docs/contract 6.2, 6.3)."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Annotated, Any, Final, Literal, Self, cast

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
    model_validator,
)
from pydantic_core import ErrorDetails, InitErrorDetails

from negotiator.base.errors import FieldError
from negotiator.base.field_errors import pointed_error, pointer_place, refused_at
from negotiator.base.schema import Strict, exactly_one
from negotiator.base.values import (
    SCALAR_SCHEMA,
    Amount,
    LongText,
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
from negotiator.numbers.written import Deadline
from negotiator.terms.issues import (
    COUNTABLE_TYPES,
    MAX_LISTED_VALUES,
    UNORDERED_TYPES,
    Issue,
    IssueOption,
    IssueRange,
    check_value,
    coordinate,
    same_value,
    step_type,
    value_key,
)
from negotiator.terms.short_forms import issue_from_name, range_from_list

IssueKind = Literal["money", "number", "integer", "percent", "duration_days", "date", "enum", "boolean"]
Weight = Annotated[Number, Field(ge=0, le=1e12, allow_inf_nan=False)]
MoneyWorth = Annotated[Number, Field(ge=-1e12, le=1e12, allow_inf_nan=False)]


class RangeBody(Strict):
    """The values of a numeric issue: both ends, and the step between values (none: continuous)."""

    min: Scalar
    max: Scalar
    step: Scalar | None = None


RangeInput = Annotated[RangeBody, BeforeValidator(range_from_list, json_schema_input_type=RangeBody | list[Scalar])]
"""A range, or the list of its two ends."""


class OptionBody(Strict):
    """One listed value and what it is worth to you, 0 (worst) to 1 (best), or in money."""

    value: Scalar
    utility: Share | None = Field(None, description="Worth to the user, 0 to 1; for all or none.")
    worth: MoneyWorth | None = Field(None, description="In the price's unit, as -350.", examples=[-350])


def _as_option(value: Any) -> Any:
    return {"value": value} if isinstance(value, str | int | float) else value


Option = Annotated[OptionBody, BeforeValidator(_as_option, json_schema_input_type=OptionBody | Scalar)]


class MultipleBody(Strict):
    """What a unit price is multiplied by: a number (`count`), or the value of another issue (`issue`)."""

    model_config = ConfigDict(json_schema_extra=exactly_one("count", "issue"))

    count: Annotated[Number, Field(gt=0, le=1e12, allow_inf_nan=False)] | None = Field(
        None, description="How many, such as 80."
    )
    issue: ShortText | None = Field(None, description="Name of the issue whose value is the number.")
    of: ShortText = Field(description="What is counted, such as seats.")

    @model_validator(mode="after")
    def _check_number(self) -> Self:
        if (self.count is None) == (self.issue is None):
            raise ValueError("Give either count or issue.")
        return self


class IssueBody(Strict):
    """One thing that is negotiated, with your value function on it."""

    name: ShortText
    label: ShortText | None = Field(None, description="Name for people; `name` if absent.")
    type: IssueKind = Field("money", description="Kind of value; enum where options are words.")
    unit: ShortText | None = Field(None, description="Unit of its values, such as seats.")
    direction: Literal["higher", "lower"] | None = Field(
        None, description="Better for the user; on money the role decides."
    )
    weight: Weight | None = Field(None, description="How much it matters; any scale.")
    weight_given: Weight | None = Field(
        None, description="Read-only echo of the weight as it was sent; ignored on input."
    )
    range: RangeInput | None = Field(None, description="Needed for numbers and dates.")
    options: list[Option] | None = Field(None, max_length=10_000, description="Values of an enum, best last.")
    value_points: list[Annotated[list[Scalar], Field(min_length=2, max_length=2)]] | None = Field(
        None, max_length=1000, description="[value, utility] corners of a bent value function."
    )
    worth: Annotated[MoneyWorth, Field(ge=0)] | None = Field(
        None, description="In place of a weight: its best value's worth over its worst, in the unit of the price."
    )
    their_weight: Weight | None = Field(None, description="How much it seems to matter to the other side.")
    tradeable: Truth = Field(True, description="Whether it may be given for something else.")
    limit: Scalar | None = Field(
        None, description="Worst value the user takes on it; by default that of the walk-away."
    )
    multiples: list[MultipleBody] | None = Field(
        None, max_length=4, description="What a unit price is multiplied by to get the total."
    )


def lacks_values(issue: IssueBody) -> bool:
    """Whether the issue is a numeric one that does not say which values it may take."""
    return issue.type not in UNORDERED_TYPES and not (issue.range or issue.options or issue.value_points)


def issue_errors(issue: IssueBody, at: str = "") -> list[FieldError]:
    """What is wrong with an issue whose members each have their form: a range upside down, options of another type.

    `at` is the issue's pointer. A numeric issue without a range, options and corners is in order.
    """
    found: list[FieldError] = []
    if not issue.name.strip():
        found.append(FieldError(f"{at}/name", "A name is needed."))
    ranged = _range_errors(issue, f"{at}/range")
    found += ranged
    found += _option_errors(issue, f"{at}/options")
    if not found and not issue.options:
        if issue.type == "enum":
            found.append(FieldError(f"{at}/options", "An enum needs its options."))
        elif issue.value_points and issue.range is None and issue.type != "boolean":
            found.append(FieldError(f"{at}/range", "A range or options are needed."))
    if issue.value_points and (ranged or not _are_corners(issue, issue.value_points)):
        text = "Must be [value, utility] pairs by rising value, utilities 0 to 1, on a range."
        found.append(FieldError(f"{at}/value_points", text))
    if not found and issue.limit is not None:
        found += check_value(_with_values(issue), issue.limit, f"{at}/limit")
    if issue.multiples and issue.type != "money":
        found.append(FieldError(f"{at}/multiples", "Only a price, of type money, has a total."))
    return found


def _with_values(issue: IssueBody) -> Issue:
    """The issue with its type, range and options only, all of which are in order."""
    low, high = (
        coordinate(issue.type, end) for end in ((issue.range.min, issue.range.max) if issue.range else (None, None))
    )
    return Issue(
        issue.name,
        issue.type,
        range=None if low is None or high is None else IssueRange(low, high),
        options=tuple(IssueOption(option.value, 0.0) for option in issue.options or ()),
    )


def multiple_errors(issues: Sequence[IssueBody], at: str = "") -> list[FieldError]:
    """An error for each multiple that names no other issue, one that has no number, or one a second time."""
    types = {issue.name: issue.type for issue in issues}
    found: list[FieldError] = []
    for place, issue in enumerate(issues):
        named = [multiple.issue for multiple in issue.multiples or ()]
        for n, name in enumerate(named):
            pointer = f"{at}/{place}/multiples/{n}/issue"
            if name is None:
                continue
            if name not in types or name == issue.name:
                found.append(FieldError(pointer, "No other issue has this name."))
            elif types[name] not in COUNTABLE_TYPES:
                text = f"{name} is no number: only {', '.join(sorted(COUNTABLE_TYPES))} can be."
                found.append(FieldError(pointer, text))
            elif name in named[:n]:
                found.append(FieldError(pointer, "It is among the multiples already."))
    return found


def repeated_names(names: Sequence[object], at: str = "") -> list[FieldError]:
    """An error for each issue whose name an issue before it has; `names` holds None for an issue without one."""
    return [
        FieldError(f"{at}/{place}/name", "Another issue already has this name.")
        for place, name in enumerate(names)
        if isinstance(name, str) and name.strip() and name in names[:place]
    ]


def _range_errors(issue: IssueBody, at: str) -> list[FieldError]:
    if issue.range is None:
        return []
    if issue.type in UNORDERED_TYPES:
        return [FieldError(at, "Must be an object with min and max, on an ordered issue.")]
    low, high = coordinate(issue.type, issue.range.min), coordinate(issue.type, issue.range.max)
    if low is None or high is None:
        return [
            FieldError(f"{at}/{end}", f"Must be a value of type {issue.type}.")
            for end, value in (("min", low), ("max", high))
            if value is None
        ]
    if low >= high:
        return [FieldError(f"{at}/max", "Must be greater than min.")]
    if issue.range.step is None:
        return []
    step = coordinate(step_type(issue.type), issue.range.step)
    if step is None or step <= 0 or (high - low) / step >= MAX_LISTED_VALUES:
        text = f"Must make at most {MAX_LISTED_VALUES} values, above 0."
        return [FieldError(f"{at}/step", text)]
    return []


def _option_errors(issue: IssueBody, at: str) -> list[FieldError]:
    options = issue.options or []
    if len(options) == 1:
        return [FieldError(at, "Must be a list of at least two options.")]
    found = [
        FieldError(f"{at}/{place}/value", f"Not a value of type {issue.type}.")
        for place, option in enumerate(options)
        if isinstance(option.value, Decimal) or not same_value(issue.type, option.value, option.value)
    ]
    if found:
        return found
    if len({value_key(issue.type, option.value) for option in options}) < len(options):
        return [FieldError(at, "Two options have the same value.")]
    for name in ("utility", "worth"):
        if 0 < sum(getattr(option, name) is not None for option in options) < len(options):
            return [FieldError(at, f"Give every option a {name}, or none.")]
    return []


def _are_corners(issue: IssueBody, points: Sequence[Sequence[Any]]) -> bool:
    """Whether the points are [value, utility] pairs by rising value, on an issue that has a range."""
    places = [coordinate(issue.type, at) for at, _ in points]
    known = [at for at in places if at is not None]
    return (
        issue.range is not None
        and len(known) == len(points) >= 2
        and all(a < b for a, b in pairwise(known))
        and all(
            isinstance(worth, int | float | Decimal) and not isinstance(worth, bool) and 0 <= worth <= 1
            for _, worth in points
        )
    )


def _check_issue(issue: IssueBody) -> IssueBody:
    if found := issue_errors(issue):
        raise pointed_error(found)
    return issue


def _check_names(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    """The issues, each with a name of its own; names are compared even where other members are wrong."""
    faults: list[InitErrorDetails] = []
    issues: Any = None
    try:
        issues = handler(value)
    except ValidationError as invalid:
        if any(not fault["loc"] for fault in invalid.errors()):  # no list of issues at all
            raise
        faults = [_again(fault) for fault in invalid.errors(include_url=False)]
    wrong = {fault["loc"][:2] for fault in faults if "loc" in fault}
    faults += [
        refused_at(place, error.description)
        for error in repeated_names([_name(row) for row in cast(list[Any], value)])
        if (place := pointer_place(error.pointer)) not in wrong
    ]
    faults = faults or [
        refused_at(pointer_place(error.pointer), error.description) for error in multiple_errors(issues)
    ]
    if faults:
        raise ValidationError.from_exception_data("issues", faults)
    return issues


def _again(fault: ErrorDetails) -> InitErrorDetails:
    """The same fault, to be raised once more."""
    if fault["type"] == "refused":
        return refused_at(fault["loc"], fault["msg"])
    return InitErrorDetails(type=fault["type"], loc=fault["loc"], input=fault["input"], ctx=fault.get("ctx", {}))


def _name(row: Any) -> Any:
    return row.get("name") if isinstance(row, Mapping) else getattr(row, "name", None)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]


def _as_issue(value: Any) -> Any:
    return issue_from_name(value) if isinstance(value, str) and value.strip() else value


IssueInput = Annotated[IssueBody, BeforeValidator(_as_issue, json_schema_input_type=IssueBody | ShortText)]
"""An issue, or its name alone, such as price, which says what kind of value it has."""
Issues = Annotated[
    list[Annotated[IssueInput, AfterValidator(_check_issue)]],
    Field(min_length=1, max_length=50, examples=[["price"]]),
    WrapValidator(_check_names),
]
"""The issues of a negotiation; one answer names what is wrong with each of them."""


class WorthBody(Strict):
    """A package, or a utility from 0 to 1 outright; exactly one of the two."""

    model_config = ConfigDict(json_schema_extra=exactly_one("package", "utility"))

    package: ValuePackage | None = Field(None, max_length=50, description="Values by issue.")
    utility: Utility | None = Field(None, description="From 0 to 1, in place of a package.")

    @model_validator(mode="after")
    def _has_one(self) -> Self:
        if (self.package is None) == (self.utility is None):
            raise ValueError("Must have either a package or a utility")
        return self


class WalkAway(WorthBody):
    """The least you would agree to. Below your best alternative only with an `override_reason`."""

    override_reason: LongText | None = Field(None, description="Why it may lie below the best alternative.")


def no_scalar(value: Any) -> Any:
    """The value, unless it is one that no issue of the same body belongs to."""
    if isinstance(value, str | int | float):
        raise ValueError("Must say which issue has this value")
    return value


PackageInput = Annotated[ValuePackage, Field(max_length=50)] | Scalar
"""Values by issue, or one value where one issue is meant; `short_forms.read_package` makes it a package."""
_ShortWorth = ValuePackage | Scalar
_WORTH_EXAMPLE: Final = Field(examples=[{"package": {"price": "45.00"}}])
WorthInput = Annotated[
    WorthBody, BeforeValidator(no_scalar, json_schema_input_type=WorthBody | _ShortWorth), _WORTH_EXAMPLE
]
"""A package or a utility; the values by issue alone, or one value where one issue is meant."""
WalkAwayInput = Annotated[
    WalkAway, BeforeValidator(no_scalar, json_schema_input_type=WalkAway | _ShortWorth), _WORTH_EXAMPLE
]


class Batna(Strict):
    """Your best alternative to this deal."""

    description: LongText | None = Field(None, description="What they do then.")
    value: WorthInput | None = None
    probability: Share | None = Field(None, description="Chance that it comes true; 1 if absent.")
    cost: Amount | None = Field(None, description="What taking it would cost, in the currency.")
    available_until: Deadline | None = Field(None, description="When it lapses.")
    override_reason: LongText | None = Field(
        None, description="Why the walk-away may lie below this alternative all the same."
    )


BatnaInput = Annotated[Batna, BeforeValidator(no_scalar, json_schema_input_type=Batna | _ShortWorth)]
"""The alternative; its value alone, or a sentence that describes it."""


class Counterparty(Strict):
    """The other side."""

    name: ShortText | None = Field(None, description="Their name.")
    organisation: ShortText | None = Field(
        None, description="The company for which they negotiate; none for a private person."
    )
    role: ShortText | None = Field(None, description="Their job or part in it, such as owner or dealer.")
    relationship: Literal["new", "ongoing", "strategic"] | None = Field(
        None, description="How close the two sides are."
    )
    decision_maker: Literal["yes", "no", "unknown"] | None = Field(None, description="Whether they decide themselves.")
    notes: LongText | None = Field(None, description="What else is known of them.")


def _as_counterparty(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


CounterpartyBody = Annotated[Counterparty, BeforeValidator(_as_counterparty, json_schema_input_type=Counterparty | str)]


class Estimates(Strict):
    """Their walk-away as you believe it; low ≤ likely ≤ high. With likely alone, 10 % to either side."""

    model_config = ConfigDict(json_schema_extra={"required": []})

    low: Amount
    likely: Amount
    high: Amount
    unit: Literal["money", "utility"] | None = Field(
        None, description="Default: money when one price is all or a figure is above 1, else their utility from 0 to 1."
    )


def _no_figure(value: Any) -> Any:
    """The value, unless it is one figure of a body in which no price is negotiated."""
    if isinstance(value, str | int | float):
        raise ValueError("Must be an object with low, likely and high")
    return value


EstimatesInput = Annotated[Estimates, BeforeValidator(_no_figure, json_schema_input_type=Estimates | _ShortWorth)]


class TheirEstimate(Strict):
    """What you believe of the other side; always an estimate."""

    walk_away: EstimatesInput | None = Field(None, description="Where they would walk away.")
    target: WorthInput | None = Field(None, description="What they aim for.")
    batna: WorthInput | None = Field(None, description="In their utility, or as a package.")
    deadline: Deadline | None = Field(None, description="When their time runs out.")
    priorities: list[ShortText] | None = Field(None, max_length=50, description="Issues, most important first.")
    confidence: Share | None = Field(None, description="How sure you are, 0 to 1.")
    source: LongText | None = Field(None, description="How it is known.")


TheirEstimateInput = Annotated[
    TheirEstimate, BeforeValidator(_no_figure, json_schema_input_type=TheirEstimate | Estimates | _ShortWorth)
]
"""What is believed of the other side; their likely walk-away alone."""
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
        {"anyOf": [SCALAR_SCHEMA, {"type": "array", "items": SCALAR_SCHEMA, "minItems": 1, "maxItems": 1000}]}
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


class AllowedTradeBody(Strict):
    """A step beyond the limit of an issue that you allow for a price.

    Advice may go as far as `to` in a package that is at least as good for you on each issue of `in_return`.
    """

    issue: ShortText = Field(description="The issue whose limit may be passed.")
    to: Scalar = Field(description="How far: a value beyond the limit.")
    in_return: Annotated[ValuePackage, Field(min_length=1, max_length=50)] = Field(
        description="What you must have for it: values by issue."
    )


class ArgumentBody(Strict):
    """A fact that speaks for you, as you would say it to the other side: 'Two tyres are worn, a set costs about 250.'

    A `reason` speaks for your offer. A `give` costs you little and is offered for a step: 'I can pay and collect it
    this week.' A `wish` is asked for along with a yes. A `fact` only answers a question.
    """

    fact: LongText
    kind: Literal["reason", "give", "wish", "fact"] = Field(
        "reason", description="`give` costs them little, `wish` is asked with a yes."
    )
    issue: ShortText | None = Field(None, description="Name of the issue that it is about.")
    worth: Amount | None = Field(None, description="What it is worth to the other side, in money.")
    shareable: Truth | None = Field(
        None, description="Whether it may be said to them; by default not where it tells limit, target or alternative."
    )


def _as_argument(value: Any) -> Any:
    return {"fact": value} if isinstance(value, str) else value


ArgumentInput = Annotated[ArgumentBody, BeforeValidator(_as_argument, json_schema_input_type=ArgumentBody | LongText)]
"""A fact that speaks for the user; its text alone is a reason."""


class LimitBody(WorthBody):
    """How far you may go by yourself: an amount on the price issue, a package or a utility."""

    model_config = ConfigDict(json_schema_extra={})

    amount: Amount | None = Field(None, description="On the price issue.")

    @model_validator(mode="after")
    def _has_one(self) -> Self:
        if [self.amount, self.package, self.utility].count(None) != 2:
            raise ValueError("Must have an amount, a package or a utility")
        return self


def _as_limit(value: Any) -> Any:
    return {"amount": value} if isinstance(value, str | int | float | Decimal) else value


class AuthorityBody(Strict):
    """What you may agree to by yourself; beyond it a package waits for approval."""

    limit: Annotated[
        LimitBody | None, BeforeValidator(_as_limit, json_schema_input_type=LimitBody | str | float | None)
    ] = Field(None, description="An amount (a plain string will do), or a package or utility.")
    approver: ShortText | None = Field(None, description="Who approves beyond it.")
    needs_approval_above: Amount | None = Field(
        None, description="An amount on the price issue; worse than it needs approval."
    )


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


EvidenceTexts = Annotated[
    list[LongText], Field(max_length=50), BeforeValidator(_as_list, json_schema_input_type=list[LongText] | LongText)
]


class BaselineBody(Strict):
    """What the result will be measured against; later changes keep the history."""

    kind: Literal["previous_price", "first_quote", "list_price", "budget", "market", "should_cost", "other"] = Field(
        "other", description="Where the figure comes from."
    )
    value: Amount | None = Field(None, description="The figure.")
    as_of: ShortText | None = Field(None, description="The date or moment the value stood at.")
    evidence: EvidenceTexts | None = Field(None, description="What shows it, such as a quote's number.")


BaselineInput = Annotated[BaselineBody, BeforeValidator(_no_figure, json_schema_input_type=BaselineBody | Amount)]
Count = Annotated[Whole, Field(ge=0, le=1000)]


class SideFactsBody(Strict):
    """What is known of one side's power; what is left out is unknown. Shares run from 0 to 1."""

    delay_cost_per_day: Share | None = Field(
        None, description="Share of the deal's value lost for each day of waiting."
    )
    rivals: Count | None = Field(None, description="Live bidders this side could turn to instead of the other.")
    dependency: Share | None = Field(None, description="What a break would cost this side.")
    information: Share | None = Field(None, description="How well this side knows the other's limits.")
    market: Share | None = Field(None, description="How far outside benchmarks support this side.")
    authority: Share | None = Field(None, description="How freely this side decides.")
    commitment: Share | None = Field(None, description="How bound this side already is.")
    relationship: Share | None = Field(None, description="How much this side needs the relationship.")


class FactsBody(Strict):
    """Facts behind the split of power, for both sides."""

    me: SideFactsBody | None = Field(None, description="The user's side.")
    them: SideFactsBody | None = Field(None, description="The other side.")
