"""A scripted person on the other side: it names packages, answers concessions, accepts, or leaves.

A person is drawn from a case's truth with a seed. The same person answers the same turns in the same way: chance is
drawn from seed, issues and the number of the word. It never knows the user's limits.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Final, Literal, TypeAlias, get_args

from negotiator.negotiations.issues import Package
from negotiator.rehearsals.counterpart.interests import Interests

PersonKind: TypeAlias = Literal[
    "fair", "stubborn", "extreme_anchor", "takes_back", "deadline_bluff"
]
KINDS: Final[tuple[PersonKind, ...]] = get_args(PersonKind)
AnswerAction: TypeAlias = Literal["offer", "accept", "leave", "wait"]
Hardness: TypeAlias = Literal["easy", "normal", "hard"]
HARDNESSES: Final[tuple[Hardness, ...]] = get_args(Hardness)
Ploy: TypeAlias = Literal["extreme_anchor", "takes_back", "deadline_bluff", "flat_refusal"]
"""A tactic of the person's that the user can answer."""
Moment: TypeAlias = Literal[
    *("opening", "step", "small_step", "repeat", "last_step", "final", "final_again"),
    *("takes_back", "insulted", "offended", "silence", "asks_for_figure"),
    *("tells_interest", "hides_limit", "tells_why", "hears_reason", "hears_alternative"),
    *("hears_ultimatum", "tactic_named", "courtesy"),
    *("accepts", "accepts_at_once", "accepts_late", "accepts_standstill", "accepts_today"),
    *("leaves_standstill", "leaves_patience", "leaves_chance", "leaves_final", "leaves_insulted"),
    *("leaves_ultimatum",),
]
"""The kinds of things that a person says; `sentences` has the words."""
MOMENTS: Final[tuple[Moment, ...]] = get_args(Moment)

REPEAT_CHANCE: Final = 0.06
"""Share of offers that repeat the person's own last one (CraigslistBargain, 1,299 talks)."""
HAZARD: Final = 0.03
"""Chance a round that a talk without a fair offer on the table has to end now; they sign what is above their floor."""
FAIR_SHARE: Final = 0.5
"""An offer is fair from this share of the way between the person's floor and present demand."""
TYPICAL_MOVE: Final = 0.2
"""Share of the gap that the other side usually closes in a word; less is answered with less."""
NO_MOVE: Final = 0.015
"""A gain in worth below this counts as no move."""
NEARLY: Final = 0.03
"""An offer that is worse than the person's next demand by this much is still taken."""
SMALL_GAP: Final = 0.15
LEAST_ANCHOR: Final = 0.35
"""An extreme anchor of a buyer is no less than this share of the buyer's own floor."""
MEANT_STEP: Final = 0.85
"""A final offer that is meant goes this share of what is left to go."""
LAST_SHARES: Final[Mapping[PersonKind, float]] = {"stubborn": 0.25}
"""The share of the gap that a last offer closes, by kind; half for the others: they split the difference."""
BLUFF_CHANCE: Final = 0.7
"""Chance that "this is final" is not meant."""

_OPENINGS: Final = (
    "That is what we have in mind.",
    "I would be looking for this.",
    "This is where I would start.",
)
_STEPS: Final = (
    "I can come this far.",
    "All right, a little closer then.",
    "If that helps, I could do this.",
    "Let me move a bit.",
)
_REPEATS: Final = (
    "I do not see why I should move again. My offer stands.",
    "It is your turn; my offer stands.",
)
_INSULTS: Final = (
    "That is so far off that I wonder whether you are serious.",
    "With such a figure we need not go on.",
)


@dataclass(frozen=True, slots=True)
class Person:
    """A person as drawn; worths and steps are in the measure of `interests`.

    `floor` is the least worth it agrees to, `resistance` the least it shows before its patience ends, `pride` what it
    wants above its floor from a side that does not move. `opening` is its first package. `first_step` is the share
    of the way from the opening to the resistance that its first step goes, `shrinkage` the median ratio of a step to
    the one before. `tolerance` is how far below the floor an offer may lie before it insults. `patience` counts its own
    words, `unmoved_patience` the other side's words without a move. `turning_word` is the word at which it takes
    something back or says that its offer is final; `means_it` tells whether final is final.
    """

    kind: PersonKind
    key: str
    interests: Interests
    floor: float
    resistance: float
    pride: float
    opening: Package
    first_step: float
    shrinkage: float
    tolerance: float
    patience: int
    unmoved_patience: int
    warnings: int
    turning_word: int
    means_it: bool

    @property
    def opening_worth(self) -> float:
        """What its first package is worth to it."""
        return self.interests.worth(self.opening)


