"""How each adviser does with scripted people: `python -m tests.bench.haggling.measure` prints the tables.

The same case, kind and seed meet every adviser with the same person. A share of the room is the part of what lies
between the user's walk-away and the best package for the user that the person would still sign, both within the
user's limits; a talk without a deal has the share 0. Talks without any room are counted apart: the right end is no
deal.
"""

import argparse
import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from statistics import fmean
from typing import Final

import numpy as np

from negotiator.rehearsals.counterpart.interests import Stake
from negotiator.rehearsals.counterpart.person import Person
from negotiator.terms.issues import UNORDERED_TYPES, Issue, Package, Scalar, coordinate, same_value, values_of, worth_of
from negotiator.terms.limits import within_limit
from negotiator.terms.terms import Terms
from negotiator.terms.utility import package_utility, utility_of_worth
from tests.bench.haggling.advisers import ADVISERS, floor_of, keeps_limits, last_packages
from tests.bench.haggling.counterparts import BENCH_KINDS, BLUFFS
from tests.bench.haggling.play import Case, Talk, case_names, load_case, play

SEEDS: Final = 8
COMPARED: Final = ("middle", "path", "agents", "people")
GRID: Final = 41
FRONTIER_BINS: Final = 800
LEAST_ROOM: Final = 0.005
"""Less utility than this between the walk-away and the best signed package is no room."""
SAME: Final = 1e-9
LESS_THAN_LAST: Final = 1.02
"""A step counts as no larger than the one before up to this ratio: figures are rounded."""


@dataclass(frozen=True, slots=True)
class Score:
    """What one talk shows. `share` is None where there was no room, `outcome` without a deal.

    `outcome` runs from 0 at the walk-away to 1 at the target. Counts are of the user's own offers and their issues.
    """

    deal: bool
    share: float | None
    outcome: float | None
    below_floor: int
    taken_back: int
    limits_passed: int
    repeats: int
    offers: int
    round_figures: int
    figures: int
    shrinking: int
    steps: int
    rounds: int
    ended: str


def score(talk: Talk) -> Score:
    """What one talk shows."""
    terms = talk.case.terms
    mine = last_packages(talk.ledger, "me")
    moves = [move for move in talk.moves if move.action == "offer"]
    figures = [
        at
        for package in mine
        for issue in terms.issues
        if issue.type == "money" and (at := coordinate("money", package[issue.name])) is not None
    ]
    sizes = [
        utility(terms, one) - utility(terms, other)
        for one, other in pairwise(mine)
        if not _same_package(terms, one, other)
    ]
    room = room_of(talk.case, talk.person)
    floor = floor_of(terms)
    gained = None if talk.deal is None else utility(terms, talk.deal) - floor
    share = None if room is None else max(0.0, gained or 0.0) / room
    goal = utility_of_worth(terms.preferences, terms.target, fill="high")
    outcome = None
    if gained is not None and goal is not None and goal > floor + SAME:
        outcome = gained / (goal - floor)
    agreed = [*mine, talk.deal] if talk.ended == "accepted by the user" else mine
    return Score(
        deal=talk.deal is not None,
        share=share,
        outcome=outcome,
        below_floor=sum(not keeps_limits(terms, package) for package in agreed if package),
        taken_back=sum(
            len(_better(terms, one, other) - move.trades)
            for (one, other), move in zip(pairwise(mine), moves[1:], strict=False)
        ),
        limits_passed=sum(len(passed_limits(terms, package)) for package in agreed if package),
        repeats=sum(_same_package(terms, one, other) for one, other in pairwise(mine)),
        offers=len(mine),
        round_figures=sum(map(is_round, figures)),
        figures=len(figures),
        shrinking=sum(later <= size * LESS_THAN_LAST + SAME for size, later in pairwise(sizes)),
        steps=max(0, len(sizes) - 1),
        rounds=talk.rounds,
        ended=talk.ended,
    )


def utility(terms: Terms, package: Package) -> float:
    """What a package is worth to the user."""
    return package_utility(terms.preferences, package).low


def is_round(amount: Decimal) -> bool:
    """Whether people name such an amount: thousands in 25s, hundreds in fives, else halves, small prices in .05."""
    size = abs(amount)
    if size >= 1_000:
        return amount % 25 == 0
    if size >= 100:
        return amount % 5 == 0
    return amount % (Decimal("0.5") if size >= 20 else Decimal("0.05")) == 0


def passed_limits(terms: Terms, package: Package) -> frozenset[str]:
    """The issues on which a package is worse than the user's own limit: its value in the walk-away package."""
    return frozenset(
        issue.name
        for issue in terms.issues
        if issue.name in package and not within_own_limit(terms, issue, package[issue.name])
    )


def within_own_limit(terms: Terms, issue: Issue, value: object) -> bool:
    """Whether a value is no worse than the issue's value in the walk-away package, where it has one."""
    named = (terms.walk_away.package if terms.walk_away else None) or {}
    limit = getattr(issue, "limit", None)
    limit = named.get(issue.name) if limit is None else limit
    if limit is None:
        return True
    here, least = worth_of(issue, value, clamp=False), worth_of(issue, limit, clamp=False)
    return here is None or least is None or here >= least - SAME


