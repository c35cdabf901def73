"""The terms of a negotiation: every check and every piece of advice starts from them.

A request body is parsed into `Terms` once (`terms_parsing`). They are stored as versioned JSON, which `decode_terms`
reads back by the types of their fields alone: a rule of input that is made stricter later refuses no stored
negotiation.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cache
from typing import Final, Literal, TypeAlias

import orjson
from pydantic import TypeAdapter
from typing_extensions import TypedDict

from negotiator.base.errors import FieldError
from negotiator.base.values import DAY
from negotiator.terms.issues import Issue, IssueType, Package, Scalar, canonical_value
from negotiator.terms.utility import Preferences, Worth

SELLING_ROLES: Final = frozenset({"seller", "candidate", "landlord"})
"""Roles to which more money is better."""
BUYING_ROLES: Final = frozenset({"buyer", "employer", "tenant"})
"""Roles to which less money is better."""
COUNTERPART_ROLES: Final[Mapping[str, str]] = {
    "buyer": "seller",
    "seller": "buyer",
    "employer": "candidate",
    "candidate": "employer",
    "landlord": "tenant",
    "tenant": "landlord",
}
"""By role of the user, that of the other side where it is known by that alone."""
PriceOrUtility: TypeAlias = Decimal | float


@dataclass(frozen=True, slots=True)
class Estimate:
    """Their walk-away as estimated, low ≤ likely ≤ high, in money or in their own utility."""

    low: PriceOrUtility
    likely: PriceOrUtility
    high: PriceOrUtility
    unit: Literal["money", "utility"] = "money"

    @property
    def ends(self) -> tuple[float, float, float]:
        """The three figures as floats."""
        return float(self.low), float(self.likely), float(self.high)

    def errors(self, pointer: str = "/their_estimate/walk_away") -> list[FieldError]:
        """The field error of ends out of order or not finite, if any."""
        low, likely, high = self.ends
        if all(map(math.isfinite, (low, likely, high))) and low <= likely <= high:
            return []
        return [FieldError(pointer, "Must be finite with low <= likely <= high.")]


@dataclass(frozen=True, slots=True)
class SideFacts:
    """What is known of one side; None is unknown. Shares run from 0 to 1.

    `alternative`: value of its best alternative, from its worst package (0) to its target (1).
    `days_left`, `delay_cost_per_day` (share of the deal's value lost a day): pressure of time.
    `rivals`: live bidders it could turn to instead. `dependency`: what a break would cost it.
    `information`: how well it knows the other's limits. `market`: how far outside benchmarks
    support it. `authority`: how freely it decides. `commitment`: how bound it already is (sunk
    cost, announcements). `relationship`: how much it needs the relationship.
    """

    alternative: float | None = None
    days_left: float | None = None
    delay_cost_per_day: float | None = None
    rivals: int | None = None
    dependency: float | None = None
    information: float | None = None
    market: float | None = None
    authority: float | None = None
    commitment: float | None = None
    relationship: float | None = None


NO_FACTS = SideFacts()


@dataclass(frozen=True, slots=True)
class OtherParty:
    """What the user said about the other side."""

    name: str | None = None
    organisation: str | None = None
    role: str | None = None
    relationship: str | None = None
    decision_maker: str | None = None
    notes: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The organisation and the person, as far as they are known."""
        return tuple(name for name in (self.organisation, self.name) if name)


@dataclass(frozen=True, slots=True)
class Argument:
    """A fact that speaks for the user, in their words; `kind` says what it is good for.

    A `reason` is said with a counter-offer, a `give` is something that costs them little and is offered for a step, a
    `wish` is asked for along with a yes, and a `fact` only answers a question. `worth` is what it is worth to the other
    side, in money. One that is not `shareable` is never said to them.
    """

    fact: str
    kind: Literal["reason", "give", "wish", "fact"] = "reason"
    issue: str | None = None
    worth: Decimal | None = None
    shareable: bool = True


@dataclass(frozen=True, slots=True)
class Constraint:
    """A rule on one issue; `values` holds the single value, or the list of `in` and `not_in`."""

    issue: str
    op: Literal["<=", ">=", "<", ">", "==", "!=", "in", "not_in"]
    values: tuple[Scalar, ...]
    hard: bool = True
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Authority:
    """What the user may agree to without approval: at least `least`, and no worse a price than `prices`.

    `amount` is the limit where it is an amount of money. `stated` is false when the user said nothing about it.
    """

    least: Worth | None = None
    amount: Decimal | None = None
    needs_approval_above: Decimal | None = None
    approver: str | None = None
    stated: bool = False

    @property
    def prices(self) -> tuple[Decimal, ...]:
        """The prices from which on a package needs approval."""
        return tuple(p for p in (self.amount, self.needs_approval_above) if p is not None)


@dataclass(frozen=True, slots=True)
class AlternativeDetails:
    """What the user said about the best alternative besides its worth; the moment is in milliseconds."""

    description: str | None = None
    probability: float | None = None
    cost: Decimal | None = None
    available_until: int | None = None
    override_reason: str | None = None


@dataclass(frozen=True, slots=True)
class EstimateDetails:
    """What the user said about the estimate of the other side: their priorities, and how it is known."""

    priorities: tuple[str, ...] = ()
    confidence: float | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Baseline:
    """The figure that the result is measured against."""

    kind: str
    value: Decimal | None = None
    as_of: str | None = None
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AllowedTrade:
    """A step beyond the user's own limit that they allow for a price.

    The value of `issue` may go as far as `to` in a package that is at least as good on each issue of `in_return`.
    """

    issue: str
    to: Scalar
    in_return: Package


@dataclass(frozen=True, slots=True)
class Terms:
    """A negotiation without its offers and its state.

    `walk_away`, `target` and `batna` are as the user gave them. `certain` is the utility of the alternative with its
    chance and cost counted; `batna_uncertain` says whether there was a chance or a cost. `unvalued` names the issues
    whose range is not known, `missing` what advice lacks. `assumed_directions` names the issues of which neither the
    user nor their role says which values are better. `allowed` are the steps beyond an issue's limit that the user
    takes for a price. `facts` holds the facts as the user gave them; `me` and
    `them` also hold those that other members imply. `their_preferences` (without them the other side is taken to want
    the opposite) and `judgements`, which set power factors outright, belong to described negotiations only. Moments
    are milliseconds since the epoch.
    """

    title: str
    role: str
    category: str
    kind: str
    currency: str | None
    preferences: Preferences
    other_party: OtherParty | None = None
    walk_away: Worth | None = None
    walk_away_reason: str | None = None
    target: Worth | None = None
    batna: Worth | None = None
    batna_details: AlternativeDetails | None = None
    certain: float | None = None
    batna_uncertain: bool = False
    their_walk_away: Estimate | None = None
    their_target: Worth | None = None
    their_batna: Worth | None = None
    their_deadline: int | None = None
    estimate_details: EstimateDetails | None = None
    deadline: int | None = None
    max_rounds: int | None = None
    constraints: tuple[Constraint, ...] = ()
    authority: Authority = Authority()
    baseline: Baseline | None = None
    facts: Mapping[str, Mapping[str, float | int]] | None = None
    me: SideFacts = NO_FACTS
    them: SideFacts = NO_FACTS
    their_preferences: Preferences | None = None
    judgements: Mapping[str, float] = field(default_factory=dict[str, float])
    unvalued: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    assumed_directions: tuple[str, ...] = ()
    allowed: tuple[AllowedTrade, ...] = ()
    arguments: tuple[Argument, ...] = ()
    example: bool = False

    @property
    def certain_batna(self) -> Worth | None:
        """The alternative as the user gave it, or its utility where a chance or a cost is counted."""
        return Worth(utility=self.certain) if self.batna_uncertain else self.batna

    @property
    def issues(self) -> tuple[Issue, ...]:
        """The issues, in order."""
        return self.preferences.issues

    def issue(self, name: str) -> Issue | None:
        """The issue of this name."""
        return issue_named(self.issues, name)

    @property
    def price(self) -> Issue | None:
        """The issue that amounts of money refer to: the first one of type money."""
        return next((issue for issue in self.issues if issue.type == "money"), None)

    def money_of_utility(self, utility: float) -> Decimal | None:
        """The change of the price that is worth as much to the user as `utility`; None without a plain price range."""
        price = self.price
        if price is None or price.range is None or price.weight <= 0 or price.value_points or price.options:
            return None
        span = price.range.max - price.range.min
        least = Decimal("0.01") if span >= 1 else Decimal("0.0001")
        return (span * Decimal(repr(utility / price.weight))).quantize(least)


def issue_named(issues: Sequence[Issue], name: str) -> Issue | None:
    """The issue of this name."""
    return next((issue for issue in issues if issue.name == name), None)


def days_left(deadline: int | None, now: int) -> float | None:
    """Days until a deadline, 0 once it has passed."""
    return None if deadline is None else max(0.0, (deadline - now) / DAY)


TERMS_VERSION: Final = 1
"""Version of the stored form. A field that is added needs a default and no new version; one that is renamed or removed
needs a new version, and a step in `decode_terms` that turns the old form into the new one."""


def encode_terms(terms: Terms) -> bytes:
    """The stored form: the fields of `Terms` as JSON, decimals as strings, and the version as `v`."""
    return orjson.dumps({"v": TERMS_VERSION, "terms": terms}, default=str)


def decode_terms(stored: bytes) -> Terms:
    """The terms that `encode_terms` wrote; nothing but the types of their fields is checked."""
    terms = _stored_form().validate_json(stored)["terms"]
    issues = tuple(
        issue if issue.limit is None else replace(issue, limit=canonical_value(issue.type, issue.limit))
        for issue in terms.issues
    )
    types: dict[str, IssueType] = {issue.name: issue.type for issue in issues}
    allowed = tuple(
        AllowedTrade(
            trade.issue,
            canonical_value(types[trade.issue], trade.to),
            {name: canonical_value(types[name], value) for name, value in trade.in_return.items()},
        )
        for trade in terms.allowed
    )
    return replace(terms, preferences=replace(terms.preferences, issues=issues), allowed=allowed)


class _StoredTerms(TypedDict):
    terms: Terms


@cache
def _stored_form() -> TypeAdapter[_StoredTerms]:
    return TypeAdapter(_StoredTerms)