@dataclass(frozen=True, slots=True)
class Turn:
    """What the other side did: named a package (perhaps partial), or waited without one."""

    package: Package | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What the person does.

    `withdraws` means that its earlier offer no longer stands, `by_chance` that it leaves for no reason of the talk.
    """

    action: AnswerAction
    package: Package | None = None
    said: str = ""
    claimed_final: bool = False
    withdraws: bool = False
    by_chance: bool = False


@dataclass(frozen=True, slots=True)
class Memory:
    """What the person remembers of the talk; `offers` are its own, oldest first."""

    words: int = 0
    offers: tuple[Package, ...] = ()
    step: float | None = None
    theirs: Package | None = None
    best: float | None = None
    unmoved: int = 0
    warnings: int = 0
    turned: bool = False
    words_since_final: int | None = None


def draw_person(interests: Interests, kind: PersonKind, seed: int) -> Person:
    """The person of this kind and seed. People of one seed share floor, weights and patience across kinds."""
    key = f"{seed} {' '.join(f'{stake.name} {stake.floor}' for stake in interests.stakes)}"
    rng = Random(key)
    weighted = interests.weighted([_lognormal(rng, 0.2) for _ in interests.stakes])
    floor = min(0.35, max(-0.35, rng.gauss(0.0, 0.15)))
    reserve, pride = rng.uniform(0.03, 0.2), rng.uniform(0.0, 0.3)
    first_step, shrinkage = rng.uniform(0.28, 0.45), rng.uniform(0.4, 0.65)
    tolerance, patience = rng.uniform(1.4, 2.6), rng.randint(6, 9)
    unmoved_patience, warnings, turning_word = (
        rng.randint(2, 4),
        rng.randint(1, 2),
        rng.randint(3, 4),
    )
    means_it, ambition, anchor = (
        rng.random() >= BLUFF_CHANCE,
        rng.gauss(0.0, 0.06),
        rng.uniform(1, 2.2),
    )
    if kind == "stubborn":
        first_step, shrinkage = first_step * 0.3, shrinkage + 0.25
        reserve, patience, unmoved_patience = reserve + 0.15, patience - 1, unmoved_patience + 1
    if kind == "extreme_anchor":
        first_step, shrinkage = first_step + 0.1, shrinkage + 0.1
    if kind == "deadline_bluff":
        turning_word -= 1
    person = Person(
        kind=kind,
        key=key,
        interests=weighted,
        floor=floor,
        resistance=floor + reserve,
        pride=pride,
        opening={},
        first_step=first_step,
        shrinkage=shrinkage,
        tolerance=tolerance,
        patience=patience,
        unmoved_patience=unmoved_patience,
        warnings=warnings,
        turning_word=turning_word,
        means_it=means_it,
    )
    stretch = anchor if kind == "extreme_anchor" else ambition
    return replace(person, opening=_opening(weighted, stretch))


def answer(
    person: Person, memory: Memory, turn: Turn, *, rounds_left: int | None = None
) -> tuple[Answer, Memory]:
    """What the person does in answer to a turn, and what it remembers afterwards.

    `rounds_left` is the number of further words of the other side that a known end leaves; 0 asks for a last word.
    """
    rng = Random(f"{person.kind} {person.key} {memory.words}")
    now = replace(memory, words=memory.words + 1)
    if turn.package is not None:
        theirs = {**(memory.theirs or _assumed(person, memory)), **turn.package}
        now = replace(now, theirs=theirs)
    if now.theirs is None:
        return _speak(person, now, person.opening, _say(rng, _OPENINGS))
    value = person.interests.worth(now.theirs)
    gain = 0.0 if memory.best is None else value - memory.best
    moved = turn.package is not None and (memory.best is None or gain > NO_MOVE)
    now = replace(
        now,
        best=value if memory.best is None else max(memory.best, value),
        unmoved=0 if moved else memory.unmoved + 1,
    )
    if value < person.floor - person.tolerance:
        return _insulted(person, now, rng)
    left = person.patience - now.words
    left = left if rounds_left is None else min(left, rounds_left)
    return _respond(person, memory, now, _Standing(value, gain, moved, left, rng))


@dataclass(frozen=True, slots=True)
class _Standing:
    """The moment of an answer: worth of their offer, what it gained, words left before the end."""

    value: float
    gain: float
    moved: bool
    left: int
    rng: Random


def _respond(person: Person, memory: Memory, now: Memory, at: _Standing) -> tuple[Answer, Memory]:
    """Accept, leave, or go on to the next offer."""
    demand = person.interests.worth(now.offers[-1]) if now.offers else person.opening_worth
    fair = at.value >= person.floor + FAIR_SHARE * (demand - person.floor)
    if now.unmoved > person.unmoved_patience:
        if at.value >= person.floor + person.pride or (fair and at.value >= person.floor):
            return _accept(now, "You do not move at all. All right, let us settle it.")
        return _leave(now, "You do not move at all; I will stop here.")
    if at.left <= 0 and at.value >= person.floor:
        return _accept(now, "Very well. Agreed.")
    if at.left < 0:
        return _leave(now, "We are not getting together. Thank you for your time.")
    if not fair and now.offers and at.rng.random() < HAZARD:
        if at.value >= person.floor:
            return _accept(now, "I have to settle this today. Agreed, then.")
        return Answer("leave", said="Something else has come up, so I am out.", by_chance=True), now
    if now.words_since_final is not None and person.means_it:
        return _after_final(person, now, at, fair=fair)
    if not now.offers:
        package = person.opening
        if at.value >= person.opening_worth - NEARLY and at.value >= person.floor:
            return _accept(now, "That suits me. Agreed.")
        return _speak(person, now, package, _say(at.rng, _OPENINGS))
    if _turns(person, memory, now):
        return _turn_round(person, now, at)
    return _step(person, now, at, demand)


def _step(person: Person, now: Memory, at: _Standing, demand: float) -> tuple[Answer, Memory]:
    """The next offer: a step that shrinks, by how far the other side came; or their offer, when it is near."""
    planned = _planned_step(person, now, at.rng)
    size = planned * _reciprocity(person, now, at, demand)
    if at.rng.random() < REPEAT_CHANCE:
        size = 0.0
    limit = person.resistance if at.left > 1 else person.floor + 0.02
    if at.left <= 1:
        size = max(size, planned, LAST_SHARES.get(person.kind, 0.5) * (demand - at.value))
    goal = min(demand, max(limit, demand - size))
    gap = goal - at.value
    if at.moved and 0 < gap < SMALL_GAP and at.rng.random() < 0.35:
        goal = max(limit, (demand + at.value) / 2)
    if at.value >= person.floor and at.value >= goal - NEARLY:
        return _accept(now, "Fine, agreed.")
    package = person.interests.conceded(now.offers[-1], now.theirs, goal, person.floor)
    now = replace(now, step=planned)
    if package == now.offers[-1]:
        return _speak(person, now, package, _say(at.rng, _REPEATS))
    if at.left <= 1:
        return _speak(person, now, package, "This is as far as I go.", final=at.rng.random() < 0.5)
    return _speak(person, now, package, _say(at.rng, _STEPS))


def _planned_step(person: Person, now: Memory, rng: Random) -> float:
    if now.step is None:
        return person.first_step * (person.opening_worth - person.resistance)
    ratio = min(1.15, person.shrinkage * _lognormal(rng, 0.35))
    return now.step * (1.0 if now.unmoved else ratio)


def _reciprocity(person: Person, now: Memory, at: _Standing, demand: float) -> float:
    """The factor on the planned step: their concession against the gap, and little for none.

    Who anchored extremely knows it: the gap counts from the first ask of a fair person.
    """
    if len(now.offers) == 1 and at.gain == 0.0 and at.moved:
        return 1.0
    if not at.moved:
        return 0.3 if now.unmoved == 1 and person.kind != "stubborn" else 0.0
    gap = max(min(demand, 1.0) - at.value + at.gain, 0.05)
    return min(1.5, max(0.25, at.gain / gap / TYPICAL_MOVE))


def _turns(person: Person, memory: Memory, now: Memory) -> bool:
    """Whether this is the word at which it takes back a concession, or says that its offer is final."""
    if now.turned or now.words < person.turning_word:
        return False
    if person.kind == "takes_back":
        return len(memory.offers) > 1 and memory.offers[-1] != memory.offers[-2]
    return person.kind == "deadline_bluff"


def _turn_round(person: Person, now: Memory, at: _Standing) -> tuple[Answer, Memory]:
    now = replace(now, turned=True)
    demand = person.interests.worth(now.offers[-1])
    if at.value >= person.floor and at.value >= demand - 2 * NEARLY:
        return _accept(now, "Fine, agreed.")
    if person.kind == "takes_back":
        text = "I looked at my figures again: my last offer does not work, I have to go back to the one before."
        return _speak(person, now, now.offers[-2], text, withdraws=True)
    planned = _planned_step(person, now, at.rng)
    if person.means_it:
        planned = max(planned, MEANT_STEP * (demand - person.resistance))
    goal = min(demand, max(person.resistance, demand - planned))
    package = person.interests.conceded(now.offers[-1], now.theirs, goal, person.floor)
    now = replace(now, step=planned, words_since_final=0)
    text = "This is my final offer, and it is good until tomorrow evening."
    return _speak(person, now, package, text, final=True)


def _after_final(
    person: Person, now: Memory, at: _Standing, *, fair: bool
) -> tuple[Answer, Memory]:
    """It meant what it said: the last offer is repeated once, then it takes what is fair or leaves."""
    if at.value >= person.floor + person.pride or (fair and at.value >= person.floor):
        return _accept(now, "Close enough. Agreed.")
    if now.words_since_final == 0:
        now = replace(now, words_since_final=1)
        text = "I said that it was final, and it is."
        return _speak(person, now, now.offers[-1], text, final=True)
    return _leave(now, "I told you that it was my last offer.")


def _insulted(person: Person, now: Memory, rng: Random) -> tuple[Answer, Memory]:
    """Far beyond the floor: a warning with the offer as it was, and in the end it leaves."""
    now = replace(now, warnings=now.warnings + 1)
    if now.warnings > person.warnings:
        return _leave(now, "We are too far apart. Good luck.")
    package = now.offers[-1] if now.offers else person.opening
    return _speak(person, now, package, _say(rng, _INSULTS))


def _speak(
    person: Person,
    now: Memory,
    package: Package,
    said: str,
    *,
    final: bool = False,
    withdraws: bool = False,
) -> tuple[Answer, Memory]:
    now = replace(now, offers=(*now.offers, package))
    return Answer("offer", package, said, final, withdraws), now


def _accept(now: Memory, said: str) -> tuple[Answer, Memory]:
    return Answer("accept", now.theirs, said), now


def _leave(now: Memory, said: str) -> tuple[Answer, Memory]:
    return Answer("leave", None, said), now


def _opening(interests: Interests, stretch: float) -> Package:
    """The first ask, stretched on the price (or the heaviest issue) by a share of the way from floor to ask.

    A price that falls with the stretch stays above a third of the floor.
    """
    price = next((s for s in interests.stakes if s.issue.type == "money"), None)
    stake = interests.heaviest() if price is None else price
    if stake.worths is not None or stake.floor == stake.ask:
        return interests.ask
    floor, ask = map(float, stake.ends)
    if ask < floor and floor > 0:
        stretch = min(stretch, floor * (1 - LEAST_ANCHOR) / (floor - ask) - 1)
    return {**interests.ask, stake.name: stake.value_of(1 + max(stretch, -0.1), stake.ask)}


def _assumed(person: Person, memory: Memory) -> Package:
    return memory.offers[-1] if memory.offers else person.opening


def _say(rng: Random, sentences: tuple[str, ...]) -> str:
    return sentences[rng.randrange(len(sentences))]


def _lognormal(rng: Random, spread: float) -> float:
    return rng.lognormvariate(0.0, spread)