def _better(terms: Terms, earlier: Package, later: Package) -> frozenset[str]:
    """The issues on which the later package is better for the user: a concession taken back."""
    found: set[str] = set()
    for issue in terms.issues:
        before, after = (worth_of(issue, p[issue.name], clamp=False) for p in (earlier, later))
        if before is not None and after is not None and after > before + SAME:
            found.add(issue.name)
    return frozenset(found)


def _same_package(terms: Terms, one: Package, other: Package) -> bool:
    return all(same_value(i.type, one[i.name], other[i.name]) for i in terms.issues)


_ROOMS: Final[dict[tuple[str, str], float | None]] = {}
"""People of one case and seed have the same floor and weights, whatever their kind."""


def room_of(case: Case, person: Person) -> float | None:
    """Utility between the user's walk-away and the best package within the user's limits that the person would sign; of
    one who never moves, the package that it names.

    None where there is no such package above the walk-away. Issues are joined one by one, with the best utility of
    the user for each level of the person's worth; levels are thinned to eight hundred.
    """
    key = (case.name, person.key)
    if person.opening_worth <= person.floor:
        terms, named = case.terms, person.opening
        room = utility(terms, named) - floor_of(terms)
        return room if room > LEAST_ROOM and keeps_limits(terms, named) and not passed_limits(terms, named) else None
    if key not in _ROOMS:
        _ROOMS[key] = _room(case.terms, person)
    return _ROOMS[key]


def _room(terms: Terms, person: Person) -> float | None:
    theirs, mine = np.zeros(1), np.full(1, terms.preferences.constant)
    for stake, issue in zip(person.interests.stakes, terms.issues, strict=True):
        listed = list(values_of(issue, GRID))
        if issue.type not in UNORDERED_TYPES:
            listed += [stake.floor, stake.ask, *_exact_floor(stake, person.floor)]
        allowed = [
            value for value in listed if within_own_limit(terms, issue, value) and within_limit(terms, issue, value)
        ]
        gain = np.array([stake.weight * stake.worth(value) for value in allowed])
        worth = np.array([issue.weight * (worth_of(issue, value) or 0.0) for value in allowed])
        theirs = (theirs[:, None] + gain[None, :]).ravel()
        mine = (mine[:, None] + worth[None, :]).ravel()
        theirs, mine = _frontier(theirs, mine)
    signed = mine[theirs >= person.floor - SAME]
    if not len(signed):
        return None
    room = float(signed.max()) - floor_of(terms)
    return room if room > LEAST_ROOM else None


def _exact_floor(stake: Stake, worth: float) -> tuple[Scalar, ...]:
    """The amount of money that is worth this much to the person, unrounded."""
    if stake.issue.type != "money":
        return ()
    floor, ask = stake.ends
    return (floor + (ask - floor) * Decimal(repr(worth)),)


