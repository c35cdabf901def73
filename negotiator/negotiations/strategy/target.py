"""How much to ask now: the best plan for the rounds left, against what is believed.

A plan is a falling path of targets. For each hypothesis about the other side the path is played
out on the believed frontier; the plan with the best expected gain over the floor gives today's
target and the value of going on (optimal stopping). It is made anew every turn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from negotiator.negotiations.strategy.offers import Packages
from negotiator.negotiations.strategy.opponent import Demands, Floats, Taste
from negotiator.negotiations.strategy.situation import Situation

LEVELS = 10
POINTS = 16
HOLD = {"balanced": 4.0, "firm": 8.0, "cooperative": 2.0}
ULTIMATUM_TRUST = 0.6
SHAPES = (0.15, 0.6)
STYLE_SHIFT = {"balanced": 0.0, "firm": 0.04, "cooperative": -0.04}


@dataclass(frozen=True, slots=True)
class Plan:
    """`target` is my utility to ask now; `value` the expected utility of not accepting now.

    `chance` is the chance that this offer is accepted.
    """

    target: float
    value: float
    chance: float


@dataclass(frozen=True, slots=True)
class Frontier:
    """For falling levels of my utility, the most they get (by belief) at that level or above."""

    levels: Floats
    theirs: Floats

    def their_best(self, level: Floats) -> Floats:
        """Their utility at the frontier for levels of mine."""
        return np.interp(level, self.levels[::-1], self.theirs[::-1])

    def my_best(self, theirs: Floats) -> Floats:
        """My utility at the frontier where they get at least `theirs`; the lowest level if none."""
        place = np.searchsorted(self.theirs, theirs, side="left")
        return self.levels[np.minimum(place, len(self.levels) - 1)]


def frontier(packages: Packages) -> Frontier:
    """The believed efficient edge above the floor."""
    floor = packages.situation.my_preferences.reservation_utility
    mine = packages.mine[packages.mine >= floor]
    theirs = packages.theirs[packages.mine >= floor]
    levels = np.linspace(float(mine.max()), max(floor, float(mine.min())), 101)
    order = np.argsort(-mine, kind="stable")
    best = np.maximum.accumulate(theirs[order])
    count = np.searchsorted(-mine[order], -levels + 1e-12, side="right")
    return Frontier(levels, best[np.maximum(count, 1) - 1])


def make_plan(situation: Situation, packages: Packages, taste: Taste, demands: Demands) -> Plan:
    """Choose the path of targets with the best expected outcome.

    Needs at least one package at or above the floor.
    """
    floor = situation.my_preferences.reservation_utility
    edge = frontier(packages)
    top = float(edge.levels[0])
    low = min(top, max(floor, _best_received(situation, floor)))
    left = max(1, situation.offers_left)
    times = _times(situation, left)
    paths = _paths(low, top, len(times))
    yes = demands.acceptance(edge.their_best(paths), times)
    fallback = _fallback(situation, edge, taste, demands)
    if situation.i_speak_last and situation.progress.remaining == 1:
        fallback = np.zeros_like(fallback)
        yes = yes * ULTIMATUM_TRUST
    gains, survive = np.zeros(yes.shape[:2]), np.ones(yes.shape[:2])
    for k in range(len(times)):
        gains += survive * yes[:, :, k] * (paths[None, :, k] - floor)
        survive = survive * (1.0 - yes[:, :, k])
    gains += survive * fallback[:, None]
    expected = demands.weights @ gains
    best = int(np.flatnonzero(expected >= expected.max() - 1e-9)[0])
    target = float(paths[best, 0]) + STYLE_SHIFT[situation.style] * (top - low)
    target = max(target, _held(situation, low, top))
    chance = float(demands.weights @ yes[:, best, 0])
    return Plan(min(top, max(low, target)), floor + float(expected[best]), chance)


def _held(situation: Situation, low: float, top: float) -> float:
    """The least to ask while there is time: no belief is firm enough to give in early."""
    progress = situation.progress
    if progress.remaining <= 1:
        return low
    spent = min(1.0, (progress.step + 1.0) / (progress.rounds + 1.0))
    return low + (top - low) * (1.0 - spent ** HOLD[situation.style])


def _times(situation: Situation, left: int) -> Floats:
    """When the coming offers of mine are answered, thinned to at most `POINTS`."""
    progress = situation.progress
    steps = progress.step + np.arange(left) + 1.0 + (0.0 if situation.i_speak_last else 1.0)
    if left > POINTS:
        near = np.unique(np.round(np.linspace(0, 1, POINTS) ** 0.6 * (left - 1)).astype(int))
        steps = steps[near]
    return np.minimum(1.0, steps / (progress.rounds + 1.0))


def _paths(low: float, top: float, count: int) -> Floats:
    grid = np.linspace(top, low, LEVELS)
    share = np.arange(count) / max(1, count - 1)
    return np.array(
        [
            end + (start - end) * (1.0 - share ** (1.0 / shape))
            for a, start in enumerate(grid)
            for end in grid[a:]
            for shape in (SHAPES if end < start and count > 1 else SHAPES[:1])
        ]
    )


def _best_received(situation: Situation, floor: float) -> float:
    return max((past.my_utility for past in situation.theirs), default=floor)


def _fallback(situation: Situation, edge: Frontier, taste: Taste, demands: Demands) -> Floats:
    """Gain from taking their last offer, by hypothesis; what they gave lately can be had again."""
    floor = situation.my_preferences.reservation_utility
    shares: list[float] = []
    for past in situation.theirs[-5:]:
        worth = taste.of(situation.issues, past.offer)
        if worth is not None:
            most = float(edge.my_best(np.array([worth]))[0]) - floor
            shares.append(min(1.0, max(0.0, (past.my_utility - floor) / most)) if most > 0 else 0.0)
    share = float(np.mean(shares)) if shares else 0.5
    lately = max((past.my_utility - floor for past in situation.theirs[-3:]), default=0.0)
    last = demands.least(np.array([situation.progress.rounds / (situation.progress.rounds + 1.0)]))
    hoped = share * (edge.my_best(last[:, 0] - demands.biases) - floor)
    return np.maximum(max(0.0, lately), 0.7 * hoped)
