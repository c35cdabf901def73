"""Made-up people for random negotiations, and made-up rehearsals with them, senseless ones included."""

from dataclasses import replace
from random import Random
from typing import Final

from negotiator.rehearsals.counterpart.interests import Interests, Stake
from negotiator.rehearsals.counterpart.person import KINDS, Person, Ploy, draw_person
from negotiator.rehearsals.counterpart.remarks import REMARKS
from negotiator.rehearsals.stored import RehearsalState, RehearsalTurn, Side
from negotiator.terms.issues import Issue, Package, Scalar, coordinate
from negotiator.terms.terms import Terms
from negotiator.terms.utility import Preferences
from tests.helpers.generated_talks import negotiation, random_value

PLOYS: Final[tuple[Ploy | None, ...]] = (None, None, "takes_back", "flat_refusal", "deadline_bluff")


def made_up_rehearsal(seed: int, *, max_issues: int = 6) -> tuple[Terms, Person, list[RehearsalTurn], RehearsalState]:
    """Terms that lack this and that, a person, and turns that end in a deal or not."""
    chance = Random(f"rehearsal {seed}")  # noqa: S311
    terms = lacking(chance, negotiation(seed, max_issues=max_issues).terms)
    person = draw_person(made_up_interests(chance, terms), chance.choice(KINDS), seed)
    state: RehearsalState = chance.choice(("agreed", "left_by_me", "left_by_them", "running"))
    return terms, person, made_up_turns(chance, person, state), state


def lacking(chance: Random, terms: Terms) -> Terms:
    """The terms without some of target, walk-away, alternative and ranges."""
    if chance.random() < 0.3:
        terms = replace(terms, target=None)
    if chance.random() < 0.3:
        terms = replace(terms, walk_away=None, allowed=())
    if chance.random() < 0.3:
        terms = replace(terms, batna=None, certain=None)
    if chance.random() < 0.2:
        issues = tuple(replace(issue, range=None) if not issue.value_points else issue for issue in terms.issues)
        unvalued = tuple(one.name for one in issues if one.range is None and not one.options)
        terms = replace(terms, preferences=Preferences(issues), unvalued=unvalued)
    return terms


def made_up_interests(chance: Random, terms: Terms) -> Interests:
    """Interests on every issue: mostly against the user's, now and then with them, or without any."""
    weights = [chance.random() + 0.01 for _ in terms.issues]
    stakes: list[Stake] = []
    for issue, weight in zip(terms.issues, weights, strict=True):
        values = [value_in(chance, issue) for _ in range(2)]
        worths = None
        if coordinate(issue.type, values[0]) is None or issue.options:
            listed: list[Scalar] = [option.value for option in issue.options] or [False, True]
            worths = {value: chance.choice((-0.5, 0.0, 0.3, 1.0)) for value in listed}
        stakes.append(Stake(issue, values[0], values[1], weight / sum(weights), worths))
    return Interests(tuple(stakes))


def value_in(chance: Random, issue: Issue) -> Scalar:
    """A value of the issue; of one without a range some number or date."""
    if issue.range is not None or issue.options or issue.type in {"boolean", "enum"}:
        return random_value(chance, issue)
    if issue.type == "date":
        return f"2031-0{chance.randint(1, 9)}-{chance.randint(10, 28)}"
    return chance.randint(1, 2_000)


def made_up_turns(chance: Random, person: Person, state: RehearsalState) -> list[RehearsalTurn]:
    """Turns of both sides with packages anywhere, and an end."""
    turns: list[RehearsalTurn] = []
    by: Side = chance.choice(("me", "them"))
    for number in range(1, chance.randint(1, 9)):
        says = chance.random() < 0.15
        turns.append(
            RehearsalTurn(
                number=number,
                at=number,
                by=by,
                action=chance.choice(("say", "wait")) if says else "offer",
                package=None if says else made_up_package(chance, person),
                remarks=tuple(chance.sample(REMARKS, 1)) if chance.random() < 0.2 else (),
                final=chance.random() < 0.1,
                ploy=chance.choice(PLOYS) if by == "them" else None,
            )
        )
        by = "me" if by == "them" else "them"
    number = len(turns) + 1
    other: Side = "me" if by == "them" else "them"
    offered = [turn.package for turn in turns if turn.by == other and turn.package is not None]
    if state == "agreed":
        package = offered[-1] if offered else made_up_package(chance, person)
        turns.append(RehearsalTurn(number, number, by, "accept", package))
    elif state != "running":
        turns.append(RehearsalTurn(number, number, "me" if state == "left_by_me" else "them", "leave"))
    return turns


def made_up_package(chance: Random, person: Person) -> Package:
    """A whole package of values that the issues have, or that the person named."""
    return {
        stake.name: chance.choice((stake.floor, stake.ask, value_in(chance, stake.issue)))
        for stake in person.interests.stakes
    }
