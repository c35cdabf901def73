"""The people of the benchmark: those of rehearsals, and some who bluff, learn that a bluff pays, or never move.

People of one case and seed have the same floor, weights and style, whatever their kind; `fair`, `bluffs` and `learns`
also the same chances, so that what a false "final" brings them is the difference in the same talk.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Final, Literal, TypeAlias, get_args

from negotiator.rehearsals.counterpart.interests import Interests
from negotiator.rehearsals.counterpart.person import (
    KINDS,
    NO_MOVE,
    Person,
    PersonAnswer,
    PersonKind,
    PersonMemory,
    Turn,
    answer,
    draw_person,
)

BenchKind: TypeAlias = Literal["fair", "extreme_anchor", "takes_back", "means_it", "bluffs", "learns", "never_moves"]
BENCH_KINDS: Final[tuple[BenchKind, ...]] = get_args(BenchKind)
BLUFFS: Final[tuple[BenchKind, ...]] = ("bluffs", "learns")
_DRAWN_AS: Final[Mapping[BenchKind, PersonKind]] = {
    "means_it": "deadline_bluff",
    "bluffs": "fair",
    "learns": "fair",
    "never_moves": "fair",
}
STANDS_AT: Final = (0.1, 0.7)
"""Where one who never moves stands, as a share of the way from the floor to the first ask of a fair person."""


@dataclass
class Counterpart:
    """One person in one talk. `held` is the worth to them of the user's offer that they last called final against.

    `means_it` says a last word once and means it; `bluffs` calls one early offer final and goes on if it is refused;
    `learns` does so again, without a step, as long as the user answers with one; `never_moves` names one package, signs
    nothing that is worse for it, and leaves when its patience ends.
    """

    kind: BenchKind | PersonKind
    person: Person
    memory: PersonMemory = field(default_factory=PersonMemory)
    held: float | None = None

    def answer(self, turn: Turn, *, rounds_left: int | None = None) -> PersonAnswer:
        """What the person does in answer to a turn."""
        before = self.memory
        given, self.memory = answer(self.person, before, turn, rounds_left=rounds_left)
        if self.kind == "never_moves" and given.action == "offer":
            return replace(given, package=self.person.opening)
        if self.kind not in BLUFFS or given.action != "offer" or rounds_left == 0 or given.moment == "insulted":
            return given
        here = self.memory.best or 0.0
        if self.held is None and len(before.offers) >= self.person.turning_word - 2 > 0 and before.theirs is not None:
            self.held = here
            return replace(given, moment="final", claimed_final=True)
        if self.kind == "learns" and self.held is not None and here > self.held + NO_MOVE:
            self.held, last = here, before.offers[-1]
            self.memory = replace(self.memory, offers=(*before.offers, last), step=before.step)
            return replace(given, moment="final_again", claimed_final=True, package=last)
        return given


def draw_counterpart(interests: Interests, kind: BenchKind | PersonKind, seed: int) -> Counterpart:
    """The person of this kind and seed."""
    person = draw_person(interests, kind if kind in KINDS else _DRAWN_AS[kind], seed)
    if kind == "means_it":
        person = replace(person, means_it=True)
    if kind == "never_moves":
        person = _standing(person)
    return Counterpart(kind, person)


def _standing(person: Person) -> Person:
    """The person with one package, which is worth exactly its floor to it."""
    share = Random(f"stands {person.key}").uniform(*STANDS_AT)
    goal = person.floor + share * (person.opening_worth - person.floor)
    package = person.interests.conceded(person.opening, None, goal, person.floor)
    worth = person.interests.worth(package)
    return replace(person, opening=package, floor=worth, resistance=worth)
