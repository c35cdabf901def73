"""A win on the wire (docs/contract 7.5), and what it saved, in decimals.

Amounts are prices of one unit over one term of the contract. A seller, candidate or landlord gains when the achieved
amount is above the baseline, everyone else when it is below. A loss is a negative saving.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Annotated, Any, Final, Literal, cast

from pydantic import BeforeValidator, ConfigDict, Field, model_validator
from typing_extensions import TypedDict

from negotiator.base.field_errors import pointed_error
from negotiator.base.schema import Strict, example_schema, merge_patch
from negotiator.base.values import MINOR_UNITS, Amount, LongText, Moment, Origin, QueryWhole, Scalar, ShortText, Whole
from negotiator.http.cursors import Cursor
from negotiator.memory.schemas_memories import MemorySourceView, VisibleName
from negotiator.numbers.written import AmountReader, Currency, currency_code

WINS_PATH: Final = "/api/wins"
BENCHMARKS_PATH: Final = "/api/benchmarks"
WinRole = Literal["buyer", "seller", "employer", "candidate", "landlord", "tenant", "party"]
BaselineKind = Literal["previous_price", "first_quote", "list_price", "budget", "market", "should_cost", "other"]
SavingsType = Literal["cost_reduction", "cost_avoidance", "value_added", "terms", "revenue_gain", "termination"]
WinVisibility = Literal["private", "contribute_anonymously"]


class WinBaseline(Strict):
    """The price of one unit over one term that the result is compared with."""

    kind: BaselineKind = Field("other", description="Where the figure comes from.")
    amount: Amount
    currency: Currency | None = Field(None, description="If named, it must be the win's.")
    as_of: ShortText | None = Field(None, description="When it was valid.")
    evidence: list[LongText] = Field(default_factory=list[str], max_length=20, description="Evidence, such as a quote.")


class WinAchieved(Strict):
    """The agreed price, for the same unit and term."""

    amount: Amount
    currency: Currency | None = Field(None, description="If named, it must be the win's.")


def _as_amount(value: Any) -> Any:
    return {"amount": value} if isinstance(value, str | int | float) else value


BaselineInput = Annotated[WinBaseline, BeforeValidator(_as_amount, json_schema_input_type=WinBaseline | Amount)]
AchievedInput = Annotated[WinAchieved, BeforeValidator(_as_amount, json_schema_input_type=WinAchieved | Amount)]


class WinTerm(Strict):
    """A term other than the price that changed."""

    issue: ShortText = Field(description="Which term.")
    from_: Scalar | None = Field(None, alias="from", description="Before.")
    to: Scalar | None = Field(None, description="After.")
    est_value: Amount | None = Field(None, description="Its estimated value in the win's currency.")


class WinTactic(Strict):
    """A tactic that was used, and its effect."""

    tactic_id: ShortText = Field(description="tac_…")
    helped: Whole = Field(0, ge=-2, le=2, description="From -2 (harmful) to 2 (decisive).")


class NewWin(Strict):
    """A closed deal and its baseline; the server computes the savings."""

    model_config = ConfigDict(
        json_schema_extra=example_schema(
            {
                "category": "software",
                "kind": "renewal",
                "role": "buyer",
                "counterparty": "Acme",
                "currency": "EUR",
                "baseline": {"kind": "previous_price", "amount": "120.00"},
                "achieved": {"amount": "105.00"},
                "quantity": 250,
                "period_months": 12,
                "tactics_used": [{"tactic_id": "tac_calibrated_question", "helped": 2}],
            }
        )
    )

    negotiation_id: ShortText | None = Field(None, description="The negotiation it closes, neg_….")
    counterparty: VisibleName | None = Field(None, description="The other side.")
    category: VisibleName = Field("other", description="What was bought, sold or settled.")
    kind: VisibleName = Field("other", description="Such as new_purchase, renewal, sale, salary or lease.")
    role: WinRole = Field("buyer", description="The user's side.")
    closed_at: Moment | None = Field(None, description="When it closed; now if absent.")
    currency: Currency = Field(description="ISO 4217 code.")
    baseline: BaselineInput = Field(description="The price of one unit for one term that the result is compared with.")
    achieved: AchievedInput = Field(description="The agreed price of one unit for one term.")
    quantity: Amount = Field("1", description="How many units; more than zero.")
    period_months: Whole | None = Field(None, ge=1, le=600, description="The contract's term.")
    savings_type: SavingsType = Field("cost_reduction", description="What kind of gain.")
    savings_total: Amount | None = Field(
        None, description="The total as you computed it; refused unless it equals the server's."
    )
    claimed_savings: Amount | None = Field(None, description="Your own figure, stored unchecked next to the server's.")
    non_price_terms: list[WinTerm] = Field(
        default_factory=list[WinTerm], max_length=50, description="Other terms that changed."
    )
    tactics_used: list[WinTactic] = Field(
        default_factory=list[WinTactic], max_length=50, description="Tactics used and their effects."
    )
    lead_time_days: Whole | None = Field(None, ge=0, le=36_500, description="Days from opening to signature.")
    rounds: Whole | None = Field(None, ge=0, le=10_000, description="How many rounds it took.")
    notes: LongText | None = Field(None, description="Notes.")
    visibility: WinVisibility = Field(
        "private", description="Whether others' benchmarks may count it; ask the user first."
    )

    @model_validator(mode="before")
    @classmethod
    def _read_amounts(cls, sent: Any) -> Any:
        """The body with amounts as decimal strings; their currency is the win's where it names none."""
        if not isinstance(sent, Mapping):
            return sent
        body = dict(cast("Mapping[str, Any]", sent))
        code = currency_code(body.get("currency"))
        reader = AmountReader(code if isinstance(code, str) and code in MINOR_UNITS else None)
        for name in ("baseline", "achieved"):
            part = _as_amount(body.get(name))
            if isinstance(part, Mapping):
                members = dict(cast("Mapping[str, Any]", part))
                members["amount"] = reader.read(members.get("amount"), f"/{name}/amount")
                body[name] = members
        for name in ("savings_total", "claimed_savings"):
            if body.get(name) is not None:
                body[name] = reader.read(body[name], f"/{name}")
        if reader.errors:
            raise pointed_error(reader.errors)
        if code is None and reader.currency is not None:
            body["currency"] = reader.currency
        return body


