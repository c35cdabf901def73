"""The candidate packages with both sides' utilities, and the choice among them.

Up to `MAX_EXACT_PACKAGES` packages are all candidates. In a larger space the candidates are the supported efficient
packages (the best value per issue of a weighted sum, exact under additive utility), packages that differ from one of
those on one issue, and a random sample with a seed derived from the request.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from negotiator.advice.strategy.opponent_model import OpponentModel
from negotiator.advice.strategy.preference_prior import Floats, Indices
from negotiator.advice.strategy.situation import OfferValues, Scalar, StrategySituation, ValueKey, typed_key

MAX_EXACT_PACKAGES = 1_000_000
SAMPLE_SIZE = 40_000
WEIGHT_BLENDS = 33
REPEAT_COST = 0.04


@dataclass(frozen=True, slots=True)
class CandidatePackages:
    """Candidate packages with my utility and their estimated one: arrays with one number per package.

    `open_values` holds the positions of the values that are not forbidden, one array per issue. `choices` is None when
    the candidates are all packages of these values in row-major order; otherwise it has one row per candidate, of
    places in `open_values`.
    """

    situation: StrategySituation
    mine: Floats
    theirs: Floats
    open_values: tuple[Indices, ...]
    choices: Indices | None

    @property
    def approximate(self) -> bool:
        """Whether the candidates are a sample and not all packages."""
        return self.choices is not None

    def offer(self, index: int) -> dict[str, Scalar]:
        """The package at a position: a value per issue."""
        issues = self.situation.issues
        row = self.rows(np.array([index]))[0]
        return {issue.name: issue.values[int(k)] for issue, k in zip(issues, row, strict=True)}

    def rows(self, indexes: Indices) -> Indices:
        """The value positions of the packages at `indexes`, one row per package."""
        if self.choices is not None:
            places = list(self.choices[indexes].T)
        else:
            places = list(np.unravel_index(indexes, [len(spots) for spots in self.open_values]))
        return np.stack([spots[place] for spots, place in zip(self.open_values, places, strict=True)], axis=1)


def weigh_candidates(situation: StrategySituation, belief: OpponentModel) -> CandidatePackages:
    """The candidate packages of a situation, with my utility and the expected one of the other side."""
    issues = situation.issues
    open_values = tuple(
        np.flatnonzero([typed_key(value) not in issue.forbidden for value in issue.values]) for issue in issues
    )
    mine = [
        np.array([situation.worths[issue.name][typed_key(issue.values[k])] for k in spots])
        for issue, spots in zip(issues, open_values, strict=True)
    ]
    theirs = [table[spots] for table, spots in zip(belief.mean, open_values, strict=True)]
    constant = situation.my_preferences.constant
    if math.prod(len(table) for table in mine) <= MAX_EXACT_PACKAGES:
        return CandidatePackages(situation, _sums(mine, constant), _sums(theirs, 0.0), open_values, None)
    choices = _candidates(mine, theirs, _seed(situation))
    return CandidatePackages(situation, _rows(mine, choices) + constant, _rows(theirs, choices), open_values, choices)


def _sums(tables: Sequence[Floats], start: float) -> Floats:
    total = np.array([start], dtype=float)
    for table in tables:
        total = (total[:, None] + table[None, :]).ravel()
    return total


def _rows(tables: Sequence[Floats], choices: Indices) -> Floats:
    total = np.zeros(len(choices))
    for k, table in enumerate(tables):
        total += table[choices[:, k]]
    return total


def _candidates(mine: Sequence[Floats], theirs: Sequence[Floats], seed: int) -> Indices:
    blends = np.linspace(0.0, 1.0, WEIGHT_BLENDS)
    efficient = np.array(
        [[int(np.argmax((1 - b) * m + b * t)) for m, t in zip(mine, theirs, strict=True)] for b in blends],
        dtype=np.int64,
    )
    efficient = np.unique(efficient, axis=0)
    parts = [efficient]
    for k, table in enumerate(mine):
        shown = np.unique(np.linspace(0, len(table) - 1, 50).astype(np.int64))
        changed = np.repeat(efficient, len(shown), axis=0)
        changed[:, k] = np.tile(shown, len(efficient))
        parts.append(changed)
    rng = np.random.default_rng(seed)
    base = efficient[rng.integers(len(efficient), size=SAMPLE_SIZE)]
    drawn = np.stack([rng.integers(len(table), size=SAMPLE_SIZE) for table in mine], axis=1)
    keep = rng.random(drawn.shape) < rng.random((SAMPLE_SIZE, 1))
    parts.append(np.where(keep, base, drawn))
    return np.unique(np.concatenate(parts), axis=0)


def _seed(situation: StrategySituation) -> int:
    text = repr((situation.issues, situation.progress.step, len(situation.history)))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def _sign(situation: StrategySituation, offer: OfferValues) -> tuple[ValueKey | None, ...]:
    return tuple(typed_key(offer[issue.name]) if issue.name in offer else None for issue in situation.issues)


def best_for_them(packages: CandidatePackages, target: float) -> int | None:
    """The position of the package worth at least `target` to me that the other side should like best.

    Packages that I offered before count less. Ties go to the package better for me, then to the first listed. None
    when no candidate reaches both the target and the reservation utility.
    """
    situation = packages.situation
    least = max(target, situation.my_preferences.reservation_utility)
    open_to = np.flatnonzero(packages.mine >= least)
    if not len(open_to):
        return None
    theirs, mine = packages.theirs[open_to], packages.mine[open_to]
    short = open_to[np.lexsort((-mine, -theirs))[:200]]
    said: dict[tuple[ValueKey | None, ...], int] = {}
    for past in situation.mine:
        sign = _sign(situation, past.offer)
        said[sign] = said.get(sign, 0) + 1
    best, score = None, -math.inf
    for index in short:
        repeats = said.get(_sign(situation, packages.offer(int(index))), 0)
        worth = float(packages.theirs[index]) - REPEAT_COST * min(repeats, 3)
        if worth > score + 1e-12:
            best, score = int(index), worth
    return best


def equivalent_packages(
    packages: CandidatePackages, offer: OfferValues, worth: float, *, count: int = 3
) -> list[dict[str, Scalar]]:
    """Packages of about the utility `worth` to me, those that the other side should like best first, without `offer`.

    They can be offered together with the chosen one (multiple equivalent simultaneous offers). None is below the
    reservation utility.
    """
    situation = packages.situation
    floor = situation.my_preferences.reservation_utility
    span = float(np.ptp(packages.mine))
    close = np.abs(packages.mine - worth) <= 0.03 * span + 1e-12
    found = np.flatnonzero(close & (packages.mine >= floor))
    order = np.lexsort((-packages.mine[found], -packages.theirs[found]))
    listed = [packages.offer(int(index)) for index in found[order[: count + 1]]]
    return [one for one in listed if _sign(situation, one) != _sign(situation, offer)][:count]
