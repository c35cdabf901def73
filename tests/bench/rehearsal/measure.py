"""Whether the score of a rehearsal measures: `python -m tests.bench.rehearsal.measure` prints the tables.

Five players of known strength meet the same people. The mean scores must come in the order of the players, the same
play must have the same score, and within a case the score must fall as the money left on the table rises: by the rank
correlation of Spearman over all talks of the case, and over the talks with one person, which have one best deal.
"""

import argparse
import math
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from statistics import fmean, stdev
from typing import Final

import numpy as np

from negotiator.base.values import HOUR
from negotiator.rehearsals.best_deal import OwnWorth, best_deal, best_with_deal, own_worth
from negotiator.rehearsals.counterpart.person import KINDS, Person, draw_person
from negotiator.rehearsals.debrief import left_on_table, score
from negotiator.terms.issues import Package
from tests.bench.haggling.play import Case, case_names, load_case, play, terms_of
from tests.bench.rehearsal.players import PLAYERS
from tests.bench.rehearsal.turns import rehearsal_turns

SEEDS: Final = 200
ROUNDS: Final = 6
"""Offers of the user where the case states no end: the median of the cases that state one."""
LEAST_CORRELATION: Final = -0.9


@dataclass(frozen=True, slots=True)
class RehearsalScore:
    """One talk. `left` is the money left on the table, on the price, or utility without a price; None without room."""

    case: str
    kind: str
    seed: int
    player: str
    score: int
    left: float | None
    deal: bool


@cache
def case_with_end(name: str) -> Case:
    """The case with a stated number of rounds: its own, what its deadline leaves, or six."""
    case = load_case(name)
    terms, rounds = case.terms, case.terms.max_rounds or ROUNDS
    if terms.deadline is not None:
        hours = (terms.deadline - case.opened_at) / HOUR
        rounds = min(rounds, max(1, int(hours / case.hours_a_round) + 1))
    body = {**case.negotiation, "max_rounds": rounds}
    return replace(case, negotiation=body, terms=terms_of(body))


@cache
def _best_of(name: str, seed: int) -> tuple[OwnWorth, Person, Package | None]:
    """The user's measure and the best deal with the people of one seed, which is the same for every kind."""
    case = case_with_end(name)
    person = draw_person(case.interests, "fair", seed)
    own = own_worth(case.terms, person.interests)
    return own, person, best_deal(own, person)


def rehearse(name: str, kind: str, seed: int, player: str) -> RehearsalScore:
    """One talk and its score."""
    found = next(one for one in KINDS if one == kind)
    talk = play(case_with_end(name), found, seed, PLAYERS[player])
    _, state = rehearsal_turns(talk)
    own, person, known = _best_of(name, seed)
    best = best_with_deal(own, person, known, talk.deal)
    left = None
    if best is not None:
        gap, money = left_on_table(own, best, talk.deal)
        left = gap if money is None else float(money)
    return RehearsalScore(name, kind, seed, player, score(own, best, talk.deal, state), left, talk.deal is not None)


def rehearse_all(names: Iterable[str], seeds: Iterable[int], kinds: Sequence[str] = KINDS) -> list[RehearsalScore]:
    """Every talk of every player with every person of these cases."""
    listed = list(seeds)
    return [
        rehearse(name, kind, seed, player) for name in names for seed in listed for kind in kinds for player in PLAYERS
    ]


def spearman(scores: Sequence[RehearsalScore]) -> float:
    """The rank correlation of score and money left, over the talks with room; equal values share their mean rank."""
    rows = [one for one in scores if one.left is not None]
    ranks = [_ranks([float(one.score) for one in rows]), _ranks([one.left or 0.0 for one in rows])]
    if len(rows) < 3 or any(rank.std() == 0 for rank in ranks):
        return math.nan
    return float(np.corrcoef(*ranks)[0, 1])


def _ranks(values: Sequence[float]) -> np.ndarray:
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(count) - (count - 1) / 2)[place]


def with_one_person(scores: Iterable[RehearsalScore]) -> dict[int, list[RehearsalScore]]:
    """The talks by seed: the people of one seed have one floor."""
    found: dict[int, list[RehearsalScore]] = defaultdict(list)
    for one in scores:
        found[one.seed].append(one)
    return found


def by_player(scores: Iterable[RehearsalScore]) -> dict[str, list[RehearsalScore]]:
    """The talks of each player."""
    found: dict[str, list[RehearsalScore]] = {name: [] for name in PLAYERS}
    for one in scores:
        found[one.player].append(one)
    return found


def _lines(scores: Sequence[RehearsalScore]) -> Iterator[str]:
    yield "| Player | Talks | Score | ± | Deals |\n|---|---:|---:|---:|---:|"
    players = by_player(scores)
    for name, found in players.items():
        values = [one.score for one in found]
        error = stdev(values) / math.sqrt(len(values))
        deals = 100 * fmean(one.deal for one in found)
        yield f"| {name} | {len(found)} | {fmean(values):.1f} | {error:.1f} | {deals:.0f} % |"
    yield "\n| One against the next, same people | Difference | ± |\n|---|---:|---:|"
    for one, other in pairwise(players):
        gaps = [a.score - b.score for a, b in zip(players[one], players[other], strict=True)]
        yield f"| {one} – {other} | {fmean(gaps):+.1f} | {stdev(gaps) / math.sqrt(len(gaps)):.1f} |"
    yield "\n| Case | All talks | Deals | With one person | Deals |\n|---|---:|---:|---:|---:|"
    for name, found in by_case(scores).items():
        deals = [one for one in found if one.deal]
        values = (spearman(found), spearman(deals), alone(found), alone(deals))
        yield f"| {name} | {' | '.join(f'{value:.3f}' for value in values)} |"


def by_case(scores: Iterable[RehearsalScore]) -> dict[str, list[RehearsalScore]]:
    """The talks of each case."""
    found: dict[str, list[RehearsalScore]] = defaultdict(list)
    for one in scores:
        found[one.case].append(one)
    return found


def alone(scores: Iterable[RehearsalScore]) -> float:
    """The mean over the people of one case of the correlation over the talks with one of them."""
    values = [spearman(rows) for rows in with_one_person(scores).values()]
    known = [value for value in values if not math.isnan(value)]
    return fmean(known) if known else math.nan


def faults(scores: Sequence[RehearsalScore]) -> list[str]:
    """What does not hold: the order of the players, and the correlation within each case."""
    means = {name: fmean(one.score for one in rows) for name, rows in by_player(scores).items()}
    found = [
        f"{one} {means[one]:.1f} is not above {other} {means[other]:.1f}"
        for one, other in pairwise(means)
        if means[one] <= means[other]
    ]
    for name, rows in by_case(scores).items():
        for talks, value in (("all talks", spearman(rows)), ("one person", alone(rows))):
            if not value <= LEAST_CORRELATION:
                found.append(f"{name}: correlation over {talks} {value:.3f}")
    return found


def main() -> None:
    """Play, and print the tables and what does not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", action="append", choices=case_names())
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    names = asked.case or case_names()
    with ProcessPoolExecutor(asked.jobs) as pool:
        parts = list(pool.map(_one_case, names, [asked.seeds] * len(names)))
    scores = [one for part in parts for one in part]
    sys.stdout.write("\n".join(_lines(scores)) + "\n")
    sys.stdout.write("\n".join(["", "Does not hold:", *(faults(scores) or ["nothing"])]) + "\n")


def _one_case(name: str, seeds: int) -> list[RehearsalScore]:
    return rehearse_all([name], range(1, seeds + 1))


if __name__ == "__main__":
    main()
