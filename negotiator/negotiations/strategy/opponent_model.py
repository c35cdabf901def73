"""An estimate of the other side's preferences and of how far they will concede.

A hypothesis is an additive utility with a concession curve 1 - (1 - m) t^p (Faratin et al. 1998). Utilities are drawn
from a prior in which the other side mostly wants the opposite of the user. They are weighted by the offers of the other
side, which should lie near their curve, and by the offers of the user that they refused, which should lie below it
(cf. Hindriks and Tykhonov 2008). The sampler is annealed importance sampling with crossover moves: issues are
independent in the prior, so exchanging issues between draws keeps the prior. The random seed is fixed, so the same
negotiation gives the same estimate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from negotiator.negotiations.strategy.situation import (
    OfferValues,
    StrategyIssue,
    StrategySituation,
    ValueKey,
    typed_key,
)

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
OfferTrack = tuple[Indices, Floats, Floats]

DRAWS = 300
KEPT_DRAWS = 96
OPPOSED_SHARE = 0.75
VALUE_NOISE = 0.15
OFFER_SPREAD = 0.1
ANSWER_SPREAD = 0.04
EVIDENCE_CAP = 14.0
LATE_MOVER = 0.7
HARDNESS_COST = 1.0
LAST_MINUTE_COST = 1.5
ANNEALING_HEATS = (0.3, 0.65, 1.0)
MAX_REFUSALS = 10

_ENDS, _POWERS = (
    grid.ravel()
    for grid in np.meshgrid(
        (0.0, 0.15, 0.3, 0.45, 0.6, 0.75, 0.87, 0.97), (0.3, 1.0, 2.5, 4.5, 10.0), indexing="ij"
    )
)


@dataclass(frozen=True)
class OpponentModel:
    """Equally likely hypotheses about the other side, in each of which their best package is worth 1.

    `tables` holds the part-worths: per issue an array of hypotheses by values. `ends` (m) is the least they accept at
    the end, `powers` (p) how late they concede; both have one number per hypothesis.
    """

    issues: tuple[StrategyIssue, ...]
    tables: tuple[Floats, ...]
    ends: Floats
    powers: Floats

    @cached_property
    def places(self) -> tuple[Mapping[ValueKey, int], ...]:
        """The position of each value in its issue's list, one mapping per issue."""
        return tuple(
            {typed_key(value): k for k, value in reversed(list(enumerate(issue.values)))}
            for issue in self.issues
        )

    @cached_property
    def mean(self) -> tuple[Floats, ...]:
        """Expected part-worths, one array per issue; the best package is worth 1."""
        tables = [table.mean(axis=0) for table in self.tables]
        tables = [table - table.min() for table in tables]
        total = sum(float(table.max()) for table in tables)
        return tuple(table / total if total > 0 else table for table in tables)

    def of(self, offer: OfferValues) -> Floats | None:
        """The utility of a package by hypothesis; None when it lacks an issue or has an unknown value."""
        spots = _spots(self.issues, self.places, offer)
        if spots is None:
            return None
        return self.worth(np.array([spots]))[:, 0]

    def worth(self, choices: Indices) -> Floats:
        """An array of utilities, hypotheses by packages, for rows of value positions."""
        return _worth(self.tables, choices)

    def least(self, times: Floats) -> Floats:
        """The least utility they accept, hypotheses by times; a time is a share of the negotiation, 0 to 1."""
        return 1.0 - (1.0 - self.ends[:, None]) * times[None, :] ** self.powers[:, None]


def learn_opponent_model(situation: StrategySituation) -> OpponentModel:
    """The hypotheses after the other side's offers and refusals in `situation`."""
    rng = np.random.default_rng(7)
    issues = situation.issues
    blank = OpponentModel(issues, (), _ENDS, _POWERS)
    pool = [_draw(situation, issue, rng) for issue in issues]
    offered = _track(situation, blank.places, "them")
    refused = _track(situation, blank.places, "me")
    for heat in ANNEALING_HEATS[:-1] if len(offered[0]) else ():
        pool = _annealed(pool, offered, refused, heat=heat, rng=rng)
    score = _score(pool, offered, refused)
    pairs = _resample(score.ravel(), KEPT_DRAWS, rng)
    draws, curves = np.unravel_index(pairs, score.shape)
    scale = _scale(pool)[draws][:, None]
    tables = tuple(table[draws] * scale for table in pool)
    return OpponentModel(issues, tables, _ENDS[curves], _POWERS[curves])


def _draw(situation: StrategySituation, issue: StrategyIssue, rng: np.random.Generator) -> Floats:
    """Part-worths of one issue before scaling, draws by values: a curve in [0, 1] times a weight."""
    mine = np.array([situation.worths[issue.name][typed_key(v)] for v in issue.values], dtype=float)
    size = len(mine)
    weight = rng.gamma(2.0, 1.0, (DRAWS, 1)) + 0.05
    span = float(np.ptp(mine))
    against = (mine.max() - mine) / span if span > 0 else rng.random(size)
    bend = rng.choice([0.6, 1.0, 1.6], (DRAWS, 1))
    noise = rng.uniform(-VALUE_NOISE, VALUE_NOISE, (DRAWS, size))
    opposed = rng.random((DRAWS, 1)) < (OPPOSED_SHARE if span > 0 else 0.0)
    curve = np.where(opposed, against[None, :] ** bend + noise, rng.random((DRAWS, size)))
    curve -= curve.min(axis=1, keepdims=True)
    return curve / np.maximum(curve.max(axis=1, keepdims=True), 1e-9) * weight


