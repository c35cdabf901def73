"""What the other side may want on one issue, before their offers are heard.

On each issue they want the opposite of the user, the same, or something else. On an ordered issue their worth rises or
falls along the scale or has one peak. How opposed the sides are is not assumed: each draw has a level of opposition,
and the offers say which level fits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from negotiator.advice.strategy.situation import PreferenceHints, StrategyIssue, StrategySituation, typed_key

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

KINDS = 4
OPPOSED, SHARED, OTHER, HINTED = range(KINDS)
LEVELS = np.array([[0.90, 0.05, 0.05], [0.50, 0.25, 0.25], [0.05, 0.70, 0.25]])
"""The chances of opposed, shared and other on an issue, one row per level of opposition; each level is as likely."""
UNDIRECTED = np.array([0.35, 0.35, 0.30])
"""The chances on an issue that the user is indifferent to, or whose best value lies inside its scale."""
SINGLE_ISSUE = np.array([0.70, 0.02, 0.28])
SINGLE_ORDERED_ISSUE = np.array([0.90, 0.02, 0.08])
"""The chances in a talk about a single issue, where shared interests would leave nothing to settle."""
BENDS = (0.6, 1.0, 1.6)
VALUE_NOISE = 0.1
SCALE_NOISE = 0.05
WEIGHT_SHAPE = 2.0
USUAL_CONFIDENCE = 0.6
MOST_CONFIDENCE = 0.9
LEAST_WEIGHT = 0.025


@dataclass(frozen=True, slots=True)
class IssueDraws:
    """Draws from the prior of one issue: the kind, the weight and the worths from 0 to 1, one row per draw."""

    kinds: Indices
    weights: Floats
    shapes: Floats


@dataclass(frozen=True, slots=True)
class IssuePrior:
    """The prior of their part-worths on one issue.

    `curves` holds worths of the values from 0 to 1, kinds by bends by values, and `noise` how far a value may lie from
    them, by kind. On an ordered issue `scale` is the coordinate of each value from 0 to 1, and worths of the kind
    `OTHER` have a peak along it. `chances` holds the chance of each kind, levels of opposition by kinds. `weight` is
    the expected weight of the issue where all issues have 1 on average, `weight_shape` its certainty (the shape of a
    gamma distribution). `known` says whether the prior has a direction of its own.
    """

    curves: Floats
    noise: Floats
    scale: Floats | None
    chances: Floats
    weight: float
    weight_shape: float
    known: bool

    def shapes(self, kinds: Indices, rng: np.random.Generator) -> Floats:
        """Random worths from 0 to 1, one row of values per kind."""
        bends = rng.integers(len(BENDS), size=len(kinds))
        found = self.curves[kinds, bends]
        if self.scale is not None:
            peaked = np.flatnonzero(kinds == OTHER)
            found[peaked] = _peaks(self.scale, bends[peaked], rng)
        return _unit(found + self.noise[kinds, None] * rng.uniform(-1.0, 1.0, found.shape))

    def weights(self, count: int, rng: np.random.Generator) -> Floats:
        """Random weights of the issue."""
        drawn = rng.gamma(self.weight_shape, 1.0 / self.weight_shape, count)
        return self.weight * drawn + LEAST_WEIGHT

    def draws(self, count: int, sets: int, rng: np.random.Generator) -> list[IssueDraws]:
        """Sets of draws in which each possible kind is equally common."""
        possible = np.flatnonzero(self.chances.max(axis=0) > 0)
        kinds = possible[np.arange(count) % len(possible)]
        shapes = self.shapes(np.tile(kinds, sets), rng).reshape(sets, count, -1)
        weights = self.weights(sets * count, rng).reshape(sets, count)
        return [IssueDraws(kinds, weights[k], shapes[k]) for k in range(sets)]


def issue_prior(situation: StrategySituation, issue: StrategyIssue) -> IssuePrior:
    """The prior of one issue of the situation."""
    hints = situation.hints or PreferenceHints()
    mine = np.array([situation.worths[issue.name][typed_key(v)] for v in issue.values], dtype=float)
    own = _unit(mine[None])[0] if np.ptp(mine) > 0 else None
    scale, direction = _ordered(issue, mine)
    hint = _hinted(hints, issue)
    along = own if scale is None else scale if direction >= 0 else 1.0 - scale
    flat = np.full(len(mine), 0.5)
    curves = np.stack(
        [
            flat if along is None else 1.0 - along,
            flat if along is None else along,
            flat,
            flat if hint is None else np.where(np.isfinite(hint), hint, 0.5),
        ]
    )
    steady = SCALE_NOISE if scale is not None else VALUE_NOISE if own is not None else 0.5
    noise = np.array([steady, steady, steady if scale is not None else 0.5, SCALE_NOISE])
    if issue.opposed is not None:
        chances = np.tile([issue.opposed, 0.0, 1.0 - issue.opposed], (len(LEVELS), 1))
    elif own is not None and len(situation.issues) == 1:
        alone = SINGLE_ISSUE if scale is None else SINGLE_ORDERED_ISSUE
        chances = np.tile(alone, (len(LEVELS), 1))
    else:
        directed = 0.0 if own is None else 1.0 if scale is None else abs(direction)
        chances = directed * LEVELS + (1.0 - directed) * UNDIRECTED
    trust = hint_confidence(hints) if hint is not None else 0.0
    hinted: Floats = np.full((len(LEVELS), 1), trust)
    weight, weight_shape = _weight(hints, issue.name)
    return IssuePrior(
        curves=curves[:, None] ** np.array(BENDS)[None, :, None],
        noise=noise,
        scale=scale,
        chances=np.concatenate([(1.0 - trust) * chances, hinted], axis=1),
        weight=weight,
        weight_shape=weight_shape,
        known=hint is not None or issue.opposed is not None or len(situation.issues) == 1,
    )


def hint_confidence(hints: PreferenceHints) -> float:
    """How sure the user is of the hints, from 0 to 1."""
    return USUAL_CONFIDENCE if hints.confidence is None else hints.confidence


def hinted_reservation(hints: PreferenceHints) -> float | None:
    """Their hinted reservation utility where their worst package is worth 0 and their best 1."""
    if hints.reservation_utility is None or not hints.part_worths:
        return hints.reservation_utility
    worths = [[worth for _, worth in pairs] for pairs in hints.part_worths.values()]
    least, most = sum(map(min, worths)), sum(map(max, worths))
    return (hints.reservation_utility - least) / (most - least) if most > least else None


def _hinted(hints: PreferenceHints, issue: StrategyIssue) -> Floats | None:
    """Their hinted worth of each value from 0 to 1, NaN where it is unknown; None when nothing tells values apart."""
    told = {typed_key(value): worth for value, worth in hints.part_worths.get(issue.name, ())}
    worths = np.array([told.get(typed_key(value), np.nan) for value in issue.values], dtype=float)
    found = worths[np.isfinite(worths)]
    if not len(found) or np.ptp(found) <= 0:
        return None
    return (worths - found.min()) / np.ptp(found)


def _weight(hints: PreferenceHints, name: str) -> tuple[float, float]:
    """The expected weight of an issue, 1 on average, and its certainty."""
    spans = {
        issue: max(worth for _, worth in pairs) - min(worth for _, worth in pairs)
        for issue, pairs in hints.part_worths.items()
    }
    weights = hints.weights or spans
    total = sum(weights.values())
    if name not in weights or total <= 0:
        return 1.0, WEIGHT_SHAPE
    doubt = 1.0 - min(hint_confidence(hints), MOST_CONFIDENCE)
    return len(weights) * weights[name] / total, WEIGHT_SHAPE / doubt**2


def _ordered(issue: StrategyIssue, mine: Floats) -> tuple[Floats | None, float]:
    """The scale from 0 to 1 and how my worth runs along it, from -1 (it falls) to 1 (it rises).

    Numbers on which my own worth has several peaks are codes without an order.
    """
    if issue.scale is None or len(issue.values) < 3:
        return None, 0.0
    scale = np.array(issue.scale)
    if np.ptp(scale) == 0:
        return None, 0.0
    steps = np.diff(mine[np.argsort(scale, kind="stable")])
    steps = np.sign(steps[np.abs(steps) > 1e-9])
    if bool(np.any(np.diff(steps) > 0)):
        return None, 0.0
    scale = (scale - scale.min()) / np.ptp(scale)
    if not len(steps):
        return scale, 0.0
    if bool(np.all(steps == steps[0])):
        return scale, float(steps[0])
    return scale, float(np.corrcoef(scale, mine)[0, 1])


def _peaks(scale: Floats, bends: Indices, rng: np.random.Generator) -> Floats:
    """Worths that rise to one peak and fall after it, and reach 0 at one end at least; one row per bend."""
    count = len(bends)
    peak = rng.random((count, 1))
    height, left = rng.random((count, 1)), rng.random((count, 1)) < 0.5
    before, after = np.where(left, height, 0.0), np.where(left, 0.0, height)
    rising = np.clip(scale / np.maximum(peak, 1e-9), 0.0, 1.0)
    falling = np.clip((1.0 - scale) / np.maximum(1.0 - peak, 1e-9), 0.0, 1.0)
    found = np.where(scale <= peak, before + (1.0 - before) * rising, after + (1.0 - after) * falling)
    return found ** np.array(BENDS)[bends, None]


def _unit(rows: Floats) -> Floats:
    """Each row moved and stretched to run from 0 to 1."""
    rows = rows - rows.min(axis=1, keepdims=True)
    return rows / np.maximum(rows.max(axis=1, keepdims=True), 1e-9)
