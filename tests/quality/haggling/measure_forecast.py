"""How near the forecast of the final price comes, in talks of scripted people, and how often its interval holds.

`python -m tests.quality.haggling.measure_forecast` prints the tables. Talks of even seeds set the intervals
(`--calibrate` prints them as the rows of `RESIDUALS`), talks of odd seeds are measured. The user follows five advisers
in turn; talks in which one of these takes a price beyond the user's limit do not count. With noise, each amount is
misheard by a normal error of 1 %, and one offer in ten is not recorded.
"""

import argparse
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from random import Random
from statistics import fmean
from typing import Final

import numpy as np

from negotiator.advice.expected_price import price_talk
from negotiator.advice.forecast import LEVEL, RESIDUALS, UNLIMITED_RESIDUALS, ForecastReach, PriceTalk, forecast_reach
from negotiator.advice.leverage.concessions import LedgerOffer
from negotiator.negotiations.offer_history import ledger_offers
from negotiator.rehearsals.counterpart.person import KINDS
from negotiator.terms.issues import Issue, coordinate
from tests.bench.haggling.advisers import ADVISERS
from tests.bench.haggling.play import Talk, case_names, load_case, play

SEEDS: Final = 40
FOLLOWED: Final = ("people", "middle", "people_firm", "path", "people_cooperative")
COUNTS: Final = (0, 2, 4, 6)
"""Offers seen when the forecast is measured."""
MISHEARD: Final = 0.01
UNRECORDED: Final = 0.1
SHARES: Final = tuple(round(0.02 * place, 2) for place in range(51))
"""Shares of the way to an end that calibration tries."""
SAME: Final = 1e-9
"""Amounts that differ by less are the same."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A talk as it stood after so many offers, and how it ended: `deal` is a cost to the user, like all figures.

    `span` is the distance between the first offers of the two sides.
    """

    case: str
    kind: str
    seed: int
    offers: int
    talk: PriceTalk
    reach: ForecastReach
    deal: float
    span: float


