"""Whether the counterpart of rehearsals bargains within what was seen of people.

`python -m tests.bench.rehearsal.realism` prints each figure beside the published range and its source, for every kind
and hardness. Ranges are wide on purpose: they span markets, laboratories and populations, and nothing is fitted to a
point. A kind may leave the range of the one habit that it is made of; `BY_NATURE` names those.
"""

import argparse
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, median
from typing import Final

import numpy as np
from numpy.typing import NDArray

from negotiator.rehearsals.counterpart.person import HARDNESSES, KINDS, Hardness, PersonKind
from negotiator.terms.issues import Package, coordinate
from tests.bench.haggling.play import case_names
from tests.bench.rehearsal.human_users import STYLES, RehearsedTalk, line_of, rehearse

SEEDS: Final = 28
SAME: Final = 1e-9
SPLIT: Final = 0.1
"""An offer splits the difference when it closes the half of the gap, give or take this share."""
LARGE: Final = 1000


@dataclass(frozen=True, slots=True)
class HumanRange:
    """A figure of talks, and the range that published talks of people span."""

    name: str
    low: float
    high: float
    source: str
    of: Callable[[Sequence[RehearsedTalk]], float]

    def holds(self, found: float) -> bool:
        """Whether a value lies within the range."""
        return self.low <= found <= self.high


def price_of(talk: RehearsedTalk, package: Package | None) -> float | None:
    """The price of a package, signed so that more is better for the counterpart."""
    price = talk.terms.price
    at = None if price is None or package is None else coordinate("money", package[price.name])
    return None if at is None or price is None else float(at) * _sign(talk)


def _sign(talk: RehearsedTalk) -> int:
    return 1 if talk.terms.price and talk.terms.price.direction == "lower" else -1


def has_room(talk: RehearsedTalk) -> bool:
    """Whether the counterpart would sign a package on the line of what the user considers."""
    line, worth = line_of(talk.case), talk.person.interests.worth
    return any(worth(line.package(share / 20)) >= talk.person.floor for share in range(21))


def deals(talks: Sequence[RehearsedTalk]) -> float:
    """The share of talks with room that end with a deal."""
    return fmean(talk.deal is not None for talk in talks if has_room(talk))


def offers(talks: Sequence[RehearsedTalk]) -> float:
    """The median number of figures that both sides name in a talk with a deal."""
    return median(len(talk.offers) for talk in talks if talk.deal is not None)


def turns(talks: Sequence[RehearsedTalk]) -> float:
    """The mean number of turns of both sides."""
    return fmean(talk.turns for talk in talks)


def walk_outs(talks: Sequence[RehearsedTalk]) -> float:
    """The share of talks that the counterpart leaves."""
    return fmean(talk.deal is None and talk.ended == "them" for talk in talks)


def immediate(talks: Sequence[RehearsedTalk]) -> float:
    """The share of talks that end with the answer to the first offer."""
    return fmean(len(talk.offers) <= 2 and talk.deal is not None for talk in talks)


def ask_distance(talks: Sequence[RehearsedTalk]) -> float:
    """The median distance of the first price from the own floor, as a share of that floor."""
    found: list[float] = []
    for talk in talks:
        first = price_of(talk, talk.person.opening)
        floor = price_of(talk, talk.person.interests.floor)
        if first is not None and floor:
            found.append((first - floor) / abs(floor))
    return median(found)


def first_gap(talks: Sequence[RehearsedTalk]) -> float:
    """The median distance between the first prices of both sides, as a share of their middle."""
    found: list[float] = []
    for talk in talks:
        mine, theirs = (price_of(talk, talk.of(side)[0]) for side in ("me", "them"))
        if mine is not None and theirs is not None and mine + theirs:
            found.append(2 * (theirs - mine) / abs(mine + theirs))
    return median(found)


@dataclass(frozen=True, slots=True)
class Step:
    """One offer of the counterpart's after its first: worth given up, the gap before, the user's step before it."""

    size: float
    gap: float
    answered: float


def steps_of(talk: RehearsedTalk) -> list[Step]:
    """The counterpart's steps in one talk, in its own measure."""
    worth = talk.person.interests.worth
    found: list[Step] = []
    own: float | None = None
    theirs: list[float] = []
    for by, package in talk.offers:
        value = worth(package)
        if by == "me":
            theirs.append(value)
            continue
        if own is not None and theirs:
            moved = theirs[-1] - theirs[-2] if len(theirs) > 1 else 0.0
            found.append(Step(own - value, own - theirs[-1], moved))
        own = value
    return found


def _steps(talks: Iterable[RehearsedTalk]) -> list[Step]:
    return [step for talk in talks for step in steps_of(talk)]


def step_share(talks: Sequence[RehearsedTalk]) -> float:
    """The median step as a share of the gap to the other side's last offer, of offers that move."""
    return median(s.size / s.gap for s in _steps(talks) if s.size > SAME and s.gap > SAME)


def _ratios(talks: Sequence[RehearsedTalk]) -> list[float]:
    sizes = [[step.size for step in steps_of(talk) if step.size > SAME] for talk in talks]
    return [later / earlier for listed in sizes for earlier, later in pairwise(listed)]


