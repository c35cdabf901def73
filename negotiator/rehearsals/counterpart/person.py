"""A simulated person on the other side: it names packages, answers concessions and remarks, accepts, or leaves.

A person is drawn from its interests with a seed. The same person answers the same turns in the same way: chance is
drawn from seed, issues and the number of the word. It never knows the user's limits.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Final, Literal, TypeAlias, get_args

from negotiator.rehearsals.counterpart.interests import Interests
from negotiator.rehearsals.counterpart.remarks import Remark
from negotiator.terms.issues import Package, same_value

PersonKind: TypeAlias = Literal["fair", "stubborn", "extreme_anchor", "takes_back", "deadline_bluff"]
KINDS: Final[tuple[PersonKind, ...]] = get_args(PersonKind)
AnswerAction: TypeAlias = Literal["offer", "accept", "leave", "wait"]
Hardness: TypeAlias = Literal["easy", "normal", "hard"]
HARDNESSES: Final[tuple[Hardness, ...]] = get_args(Hardness)
Ploy: TypeAlias = Literal["extreme_anchor", "takes_back", "deadline_bluff", "flat_refusal"]
"""A tactic of the person's that the user can answer."""
# fmt: off
Moment: TypeAlias = Literal[
    "opening", "step", "small_step", "trades", "repeat", "last_step", "final", "final_again", "takes_back", "insulted",
    "offended", "silence", "asks_for_figure", "tells_interest", "cares_much", "cares_little",
    "acknowledges", "acknowledges_rival", "hides_limit", "tells_why", "hears_reason",
    "hears_alternative", "hears_ultimatum", "tactic_named", "courtesy", "accepts", "accepts_at_once",
    "accepts_late", "accepts_standstill", "accepts_today", "leaves_standstill", "leaves_patience",
    "leaves_chance", "leaves_final", "leaves_insulted", "leaves_ultimatum", "hears_leaving",
]
# fmt: on
"""The kinds of things that a person says; `sentences` has the words."""
MOMENTS: Final[tuple[Moment, ...]] = get_args(Moment)

REPEAT_CHANCE: Final = 0.02
"""Share of offers that repeat the person's own last one on purpose. Round figures repeat some more; together they come
near the 6 % of people (CraigslistBargain, 1,299 talks)."""
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
LAST_FACTORS: Final[Mapping[Hardness, float]] = {"easy": 1.25, "normal": 1.0, "hard": 0.6}
"""How much more or less than that share a hardness closes."""
BLUFF_CHANCE: Final = 0.7
"""Chance that "this is final" is not meant."""

PULLS: Final[Mapping[Remark, float]] = {"reason": 1.25, "alternative": 1.35, "names_tactic": 1.3}
"""How much larger the next step is for what was said, the first time."""
MOST_REASONS: Final = 2
"""A third reason moves nobody."""
FREE_TALK: Final = 5
"""Turns without figures that cost no patience."""
HEAVY_SHARE: Final = 0.6
"""An issue matters to them when its weight is at least this share of the mean weight."""
QUESTIONS: Final[frozenset[Remark]] = frozenset({"question_interest", "question_limit", "question_why"})
SILENCE_CHANCES: Final[Mapping[Hardness, float]] = {"easy": 0.5, "normal": 0.35, "hard": 0.15}
"""Chance that a first silence after an offer brings a small step."""
ULTIMATUM_CHANCES: Final[Mapping[Hardness, float]] = {"easy": 0.7, "normal": 0.5, "hard": 0.3}
"""Chance that a first ultimatum above the floor, but short of fair, is accepted."""
MOST_FOR_A_QUESTION: Final = 0.25
"""The most worth that the answer to the first "what would you need for …?" gives away; later ones give none."""
SMALL_STEP: Final = 0.4
"""The share of a planned step that silence brings."""

Style: TypeAlias = Literal["warm", "brisk", "formal"]
STYLES: Final[tuple[Style, ...]] = get_args(Style)


