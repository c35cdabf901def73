"""What leverage and the next move take and give (docs/contract 6.6, 6.7)."""

from typing import Annotated, Any, Final, Literal, NotRequired, Self

from pydantic import ConfigDict, Field, model_validator
from typing_extensions import TypedDict

from negotiator.advice.leverage.power import FACTOR_NAMES
from negotiator.base.errors import FieldError
from negotiator.base.field_errors import pointed_error
from negotiator.base.schema import (
    NOT_NULL,
    SchemaKeyword,
    Strict,
    any_of_schemas,
    exactly_one,
    example_schema,
    requires_non_null,
)
from negotiator.base.values import (
    SCALAR_SCHEMA,
    Number,
    Scalar,
    Share,
    ShortText,
    TitleText,
    Truth,
    Utility,
    ValuePackage,
    Whole,
)
from negotiator.negotiations.schemas_negotiations import NegotiationId
from negotiator.terms.negotiation_body import NegotiationBody, NegotiationRole
from negotiator.terms.schemas_terms import (
    IssueBody,
    IssueInput,
    Issues,
    PackageInput,
    Weight,
    issue_errors,
    multiple_errors,
    repeated_names,
)

MAX_BODY_BYTES: Final = 1024 * 1024
"""The body limit of a described turn, which has every value and all offers; other bodies are limited to 64 KiB."""
PartWorthPair = Annotated[
    list[Scalar], Field(min_length=2, max_length=2), SchemaKeyword("prefixItems", [SCALAR_SCHEMA, {"type": "number"}])
]
PartWorths = Annotated[
    dict[ShortText, Annotated[list[PartWorthPair], Field(min_length=1, max_length=10_000)]],
    SchemaKeyword("minProperties", 1),
]
Judgements = Annotated[
    dict[str, Annotated[Number, Field(ge=-1, le=1)]],
    Field(max_length=20),
    SchemaKeyword("propertyNames", {"enum": [*FACTOR_NAMES]}),
]
Style = Literal["balanced", "firm", "cooperative"]
Counterpart = Literal["person", "agent"]
UtteranceText = Annotated[str, Field(min_length=1, max_length=4000)]


_EXAMPLE: Final[dict[str, Any]] = {
    "role": "buyer",
    "issues": [{"name": "price", "type": "money", "range": {"min": "90", "max": "120"}}],
    "walk_away": {"package": {"price": "115"}},
}


class FullPreferences(Strict):
    """One side's whole utility: `part_worths` already weighted, or `issues` with value functions; one of the two."""

    model_config = ConfigDict(json_schema_extra=exactly_one("part_worths", "issues"))

    part_worths: PartWorths | None = Field(
        None, description="Issue to [[value, utility], …]; a package is worth the sum."
    )
    constant: Utility = Field(0.0, description="Added to every package's sum of part worths.")
    issues: Issues | None = None
    reservation_utility: Utility | None = Field(
        None, description="What no agreement is worth to this side: its walk-away."
    )


class LeverageBody(NegotiationBody):
    """A negotiation's body, with full preferences of either side where they are known."""

    model_config = ConfigDict(
        json_schema_extra={
            **example_schema(_EXAMPLE),
            **any_of_schemas(
                requires_non_null("my_preferences"), {"required": ["issues"], "properties": {"issues": {"minItems": 1}}}
            ),
        }
    )

    title: TitleText = "Untitled"
    role: NegotiationRole = Field("party", description="Your side; says which direction of money is good.")
    issues: list[IssueInput] = Field(
        default_factory=list[IssueBody],
        max_length=50,
        description="What is negotiated; not needed beside `my_preferences`.",
    )
    my_preferences: FullPreferences | None = None
    their_preferences: FullPreferences | None = Field(
        None, description="Without them, they are assumed to want the opposite on every issue."
    )
    judgements: Judgements | None = Field(None, description="Power factors set outright, each from -1 to 1.")

    @model_validator(mode="after")
    def _check_issues(self) -> Self:
        """Check the issues where they are used; beside `my_preferences` they only name the types."""
        if self.my_preferences is not None:
            return self
        found = [
            *(e for n, issue in enumerate(self.issues) for e in issue_errors(issue, f"/issues/{n}")),
            *repeated_names([issue.name for issue in self.issues], "/issues"),
            *multiple_errors(self.issues, "/issues"),
        ]
        if found:
            raise pointed_error(found)
        return self


