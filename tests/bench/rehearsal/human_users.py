"""Users who bargain as people were seen to, and the talks that they have with the counterpart of a rehearsal.

Their numbers come from human data and know nothing of the counterpart: first offers, repeats and the shrinking of
steps are those of the buyers of CraigslistBargain (He et al. 2018, 1,299 talks of its development and test parts);
one style splits the difference, the most frequent counter-offer on eBay (Backus, Blake, Larsen and Tadelis 2020).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Final

from negotiator.rehearsals.counterpart.interests import round_unit, rounded
from negotiator.rehearsals.counterpart.latent import draw_counterpart
from negotiator.rehearsals.counterpart.person import (
    Hardness,
    Person,
    PersonAnswer,
    PersonKind,
    PersonMemory,
    Turn,
    answer,
)
from negotiator.rehearsals.counterpart.remarks import Remark
from negotiator.terms.issues import Package, coordinate, value_at_coordinate
from negotiator.terms.terms import Terms
from tests.bench.haggling.advisers import between, keeps_limits, utility, whole_package
from tests.bench.haggling.play import load_case

OPENINGS: Final = (-0.6, -0.25, 0.0, 0.11, 0.4)
"""Quartiles of a first offer, as a share of the way from the target to the other side's first figure; ends assumed."""
PLAUSIBLE: Final = 1.6
"""A first figure beyond this place moves a user no further: anchors that are too extreme lose their pull (Wegener,
Petty, Detweiler-Bedell and Jarvis 2001)."""
REPEATS: Final = 0.06
SHRINKAGE: Final = 0.5
SHRINKAGE_SPREAD: Final = 0.94
"""Steps shrink by a median of one half, and 77 % are no larger than the step before: a lognormal ratio."""
ENOUGH: Final = 0.3
"""Chance a round to take an offer within the limit once it is near: a median of three figures makes a deal."""
NEAR: Final = 0.35
NEARLY: Final = 0.08
"""An offer as near as this to the own next one is taken at once; shares of the way from target to walk-away."""
MOST_TURNS: Final = 40


@dataclass(frozen=True, slots=True)
class HumanStyle:
    """How a user bargains. Shares are of the gap to the other side's offer; `talks` are chances of a remark a turn.

    `reciprocity` is how far a step follows the other side's last step instead of the own plan.
    """

    ambition: float
    first_step: tuple[float, float]
    reciprocity: float
    patience: tuple[int, int]
    splits: bool = False
    talks: tuple[tuple[Remark | None, float], ...] = ()


STYLES: Final[Mapping[str, HumanStyle]] = {
    "even": HumanStyle(0.0, (0.2, 0.4), 0.3, (5, 8)),
    "firm": HumanStyle(-0.2, (0.1, 0.25), 0.5, (5, 9)),
    "split": HumanStyle(0.0, (0.5, 0.5), 0.0, (4, 7), splits=True),
    "talker": HumanStyle(
        0.0,
        (0.2, 0.4),
        0.3,
        (6, 9),
        talks=(("reason", 0.3), ("question_interest", 0.15), ("alternative", 0.08), (None, 0.05)),
    ),
}
"""`None` among the remarks is silence."""


@dataclass(frozen=True, slots=True)
class RehearsedTalk:
    """A talk that is over. `offers` are (by, package) in order, `ended` the side that ended it."""

    case: str
    terms: Terms
    person: Person
    style: str
    offers: tuple[tuple[str, Package], ...]
    answers: tuple[PersonAnswer, ...]
    deal: Package | None
    ended: str
    turns: int

    def of(self, side: str) -> list[Package]:
        """The packages that a side named."""
        return [package for by, package in self.offers if by == side]


@dataclass(frozen=True, slots=True)
class Line:
    """The packages that a user considers: from the target (0) to the last one within their limits (1)."""

    terms: Terms
    target: Package
    worst: Package
    end: float

    def package(self, at: float, last: Package | None = None) -> Package:
        """The package at a place of the line, money in the round figures that people name."""
        found = between(self.terms, self.target, self.worst, at * self.end)
        if at < 0:
            found = {**self.target, **_price_only(self.terms, found)}
        for issue in self.terms.issues:
            here = coordinate(issue.type, found[issue.name])
            if issue.type == "money" and here is not None:
                before = coordinate(issue.type, (last or self.target)[issue.name]) or here
                shown = rounded(issue, here, round_unit(issue, here, abs(here - before) or here / 20))
                named = {**found, issue.name: value_at_coordinate(issue.type, shown)}
                found = named if at < 0 or keeps_limits(self.terms, named) else found
        return found

    def place(self, package: Package) -> float:
        """Where a package of the other side lies on the line, by its utility; beyond 1 it is past the limit."""
        top, low = utility(self.terms, self.target), utility(self.terms, self.package(1.0))
        return (top - utility(self.terms, package)) / max(1e-9, top - low)