def moments(seeds: Iterable[int], *, noise: bool) -> Iterator[Moment]:
    """Every moment of the talks that end with a deal inside the user's limit and in which both sides named a price."""
    listed = list(seeds)
    for name in case_names():
        for kind in KINDS:
            for seed in listed:
                talk = play(load_case(name), kind, seed, ADVISERS[FOLLOWED[seed // 2 % 5]])
                yield from _moments(talk, noise=noise)


def _moments(talk: Talk, *, noise: bool) -> Iterator[Moment]:
    terms, issue = talk.case.terms, talk.case.terms.price
    if issue is None or talk.deal is None:
        return
    sign = 1 if issue.direction == "lower" else -1
    deal = coordinate("money", talk.deal[issue.name])
    rows = [row for row in ledger_offers(talk.ledger) if issue.name in row.package]
    whole = price_talk(terms, rows)
    if deal is None or whole is None or not whole.has_both:
        return
    span = abs(whole.theirs[0] - whole.mine[0])
    if whole.limit is not None and sign * float(deal) > whole.limit + SAME:
        return
    if noise:
        rng = Random(f"{talk.case.name} {talk.person.kind} {talk.seed}")  # noqa: S311
        rows = [_misheard(row, issue, rng) for row in rows if rng.random() > UNRECORDED]
    for count in range(len(rows) + 1):
        found = price_talk(terms, rows[:count])
        reach = None if found is None else forecast_reach(found)
        if found is not None and reach is not None and span:
            yield Moment(talk.case.name, talk.person.kind, talk.seed, count, found, reach, sign * float(deal), span)


def without_limit(found: Iterable[Moment]) -> list[Moment]:
    """The same moments, with the user's limit not known to the forecast."""
    silent = [replace(one, talk=replace(one.talk, limit=None)) for one in found]
    return [replace(one, reach=reach) for one in silent if (reach := forecast_reach(one.talk)) is not None]


def _misheard(row: LedgerOffer, issue: Issue, rng: Random) -> LedgerOffer:
    amount = coordinate("money", row.package[issue.name]) or Decimal(0)
    heard = round(amount * Decimal(repr(1 + rng.gauss(0, MISHEARD))), 2)
    return replace(row, package={**row.package, issue.name: heard})


# Calibration


def residuals(found: Sequence[Moment]) -> tuple[tuple[float, float], ...]:
    """The rows of `RESIDUALS`: for each number of offers how far to both ends the interval has to reach.

    Of all pairs that hold the conformal share of the deals, the one with the narrowest interval on average.
    """
    last = len(RESIDUALS) - 1
    return tuple(_narrowest([one for one in found if min(one.offers, last) == count]) for count in range(last + 1))


def _narrowest(found: Sequence[Moment]) -> tuple[float, float]:
    reaches = [one.reach for one in found]
    spans = np.array([one.span for one in found])
    gone = np.array([one.deal - reach.median for one, reach in zip(found, reaches, strict=True)])
    ways = [
        np.array([abs(end - reach.median) for reach, end in zip(reaches, ends, strict=True)])
        for ends in ([one.best for one in reaches], [one.worst for one in reaches])
    ]
    wanted = math.ceil((len(found) + 1) * LEVEL)
    pairs = [
        (float(np.mean((down * ways[0] + up * ways[1]) / spans)), down, up)
        for down in SHARES
        for up in SHARES
        if np.sum((gone >= -down * ways[0] - SAME) & (gone <= up * ways[1] + SAME)) >= wanted
    ]
    _, down, up = min(pairs, default=(0.0, 1.0, 1.0))
    return down, up


# Measurement


def interval(one: Moment, rows: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The ends of the forecast with these rows of residuals."""
    reach, (down, up) = one.reach, rows[min(one.offers, len(rows) - 1)]
    return (reach.median - down * (reach.median - reach.best), reach.median + up * (reach.worst - reach.median))


def holds(one: Moment, rows: Sequence[tuple[float, float]]) -> bool:
    """Whether the talk ended inside the interval."""
    low, high = interval(one, rows)
    return low - SAME <= one.deal <= high + SAME


def baselines(talk: PriceTalk) -> Mapping[str, float]:
    """Simple forecasts. A side that has not spoken is taken to stand where it is expected to open."""
    mine = talk.mine or (talk.best if talk.aim is None else talk.aim,)
    theirs = talk.theirs or (talk.worst if talk.ask is None else talk.ask,)
    middle = (mine[-1] + theirs[-1]) / 2
    return {
        "midpoint of first offers": (mine[0] + theirs[0]) / 2,
        "midpoint of last offers": middle,
        "the same, not past the limit": middle if talk.limit is None else min(middle, talk.limit),
    }


def table(title: str, found: Sequence[Moment]) -> list[str]:
    """Errors and coverage by the number of offers seen, in Markdown."""
    lines = [
        f"| {title} | offers | talks | error, share of the span | error, share of the price | inside | width |",
        "|:--|--:|--:|--:|--:|--:|--:|",
    ]
    for count in COUNTS:
        here = [one for one in found if one.offers == count]
        rows = UNLIMITED_RESIDUALS if title == "no limit named" else RESIDUALS
        ends = [interval(one, rows) for one in here]
        inside = fmean(holds(one, rows) for one in here)
        width = fmean((high - low) / one.span for one, (low, high) in zip(here, ends, strict=True))
        lines.append(
            f"| forecast | {count} | {len(here)} | {_errors([(one, one.reach.median) for one in here])} | "
            f"{100 * inside:.0f} % | {width:.2f} |"
        )
        for name in baselines(here[0].talk):
            pairs = [(one, baselines(one.talk)[name]) for one in here]
            lines.append(f"| {name} | {count} | {len(here)} | {_errors(pairs)} | | |")
    return lines


def _errors(pairs: Sequence[tuple[Moment, float]]) -> str:
    of_span = fmean(abs(said - one.deal) / one.span for one, said in pairs)
    of_price = fmean(abs(said - one.deal) / abs(one.deal) for one, said in pairs)
    return f"{of_span:.3f} | {100 * of_price:.1f} %"


def coverage_of_new_cases(tuned: Sequence[Moment], held: Sequence[Moment]) -> Mapping[int, float]:
    """The share of deals inside the interval when it is set without the talks of the same case, by offers seen."""
    hits: dict[int, list[bool]] = {count: [] for count in COUNTS}
    for name in case_names():
        rows = residuals([one for one in tuned if one.case != name])
        for one in held:
            if one.case != name or one.offers not in hits:
                continue
            hits[one.offers].append(holds(one, rows))
    return {count: fmean(one) for count, one in hits.items() if one}


def main() -> None:
    """Play and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--calibrate", action="store_true")
    asked = parser.parse_args()
    even, odd = range(0, asked.seeds, 2), range(1, asked.seeds, 2)
    tuned = [one for noise in (False, True) for one in moments(even, noise=noise)]
    if asked.calibrate:
        for name, found in (("RESIDUALS", tuned), ("UNLIMITED_RESIDUALS", without_limit(tuned))):
            print(name, *residuals(found), sep="\n    ")  # noqa: T201
        return
    clean, noisy = (list(moments(odd, noise=noise)) for noise in (False, True))
    shown = {"as it was": clean, "with noise": noisy, "no limit named": without_limit(clean)}
    for title, found in shown.items():
        print("\n".join([*table(title, found), ""]))  # noqa: T201
    new = coverage_of_new_cases(tuned, [*clean, *noisy])
    told = ", ".join(f"{100 * share:.0f} % after {count}" for count, share in new.items())
    print(f"\nInside, with the interval set by the other cases alone: {told} offers.")  # noqa: T201


if __name__ == "__main__":
    main()
