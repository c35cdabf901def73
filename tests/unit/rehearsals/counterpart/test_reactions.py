"""What words, silence and pressure do to the counterpart, whoever it is."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean
from typing import Final

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from negotiator.rehearsals.counterpart.interests import LARGEST_UNIT_SHARE
from negotiator.rehearsals.counterpart.latent import draw_counterpart
from negotiator.rehearsals.counterpart.person import (
    FREE_TALK,
    HARDNESSES,
    KINDS,
    MOST_FOR_A_QUESTION,
    MOST_REASONS,
    NEARLY,
    QUESTIONS,
    Hardness,
    Person,
    PersonAnswer,
    PersonKind,
    PersonMemory,
    Turn,
    answer,
)
from negotiator.rehearsals.counterpart.remarks import REMARKS, Remark
from negotiator.rehearsals.stored import RehearsalTurn, decode_person, decode_progress, encode_person, encode_progress
from negotiator.terms.issues import Package
from negotiator.terms.terms import Terms
from tests.bench.haggling.play import case_names, load_case

SAME: Final = 1e-9
ROUND_FIGURES: Final = 0.05
"""Packages are in round figures, so a larger step may fall a little short, and by a share of a long one."""
SEEDS: Final = range(200)

cases = st.sampled_from(case_names())
kinds = st.sampled_from(KINDS)
hardnesses = st.sampled_from(HARDNESSES)
seeds = st.integers(0, 10_000)
remarks = st.frozensets(st.sampled_from(REMARKS), max_size=3)
questions = st.sampled_from([one for one in REMARKS if one in QUESTIONS])
pulling = st.sampled_from([one for one in REMARKS if one in {"reason", "alternative"}])
polite = st.frozensets(st.sampled_from([one for one in REMARKS if one != "rude"]), max_size=3)
rudely: Final[frozenset[Remark]] = frozenset({"rude"})


def met(case: str, kind: PersonKind, hardness: Hardness, seed: int) -> Person:
    """The counterpart that the product draws."""
    person = draw_counterpart(load_case(case).terms, kind, f"{seed}", hardness=hardness)
    assert person is not None
    return person


people = st.builds(met, cases, kinds, hardnesses, seeds)


def package_at(person: Person, worths: Sequence[float]) -> Package:
    """A package with these worths to the person, issue by issue."""
    return {
        stake.name: stake.value_of(worth, stake.ask)
        for stake, worth in zip(person.interests.stakes, worths, strict=False)
    }


@st.composite
def turns_of(draw: st.DrawFn, person: Person) -> Turn:
    """Anything that a user may do: a package from far below the floor to the first ask, words, silence."""
    heard = draw(remarks)
    if draw(st.booleans()):
        many = len(person.interests.stakes)
        worths = draw(st.lists(st.floats(-4.0, 1.0), min_size=many, max_size=many))
        return Turn(package_at(person, worths), heard)
    return Turn(remarks=heard, silent=draw(st.booleans()))


@given(people, st.data())
@settings(deadline=None, max_examples=100)
def test_nothing_makes_it_sign_or_offer_below_the_floor_or_leave_without_a_reason(
    person: Person, data: st.DataObject
) -> None:
    pressed = 0
    said, memory = answer(person, PersonMemory(), Turn())
    for _ in range(14):
        turn = data.draw(turns_of(person))
        pressed += "ultimatum" in turn.remarks
        said, memory = answer(person, memory, turn)
        if said.package is not None:
            assert person.interests.worth(said.package) >= person.floor - SAME
        if said.action in {"accept", "leave"}:
            break
    if said.action == "leave":
        reasons = {
            "leaves_insulted": memory.warnings > person.warnings,
            "leaves_standstill": memory.unmoved > person.unmoved_patience,
            "leaves_patience": memory.words > person.patience,
            "leaves_final": memory.words_since_final is not None and person.means_it,
            "leaves_ultimatum": pressed > 1,
            "leaves_chance": said.moment == "leaves_chance",
        }
        assert reasons[said.moment]


@given(people, questions)
@settings(deadline=None, max_examples=40)
def test_the_first_five_turns_of_talk_cost_no_patience(person: Person, question: Remark) -> None:
    memory = PersonMemory()
    _, memory = answer(person, memory, Turn())
    before = memory
    for _ in range(FREE_TALK):
        said, memory = answer(person, memory, Turn(remarks=frozenset({question})))
        assert (said.action, said.package) == ("wait", None)
    assert replace(memory, talk=before.talk) == before
    _, memory = answer(person, memory, Turn(remarks=frozenset({question})))
    assert memory.words == before.words + 1


def talk_until(person: Person, turns: Sequence[Turn]) -> tuple[PersonAnswer, PersonMemory]:
    """The last answer and the memory after these turns, or when the person ends the talk."""
    said, memory = answer(person, PersonMemory(), Turn())
    for turn in turns:
        said, memory = answer(person, memory, turn)
        if said.action in {"accept", "leave"}:
            break
    return said, memory


def demanded(person: Person, said: PersonAnswer, memory: PersonMemory) -> float:
    """What the person holds out for after an answer: an acceptance is worth what it takes."""
    return person.interests.worth(said.package if said.action == "accept" and said.package else memory.offers[-1])


@given(people, pulling)
@example(met("flat_rent", "fair", "normal", 8318), "reason")
@settings(deadline=None, max_examples=80)
def test_a_reason_makes_the_next_step_no_smaller(person: Person, remark: Remark) -> None:
    many = len(person.interests.stakes)
    offers = [package_at(person, [at] * many) for at in (-0.4, -0.2)]
    before = talk_until(person, [Turn(offers[0])])
    plain = talk_until(person, [Turn(offers[0]), Turn(offers[1])])
    heard = talk_until(person, [Turn(offers[0]), Turn(offers[1], frozenset({remark}))])
    moments = {plain[0].moment, heard[0].moment}
    if plain[0].action == heard[0].action == "offer" and "trades" not in moments:
        step = demanded(person, *before) - demanded(person, *plain)
        short = max(ROUND_FIGURES, LARGEST_UNIT_SHARE * step)
        assert demanded(person, *heard) <= demanded(person, *plain) + short
    assert heard[0].action != "leave" or plain[0].action == "leave"


@given(people)
@settings(deadline=None, max_examples=40)
def test_a_third_reason_moves_nobody(person: Person) -> None:
    package = package_at(person, [-0.3] * len(person.interests.stakes))
    reasoned = replace(PersonMemory(), reasons=MOST_REASONS)
    for memory in (reasoned, replace(reasoned, offers=(person.opening,), words=1)):
        plain, _ = answer(person, memory, Turn(package))
        heard, _ = answer(person, memory, Turn(package, frozenset({"reason"})))
        assert heard == plain


@given(people)
@settings(deadline=None, max_examples=60)
def test_silence_never_worsens_their_offer_and_one_is_all_that_may_pay(person: Person) -> None:
    package = package_at(person, [-0.3] * len(person.interests.stakes))
    said, memory = talk_until(person, [Turn(package)])
    for silence in range(3):
        if said.action in {"accept", "leave"}:
            return
        before = person.interests.worth(memory.offers[-1])
        turned = memory.turned
        said, memory = answer(person, memory, Turn(silent=True))
        if said.action == "offer" and not (memory.turned and not turned):
            assert person.interests.worth(memory.offers[-1]) <= before + SAME
        if silence == 0 and said.action == "offer":
            assert said.moment == "small_step"


@given(people, polite, st.booleans())
@settings(deadline=None, max_examples=40)
def test_rudeness_is_warned_about_and_ends_the_talk_whatever_else_is_said(
    person: Person, others: frozenset[Remark], names: bool
) -> None:
    package = package_at(person, [0.5] * len(person.interests.stakes)) if names else None
    rude = Turn(package, others | rudely)
    said, memory = answer(person, PersonMemory(), Turn())
    first = memory.offers
    heard: list[PersonAnswer] = []
    for _ in range(person.warnings + 1):
        said, memory = answer(person, memory, rude)
        heard.append(said)
    assert [one.moment for one in heard] == ["offended"] * person.warnings + ["leaves_insulted"]
    assert set(map(repr, memory.offers)) == set(map(repr, first))


@pytest.mark.parametrize("kind", KINDS)
def test_hardness_orders_what_they_give_and_leaves_the_floor_alone(kind: PersonKind) -> None:
    given_up: dict[Hardness, list[float]] = {hardness: [] for hardness in HARDNESSES}
    for seed in SEEDS:
        for hardness in HARDNESSES:
            person = met("used_car", kind, hardness, seed)
            steps = [Turn(package_at(person, [person.floor + at])) for at in (-0.6, -0.5)]
            said, memory = talk_until(person, steps)
            given_up[hardness].append(person.opening_worth - demanded(person, said, memory))
    easy, normal, hard = (fmean(listed) for listed in given_up.values())
    assert easy > normal > hard


@given(cases, seeds)
@settings(deadline=None, max_examples=30)
def test_every_kind_and_hardness_of_a_seed_has_the_same_floor_and_weights(case: str, seed: int) -> None:
    people = [met(case, kind, hardness, seed) for kind in KINDS for hardness in HARDNESSES]
    assert len({(one.floor, repr(one.interests)) for one in people}) == 1


@given(cases, kinds, hardnesses, seeds, st.floats(0.0, 1.0))
@settings(deadline=None, max_examples=40)
def test_the_person_does_not_depend_on_what_the_user_wants(
    case: str, kind: PersonKind, hardness: Hardness, seed: int, worth: float
) -> None:
    terms = load_case(case).terms
    assert terms.target is not None
    wish = replace(terms.target, package=None, utility=worth)
    for changed in (
        replace(terms, target=wish),
        replace(terms, walk_away=wish),
        replace(terms, target=None, walk_away=None, batna=None),
    ):
        assert draw_counterpart(changed, kind, f"{seed}", hardness=hardness) == met(case, kind, hardness, seed)


@given(cases, kinds, hardnesses, seeds, st.data())
@settings(deadline=None, max_examples=40)
def test_what_is_stored_of_a_talk_comes_back_as_it_was(
    case: str, kind: PersonKind, hardness: Hardness, seed: int, data: st.DataObject
) -> None:
    terms: Terms = load_case(case).terms
    person, memory = met(case, kind, hardness, seed), PersonMemory()
    turns: list[RehearsalTurn] = []
    for number in range(1, data.draw(st.integers(1, 6))):
        turn = data.draw(turns_of(person))
        said, memory = answer(person, memory, turn)
        heard = tuple(sorted(turn.remarks))
        turns.append(RehearsalTurn(2 * number - 1, number, "me", "say", turn.package, "è", heard))
        turns.append(RehearsalTurn(2 * number, number, "them", said.action, said.package, ploy=said.ploy))
        if said.action in {"accept", "leave"}:
            break
    assert decode_person(encode_person(person), terms) == person
    stored = encode_progress(terms, memory, turns, "model")
    assert decode_progress(stored, terms) == (memory, tuple(turns), "model")


def test_questions_alone_do_not_wear_it_down() -> None:
    for seed in range(20):
        person = met("crm_renewal", "fair", "normal", seed)
        said, memory = answer(person, PersonMemory(), Turn())
        worths = [person.interests.worth(said.package or {})]
        for months in (24, 12, 36, 24, 12):
            said, memory = answer(person, memory, Turn(wonders={"term_months": months}))
            worths.append(person.interests.worth(memory.offers[-1]))
        assert worths[0] - min(worths) <= MOST_FOR_A_QUESTION + len(worths) * NEARLY