class IssueValues(Strict):
    """A matter to settle and the values it may take."""

    name: ShortText
    values: list[Scalar] = Field(min_length=1, max_length=20_000)


class AdditivePreferences(Strict):
    """My utility: a constant and one part worth for each value of each issue."""

    reservation_utility: Utility = Field(description="The floor: what no agreement is worth.")
    constant: Utility | None = None
    part_worths: dict[ShortText, Annotated[list[PartWorthPair], Field(min_length=1, max_length=20_000)]]


class ProgressBody(Strict):
    """Where the talk stands. A step is a round in which each side speaks once, counted from 0."""

    step: Whole = Field(0, ge=0, le=1_000_000)
    n_steps: Whole | None = Field(None, ge=1, le=1_000_000, description="Rounds in all, if limited.")
    relative_time: Number | None = Field(
        None, ge=0, le=1, allow_inf_nan=False, description="Share of the time that is over."
    )


class PastOffer(Strict):
    """An offer already made, and what it is worth to me."""

    step: Whole = Field(ge=0, le=1_000_000)
    by: Literal["me", "them"]
    offer: ValuePackage
    my_utility: Utility | None = None


class TableOffer(Strict):
    """Their offer that I could accept now."""

    offer: ValuePackage
    my_utility: Utility | None = None


class PreferenceHintsBody(Strict):
    """What is believed of the other side's utility, as far as it is known: each member is optional.

    The engine treats it as a belief, which their offers may correct. Issues and values that are left out are unknown.
    """

    part_worths: dict[ShortText, Annotated[list[PartWorthPair], Field(min_length=1, max_length=20_000)]] | None = Field(
        None, description="Issue to [[value, utility], …], on any scale of their own."
    )
    weights: dict[ShortText, Weight] | None = Field(None, description="How much each issue matters to them; any scale.")
    reservation_utility: Utility | None = Field(
        None, description="Their walk-away, on the scale of the part worths, or from 0 to 1."
    )
    confidence: Share | None = Field(None, description="How sure you are, 0 to 1.")


class DescribedOffer(Strict):
    """An offer that one side has made in a described negotiation."""

    by: Literal["me", "them"] = Field(description="Who made it: the user or the other side.")
    package: Annotated[ValuePackage, Field(min_length=1, max_length=50)] = Field(
        description="Values by issue; an issue left out keeps the side's value before."
    )
    kind: Literal["offer", "counter", "final"] = Field(
        "offer", description="As in the ledger; `final` says the same as `claimed_final`."
    )
    claimed_final: Truth = Field(False, description="Whether they called it final.")


_TURN_MEMBERS: Final = (*("issues", "my_preferences", "their_preferences", "progress", "history", "on_table"),)
_MOVE_EXAMPLE: Final[dict[str, Any]] = {
    "negotiation": {
        "title": "Used car, a VW Golf of 2019",
        "role": "buyer",
        "currency": "EUR",
        "issues": [{"name": "price", "type": "money", "range": {"min": 11000, "max": 15000}}],
        "target": {"package": {"price": 12500}},
        "walk_away": {"package": {"price": 13900}},
    },
    "offers": [{"by": "them", "package": {"price": 14900}}],
}


