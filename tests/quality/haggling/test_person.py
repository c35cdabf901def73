"""The scripted people are the same each time, never sign below their floor, and never leave a fair offer."""

from itertools import pairwise
from statistics import median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from negotiator.rehearsals.counterpart.person import (
    FAIR_SHARE,
    KINDS,
    PersonKind,
    PersonMemory,
    Turn,
    answer,
    draw_person,
)
from negotiator.terms.issues import Package
from tests.bench.haggling.advisers import ADVISERS
from tests.bench.haggling.play import Case, case_names, load_case, play

_CASES = st.sampled_from(case_names()).map(load_case)
_KINDS = st.sampled_from(KINDS)
_SEEDS = st.integers(0, 10_000)


@st.composite
def _packages(draw: st.DrawFn, case: Case) -> Package:
    """A package anywhere between a little below their floor and their first ask."""
    return {stake.name: stake.value_of(draw(st.floats(-0.4, 1.0)), stake.ask) for stake in case.interests.stakes}


@given(_CASES, _KINDS, _SEEDS, st.data())
@settings(deadline=None)
def test_a_person_never_signs_below_the_floor_and_never_leaves_a_fair_offer(
    case: Case, kind: PersonKind, seed: int, data: st.DataObject
) -> None:
    person, memory = draw_person(case.interests, kind, seed), PersonMemory()
    for _ in range(12):
        theirs = data.draw(_packages(case))
        demand = person.interests.worth(memory.offers[-1] if memory.offers else person.opening)
        given_, memory = answer(person, memory, Turn(theirs))
        value = person.interests.worth(theirs)
        fair = person.floor + FAIR_SHARE * (demand - person.floor)
        if given_.action == "leave":
            assert value < max(person.floor, fair)
        if given_.package is not None:
            assert person.interests.worth(given_.package) >= person.floor - 1e-9
        if given_.action != "offer":
            break


@given(_CASES, _KINDS, _SEEDS)
@settings(deadline=None, max_examples=25)
def test_the_same_seed_gives_the_same_talk(case: Case, kind: PersonKind, seed: int) -> None:
    first, second = (play(case, kind, seed, ADVISERS["path"]) for _ in range(2))
    assert first.ledger == second.ledger
    assert (first.deal, first.ended) == (second.deal, second.ended)


@given(_CASES, _SEEDS)
@settings(deadline=None, max_examples=25)
def test_only_one_kind_takes_a_concession_back(case: Case, seed: int) -> None:
    for kind in KINDS:
        person = draw_person(case.interests, kind, seed)
        talk = play(case, kind, seed, ADVISERS["middle"])
        withdrawn = [row for row in talk.ledger if row.kind == "withdrawal"]
        assert len(withdrawn) <= (1 if kind == "takes_back" else 0)
        named = [r.package for r in talk.ledger if r.side == "them" and r.kind != "withdrawal"]
        whole = [package for package in named if package and len(package) == len(case.terms.issues)]
        worths = [person.interests.worth(package) for package in whole]
        if kind != "takes_back":
            assert all(later <= earlier + 1e-9 for earlier, later in pairwise(worths))


@pytest.mark.parametrize("kind", KINDS)
def test_an_offer_far_beyond_the_floor_is_warned_about_and_then_ends_the_talk(kind: PersonKind) -> None:
    case = load_case("used_car")
    person, memory = draw_person(case.interests, kind, 3), PersonMemory()
    actions: list[str] = []
    for _ in range(4):
        given_, memory = answer(person, memory, Turn({"price": "5000"}))
        actions.append(given_.action)
        if given_.action == "leave":
            break
    assert actions[0] == "offer"
    assert actions[-1] == "leave"


def test_steps_shrink_as_those_of_people_do() -> None:
    """Median ratio of successive steps about .5 and at most 1 in three of four (CraigslistBargain, 1,299 talks)."""
    ratios: list[float] = []
    for name in case_names():
        case = load_case(name)
        for seed in range(12):
            person = draw_person(case.interests, "fair", seed)
            talk = play(case, "fair", seed, ADVISERS["middle"])
            named = [row.package for row in talk.ledger if row.side == "them"]
            worths = [person.interests.worth(p) for p in named if p and len(p) == len(case.terms.issues)]
            steps = [a - b for a, b in pairwise(worths) if a - b > 1e-9]
            ratios += [later / earlier for earlier, later in pairwise(steps)]
    assert 0.3 <= median(ratios) <= 0.8
    assert sum(ratio <= 1 for ratio in ratios) / len(ratios) >= 0.65
