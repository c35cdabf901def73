"""How much utility to ask for now: the best plan for the remaining rounds under the opponent model.

A plan is a falling path of targets. Each path is simulated on the estimated frontier for every hypothesis about the
other side. The path with the highest expected gain over the reservation utility gives the present target and the
expected value of continuing (optimal stopping). The plan is recomputed every turn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from negotiator.advice.strategy.candidate_packages import CandidatePackages
from negotiator.advice.strategy.demand import (
    RecalledOffer,
    expected_last_offer,
    least_accepted,
    recalled_offer,
    silent_end_chance,
)
from negotiator.advice.strategy.opponent_model import OpponentModel, acceptance
from negotiator.advice.strategy.preference_prior import Floats, Indices
from negotiator.advice.strategy.situation import OfferValues, StrategySituation

FRONTIER_LEVELS = 61
CLOSING_OFFERS = 1  # last offers that are chosen by their own expected gain instead of by the path
MAX_CLOSING_CANDIDATES = 2000
TARGET_LEVELS = 10
MAX_PATH_POINTS = 16
HOLD_EXPONENT = {"balanced": 4.0, "firm": 8.0, "cooperative": 2.0}
FRONTIER_TRUST = 0.6  # of the chosen packages, the best of many, how many are as good for them as estimated
PATH_SHAPES = (0.15, 0.6)
UNSEEN_SHARE = 0.35  # of the most that they could give, what is expected of somebody who has made no offer yet
STYLE_SHIFT = {"balanced": 0.0, "firm": 0.04, "cooperative": -0.04}


@dataclass(frozen=True, slots=True)
class TargetPlan:
    """`target` is the utility to ask for now, `value` the expected utility of not accepting now.

    `chance` is the probability that this offer is accepted. `offer` is the package to propose, set only for the last
    offer that the other side will answer.
    """

    target: float
    value: float
    chance: float
    offer: OfferValues | None = None


@dataclass(frozen=True, slots=True)
class BelievedFrontier:
    """For falling levels of my utility, the package that they should like best at that level or above.

    `worth` is their utility, hypotheses by levels; `gains` is my utility above the reservation utility.
    """

    levels: Floats
    gains: Floats
    worth: Floats

    def at(self, levels: Floats) -> Indices:
        """Positions of the lowest frontier level at or above each of `levels`."""
        found = np.searchsorted(-self.levels, -levels + 1e-9, side="right") - 1
        return np.clip(found, 0, len(self.levels) - 1)


def believed_frontier(packages: CandidatePackages, belief: OpponentModel) -> BelievedFrontier:
    """The estimated efficient frontier at and above the reservation utility."""
    floor = packages.situation.my_preferences.reservation_utility
    inside = np.flatnonzero(packages.mine >= floor)
    mine = packages.mine[inside]
    levels = np.linspace(float(mine.max()), max(floor, float(mine.min())), FRONTIER_LEVELS)
    chosen = inside[best_per_level(mine, packages.theirs[inside], levels)]
    return BelievedFrontier(levels, packages.mine[chosen] - floor, belief.worth(packages.rows(chosen)))


def best_per_level(mine: Floats, theirs: Floats, levels: Floats) -> Indices:
    """For each falling level, the position with the highest `theirs` whose `mine` reaches it; then the highest `mine`.

    Sorting a million packages by both takes 20 times as long as dividing them among the levels.
    """
    level_of = np.searchsorted(-levels + 1e-9, -mine, side="left")
    best = np.full(len(levels), -np.inf)
    np.maximum.at(best, level_of, theirs)
    best_so_far = np.maximum.accumulate(best)
    tied = np.flatnonzero(theirs == best[level_of])
    most = np.full(len(levels), -np.inf)
    np.maximum.at(most, level_of[tied], mine[tied])
    tied = tied[mine[tied] == most[level_of[tied]]][::-1]
    position = np.zeros(len(levels), dtype=np.intp)
    position[level_of[tied]] = tied
    return position[np.searchsorted(best_so_far, best_so_far, side="left")]


def plan_target(situation: StrategySituation, packages: CandidatePackages, belief: OpponentModel) -> TargetPlan:
    """The plan with the best expected outcome. At least one package must reach the reservation utility."""
    floor = situation.my_preferences.reservation_utility
    edge = believed_frontier(packages, belief)
    recalled = recalled_offer(situation, belief)
    top = float(edge.levels[0])
    low = floor if recalled is None else recalled.my_utility
    low = min(top, max(low, float(edge.levels[-1])))
    left = max(1, situation.offers_left)
    times = _times(situation, left)
    paths = _paths(low, top, len(times))
    spots = edge.at(paths)
    yes = _chance(edge.worth[:, spots] - least_accepted(situation, belief, times)[:, None, :])
    gains_of = edge.gains[spots]
    if recalled is not None:
        again = paths <= low + 1e-9
        yes = np.where(again[None, :, :], recalled.chance, yes)
        gains_of = np.where(again, recalled.my_utility - floor, gains_of)
    fallback = _fallback(situation, edge, belief)
    gains, survive = np.zeros(yes.shape[:2]), np.ones(yes.shape[:2])
    for k in range(len(times)):
        gains += survive * yes[:, :, k] * gains_of[None, :, k]
        survive = survive * (1.0 - yes[:, :, k])
    gains += survive * fallback[:, None]
    expected = gains.mean(axis=0)
    best = int(np.flatnonzero(expected >= expected.max() - 1e-9)[0])
    target = float(paths[best, 0]) + STYLE_SHIFT[situation.style] * (top - low)
    target = max(target, _held(situation, low, top))
    value, chance = floor + float(expected[best]), float(yes[:, best, 0].mean())
    if situation.progress.has_end and situation.offers_left <= CLOSING_OFFERS:
        return _best_bet(packages, belief, time=times[:1], fallback=fallback, recalled=recalled)
    return TargetPlan(min(top, max(low, target)), value, chance)


def _chance(excess: Floats) -> Floats:
    """The probability of acceptance of a package that is by `excess` better for them than what they accept."""
    return FRONTIER_TRUST * acceptance(excess)


def _best_bet(
    packages: CandidatePackages,
    belief: OpponentModel,
    *,
    time: Floats,
    fallback: Floats,
    recalled: RecalledOffer | None,
) -> TargetPlan:
    """The last offer that will be answered: the package with the best expected gain, counting the fallback."""
    situation = packages.situation
    floor = situation.my_preferences.reservation_utility
    open_to = np.flatnonzero(packages.mine >= floor)
    if len(open_to) > MAX_CLOSING_CANDIDATES:
        open_to = open_to[np.argsort(-packages.theirs[open_to], kind="stable")[:MAX_CLOSING_CANDIDATES]]
    worth = belief.worth(packages.rows(open_to))
    yes = _chance(worth - least_accepted(situation, belief, time))
    silent = silent_end_chance(situation)
    yes = (1.0 - silent) * yes + silent * worth
    gains = packages.mine[open_to] - floor
    expected = (yes * gains[None, :] + (1.0 - yes) * fallback[:, None]).mean(axis=0)
    best = int(np.argmax(expected))
    chance = float(yes[:, best].mean())
    if recalled is not None:
        missed = float(fallback.mean())
        again = missed + recalled.chance * (recalled.my_utility - floor - missed)
        if again >= expected[best]:
            return TargetPlan(recalled.my_utility, floor + again, recalled.chance, recalled.offer)
    offer = packages.offer(int(open_to[best]))
    return TargetPlan(float(gains[best]) + floor, floor + float(expected[best]), chance, offer)


def _held(situation: StrategySituation, low: float, top: float) -> float:
    """The least utility to ask for before the last round, because the model is too uncertain for early concessions.

    It falls later in long negotiations, where each round costs less.
    """
    progress = situation.progress
    if progress.remaining <= 1:
        return low
    late = HOLD_EXPONENT[situation.style] * max(1.0, progress.rounds / 10.0) ** 0.25
    spent = min(1.0, (progress.step + 1.0) / (progress.rounds + 1.0))
    return low + (top - low) * (1.0 - spent**late)


def _times(situation: StrategySituation, left: int) -> Floats:
    """Times at which my coming offers are answered, at most `MAX_PATH_POINTS` of them."""
    progress = situation.progress
    steps = progress.step + np.arange(left) + 1.0 + (0.0 if situation.i_speak_last else 1.0)
    if left > MAX_PATH_POINTS:
        near = np.unique(np.round(np.linspace(0, 1, MAX_PATH_POINTS) ** 0.6 * (left - 1)).astype(int))
        steps = steps[near]
    return np.minimum(1.0, steps / (progress.rounds + 1.0))


def _paths(low: float, top: float, count: int) -> Floats:
    grid = np.linspace(top, low, TARGET_LEVELS)
    share = np.arange(count) / max(1, count - 1)
    return np.array(
        [
            end + (start - end) * (1.0 - share ** (1.0 / shape))
            for a, start in enumerate(grid)
            for end in grid[a:]
            for shape in (PATH_SHAPES if end < start and count > 1 else PATH_SHAPES[:1])
        ]
    )


def _fallback(situation: StrategySituation, edge: BelievedFrontier, belief: OpponentModel) -> Floats:
    """By hypothesis, my expected gain when no offer of mine is accepted: that of their last offer, if I answer it."""
    if situation.i_speak_last and situation.progress.remaining == 1:
        return np.zeros(len(belief.ends))
    expected = expected_last_offer(situation)
    if expected is not None:
        return np.full(len(belief.ends), min(expected, float(edge.gains[0])))
    last = np.array([situation.progress.rounds / (situation.progress.rounds + 1.0)])
    return UNSEEN_SHARE * _most(edge, belief.least(last)[:, 0])


def _most(edge: BelievedFrontier, theirs: Floats) -> Floats:
    """By hypothesis, my largest gain on the frontier where they get at least `theirs`."""
    enough = edge.worth >= theirs[:, None] - 1e-9
    return np.where(enough.any(axis=1), edge.gains[enough.argmax(axis=1)], 0.0)