class NextMoveBody(Strict):
    """One turn described in full: the `negotiation` and its `offers`, or `issues` with their values and part worths.

    Same request, same answer. The second form is for programs that know the utility of each value, such as a benchmark.
    """

    model_config = ConfigDict(
        json_schema_extra={
            **example_schema(_MOVE_EXAMPLE),
            "if": requires_non_null("negotiation"),
            "then": {"properties": dict.fromkeys(_TURN_MEMBERS, False)},
            "else": {
                "required": ["issues", "my_preferences"],
                "properties": {"issues": NOT_NULL, "my_preferences": NOT_NULL, "offers": False},
            },
        }
    )

    negotiation: NegotiationBody | None = Field(
        None, description="The negotiation, as it would be opened. Nothing of it is stored."
    )
    offers: list[DescribedOffer] = Field(
        default_factory=list[DescribedOffer],
        max_length=200,
        description="What was offered so far, oldest first; only beside `negotiation`.",
    )
    issues: list[IssueValues] = Field(
        default_factory=list[IssueValues],
        min_length=1,
        max_length=50,
        description="Each issue with every value; with `my_preferences` in place of `negotiation`.",
    )
    my_preferences: AdditivePreferences | None = None
    their_preferences: PreferenceHintsBody | None = Field(
        None, description="What is believed of the other side's preferences."
    )
    progress: ProgressBody = Field(default_factory=lambda: ProgressBody.model_validate({}))
    history: list[PastOffer] = Field(default_factory=list[PastOffer], max_length=20_000, description="Oldest first.")
    on_table: TableOffer | None = None
    style: Style = Field("balanced", description="How hard to bargain; none goes below the floor.")
    counterpart: Counterpart | None = Field(
        None, description="Who answers: `person` by default, `agent` if a `protocol` is named."
    )
    utterance: UtteranceText | None = Field(None, description="Their words since the last offer.")
    session_id: str | None = Field(None, max_length=200, description="The caller's own; not used.")
    protocol: str | None = Field(None, max_length=100, description="The caller's own; not used.")

    @model_validator(mode="after")
    def _check_form(self) -> Self:
        """Check that the body has one of the two forms."""
        if self.negotiation is not None:
            found = [
                FieldError(f"/{name}", "Leave this out beside `negotiation`.")
                for name in _TURN_MEMBERS
                if name in self.model_fields_set
            ]
        else:
            found = [
                FieldError(f"/{name}", "Send `negotiation`, or `issues` and `my_preferences`.")
                for name in ("issues", "my_preferences")
                if not getattr(self, name)
            ]
            if "offers" in self.model_fields_set:
                found.append(FieldError("/offers", "Send offers beside `negotiation` only."))
        if found:
            raise pointed_error(found)
        return self


class StoredNextMove(NegotiationId):
    """One turn of a stored negotiation."""

    style: Style = Field("balanced", description="How hard to bargain.")
    counterpart: Counterpart = Field("person", description="Who answers: a person or a program.")
    utterance: UtteranceText | None = Field(None, description="Their whole message since the user's last offer.")
    scores: Truth = Field(False, description="Whether to answer `opponent_utility`, what each value is worth to them.")


class CheckReply(NegotiationId):
    """A draft of the user's to the other side."""

    draft: UtteranceText = Field(description="The whole message, as it would be sent.")
    utterance: UtteranceText | None = Field(None, description="Their message that it answers.")
    style: Style = Field("balanced", description="As in next_move.")
    package: PackageInput | None = Field(None, description="What it is to offer; else what next_move advises now.")


class ReplyProblem(TypedDict):
    """Something to mend: the words of the draft, or of the question that it leaves open, and what to write instead."""

    kind: Literal["other_figure", "missing_figure", "tells_private", "unanswered", "said_before", "slot", "accepts"]
    quote: str
    mend: str


class ReplyCheck(TypedDict):
    """What to mend in a draft. `package` is what it is held against, `offers` what it offers as it reads."""

    ok: bool
    problems: list[ReplyProblem]
    package: dict[str, Any] | None
    offers: list[dict[str, Any]]


class FindOutNextView(TypedDict):
    """A question whose answer would change the assessment. `ask` is who can answer it: `yourself` or `them`.

    `share_low` and `share_high` are the user's share of the power at the plausible ends of the answer; null where the
    answer is a limit.
    """

    question: str
    ask: Literal["yourself", "them"]
    why: str
    effect: str
    share_low: float | None
    share_high: float | None


class LeverageSummaryView(TypedDict):
    """The assessment in sentences for the user, which may name their own limits; `text` joins the most important.

    `expected` is empty without a forecast.
    """

    text: str
    who_needs_it_more: str
    room: str
    expected: str
    would_shift_most: str
    find_out_next: list[FindOutNextView]


class ExpectedTotalView(TypedDict):
    """What a unit price comes to at the forecast and its ends: `in all`, or for a period such as `a year`.

    `at` says whose values of the other issues it is counted with; empty where it depends on none.
    """

    price: str
    low: str
    high: str
    scope: str
    at: str