class WinId(Strict):
    """The id of a win."""

    id: str = Field(description="The win's id.")


class EditWin(merge_patch(NewWin), WinId):
    """A JSON merge patch (RFC 7396): absent members stay, null removes; the result is validated as a whole."""


class ListWins(Strict):
    """Which wins to list, newest first."""

    category: ShortText | None = Field(None, description="Only those of this category.")
    kind: ShortText | None = Field(None, description="Only those of this kind.")
    counterparty: ShortText | None = Field(None, description="Only those with this other side.")
    negotiation_id: ShortText | None = Field(None, description="Only that of this negotiation.")
    limit: QueryWhole = Field(20, ge=1, le=100, description="How many at most.")
    cursor: Cursor = None


class WinTotalsQuery(Strict):
    """Which wins to add up."""

    since: Moment | None = Field(None, description="Only those that closed at this moment or later.")


class MonthOfWins(TypedDict):
    """The wins that closed in one month (UTC), such as `2026-03`."""

    month: str
    deals: int
    savings: str


class CurrencyTotals(TypedDict):
    """Wins of one currency: how many, what they saved, and both by month, oldest first."""

    currency: str
    deals: int
    savings: str
    months: list[MonthOfWins]


class WinTotals(TypedDict):
    """Totals by currency, that of most deals first; amounts of different currencies are never added."""

    items: list[CurrencyTotals]


class SavingsEvidence(TypedDict):
    """Whether the saving is only claimed by its author, or evidenced by what the baseline names."""

    status: str
    by: str | None
    at: str | None


class WinView(TypedDict):
    """A win as its owner sees it; amounts are decimal strings, `savings_rate` a fraction of the baseline.

    `source` says who recorded it.
    """

    id: str
    negotiation_id: str | None
    counterparty: str | None
    category: str
    kind: str
    role: str
    closed_at: str
    currency: str
    baseline: dict[str, Any]
    achieved: dict[str, Any]
    quantity: str
    period_months: int | None
    savings_type: str
    savings_total: str
    savings_annualised: str | None
    savings_rate: float
    tcv: str
    claimed_savings: str | None
    non_price_terms: list[dict[str, Any]]
    tactics_used: list[dict[str, Any]]
    lead_time_days: int | None
    rounds: int | None
    validated: SavingsEvidence
    notes: str | None
    visibility: str
    memory_id: str | None
    source: MemorySourceView
    origin: Origin
    revision: int
    created_at: str
    updated_at: str


class WinList(TypedDict):
    """A page of wins."""

    items: list[WinView]
    next_cursor: str | None


_RATE: Final = Decimal("0.000001")
_WIDE: Final = Context(prec=60)
_GAINS_ABOVE: Final = frozenset({"seller", "candidate", "landlord"})


@dataclass(frozen=True, slots=True)
class WinSavings:
    """Amounts in the win's currency; `rate` is a fraction of the baseline to six places, `tcv` the total contract
    value.
    """

    total: Decimal
    annualised: Decimal | None
    rate: Decimal
    tcv: Decimal


def gains_when_higher(role: str, savings_type: str) -> bool:
    """Whether more money is the better outcome for this side."""
    return role in _GAINS_ABOVE or savings_type == "revenue_gain"


def calculate_savings(
    baseline: Decimal, achieved: Decimal, *, quantity: Decimal, period_months: int | None, above: bool, places: int
) -> WinSavings:
    """The savings against a positive baseline.

    `total` covers the whole term and all units, exactly. `annualised` is the same for twelve months, rounded to the
    currency's `places`; None without a term.
    """
    per_unit = achieved - baseline if above else baseline - achieved
    total = _WIDE.multiply(per_unit, quantity)
    yearly = None
    if period_months is not None:
        exact = _WIDE.divide(_WIDE.multiply(total, Decimal(12)), Decimal(period_months))
        yearly = exact.quantize(Decimal(1).scaleb(-places), context=_WIDE)
    return WinSavings(
        total=total,
        annualised=yearly,
        rate=_WIDE.divide(per_unit, baseline).quantize(_RATE, context=_WIDE),
        tcv=_WIDE.multiply(achieved, quantity),
    )
