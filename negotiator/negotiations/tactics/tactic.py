"""A tactic: what it is, when it fits, what to say, and what answers it."""

from dataclasses import dataclass
from typing import Literal, get_args

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
    """A reason for or against in words, with a test when a machine can decide it."""

    text: str
    condition: TacticCondition | None = None


@dataclass(frozen=True, slots=True)
class TacticLine:
    """A sentence to say, for one role; `party` suits every role."""

    role: NegotiationRole
    text: str


@dataclass(frozen=True, slots=True)
class TacticEffect:
    """What the move gains, how much, and how well that is known."""

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
    """One user's results: times used; of the `n` with a known outcome, `wins` helped."""

    used: int = 0
    wins: int = 0
    n: int = 0
    mean_savings_rate: float | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.wins <= self.n <= self.used:
            raise ValueError("stats need 0 <= wins <= n <= used")


@dataclass(frozen=True, slots=True)
class Tactic:
    """One entry of the shelf (`owner="catalogue"`) or one of the user's own (`owner="user"`).

    `countered_by` names the answers to it, best first; `counter_to` is the relation read backwards.
    `seen_in` says where the move shows when the other side makes it: in what they say, in the
    shape of their offers, or only in their manner. `risk` runs from 0 to 3.
    """

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
    risk: int = 0
    ethics: Ethics = "fine"
    legality_notes: str = ""
    roles: tuple[NegotiationRole, ...] = ("party",)
    phases: tuple[Phase, ...] = PHASES
    seen_in: SeenIn = "talk"
    sources: tuple[TacticSource, ...] = ()
    owner: Owner = "catalogue"
    stats: TacticStats | None = None

    def suits(self, role: NegotiationRole | None) -> bool:
        """Whether someone in this role can use it; an unknown role gets only tactics for all roles."""
        return "party" in self.roles or (role is not None and role in self.roles)

    @property
    def is_opponent_move(self) -> bool:
        """Whether the move can be recognised in what the other side says, and has an answer."""
        return self.seen_in == "talk" and bool(self.countered_by)
