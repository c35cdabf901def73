"""Tactics and suggestions on the wire (docs/contract 6.9)."""

from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field
from pydantic.json_schema import JsonSchemaValue
from typing_extensions import TypedDict

from negotiator.advice.tactics.facts import FACTS
from negotiator.advice.tactics.tactic import (
    Ethics,
    Gain,
    Grade,
    NegotiationRole,
    Owner,
    Phase,
    SeenIn,
    Size,
    TacticFamily,
)
from negotiator.base.schema import (
    IS_NULL,
    NOT_NULL,
    MergePatch,
    SchemaKeyword,
    Strict,
    example_schema,
    requires_non_null,
)
from negotiator.base.values import (
    LongText,
    Number,
    Origin,
    QueryWhole,
    ShortText,
    TitleText,
    Truth,
    ValuePackage,
    Whole,
)
from negotiator.http.cursors import Cursor
from negotiator.negotiations.schemas_advice import LeverageBody, UtteranceText
from negotiator.negotiations.schemas_negotiations import NegotiationId
from negotiator.terms.schemas_terms import PackageInput, no_scalar

SuggestionLimit = Annotated[Whole, Field(ge=1, le=20)]


def _known_fact(name: str) -> str:
    if name not in FACTS:
        raise ValueError(f"Must be one of {', '.join(FACTS)}")
    return name


KnownFact = Annotated[str, AfterValidator(_known_fact), SchemaKeyword("enum", [*FACTS])]
_OPERATORS: Final = ("is", "in", "at_least", "at_most")


def _facts(kind: str) -> JsonSchemaValue:
    """Keywords of a test on a fact of this kind."""
    names = [name for name, fact in FACTS.items() if fact.kind == kind and not fact.values]
    return {"required": ["fact"], "properties": {"fact": {"enum": names}}}


def _only(operator: str, schema: JsonSchemaValue = NOT_NULL) -> JsonSchemaValue:
    """Keywords of a test that has this operator, with such a value, and no other."""
    others = {name: IS_NULL for name in _OPERATORS if name != operator}
    return {"required": [operator], "properties": {**others, operator: schema}}


def _test() -> JsonSchemaValue:
    """Keywords by which the operator of a test suits its fact."""
    rule = _only("in")
    for name, fact in FACTS.items():
        if fact.values:
            words: JsonSchemaValue = {"type": "array", "items": {"enum": [*fact.values]}}
            is_it: JsonSchemaValue = {"properties": {"fact": {"const": name}}}
            rule = {"if": is_it, "then": _only("in", words), "else": rule}
    bound = {"if": requires_non_null("at_least"), "then": _only("at_least"), "else": _only("at_most")}
    numbers = {"if": _facts("number"), "then": bound, "else": rule}
    return {"if": _facts("flag"), "then": _only("is"), "else": numbers}


class ConditionBody(Strict):
    """A test on one fact of the situation, with exactly one operator that suits the fact."""

    model_config = ConfigDict(json_schema_extra=_test())

    fact: KnownFact
    is_: Truth | None = Field(None, alias="is", description="For facts that are true or false.")
    in_: list[ShortText] | None = Field(None, alias="in", max_length=100, description="For words.")
    at_least: Number | None = Field(None, allow_inf_nan=False, description="For numbers.")
    at_most: Number | None = Field(None, allow_inf_nan=False, description="For numbers.")


class ClauseBody(Strict):
    """A reason in words, with a test where a machine can decide it. A plain string will do."""

    model_config = ConfigDict(
        json_schema_extra={
            "if": requires_non_null("fact"),
            "then": _test(),
            "else": {"properties": dict.fromkeys(_OPERATORS, IS_NULL)},
        }
    )

    text: LongText = Field(description="The situation in words.")
    fact: KnownFact | None = None
    is_: Truth | None = Field(None, alias="is")
    in_: list[ShortText] | None = Field(None, alias="in", max_length=100)
    at_least: Number | None = Field(None, allow_inf_nan=False)
    at_most: Number | None = Field(None, allow_inf_nan=False)


def _as_clause(value: Any) -> Any:
    return {"text": value} if isinstance(value, str) else value


Clause = Annotated[ClauseBody, BeforeValidator(_as_clause, json_schema_input_type=LongText | ClauseBody)]
Clauses = Annotated[list[Clause], Field(max_length=20)]


class LineBody(Strict):
    """A sentence to say, for one role; `party` suits every role."""

    role: NegotiationRole
    text: LongText


class EffectBody(Strict):
    """What the move gains, how much, and how well that is known."""

    on: Gain
    size: Size
    evidence: Grade


class SourceBody(Strict):
    """A published work."""

    author: ShortText
    title: TitleText
    year: Whole = Field(ge=-3000, le=3000)


Texts = Annotated[list[LongText], Field(max_length=20)]
Ids = Annotated[list[ShortText], Field(max_length=50)]