class ExpectedPriceView(TypedDict):
    """The final price of the money issue if there is a deal, for the user alone: it follows from their limit.

    `level` is the share of talks that end between `low` and `high`. `rests_on` says what it follows from, `text` all of
    it in a sentence. `deal_probability` is the chance that some price suits both sides, null where it is not known.
    """

    issue: str
    price: str
    low: str
    high: str
    level: float
    deal_probability: float | None
    total: ExpectedTotalView | None
    rests_on: list[str]
    text: str


class LevelsView(TypedDict):
    """The user's utility of their target, walk-away and alternative, and of the ends of the room; null if unknown.

    The chance and cost of an alternative are counted.
    """

    target: float | None
    walk_away: float | None
    alternative: float | None
    room_low: float | None
    room_high: float | None


class LeverageView(TypedDict):
    """Where both sides stand, how power splits the surplus, the solution points, and the price to expect."""

    summary: LeverageSummaryView
    position: dict[str, Any]
    levels: LevelsView
    power: dict[str, Any]
    points: dict[str, Any]
    expected: ExpectedPriceView | None
    assumptions: list[str]
    approximate: bool


class ChanceInterval(TypedDict):
    """The ends between which the chance of acceptance lies."""

    low: float
    high: float


class AskedInput(TypedDict):
    """What advice lacks: its name, the question that finds it out, and what the answer would change."""

    missing: str
    ask: str
    why: str


class NegotiationCheck(TypedDict):
    """What a described negotiation still lacks. `ask` has what advice needs most first.

    `missing` and `issues` are as in a stored negotiation: weights are normalised, and `weight_given` is as it was sent.
    """

    missing: list[str]
    ask: list[AskedInput]
    issues: list[dict[str, Any]]


class MoveTrade(TypedDict):
    """What the offer gives and what it asks for it. `cost` is the price of passing an own limit, as decimal."""

    gives: list[dict[str, Any]]
    asks: list[dict[str, Any]]
    beyond_limit: bool
    cost: str | None


class HeardActView(TypedDict):
    """What a sentence of theirs does, `of` what, in their words, and how sure that is."""

    act: str
    of: str
    quote: str
    chance: float


class HeardOfferView(TypedDict):
    """A package in their message. One that is `sure` and not `recorded` counts as their offer in this advice."""

    package: dict[str, Any]
    conditions: list[str]
    quote: str
    sure: bool
    recorded: bool


class HeardMessageView(TypedDict):
    """What their message says."""

    acts: list[HeardActView]
    offers: list[HeardOfferView]


class AskedQuestion(TypedDict):
    """A question of theirs: what for, in their words, and the fact that answers it; empty where the user has to."""

    asks: str
    quote: str
    answer: str


class MoveBrief(TypedDict):
    """What somebody needs who words the answer themselves; the package binds, the rest is theirs to put."""

    action: Literal["accept", "counter", "walk_away"]
    package: dict[str, Any] | None
    in_words: str
    answer: list[AskedQuestion]
    reasons: list[str]
    may_give: list[str]
    thank_for: str
    ask_for: list[str]
    never_say: str
    tone: str


class NextMoveView(TypedDict):
    """What to do now, why, and what to say.

    `path` holds the offers that are planned after this one's position, for a person only. `ask` is what to find out
    next, in the order of what it would change. `expected` is the price to expect, for a person only, and never to be
    said. `cost` says what the offer gives up in money against the user's last offer, and how far it is from their
    target and limit: for a person only, empty where money cannot say it. `worded_by` is who worded `say`. `heard` is
    what their message says, `answer_first` their questions that only the user can answer, and `brief` what somebody
    needs who words the answer themselves; for a person only.
    """

    action: Literal["accept", "counter", "walk_away"]
    offer: dict[str, Any] | None
    my_utility: float | None
    alternatives: list[dict[str, Any]]
    acceptance_probability: float
    reasons: list[str]
    say: str
    worded_by: Literal["engine", "advisor"]
    opponent_utility: dict[str, list[list[str | float | bool]]]
    floor: float
    counterpart: Counterpart
    summary: str
    cost: str
    acceptance_interval: ChanceInterval | None
    assumptions: list[str]
    ask: list[AskedInput]
    trade: MoveTrade | None
    path: list[dict[str, Any]]
    expected: ExpectedPriceView | None
    heard: NotRequired[HeardMessageView]
    answer_first: NotRequired[list[AskedQuestion]]
    brief: NotRequired[MoveBrief]