def _annealed(
    pool: Sequence[Floats],
    offered: OfferTrack,
    refused: OfferTrack,
    *,
    heat: float,
    rng: np.random.Generator,
) -> list[Floats]:
    """The draws after one annealing step: resampled by their score, then moved (Metropolis acceptance)."""
    level = _total(_score(pool, offered, refused) * heat)
    pick = _resample(level, DRAWS, rng)
    chosen = [table[pick] for table in pool]
    moved = _crossed(chosen, rng)
    after = _total(_score(moved, offered, refused) * heat)
    kept = (np.log(rng.random(DRAWS)) < after - level[pick])[:, None]
    return [np.where(kept, new, old) for new, old in zip(moved, chosen, strict=True)]


def _total(score: Floats) -> Floats:
    """Log of the sum over curves, by draw."""
    top = score.max(axis=1)
    return top + np.log(np.exp(score - top[:, None]).sum(axis=1))


def _crossed(pool: Sequence[Floats], rng: np.random.Generator) -> list[Floats]:
    """Each draw with some issues exchanged with another draw, and weights changed at random by about 15 %."""
    out: list[Floats] = []
    for table in pool:
        other = table[rng.permutation(len(table))]
        swap = rng.random((len(table), 1)) < 0.3
        new = np.where(swap, other, table)
        out.append(new * np.exp(rng.normal(0.0, 0.15, (len(table), 1))))
    return out


def _scale(pool: Sequence[Floats]) -> Floats:
    total = np.sum([table.max(axis=1) for table in pool], axis=0)
    return 1.0 / np.maximum(total, 1e-9)


def _worth(tables: Sequence[Floats], choices: Indices) -> Floats:
    total = np.zeros((len(tables[0]), len(choices)))
    for k, table in enumerate(tables):
        total += table[:, choices[:, k]]
    return total


def _score(pool: Sequence[Floats], offered: OfferTrack, refused: OfferTrack) -> Floats:
    """Log likelihood plus the prior of the curves, draws by curves."""
    prior = np.where(_POWERS >= 2.0, LATE_MOVER, 0.0) - HARDNESS_COST * _ENDS
    prior = prior - np.where(_POWERS >= 9.0, LAST_MINUTE_COST, 0.0)
    score = np.repeat(prior[None, :], DRAWS, axis=0)
    scale = _scale(pool)[:, None]
    choices, times, weights = offered
    if len(choices):
        worth = _worth(pool, choices) * scale
        least = 1.0 - (1.0 - _ENDS[:, None]) * times[None, :] ** _POWERS[:, None]
        square = (worth**2 @ weights)[:, None] + (least**2 @ weights)[None, :]
        square -= 2.0 * (worth * weights) @ least.T
        score -= 0.5 * square / OFFER_SPREAD**2
    choices, times, weights = refused
    for k in range(len(choices)):
        worth = _worth(pool, choices[k : k + 1]) * scale
        least = 1.0 - (1.0 - _ENDS) * times[k] ** _POWERS
        score -= weights[k] * np.maximum(0.0, worth - least[None, :]) / ANSWER_SPREAD
    return score


def _resample(score: Floats, count: int, rng: np.random.Generator) -> Indices:
    """Systematic draws in proportion to exp(score)."""
    mass: Floats = np.cumsum(np.exp(score - score.max()))
    ticks = (np.arange(count, dtype=np.float64) + float(rng.random())) * (float(mass[-1]) / count)
    return np.minimum(np.searchsorted(mass, ticks), len(mass) - 1).astype(np.int64)


def _spots(
    issues: Sequence[StrategyIssue], places: Sequence[Mapping[ValueKey, int]], offer: OfferValues
) -> list[int] | None:
    spots: list[int] = []
    for issue, place in zip(issues, places, strict=True):
        at = place.get(typed_key(offer[issue.name])) if issue.name in offer else None
        if at is None:
            return None
        spots.append(at)
    return spots


def _track(
    situation: StrategySituation, places: Sequence[Mapping[ValueKey, int]], by: str
) -> OfferTrack:
    """Distinct offers of one side: value positions, time as a share of the negotiation, and weight."""
    rounds = situation.progress.rounds
    seen: dict[tuple[int, ...], list[float]] = {}
    for past in situation.history:
        spots = _spots(situation.issues, places, past.offer) if past.by == by else None
        if spots is not None:
            seen.setdefault(tuple(spots), []).append(min(1.0, (past.step + 1.0) / (rounds + 1.0)))
    rows = list(seen.items())
    if by == "me":
        rows = sorted(rows, key=lambda row: -row[1][-1])[:MAX_REFUSALS]
    weights = np.array([len(times) ** 0.5 for _, times in rows])
    if len(rows):
        weights *= min(1.0, EVIDENCE_CAP / float(weights.sum()))
    when = np.array([times[-1] if by == "me" else float(np.mean(times)) for _, times in rows])
    where = np.array([spots for spots, _ in rows], dtype=np.int64).reshape(-1, len(places))
    return where, when, weights
