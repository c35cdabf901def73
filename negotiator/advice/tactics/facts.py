"""The facts that tactics are chosen by, and the evaluation of conditions on them.

A `TacticSituation` has no field for the walk-away, the value of the alternative or the weights, because these must stay
private. `PublicWords` is the only part that may be said to the other side.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final, Literal, TypeAlias, get_args

from negotiator.advice.tactics.recognition import RecognisedTactic
from negotiator.advice.tactics.tactic import PHASES, ROLES, NegotiationRole, Phase, TacticCondition
from negotiator.advice.words.sentences import table
from negotiator.terms.voice import PRIVATE, Voice

NegotiationKind = Literal["new_purchase", "renewal", "sale", "salary", "lease", "dispute", "other"]
LastMoveClass = Literal["fortunate", "nice", "concession", "selfish", "silent", "unfortunate"]
Relationship = Literal["new", "ongoing", "strategic"]

FactValue: TypeAlias = bool | float | str | frozenset[str]
FactValues: TypeAlias = Mapping[str, FactValue]


@dataclass(frozen=True, slots=True)
class PublicWords:
    """Texts that may be said to the other side; none of them reveals a limit, an alternative or a weight.

    Each is a noun phrase that a line can put after a preposition or a verb, never before one. `topic` is the main
    issue, `price` the price and `give` an issue that the user could move on, each with its article. `my_offer` and
    `their_offer` are the last offers, without an article. `criterion` is a standard, in the plural. `voice` fills
    `{we}`, `{us}`, `{our}`, `{ours}`, `{are}` and `{were}`: for a private person "I", "me" and so on.
    """

    topic: str | None = None
    price: str | None = None
    give: str | None = None
    my_offer: str | None = None
    their_offer: str | None = None
    criterion: str | None = None
    voice: Voice = PRIVATE


@dataclass(frozen=True, slots=True, kw_only=True)
class TacticSituation:
    """The known facts of a negotiation; None means unknown and never counts as true.

    Shares and pressures are from 0 to 1. `their_last_move` is a step class after Hindriks, Jonker and Tykhonov (2007):
    a `concession` gives to the user at the other side's cost, `selfish` takes from the user, `silent` changes nothing.
    `gap` is the share of the distance between the first offers that is left, `competition` the number of other offers
    that the user has. `recognised` are the moves heard in `utterance`; None means that nobody has listened yet.
    `room_to_give` tells whether the user's last offer is better than the least they would take, `middle_in_reach`
    whether the middle between the last offers is, and `for_company` whether they speak as "we".
    """

    role: NegotiationRole | None = None
    kind: NegotiationKind | None = None
    category: str | None = None
    phase: Phase | None = None
    n_issues: int | None = None
    price_only: bool | None = None
    priorities_differ: bool | None = None
    forecasts_differ: bool | None = None
    volume_open: bool | None = None
    term_open: bool | None = None
    payment_open: bool | None = None
    scope_open: bool | None = None
    has_batna: bool | None = None
    batna_known_to_be_strong: bool | None = None
    has_benchmark: bool | None = None
    well_informed: bool | None = None
    zopa_probability: float | None = None
    my_power: float | None = None
    gap: float | None = None
    has_deadline: bool | None = None
    deadline_pressure_mine: float | None = None
    deadline_pressure_theirs: float | None = None
    rounds_left: int | None = None
    my_offers: int | None = None
    their_offers: int | None = None
    their_last_move: LastMoveClass | None = None
    their_claimed_final: bool | None = None
    finals_moved: int | None = None
    their_decider: bool | None = None
    my_authority_limited: bool | None = None
    relationship: Relationship | None = None
    competition: int | None = None
    room_to_give: bool | None = None
    middle_in_reach: bool | None = None
    for_company: bool | None = None
    tension: bool | None = None
    utterance: str | None = None
    recognised: tuple[RecognisedTactic, ...] | None = None
    sayable: PublicWords = field(default_factory=PublicWords)


FactKind = Literal["flag", "number", "word", "set"]
_KINDS: Final[Mapping[str, FactKind]] = {
    "yes": "flag",
    "one": "number",
    "share": "number",
    "word": "word",
    "set": "set",
}
"""By the first text of a fact, its kind."""
_VALUES: Final[Mapping[str, tuple[str, ...]]] = {
    "role": ROLES,
    "kind": get_args(NegotiationKind),
    "phase": PHASES,
    "their_last_move": get_args(LastMoveClass),
    "relationship": get_args(Relationship),
}


@dataclass(frozen=True, slots=True)
class Fact:
    """The definition of a fact: its kind, its possible values if listed, and its texts, as `facts.toml` says them."""

    kind: FactKind
    values: tuple[str, ...]
    texts: Mapping[str, Any]

    def phrase(self, value: FactValue) -> str:
        """The fact as it is said in a reason."""
        match self.texts:
            case {"one": one, "many": many}:
                return f"{value} {one if value == 1 else many}"
            case {"share": text}:
                return text.format(f"{float(str(value)):.0%}")
            case {"word": text}:
                said: Mapping[str, str] = self.texts.get("said", {})
                return text.format(said.get(str(value)) or str(value).replace("_", " "))
            case {"yes": yes, "no": no}:
                return yes if value else no
            case _:
                return self.texts["set"]


FACTS: Final[Mapping[str, Fact]] = {
    name: Fact(_KINDS[next(iter(texts))], _VALUES.get(name, ()), texts) for name, texts in table("facts").items()
}

_NOT_FACTS = {"utterance", "recognised", "sayable"}


def facts_of(situation: TacticSituation, moves: tuple[RecognisedTactic, ...], *, pressure: int) -> dict[str, FactValue]:
    """The known facts by name. `moves` are the other side's, `pressure` is the number of pressure moves among them.

    With more than one open issue, `price_only` is false. Without moves and an utterance, `facing` and `pressure_seen`
    are unknown.
    """
    known: dict[str, FactValue] = {}
    for item in fields(situation):
        value: FactValue | None = getattr(situation, item.name)
        if item.name not in _NOT_FACTS and value is not None:
            known[item.name] = value
    if situation.n_issues is not None and situation.n_issues > 1:
        known.setdefault("price_only", False)
    if moves or situation.utterance is not None:
        known["facing"] = frozenset(move.tactic_id for move in moves)
        known["pressure_seen"] = pressure
    return known


def condition_holds(condition: TacticCondition, facts: FactValues) -> bool | None:
    """Whether the condition is met; None when the fact is not known."""
    known = facts.get(condition.fact)
    if known is None:
        return None
    match condition.operator:
        case "is":
            return known is condition.value
        case "in":
            wanted = condition.value if isinstance(condition.value, tuple) else ()
            return bool(known.intersection(wanted)) if isinstance(known, frozenset) else known in wanted
        case "at_least":
            return _number(known) >= _number(condition.value)
        case "at_most":
            return _number(known) <= _number(condition.value)


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("a bound needs a number")
    return value