def _frontier(theirs: np.ndarray, mine: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The points no other point beats on both sides, thinned to a bounded number."""
    order = np.lexsort((-mine, -theirs))
    theirs, mine = theirs[order], mine[order]
    best = np.maximum.accumulate(mine)
    kept = np.concatenate(([True], best[1:] > best[:-1]))
    theirs, mine = theirs[kept], mine[kept]
    if len(theirs) > FRONTIER_BINS:
        places = np.unique(np.linspace(0, len(theirs) - 1, FRONTIER_BINS).round().astype(int))
        theirs, mine = theirs[places], mine[places]
    return theirs, mine


COLUMNS: Final = (
    *("talks", "deals", "chance", "room got", "±", "outcome", "no room", "kept out", "rounds"),
    *("taken back", "limits", "below", "repeats", "round", "shrinks"),
)


def row(scores: Sequence[Score]) -> list[str]:
    """One line of a table: `deals` and those that chance ended are of the talks with room, `kept out` of the others."""
    with_room = [one for one in scores if one.share is not None]
    without = [one for one in scores if one.share is None]
    shares = [one.share or 0.0 for one in with_room]
    outcomes = [one.outcome for one in scores if one.outcome is not None]
    repeated = sum(max(0, one.offers - 1) for one in scores)
    return [
        str(len(scores)),
        _share(sum(one.deal for one in with_room), len(with_room)),
        _share(sum(one.ended == "ended by chance" for one in with_room), len(with_room)),
        _mean(shares),
        _error(shares),
        _mean(outcomes),
        str(len(without)),
        _share(sum(not one.deal for one in without), len(without)),
        f"{fmean(one.rounds for one in scores):.1f}",
        str(sum(one.taken_back for one in scores)),
        str(sum(one.limits_passed for one in scores)),
        str(sum(one.below_floor for one in scores)),
        _share(sum(one.repeats for one in scores), repeated),
        _share(sum(one.round_figures for one in scores), sum(one.figures for one in scores)),
        _share(sum(one.shrinking for one in scores), sum(one.steps for one in scores)),
    ]


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "–"


def _mean(values: Sequence[float]) -> str:
    return f"{fmean(values):.3f}" if values else "–"


def _error(values: Sequence[float]) -> str:
    if len(values) < 2:
        return "–"
    mean = fmean(values)
    spread = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return f"{math.sqrt(spread / len(values)):.3f}"


Key = tuple[str, str, int]
Scores = Mapping[Key, Score]


def play_all(adviser: str, cases: Iterable[Case], kinds: Sequence[str], seeds: Iterable[int]) -> dict[Key, Score]:
    """Every talk of one adviser by case, kind and seed."""
    listed = list(seeds)
    return {
        (case.name, kind, seed): score(play(case, kind, seed, ADVISERS[adviser]))
        for case in cases
        for kind in BENCH_KINDS
        if kind in kinds
        for seed in listed
    }


def print_table(title: str, rows: Mapping[str, Sequence[Score]]) -> None:
    """A table in Markdown."""
    width = max(map(len, rows))
    print(f"\n| {title.ljust(width)} | {' | '.join(COLUMNS)} |")
    print(f"|{'-' * (width + 2)}|{'---:|' * len(COLUMNS)}")
    for name, scores in rows.items():
        print(f"| {name.ljust(width)} | {' | '.join(row(scores))} |")


def print_pairs(found: Mapping[str, Scores], against: str) -> None:
    """The mean difference in the share of the room, talk by talk, with its standard error."""
    print(f"\n{against} against the others on the same people (room got, paired)")
    for name, others in found.items():
        if name == against:
            continue
        gaps = [
            (one.share or 0.0) - (others[key].share or 0.0)
            for key, one in found[against].items()
            if one.share is not None
        ]
        print(f"  {name}: {fmean(gaps):+.3f} ± {_error(gaps)} in {len(gaps)} talks")


def print_gains(scores: Scores) -> None:
    """What a false "final" brings those who say it, in shares of the room, beside the honest person of the same talk.

    Their share is what a deal leaves of the room, and 0 without a deal.
    """
    for kind in BLUFFS:
        pairs = [(one, scores[name, "fair", seed]) for (name, of, seed), one in scores.items() if of == kind]
        gains = [_theirs(one) - _theirs(honest) for one, honest in pairs if one.share is not None]
        losses = [(one.share or 0.0) - (honest.share or 0.0) for one, honest in pairs if one.share is not None]
        shown = f"{fmean(gains):+.3f} ± {_error(gains)} to them, {fmean(losses):+.3f} ± {_error(losses)} to the user"
        print(f"  {kind} beside fair: {shown}, {len(gains)} talks")


def _theirs(one: Score) -> float:
    return 1.0 - (one.share or 0.0) if one.deal else 0.0


def grouped(scores: Scores, by: Callable[[Key], str]) -> dict[str, list[Score]]:
    """The scores by a part of their key."""
    found: dict[str, list[Score]] = defaultdict(list)
    for key, one in scores.items():
        found[by(key)].append(one)
    return found


def show_talk(talk: Talk) -> None:
    """The talk as it went, line by line."""
    print(f"\n{talk.case.name}, {talk.person.kind}, seed {talk.seed}")
    for one in talk.ledger:
        shown = ", ".join(f"{name} {value}" for name, value in (one.package or {}).items())
        print(f"  {one.side:>4} {one.kind:<10} {shown}   {one.content['rationale'] or ''}")
    print(f"  {talk.ended}: {talk.last_words} {talk.deal and dict(talk.deal)}; {score(talk)}")


def main() -> None:
    """Play and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--adviser", action="append", choices=list(ADVISERS))
    parser.add_argument("--case", action="append", choices=case_names())
    parser.add_argument("--kind", action="append", choices=list(BENCH_KINDS))
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--no-end", action="store_true", help="without max_rounds and deadline")
    parser.add_argument("--by-case-and-kind", action="store_true")
    parser.add_argument("--talks", action="store_true", help="print every talk")
    asked = parser.parse_args()
    cases = [load_case(name) for name in asked.case or case_names()]
    cases = [case.without_end() for case in cases] if asked.no_end else cases
    kinds, seeds = asked.kind or BENCH_KINDS, range(asked.first_seed, asked.first_seed + asked.seeds)
    found: dict[str, Scores] = {}
    for name in asked.adviser or COMPARED:
        if asked.talks:
            for case in cases:
                for kind in kinds:
                    for seed in seeds:
                        show_talk(play(case, kind, seed, ADVISERS[name]))
            continue
        started = time.perf_counter()
        found[name] = scores = play_all(name, cases, kinds, seeds)
        print(f"\n## {name} ({time.perf_counter() - started:.0f} s)")
        moving = [one for (_, kind, _), one in scores.items() if kind != "never_moves"]
        print_table("kind", {**grouped(scores, lambda key: key[1]), "all who move": moving})
        if {"fair", *BLUFFS} <= {*kinds}:
            print_gains(scores)
        print_table("case", grouped(scores, lambda key: key[0]))
        if asked.by_case_and_kind:
            print_table("case and kind", grouped(scores, lambda key: f"{key[0]} {key[1]}"))
    if len(found) > 1:
        print_table("adviser", {name: [*scores.values()] for name, scores in found.items()})
        print_pairs(found, list(found)[-1])


if __name__ == "__main__":
    main()
