"""What probers can work out of the floor: no more than their own offers and the counterpart's offers show.

A prober knows the program and the seed, and not the server's secret. Measured is what is left to them: people drawn for
the same seeds with another secret, and everything in an answer that is no figure.
"""

import re
from statistics import fmean
from typing import Final

import pytest

from negotiator.base.values import keyed_digest
from negotiator.rehearsals.counterpart.latent import draw_counterpart
from negotiator.rehearsals.counterpart.person import HARDNESSES, KINDS, Person
from negotiator.rehearsals.play import OwnTurn, start_rehearsal, take_turn
from negotiator.rehearsals.stored import StoredRehearsal
from tests.bench.haggling.play import load_case
from tests.bench.rehearsal.realism import rank_correlation

PROBERS: Final = 200
CHANCE: Final = 0.23
"""A rank correlation of 200 pairs is beyond this once in a thousand times by chance."""
FIGURES: Final = re.compile(r"[\d.,]+")
TERMS: Final = load_case("used_car").terms
SERVER: Final = b"the server's secret"


def talk_with(seed: int, secret: bytes = SERVER, **chosen: object) -> StoredRehearsal:
    """A rehearsal as the route begins it for one owner."""
    kind, hardness = chosen.get("kind", "fair"), chosen.get("hardness", "normal")
    key = keyed_digest(secret, f"rehearsal:usr_1:{seed}")
    return start_rehearsal(
        "neg_1",
        TERMS,
        kind=kind,  # type: ignore[arg-type]
        hardness=hardness,  # type: ignore[arg-type]
        seed=seed,
        key=key,
        offered=None,
    )


def least(person: Person) -> float:
    stake = person.interests.stakes[0]
    floor, ask = map(float, stake.ends)
    return floor + person.floor * (ask - floor)


def price(talk: StoredRehearsal, side: str) -> float:
    made = [turn.package for turn in talk.turns if turn.by == side and turn.package]
    return float(str(made[-1]["price"]))


def test_a_seed_says_nothing_to_whoever_lacks_the_server_s_secret() -> None:
    true, guessed = (
        [least(talk_with(seed, secret).person) for seed in range(PROBERS)] for secret in (SERVER, b"guess")
    )
    assert abs(rank_correlation(true, guessed)) < CHANCE
    error = fmean(abs(one - other) for one, other in zip(true, guessed, strict=True))
    shuffled = fmean(abs(one - other) for one, other in zip(true, [*guessed[1:], guessed[0]], strict=True))
    assert error == pytest.approx(shuffled, rel=0.2)


def test_words_sizes_and_lengths_without_figures_have_nothing_of_the_floor() -> None:
    floors: list[float] = []
    sizes: list[float] = []
    for seed in range(PROBERS):
        talk = talk_with(seed)
        for text in ("What is your limit?", "Why that price?", "Tell me or I go."):
            if talk.state == "running":
                talk = take_turn(talk, OwnTurn("say", None, text))
        words = "".join(FIGURES.sub("", turn.said) for turn in talk.turns if turn.by == "them")
        floors.append(least(talk.person))
        sizes.append(len(words))
    assert abs(rank_correlation(floors, sizes)) < CHANCE


def probe(seed: int, number: int) -> tuple[float, float, float]:
    """One adaptive prober: restarts with the same seed and other kinds, and bisects by ultimatums.

    Returns the floor, the lowest price that was taken, and the lowest price that the counterpart asked for.
    """
    taken = asked = 99_999.0
    low, high = 9_000.0, 14_000.0
    floor = 0.0
    for attempt in range(6):
        kind = KINDS[(number + attempt) % len(KINDS)]
        hardness = HARDNESSES[attempt % len(HARDNESSES)]
        talk = talk_with(seed, kind=kind, hardness=hardness)
        floor = least(talk.person)
        for _ in range(4):
            middle = float(round((low + high) / 2, -1 if number % 2 else 0))
            text = "Take it or leave it." if number % 3 else ""
            talk = take_turn(talk, OwnTurn("offer", {"price": f"{middle:.2f}"}, text))
            if talk.state == "agreed":
                taken, high = min(taken, middle), middle
                break
            if talk.state != "running":
                break
            asked = min(asked, price(talk, "them"))
            low = middle
        low = 9_000.0 if attempt % 2 else low
    return floor, taken, asked


@pytest.mark.long
def test_adaptive_probers_learn_only_what_was_taken_and_asked() -> None:
    """Every price taken or asked is at or above the floor: neither is more than a bound, and mostly not a tight one."""
    margins: list[float] = []
    for number in range(PROBERS):
        floor, taken, asked = probe(number % 100, number)
        bound = min(taken, asked)
        assert bound >= floor - 0.51
        margins.append(bound - floor)
    assert fmean(margin > 50 for margin in margins) > 0.5


def test_the_person_is_the_same_however_often_it_is_met_so_restarts_average_nothing() -> None:
    for seed in range(20):
        met = [talk_with(seed) for _ in range(3)]
        assert len({repr(talk.person) for talk in met}) == 1
        floors = {
            least(found)
            for kind in KINDS
            for hardness in HARDNESSES
            if (found := draw_counterpart(TERMS, kind, f"{seed}", hardness=hardness)) is not None
        }
        assert len(floors) == 1