def _price_only(terms: Terms, package: Package) -> Package:
    price = terms.price
    return {} if price is None else {price.name: package[price.name]}


@cache
def line_of(case: str) -> Line:
    """The line of a case's user."""
    terms = load_case(case).terms
    target = whole_package(terms, terms.target, best=True)
    worst = whole_package(terms, terms.walk_away, best=False)
    kept = (share / 50 for share in range(50, -1, -1))
    end = next(s for s in kept if keeps_limits(terms, between(terms, target, worst, s)))
    return Line(terms, target, worst, end)


def rehearse(case: str, kind: PersonKind, hardness: Hardness, seed: int, style: str) -> RehearsedTalk | None:
    """One talk of a user of this style with the counterpart that the product draws; the counterpart opens."""
    line = line_of(case)
    person = draw_counterpart(line.terms, kind, f"{case} {seed}", hardness=hardness)
    if person is None:
        return None
    rng = Random(f"{case} {seed} {style}")
    user = _User(line, STYLES[style], rng)
    offers: list[tuple[str, Package]] = []
    said, memory = answer(person, PersonMemory(), Turn())
    answers = [said]
    offers.append(("them", said.package or {}))

    def over(deal: Package | None, ended: str, turns: int) -> RehearsedTalk:
        return RehearsedTalk(case, line.terms, person, style, tuple(offers), tuple(answers), deal, ended, turns)

    for spoken in range(MOST_TURNS):
        theirs = next(package for by, package in reversed(offers) if by == "them")
        move = user.move(theirs)
        turns = 2 * spoken + 2
        if isinstance(move, str):
            return over(theirs if move == "accept" else None, "me", turns)
        if move.package is not None:
            offers.append(("me", move.package))
        rounds = line.terms.max_rounds
        made = sum(by == "me" for by, _ in offers)
        left = None if rounds is None else max(0, rounds - made)
        said, memory = answer(person, memory, move, rounds_left=left)
        answers.append(said)
        if said.action in {"accept", "leave"}:
            return over(said.package, "them", turns + 1)
        if said.package is not None:
            offers.append(("them", said.package))
    return over(None, "nobody", 2 * MOST_TURNS)


class _User:
    """One user in one talk."""

    def __init__(self, line: Line, style: HumanStyle, rng: Random) -> None:
        self.line, self.style, self.rng = line, style, rng
        self.at: float | None = None
        self.step = 0.0
        self.first_gap = 0.0
        self.seen: list[float] = []
        self.words = 0
        self.patience = rng.randint(*style.patience)
        self.last: Package | None = None

    def move(self, theirs: Package) -> Turn | str:
        """The next turn, or "accept" or "leave"."""
        place = min(self.line.place(theirs), PLAUSIBLE)
        fits = keeps_limits(self.line.terms, theirs)
        if self.at is None:
            return self._open(place)
        gap = place - self.at
        near = fits and gap <= NEAR and self.rng.random() < ENOUGH
        self.words += 1
        if self.words > self.patience:
            return "accept" if fits else "leave"
        goal = min(1.0, self.at + max(0.0, self._step(place, gap)))
        if near or (fits and place <= goal + NEARLY):
            return "accept"
        if (remark := self._remark()) is not None:
            return remark
        self.seen.append(place)
        self.at = goal
        self.last = self.line.package(goal, self.last)
        return Turn(self.last)

    def _open(self, place: float) -> Turn:
        quarter = self.rng.randrange(len(OPENINGS) - 1)
        opening = self.rng.uniform(*OPENINGS[quarter : quarter + 2]) + self.style.ambition
        self.at = min(0.8, opening * place)
        self.first_gap = place - self.at
        self.step = self.rng.uniform(*self.style.first_step) * self.first_gap
        self.seen.append(place)
        self.last = self.line.package(self.at)
        return Turn(self.last)

    def _step(self, place: float, gap: float) -> float:
        if self.rng.random() < REPEATS:
            return 0.0
        if self.style.splits:
            return gap / 2
        theirs = self.seen[-1] - place
        planned = self.step
        self.step *= min(1.6, SHRINKAGE * self.rng.lognormvariate(0.0, SHRINKAGE_SPREAD))
        followed = (1 - self.style.reciprocity) * planned + self.style.reciprocity * theirs
        return max(0.02, min(followed, gap / 2))

    def _remark(self) -> Turn | None:
        drawn = self.rng.random()
        for remark, chance in self.style.talks:
            if drawn < chance:
                if remark is None:
                    return Turn(silent=True)
                return Turn(remarks=frozenset({remark}))
            drawn -= chance
        return None
