"""The definition of a tactic: its conditions, sentences, counters, effect and sources."""

from dataclasses import dataclass
from typing import Annotated, Literal, get_args

from pydantic import ConfigDict, Field

TacticFamily = Literal[
    "anchoring",
    "information",
    "concession",
    "trade",
    "time",
    "authority",
    "framing",
    "relationship",
    "coalition",
    "closing",
    "defence",
    "hardball",
]
NegotiationRole = Literal["buyer", "seller", "employer", "candidate", "landlord", "tenant", "party"]
Phase = Literal["prepare", "open", "explore", "bargain", "close", "after"]
Ethics = Literal["fine", "caution", "deceptive"]
Gain = Literal["claim", "create", "relationship"]
Size = Literal["small", "medium", "large"]
Grade = Literal["meta-analysis", "experiment", "practice"]
SeenIn = Literal["talk", "offers", "manner"]
Owner = Literal["catalogue", "user"]
Operator = Literal["is", "in", "at_least", "at_most"]

FAMILIES: tuple[TacticFamily, ...] = get_args(TacticFamily)
ROLES: tuple[NegotiationRole, ...] = get_args(NegotiationRole)
PHASES: tuple[Phase, ...] = get_args(Phase)
OPERATORS: tuple[Operator, ...] = get_args(Operator)


@dataclass(frozen=True, slots=True)
class TacticCondition:
    """A test of one fact of the situation; `facts.FACTS` lists the facts."""

    fact: str
    operator: Operator
    value: bool | float | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TacticClause:
    """A reason for or against a tactic in words, with a condition when it can be evaluated."""

    text: str
    condition: TacticCondition | None = None


@dataclass(frozen=True, slots=True)
class TacticLine:
    """A sentence to say, for one role; `party` suits every role."""

    role: NegotiationRole
    text: str


@dataclass(frozen=True, slots=True)
class TacticEffect:
    """The effect of a tactic: what it improves, how much, and the grade of the evidence."""

    on: Gain
    size: Size
    evidence: Grade


@dataclass(frozen=True, slots=True)
class TacticSource:
    """A published work."""

    author: str
    title: str
    year: int


@dataclass(frozen=True, slots=True)
class TacticStats:
    """One user's results: the times used, the `n` uses with a known outcome, and the `wins` of these that helped.

    Raises ValueError unless 0 <= wins <= n <= used.
    """

    used: int = 0
    wins: int = 0
    n: int = 0
    mean_savings_rate: float | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.wins <= self.n <= self.used:
            raise ValueError("stats need 0 <= wins <= n <= used")


@dataclass(frozen=True, slots=True)
class Tactic:
    """A built-in tactic (`owner="catalogue"`) or one of the user's own (`owner="user"`).

    `countered_by` has the ids of the tactics that answer it, best first; `counter_to` is the inverse relation.
    `seen_in` is where the tactic can be recognised when the other side uses it: in their words, in the pattern of
    their offers, or only in their manner.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    id: str
    name: str
    family: TacticFamily
    summary: str
    effect: TacticEffect
    aliases: tuple[str, ...] = ()
    use_when: tuple[TacticClause, ...] = ()
    avoid_when: tuple[TacticClause, ...] = ()
    preconditions: tuple[TacticCondition, ...] = ()
    steps: tuple[str, ...] = ()
    lines: tuple[TacticLine, ...] = ()
    counter_to: tuple[str, ...] = ()
    countered_by: tuple[str, ...] = ()
    risk: Annotated[int, Field(strict=True, ge=0, le=3)] = 0
    ethics: Ethics = "fine"
    legality_notes: str = ""
    roles: tuple[NegotiationRole, ...] = ("party",)
    phases: tuple[Phase, ...] = PHASES
    seen_in: SeenIn = "talk"
    sources: tuple[TacticSource, ...] = ()
    owner: Owner = "catalogue"
    stats: TacticStats | None = None

    def suits(self, role: NegotiationRole | None) -> bool:
        """Whether the tactic fits this role; for an unknown role only tactics for all roles do."""
        return "party" in self.roles or (role is not None and role in self.roles)

    @property
    def is_opponent_move(self) -> bool:
        """Whether the move can be recognised in what the other side says, and has an answer."""
        return self.seen_in == "talk" and bool(self.countered_by)