def shrinkage(talks: Sequence[RehearsedTalk]) -> float:
    """The median ratio of a step to the one before."""
    return median(_ratios(talks))


def no_larger(talks: Sequence[RehearsedTalk]) -> float:
    """The share of steps that are no larger than the one before."""
    return fmean(ratio <= 1 + SAME for ratio in _ratios(talks))


def repeats(talks: Sequence[RehearsedTalk]) -> float:
    """The share of offers that repeat the own one before."""
    return fmean(abs(step.size) <= SAME for step in _steps(talks))


def splits(talks: Sequence[RehearsedTalk]) -> float:
    """The share of counter-offers that close about half of the gap."""
    return fmean(abs(s.size / s.gap - 0.5) <= SPLIT for s in _steps(talks) if s.gap > SAME)


def reciprocity(talks: Sequence[RehearsedTalk]) -> float:
    """The rank correlation of a step with the other side's step before it, both as shares of the gap."""
    found = [s for s in _steps(talks) if s.answered > SAME and s.gap > SAME and s.size > -SAME]
    return rank_correlation([s.size / s.gap for s in found], [s.answered / (s.gap + s.answered) for s in found])


def deal_place(talks: Sequence[RehearsedTalk]) -> float:
    """Where the deal lies between the limits of both sides where price is all: 1 is the user's limit."""
    found: list[float] = []
    for talk in talks:
        if len(talk.terms.issues) > 1:
            continue
        floor = price_of(talk, talk.person.interests.floor)
        end = price_of(talk, line_of(talk.case).package(1.0))
        deal = price_of(talk, talk.deal)
        if floor is not None and end is not None and deal is not None and end - floor > 0:
            found.append((deal - floor) / (end - floor))
    return median(found)


def _first_and_deal(talks: Sequence[RehearsedTalk], side: str) -> float:
    """Correlation of a first price with the price agreed within a case, where price is all."""
    by_case: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for talk in talks:
        first, deal = price_of(talk, talk.of(side)[0]), price_of(talk, talk.deal)
        if first is not None and deal is not None and len(talk.terms.issues) == 1:
            by_case[talk.case].append((first, deal))
    pairs = [_standard(np.array(rows)) for rows in by_case.values() if len(rows) > 4]
    if not pairs:
        return 0.0
    whole = np.concatenate(pairs)
    return float(np.corrcoef(whole[:, 0], whole[:, 1])[0, 1])


