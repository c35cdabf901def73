"""The score of a rehearsal tells players of known strength apart, and falls as the money left on the table rises."""

from math import isnan
from statistics import fmean

import pytest

from negotiator.rehearsals.counterpart.person import KINDS
from negotiator.rehearsals.debrief import Debrief
from negotiator.rehearsals.debrief_words import DebriefWords
from negotiator.rehearsals.schemas import DebriefView
from tests.bench.haggling.play import case_names, play
from tests.bench.rehearsal.measure import (
    LEAST_CORRELATION,
    RehearsalScore,
    alone,
    by_case,
    by_player,
    case_with_end,
    rehearse,
    rehearse_all,
)
from tests.bench.rehearsal.players import PLAYERS
from tests.bench.rehearsal.turns import rehearsal_turns

SEEDS = (1, 2)


@pytest.fixture(scope="module")
def scores() -> list[RehearsalScore]:
    """Each case with two people, the kinds of people in turn."""
    found: list[RehearsalScore] = []
    for place, name in enumerate(case_names()):
        for seed in SEEDS:
            found += rehearse_all([name], [seed], [KINDS[(2 * place + seed) % len(KINDS)]])
    return found


def test_the_engine_scores_most_and_chance_least(scores: list[RehearsalScore]) -> None:
    """The order of those between takes more talks than a test has: `make bench-rehearsal`."""
    means = {name: fmean(one.score for one in rows) for name, rows in by_player(scores).items()}
    others = [means[name] for name in ("reference", "boulware", "midpoint")]
    assert means["engine"] > max(others)
    assert min(others) > means["random"]


def test_with_one_person_the_score_falls_as_the_money_left_rises(scores: list[RehearsalScore]) -> None:
    values = [alone(rows) for rows in by_case(scores).values()]
    assert fmean(value for value in values if not isnan(value)) <= LEAST_CORRELATION


@pytest.mark.parametrize("player", PLAYERS)
def test_the_same_play_has_the_same_score(player: str) -> None:
    case = case_with_end("flat_rent")
    found = rehearse("flat_rent", "takes_back", 3, player)
    debriefs: list[DebriefView] = []
    for _ in range(2):
        talk = play(case, "takes_back", 3, PLAYERS[player])
        turns, state = rehearsal_turns(talk)
        words = DebriefWords(Debrief(case.terms, talk.person, turns, state))
        debriefs.append(words.view(rehearsal_id="reh_0", seed=3))
    assert debriefs[0] == debriefs[1]
    assert debriefs[0]["score"] == found.score