@dataclass(frozen=True, slots=True)
class Person:
    """A person as drawn; worths and steps are in the measure of `interests`.

    `floor` is the least worth it agrees to, `resistance` the least it shows before its patience ends, `pride` what it
    wants above its floor from a side that does not move. `opening` is its first package. `first_step` is the share
    of the way from the opening to the resistance that its first step goes, `shrinkage` the median ratio of a step to
    the one before. `tolerance` is how far below the floor an offer may lie before it insults. `patience` counts its own
    words, `unmoved_patience` the other side's words without a move. `turning_word` is the word at which it takes
    something back or says that its offer is final; `means_it` tells whether final is final. `style` is how it speaks,
    `hazard` the chance a round that something outside the talk ends it.
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
    hazard: float = HAZARD
    hardness: Hardness = "normal"
    style: Style = "brisk"

    @property
    def opening_worth(self) -> float:
        return self.interests.worth(self.opening)


@dataclass(frozen=True, slots=True)
class Turn:
    """What the other side did: named a package (perhaps partial), said something, or neither.

    `silent` marks a turn in which it said nothing on purpose, in answer to an offer. `about` is the issue that its
    words name, `wonders` the values for which it asks their price.
    """

    package: Package | None = None
    remarks: frozenset[Remark] = frozenset()
    silent: bool = False
    about: str | None = None
    wonders: Package | None = None


@dataclass(frozen=True, slots=True)
class PersonAnswer:
    """What the person does, and what kind of thing it says; `wait` names no new package.

    `withdraws` means that its earlier offer no longer stands, `ploy` is the tactic behind the turn, `about` the issue
    that the words are about, `beside` what it says first to the words that came with an offer.
    """

    action: AnswerAction
    moment: Moment
    package: Package | None = None
    claimed_final: bool = False
    withdraws: bool = False
    ploy: Ploy | None = None
    about: str | None = None
    beside: Moment | None = None


@dataclass(frozen=True, slots=True)
class PersonMemory:
    """What the person remembers of the talk; `offers` are its own, oldest first.

    `pull` is how much larger its next step is for what was said. `before` is the other side's offer before
    the last, `ploy` its tactic that nobody has named yet,
    `finals` counts its offers that it called final or its last, `talk` the turns without figures,
    `favours` the questions whose answer may have given something away.
    """

    words: int = 0
    offers: tuple[Package, ...] = ()
    step: float | None = None
    theirs: Package | None = None
    before: Package | None = None
    best: float | None = None
    unmoved: int = 0
    warnings: int = 0
    turned: bool = False
    words_since_final: int | None = None
    finals: int = 0
    reasons: int = 0
    alternatives: int = 0
    talk: int = 0
    favours: int = 0
    silences: int = 0
    ultimatums: int = 0
    pull: float = 1.0
    ploy: Ploy | None = None


Answered: TypeAlias = tuple[PersonAnswer, PersonMemory]
"""What a person does, and what it remembers afterwards."""


def draw_person(
    interests: Interests,
    kind: PersonKind,
    seed: int | str,
    *,
    hardness: Hardness = "normal",
    floor_spread: float = 0.15,
) -> Person:
    """The person of this kind and seed. People of one seed share floor, weights and style across kinds and hardness.

    The floor lies around the floor of the interests, with the standard deviation `floor_spread`.
    """
    key = f"{seed} {' '.join(f'{stake.name} {stake.floor}' for stake in interests.stakes)}"
    rng = Random(key)  # noqa: S311  a simulated person, whose key is what is secret
    weighted = interests.weighted([rng.lognormvariate(0.0, 0.2) for _ in interests.stakes])
    floor = min(0.35, max(-0.35, rng.gauss(0.0, 1.0) * floor_spread))
    reserve, pride = rng.uniform(0.03, 0.2), rng.uniform(0.0, 0.3)
    first_step, shrinkage = rng.uniform(0.28, 0.45), rng.uniform(0.4, 0.65)
    tolerance, patience = rng.uniform(1.4, 2.6), rng.randint(6, 9)
    unmoved_patience, warnings, turning_word = (rng.randint(2, 4), rng.randint(1, 2), rng.randint(3, 4))
    means_it, ambition, anchor = (rng.random() >= BLUFF_CHANCE, rng.gauss(0.0, 0.06), rng.uniform(1, 2.2))
    style = STYLES[rng.randrange(len(STYLES))]
    if kind == "stubborn":
        first_step, shrinkage = first_step * 0.4, shrinkage + 0.15
        reserve, patience, unmoved_patience = reserve + 0.15, patience - 1, unmoved_patience + 1
    if kind == "extreme_anchor":
        first_step, shrinkage = first_step + 0.1, shrinkage + 0.1
    if kind == "deadline_bluff":
        turning_word -= 1
    if hardness == "easy":
        first_step, reserve, pride = first_step * 1.25, reserve * 0.5, pride * 0.5
        tolerance, patience = tolerance + 0.5, patience + 2
    if hardness == "hard":
        first_step, reserve, pride = first_step * 0.7, reserve * 1.5, pride * 1.3
        tolerance, patience, warnings = tolerance - 0.2, patience - 1, 1
    stretch = anchor if kind == "extreme_anchor" else ambition
    return Person(
        kind=kind,
        key=key,
        interests=weighted,
        floor=floor,
        resistance=floor + reserve,
        pride=pride,
        opening=_opening(weighted, stretch),
        first_step=first_step,
        shrinkage=shrinkage,
        tolerance=tolerance,
        patience=patience,
        unmoved_patience=unmoved_patience,
        warnings=warnings,
        turning_word=turning_word,
        means_it=means_it,
        hardness=hardness,
        style=style,
    )


def answer(person: Person, memory: PersonMemory, turn: Turn, *, rounds_left: int | None = None) -> Answered:
    """What the person does in answer to a turn, and what it remembers afterwards.

    `rounds_left` is the number of further words of the other side that a known end leaves; 0 asks for a last word.
    """
    rng = Random(f"{person.kind} {person.key} {memory.words}")  # noqa: S311  the same
    if "rude" in turn.remarks:
        return _warned(person, memory, "offended")
    memory = _impressed(memory, turn.remarks)
    if turn.package is None:
        found = _talk(person, memory, turn, rng)
        if found is not None:
            return found
    now = replace(memory, words=memory.words + 1)
    if turn.package is not None:
        theirs = {**(memory.theirs or (memory.offers[-1] if memory.offers else person.opening)), **turn.package}
        now = replace(now, theirs=theirs, before=memory.theirs)
    if now.theirs is None:
        return _open(person, now)
    value = person.interests.worth(now.theirs)
    gain = 0.0 if memory.best is None else value - memory.best
    moved = turn.package is not None and (memory.best is None or gain > NO_MOVE)
    now = replace(
        now, best=value if memory.best is None else max(memory.best, value), unmoved=0 if moved else memory.unmoved + 1
    )
    if value < person.floor - person.tolerance:
        return _warned(person, now, "insulted")
    left = person.patience - now.words
    left = left if rounds_left is None else min(left, rounds_left)
    is_last = rounds_left is not None and rounds_left <= 0
    standing = _Standing(value, gain, moved, left, rng, is_last)
    found: Answered | None = None
    if "ultimatum" in turn.remarks and turn.package is not None:
        found = _pressed(person, now, standing)
        now = replace(now, ultimatums=now.ultimatums + 1)
    given, after = found or _respond(person, memory, now, standing)
    return _with_reply(person, memory, turn, given), after


def _with_reply(person: Person, memory: PersonMemory, turn: Turn, given: PersonAnswer) -> PersonAnswer:
    """The answer to an offer, with a reply to a question or a reason that came with it."""
    if turn.package is None or given.action != "offer":
        return given
    if turn.remarks & QUESTIONS:
        reply = _reply(person, turn)
        return replace(given, beside=reply.moment, about=reply.about)
    if "alternative" in turn.remarks and memory.alternatives <= MOST_REASONS:
        return replace(given, beside="acknowledges_rival")
    heard = "reason" in turn.remarks and memory.reasons <= MOST_REASONS
    if heard and given.moment not in {"insulted", "repeat"}:
        return replace(given, beside="acknowledges")
    return given


def _impressed(memory: PersonMemory, remarks: frozenset[Remark]) -> PersonMemory:
    """What reasons, an alternative and a tactic that is named do to the next step."""
    pull = memory.pull
    if "reason" in remarks and memory.reasons < MOST_REASONS:
        pull *= PULLS["reason"]
    if "alternative" in remarks and memory.alternatives == 0:
        pull *= PULLS["alternative"]
    if "names_tactic" in remarks and memory.ploy is not None:
        pull *= PULLS["names_tactic"]
    return replace(
        memory,
        pull=pull,
        reasons=memory.reasons + ("reason" in remarks),
        alternatives=memory.alternatives + ("alternative" in remarks),
    )


def _talk(person: Person, memory: PersonMemory, turn: Turn, rng: Random) -> Answered | None:
    """The answer to words without figures, or to silence; None where it answers as to any turn without a move."""
    remarks = turn.remarks
    if turn.wonders and memory.offers:
        last = memory.offers[-1]
        demand = person.interests.worth(last)
        trade = person.interests.traded(last, turn.wonders, demand, person.opening)
        favour = MOST_FOR_A_QUESTION if memory.favours == 0 else NEARLY
        least = max(person.resistance, demand - favour)
        if {**last, **turn.wonders} == last:
            return _speak(_older(memory), last, "repeat")
        if trade is not None and least <= person.interests.worth(trade) <= demand + NEARLY:
            return _speak(replace(_older(memory), favours=1), trade, "trades")
    if remarks & QUESTIONS and memory.talk < FREE_TALK:
        return _reply(person, turn), _older(memory)
    if "names_tactic" in remarks and memory.ploy is not None:
        return PersonAnswer("wait", "tactic_named"), replace(memory, ploy=None)
    if memory.theirs is None:
        return None if not memory.offers else (PersonAnswer("wait", "asks_for_figure"), _older(memory))
    if "ultimatum" in remarks:
        return PersonAnswer("wait", "hears_ultimatum"), replace(
            _older(memory), ultimatums=memory.ultimatums + 1, unmoved=memory.unmoved + 1
        )
    if "alternative" in remarks and memory.alternatives <= 1:
        return PersonAnswer("wait", "hears_alternative"), _older(memory)
    if "reason" in remarks and memory.reasons <= MOST_REASONS:
        return PersonAnswer("wait", "hears_reason"), _older(memory)
    if "courtesy" in remarks:
        return PersonAnswer("wait", "courtesy"), _older(memory)
    if turn.silent and memory.silences == 0:
        heard = replace(memory, silences=1)
        if rng.random() >= SILENCE_CHANCES[person.hardness] or memory.words_since_final is not None:
            return PersonAnswer("wait", "silence"), _older(heard)
        return _fill_silence(person, heard, rng)
    return None


def _reply(person: Person, turn: Turn) -> PersonAnswer:
    if "question_limit" in turn.remarks:
        return PersonAnswer("wait", "hides_limit")
    if "question_interest" in turn.remarks:
        return _told_interest(person, turn.about)
    return PersonAnswer("wait", "tells_why")


def _told_interest(person: Person, about: str | None) -> PersonAnswer:
    """What matters most, or whether the issue that was asked about matters; never by how much."""
    stakes = person.interests.stakes
    if len(stakes) == 1:
        return PersonAnswer("wait", "asks_for_figure")
    asked = next((stake for stake in stakes if stake.name == about), None)
    if asked is None:
        return PersonAnswer("wait", "tells_interest", about=person.interests.heaviest().name)
    matters = asked.weight * len(stakes) >= HEAVY_SHARE
    return PersonAnswer("wait", "cares_much" if matters else "cares_little", about=asked.name)


def _older(memory: PersonMemory) -> PersonMemory:
    """The memory after a turn that brought no figure: patience runs once there was much talk."""
    if memory.talk < FREE_TALK:
        return replace(memory, talk=memory.talk + 1)
    return replace(memory, words=memory.words + 1)


def _fill_silence(person: Person, memory: PersonMemory, rng: Random) -> Answered:
    """A small step that nobody asked for."""
    now = _older(memory)
    demand = person.interests.worth(now.offers[-1]) if now.offers else person.opening_worth
    goal = max(person.resistance, demand - SMALL_STEP * _planned_step(person, now, rng))
    package = person.interests.conceded(
        now.offers[-1] if now.offers else person.opening, now.theirs, goal, person.floor
    )
    if now.offers and package == now.offers[-1]:
        return PersonAnswer("wait", "silence"), now
    return _speak(now, package, "small_step")


def _pressed(person: Person, now: PersonMemory, at: "_Standing") -> Answered | None:
    """The answer to "take it or leave it": a deal above the floor more often than not, a second one ends the talk."""
    if at.value >= person.floor:
        if at.rng.random() < ULTIMATUM_CHANCES[person.hardness]:
            return _accept(now, "accepts_late")
        return None
    return _leave(now, "leaves_ultimatum") if now.ultimatums else None


@dataclass(frozen=True, slots=True)
class _Standing:
    """The moment of an answer: worth of their offer, what it gained, words left before the end."""

    value: float
    gain: float
    moved: bool
    left: int
    rng: Random
    is_last: bool = False


def _respond(person: Person, memory: PersonMemory, now: PersonMemory, at: _Standing) -> Answered:
    """Accept, leave, or go on to the next offer."""
    demand = person.interests.worth(now.offers[-1]) if now.offers else person.opening_worth
    fair = at.value >= person.floor + FAIR_SHARE * (demand - person.floor)
    if now.unmoved > person.unmoved_patience:
        if at.value >= person.floor + person.pride or (fair and at.value >= person.floor):
            return _accept(now, "accepts_standstill")
        if now.finals == 0 and not at.is_last and now.offers:
            return _speak(replace(now, finals=1), now.offers[-1], "final", final=True)
        return _leave(now, "leaves_standstill")
    if at.left <= 0 and not fair and now.finals == 1 and not at.is_last:
        return _speak(replace(now, finals=2), now.offers[-1], "final_again", final=True)
    if at.left <= 0 and at.value >= person.floor:
        return _accept(now, "accepts_late")
    if at.left < 0:
        return _leave(now, "leaves_patience")
    if not fair and now.offers and at.rng.random() < person.hazard:
        if at.value >= person.floor:
            return _accept(now, "accepts_today")
        return _leave(now, "leaves_chance")
    if now.words_since_final is not None and person.means_it:
        return _after_final(person, now, at, fair=fair)
    if not now.offers:
        if at.value >= person.opening_worth - NEARLY and at.value >= person.floor:
            return _accept(now, "accepts_at_once")
        return _open(person, now)
    if _turns(person, memory, now):
        return _turn_round(person, now, at)
    return _step(person, now, at, demand)


def _step(person: Person, now: PersonMemory, at: _Standing, demand: float) -> Answered:
    """The next offer: a step that shrinks, by how far the other side came; or their offer, when it is near."""
    planned = _planned_step(person, now, at.rng)
    size = planned * _reciprocity(person, now, at, demand) * now.pull
    if at.rng.random() < REPEAT_CHANCE:
        size = 0.0
    limit = person.resistance if at.left > 1 else person.floor + 0.02
    if at.left <= 1:
        share = LAST_SHARES.get(person.kind, 0.5) * LAST_FACTORS[person.hardness]
        size = max(size, planned, share * (demand - at.value))
    goal = min(demand, max(limit, demand - size))
    gap = goal - at.value
    if at.moved and 0 < gap < SMALL_GAP and at.rng.random() < 0.35:
        goal = min(goal, max(limit, (demand + at.value) / 2))
    if at.value >= person.floor and at.value >= goal - NEARLY:
        return _accept(now, "accepts")
    package = person.interests.conceded(now.offers[-1], now.theirs, goal, person.floor)
    now = replace(now, step=planned, pull=1.0)
    trade = _trade(person, now, goal)
    if trade is not None:
        return _speak(now, trade, "trades")
    if package == now.offers[-1]:
        return _speak(now, package, "repeat", ploy="flat_refusal" if at.moved else None)
    if at.left <= 1:
        final = at.rng.random() < 0.5
        now = replace(now, finals=now.finals + 1)
        return _speak(now, package, "final" if final else "last_step", final=final)
    return _speak(now, package, "step" if size >= planned else "small_step")


def _trade(person: Person, now: PersonMemory, goal: float) -> Package | None:
    """What the other side insists on, at another price: the values that it named twice and that are not theirs yet."""
    last, theirs, before = now.offers[-1], now.theirs, now.before
    if theirs is None or before is None:
        return None
    insisted = {
        stake.name: theirs[stake.name]
        for stake in person.interests.stakes
        if stake.issue.type != "money"
        and stake.weight > 0
        and same_value(stake.issue.type, theirs[stake.name], before[stake.name])
        and stake.worth(theirs[stake.name]) < stake.worth(last[stake.name])
    }
    if not insisted:
        return None
    found = person.interests.traded(last, insisted, goal, person.opening)
    if found is None:
        return None
    worth = person.interests.worth(found)
    return found if max(person.floor, goal - NEARLY) <= worth <= person.interests.worth(last) else None


def _planned_step(person: Person, now: PersonMemory, rng: Random) -> float:
    if now.step is None:
        return person.first_step * (person.opening_worth - person.resistance)
    ratio = min(1.15, person.shrinkage * rng.lognormvariate(0.0, 0.35))
    return now.step * (1.0 if now.unmoved else ratio)


def _reciprocity(person: Person, now: PersonMemory, at: _Standing, demand: float) -> float:
    """The factor on the planned step: their concession against the gap, and little for none.

    Who anchored extremely knows it: the gap counts from the first ask of a fair person.
    """
    if len(now.offers) == 1 and at.gain == 0.0 and at.moved:
        return 1.0
    if not at.moved:
        return 0.3 if now.unmoved == 1 and person.kind != "stubborn" else 0.0
    gap = max(min(demand, 1.0) - at.value + at.gain, 0.05)
    return min(1.5, max(0.25, at.gain / gap / TYPICAL_MOVE))


def _turns(person: Person, memory: PersonMemory, now: PersonMemory) -> bool:
    """Whether this is the word at which it takes back a concession, or says that its offer is final."""
    if now.turned or now.words < person.turning_word:
        return False
    if person.kind == "takes_back":
        return len(memory.offers) > 1 and memory.offers[-1] != memory.offers[-2]
    return person.kind == "deadline_bluff"


def _turn_round(person: Person, now: PersonMemory, at: _Standing) -> Answered:
    now = replace(now, turned=True)
    demand = person.interests.worth(now.offers[-1])
    if at.value >= person.floor and at.value >= demand - 2 * NEARLY:
        return _accept(now, "accepts")
    if person.kind == "takes_back":
        return _speak(now, now.offers[-2], "takes_back", withdraws=True, ploy="takes_back")
    planned = _planned_step(person, now, at.rng)
    if person.means_it:
        planned = max(planned, MEANT_STEP * (demand - person.resistance))
    goal = min(demand, max(person.resistance, demand - planned))
    package = person.interests.conceded(now.offers[-1], now.theirs, goal, person.floor)
    now = replace(now, step=planned, words_since_final=0)
    return _speak(now, package, "final", final=True, ploy="deadline_bluff")


def _after_final(person: Person, now: PersonMemory, at: _Standing, *, fair: bool) -> Answered:
    """It meant what it said: the last offer is repeated once, then it takes what is fair or leaves."""
    if at.value >= person.floor + person.pride or (fair and at.value >= person.floor):
        return _accept(now, "accepts_late")
    if now.words_since_final == 0:
        now = replace(now, words_since_final=1)
        return _speak(now, now.offers[-1], "final_again", final=True)
    return _leave(now, "leaves_final")


def _warned(person: Person, now: PersonMemory, moment: Literal["insulted", "offended"]) -> Answered:
    """Far beyond the floor, or rude: a warning with the offer as it was, and in the end it leaves."""
    now = replace(now, warnings=now.warnings + 1)
    if now.warnings > person.warnings:
        return _leave(now, "leaves_insulted")
    return _speak(now, now.offers[-1] if now.offers else person.opening, moment)


def _open(person: Person, now: PersonMemory) -> Answered:
    ploy: Ploy | None = "extreme_anchor" if person.kind == "extreme_anchor" else None
    return _speak(now, person.opening, "opening", ploy=ploy)


def _speak(
    now: PersonMemory,
    package: Package,
    moment: Moment,
    *,
    final: bool = False,
    withdraws: bool = False,
    ploy: Ploy | None = None,
) -> Answered:
    now = replace(now, offers=(*now.offers, package), ploy=ploy)
    return PersonAnswer("offer", moment, package, final, withdraws, ploy=ploy), now


def _accept(now: PersonMemory, moment: Moment) -> Answered:
    return PersonAnswer("accept", moment, now.theirs), now


def _leave(now: PersonMemory, moment: Moment) -> Answered:
    return PersonAnswer("leave", moment), now


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