class NewTactic(Strict):
    """A tactic of your own. A deceptive one is recognised in the other side and never suggested."""

    model_config = ConfigDict(
        json_schema_extra=example_schema(
            {
                "name": "Coffee first",
                "family": "relationship",
                "summary": "Talk about anything else for a while.",
                "effect": {"on": "relationship", "size": "small", "evidence": "practice"},
                "use_when": ["You hardly know them"],
                "lines": [{"role": "party", "text": "Shall we have a coffee before we start?"}],
            }
        )
    )

    name: ShortText = Field(description="Short name.")
    family: TacticFamily = Field(description="What kind of tactic.")
    summary: LongText = Field(description="What to do, in a sentence.")
    effect: EffectBody = Field(description="What it gains, how much, and how well that is known.")
    aliases: Annotated[list[ShortText], Field(max_length=20)] = Field([], description="Other names.")
    use_when: Clauses = Field([], description="When to use it.")
    avoid_when: Clauses = Field([], description="When not to use it.")
    preconditions: Annotated[list[ConditionBody], Field(max_length=20)] = Field(
        [], description="Tests that must hold before it is suggested."
    )
    steps: Texts = Field([], description="How to do it, in order.")
    lines: Annotated[list[LineBody], Field(max_length=20)] = Field(
        [],
        description=(
            "Sentences to say; `party` suits every role. {topic}, {price}, {give}, {my_offer}, {their_offer} and "
            "{criterion} are filled in, and {we}, {us}, {our}, {are} with I, me, my, am for a private person."
        ),
    )
    counter_to: Ids = Field([], description="Ids of tactics it answers.")
    countered_by: Ids = Field([], description="Ids of tactics that answer it, best first.")
    risk: Whole = Field(0, ge=0, le=3, description="From 0, none, to 3, may end the talk.")
    ethics: Ethics = Field("fine", description="A deceptive one is never suggested.")
    legality_notes: Annotated[str, Field(max_length=2000)] = Field("", description="Where the law limits it.")
    roles: Annotated[list[NegotiationRole], Field(min_length=1, max_length=7)] = Field(
        ["party"], description="Who can use it; `party` is everybody."
    )
    phases: Annotated[list[Phase], Field(min_length=1, max_length=6)] | None = Field(
        None, description="When it fits; any time if absent."
    )
    seen_in: SeenIn = Field("talk", description="Where it shows when they use it.")
    sources: Annotated[list[SourceBody], Field(max_length=20)] = Field([], description="Published works about it.")


class TacticId(Strict):
    """One tactic, by its id in the path."""

    id: str = Field(description="The tactic, tac_….")


class EditTactic(MergePatch, TacticId):
    """A JSON merge patch (RFC 7396): members left out stay, null removes; the result is checked whole."""

    patched = NewTactic

    name: Any = None
    family: Any = None
    summary: Any = None
    effect: Any = None
    aliases: Any = None
    use_when: Any = None
    avoid_when: Any = None
    preconditions: Any = None
    steps: Any = None
    lines: Any = None
    counter_to: Any = None
    countered_by: Any = None
    risk: Any = None
    ethics: Any = None
    legality_notes: Any = None
    roles: Any = None
    phases: Any = None
    seen_in: Any = None
    sources: Any = None


class ListTactics(Strict):
    """Which tactics: your own first, newest first, then the shelf in its order."""

    family: TacticFamily | None = Field(None, description="Only those of this family.")
    role: NegotiationRole | None = Field(None, description="Only those this role can use.")
    phase: Phase | None = Field(None, description="Only those for this phase.")
    query: ShortText | None = Field(None, description="Words in the name, the aliases or the summary.")
    owner: Owner | None = Field(None, description="`catalogue` for built-in ones, `user` for your own.")
    limit: QueryWhole = Field(20, ge=1, le=100, description="How many at most.")
    cursor: Cursor = None


class SuggestTactics(NegotiationId):
    """What they just said and where the talk is; all else is read from the negotiation."""

    utterance: UtteranceText | None = Field(None, description="What the other side just said.")
    phase: Phase | None = Field(None, description="Where the talk is; worked out if absent.")
    limit: SuggestionLimit = Field(5, description="How many at most.")


class SaidOffer(Strict):
    """An offer of a described talk, oldest first."""

    by: Literal["me", "them"]
    package: Annotated[ValuePackage, BeforeValidator(no_scalar, json_schema_input_type=PackageInput)]
    claimed_final: Truth = False


class MatchTactics(LeverageBody):
    """A described talk; every member may be left out, and what is left out is unknown."""

    model_config = ConfigDict(json_schema_extra={})

    utterance: UtteranceText | None = Field(None, description="What the other side just said.")
    phase: Phase | None = Field(None, description="Where the talk is; worked out if absent.")
    offers: list[SaidOffer] | None = Field(
        None, max_length=200, description="The offers so far; an empty list means there are none."
    )
    limit: SuggestionLimit = Field(5, description="How many at most.")


class TacticView(TypedDict):
    """A tactic of the shelf (`owner: catalogue`) or of yours (`owner: user`, with a revision)."""

    id: str
    owner: str
    name: str
    family: str
    summary: str
    effect: dict[str, Any]
    aliases: list[str]
    use_when: list[dict[str, Any]]
    avoid_when: list[dict[str, Any]]
    preconditions: list[dict[str, Any]]
    steps: list[str]
    lines: list[dict[str, Any]]
    counter_to: list[str]
    countered_by: list[str]
    risk: int
    ethics: str
    legality_notes: str
    roles: list[str]
    phases: list[str]
    seen_in: str
    sources: list[dict[str, Any]]
    stats: dict[str, Any] | None
    origin: Origin
    revision: int | None
    created_at: str | None
    updated_at: str | None


class TacticList(TypedDict):
    """A page of tactics."""

    items: list[TacticView]
    next_cursor: str | None


class TacticName(TypedDict):
    """A tactic by id and name."""

    id: str
    name: str


class RecognisedTacticView(TypedDict):
    """A tactic of the other side, the words that show it, and how sure that is (0 to 1)."""

    tactic: TacticName
    quote: str
    confidence: float
    deceptive: bool


RecognisedBy = Literal["phrases", "phrases_and_meaning"]


class SuggestionsView(TypedDict):
    """Tactics that fit, best first, the moves heard in the utterance, and a summary in plain words.

    `recognised_by` is `phrases` where no sentence model is installed or it is being loaded, null without an
    utterance.
    """

    items: list[dict[str, Any]]
    recognised: list[RecognisedTacticView]
    recognised_by: RecognisedBy | None
    summary: str
    worded_by: str