def _standard(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    spread = rows.std(axis=0)
    return (rows - rows.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def own_anchor(talks: Sequence[RehearsedTalk]) -> float:
    """Correlation of the counterpart's first price, which is the first of the talk, with the deal."""
    return _first_and_deal(talks, "them")


def user_anchor(talks: Sequence[RehearsedTalk]) -> float:
    """Correlation of the user's first price with the deal."""
    return _first_and_deal(talks, "me")


def rounding(talks: Sequence[RehearsedTalk]) -> float:
    """The share of prices of a thousand and more that are divisible by 25."""
    found = [
        abs(at)
        for talk in talks
        for package in talk.of("them")
        if (at := price_of(talk, package)) is not None and abs(at) >= LARGE
    ]
    return fmean(at % 25 == 0 for at in found)


def rank_correlation(one: Sequence[float], other: Sequence[float]) -> float:
    """Spearman's correlation; ties in order of appearance."""
    ranks = [np.argsort(np.argsort(np.array(values), kind="stable")) for values in (one, other)]
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


RANGES: Final = (
    HumanRange(
        "deals, of talks with room",
        0.5,
        0.98,
        "17–24 % of pairs with gains fail (Larsen 2021, 265,000 car sales); "
        "50–83 % of coached talks agree (Zhou et al. 2019); 1,005 of 1,030 (CaSiNo)",
        deals,
    ),
    HumanRange(
        "figures named until a deal",
        3,
        12,
        "median 3 (CraigslistBargain); one third of talks at once, the rest over several offers (Backus et al. 2020)",
        offers,
    ),
    HumanRange(
        "turns of both sides",
        4,
        14,
        "mean 11.6 (CaSiNo), 9.2 (He et al. 2018, recalled), 6.6 (Lewis et al. 2017, recalled)",
        turns,
    ),
    HumanRange("left by the counterpart", 0.02, 0.35, "failures above; one side or the other leaves", walk_outs),
    HumanRange(
        "agreed on the first counter-offer",
        0.0,
        0.35,
        "at most the one third of eBay (Backus et al. 2020), where the asking price stood before",
        immediate,
    ),
    HumanRange(
        "first price from own floor",
        0.06,
        0.35,
        "deals lie 8–25 % off list (quartiles of six markets, CraigslistBargain), the floor beyond the deal",
        ask_distance,
    ),
    HumanRange(
        "first prices from each other",
        0.1,
        0.5,
        "buyers open at 75 % of list, sellers at 87 % and more (CraigslistBargain)",
        first_gap,
    ),
    HumanRange(
        "step, share of the gap",
        0.1,
        0.5,
        "one half is the most frequent counter-offer (Backus et al. 2020; Keniston et al. 2021), smaller steps else",
        step_share,
    ),
    HumanRange(
        "step to the step before",
        0.3,
        0.95,
        "median .5 (CraigslistBargain); steps diminish (Tey et al. 2021: not with everybody)",
        shrinkage,
    ),
    HumanRange("steps no larger than the last", 0.6, 0.95, "77 % (CraigslistBargain)", no_larger),
    HumanRange(
        "answers step with step",
        0.05,
        0.75,
        "concessions are reciprocal (Backus et al. 2020); partner effects in some settings "
        "(doi 10.1007/s10726-015-9441-y)",
        reciprocity,
    ),
    HumanRange("repeats its own figure", 0.01, 0.2, "6 % (CraigslistBargain)", repeats),
    HumanRange(
        "splits the difference", 0.04, 0.5, "the most frequent share in seven settings (Keniston et al. 2021)", splits
    ),
    HumanRange(
        "deal, from own floor to their limit",
        0.3,
        0.7,
        "near the middle on average; first mover ahead (Galinsky and Mussweiler 2001)",
        deal_place,
    ),
    HumanRange(
        "first price of the talk and deal, r",
        0.25,
        0.9,
        ".50 (Orr and Guthrie 2006, meta-analysis), .30–.52 (CraigslistBargain)",
        own_anchor,
    ),
    HumanRange(
        "first price of the user and deal, r", 0.1, 0.9, "the same; said second here, it pulls less", user_anchor
    ),
    HumanRange("round prices", 0.8, 1.0, "88 % divisible by 25 (CraigslistBargain, prices from 1,000)", rounding),
)
BY_NATURE: Final[Mapping[str, frozenset[str]]] = {
    "stubborn": frozenset(
        {
            "step, share of the gap",
            "step to the step before",
            "steps no larger than the last",
            "splits the difference",
            "repeats its own figure",
            "deal, from own floor to their limit",
        }
    ),
    "extreme_anchor": frozenset(
        {
            "first price from own floor",
            "first prices from each other",
            "first price of the talk and deal, r",
            "deal, from own floor to their limit",
        }
    ),
    "hard": frozenset({"deal, from own floor to their limit", "splits the difference"}),
}
"""The habits that make a kind or a hardness what it is."""


def talks_of(
    kinds: Iterable[PersonKind], hardnesses: Iterable[Hardness], seeds: Iterable[int], cases: Sequence[str] = ()
) -> list[RehearsedTalk]:
    """Talks over these cases, or all; the styles of users take turns."""
    styles, listed = list(STYLES), list(seeds)
    played = (
        rehearse(case, kind, hardness, seed, styles[(seed + place) % len(styles)])
        for kind in kinds
        for hardness in hardnesses
        for place, case in enumerate(cases or case_names())
        for seed in listed
    )
    return [talk for talk in played if talk is not None]


def measured(talks: Sequence[RehearsedTalk]) -> dict[str, float]:
    """Each figure of these talks."""
    return {figure.name: figure.of(talks) for figure in RANGES}


def outside(kind: PersonKind, hardness: Hardness, found: Mapping[str, float]) -> dict[str, float]:
    """The figures out of range that the kind and the hardness do not explain."""
    allowed = BY_NATURE.get(kind, frozenset()) | BY_NATURE.get(hardness, frozenset())
    return {
        figure.name: found[figure.name]
        for figure in RANGES
        if figure.name not in allowed and not figure.holds(found[figure.name])
    }


def main() -> None:
    """Play and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    seeds = range(parser.parse_args().seeds)
    cells = {(k, h): talks_of([k], [h], seeds) for k in KINDS for h in HARDNESSES}
    everyone = [talk for talks in cells.values() for talk in talks]
    found = {key: measured(talks) for key, talks in cells.items()}
    columns: dict[str, dict[str, float]] = {"all": measured(everyone)}
    for kind in KINDS:
        columns[kind] = measured([talk for h in HARDNESSES for talk in cells[kind, h]])
    for hardness in HARDNESSES:
        columns[hardness] = measured([talk for kind in KINDS for talk in cells[kind, hardness]])
    lines = [
        f"{len(everyone)} talks, {len(everyone) // len(cells)} of each kind and hardness.",
        "",
        f"| Figure | People | {' | '.join(columns)} |",
        f"|:--|--:|{'--:|' * len(columns)}",
    ]
    for figure in RANGES:
        shown = [column[figure.name] for column in columns.values()]
        marked = (f"{one:.2f}" if figure.holds(one) else f"*{one:.2f}*" for one in shown)
        lines.append(f"| {figure.name} | {figure.low:g} to {figure.high:g} | {' | '.join(marked)} |")
    lines += ["", "| Figure | Source of the range |", "|:--|:--|"]
    lines += [f"| {figure.name} | {figure.source} |" for figure in RANGES]
    odd = {key: left for key, cell in found.items() if (left := outside(*key, cell))}
    lines += ["", f"Out of range without being the nature of the kind: {odd or 'none'}"]
    print("\n".join(lines))


if __name__ == "__main__":
    main()
