"""The facts that tactics are chosen by, and the evaluation of conditions on them.

A `TacticSituation` has no field for the walk-away, the value of the alternative or the weights, because these must stay
private. `PublicWords` is the only part that may be said to the other side.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Literal, TypeAlias, get_args

from negotiator.advice.tactics.recognition import RecognisedTactic
from negotiator.advice.tactics.tactic import PHASES, ROLES, NegotiationRole, Phase, TacticCondition
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


@dataclass(frozen=True, slots=True)
class Fact:
    """The definition of a fact: its kind, its possible values if listed, and its wording in a reason."""

    kind: Literal["flag", "number", "word", "set"]
    phrase: Callable[[FactValue], str]
    values: tuple[str, ...] = ()


_LAST_MOVES = {
    "fortunate": "helped both sides",
    "nice": "helped you and cost them nothing",
    "concession": "was a concession",
    "selfish": "helped them at your cost",
    "silent": "changed nothing",
    "unfortunate": "was worse for both sides",
}


def _flag(yes: str, no: str) -> Fact:
    return Fact("flag", lambda value: yes if value else no)


def _count(one: str, many: str) -> Fact:
    return Fact("number", lambda value: f"{value} {one if value == 1 else many}")


def _share(text: str) -> Fact:
    return Fact("number", lambda value: text.format(f"{float(str(value)):.0%}"))


def _word(text: str, values: tuple[str, ...] = ()) -> Fact:
    return Fact("word", lambda value: text.format(str(value).replace("_", " ")), values)


FACTS: Mapping[str, Fact] = {
    "role": _word("you are the {}", ROLES),
    "kind": _word("the kind of deal is {}", get_args(NegotiationKind)),
    "category": _word("the category is {}"),
    "phase": _word("you are in the {} phase", PHASES),
    "n_issues": _count("issue", "issues"),
    "price_only": _flag("only the price is open", "more than the price is open"),
    "priorities_differ": _flag("your priorities differ", "your priorities are alike"),
    "forecasts_differ": _flag("your forecasts differ", "your forecasts agree"),
    "volume_open": _flag("volume is open", "volume is fixed"),
    "term_open": _flag("the term is open", "the term is fixed"),
    "payment_open": _flag("payment terms are open", "payment terms are fixed"),
    "scope_open": _flag("scope is open", "scope is fixed"),
    "has_batna": _flag("you have an alternative", "you have no alternative"),
    "batna_known_to_be_strong": _flag("your alternative is strong", "your alternative is not strong"),
    "has_benchmark": _flag("you hold comparison figures", "you hold no comparison figures"),
    "well_informed": _flag("you know their range", "you do not know their range"),
    "zopa_probability": _share("the chance that a deal exists is {}"),
    "my_power": _share("your share of the power is {}"),
    "gap": _share("{} of the distance between the first offers is left"),
    "has_deadline": _flag("you have a deadline", "you have no deadline"),
    "deadline_pressure_mine": _share("the time pressure on you is {}"),
    "deadline_pressure_theirs": _share("the time pressure on them is {}"),
    "rounds_left": _count("round is left", "rounds are left"),
    "my_offers": _count("offer from you", "offers from you"),
    "their_offers": _count("offer from them", "offers from them"),
    "their_last_move": Fact(
        "word", lambda value: f"their last move {_LAST_MOVES[str(value)]}", get_args(LastMoveClass)
    ),
    "their_claimed_final": _flag("they called it final", "they did not call it final"),
    "finals_moved": _count("final offer of theirs was changed", "final offers of theirs were changed"),
    "their_decider": _flag("their decider is at the table", "their decider is not at the table"),
    "my_authority_limited": _flag("your authority is limited", "you can decide yourself"),
    "relationship": _word("the relationship is {}", get_args(Relationship)),
    "competition": _count("other offer", "other offers"),
    "room_to_give": _flag("your last offer leaves room", "your last offer leaves no room"),
    "middle_in_reach": _flag("the middle is within your limit", "the middle is beyond your limit"),
    "for_company": _flag("you speak for a company", "you speak for yourself"),
    "tension": _flag("the mood is tense", "the mood is calm"),
    "pressure_seen": _count("pressure move was heard", "pressure moves were heard"),
    "facing": Fact("set", lambda _: "heard in what they just said"),
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
