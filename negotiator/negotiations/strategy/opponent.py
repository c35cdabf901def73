"""What the other side seems to want, and how far they seem ready to go.

Preferences: their offers are read as draws that favour what they like. Under additive utility a
choice rule proportional to exp(b u) splits by issue, so log counts are part-worths up to scale
(frequency modelling, cf. Tunali et al. 2017). Pseudo-counts from the prior "what I want they do
not" carry the first rounds. Demands: a grid of concession curves 1 - (1 - m) t^p (Faratin et al.
1998), each with a bias for the error of the preference model, is weighed by the offers they made
and the offers of mine they refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from negotiator.negotiations.strategy.situation import Issue, Key, Offer, Situation, key

Floats = NDArray[np.float64]

PSEUDO_COUNT = 6.0
PRIOR_SHARPNESS = 2.0
MANY_VALUES = 25
OFFER_SPREAD = 0.12
ANSWER_SPREAD = 0.05
EVIDENCE_CAP = 8.0
LATE_MOVER = 0.7
HARDNESS_COST = 2.0

_ENDS = (0.0, 0.15, 0.3, 0.45, 0.6, 0.75, 0.87, 0.97)
_POWERS = (0.3, 1.0, 2.5, 4.5, 10.0)
_BIASES = (-0.15, 0.0, 0.1)


@dataclass(frozen=True, slots=True)
class Taste:
    """Estimated part-worths of the other side, one array per issue; the best package is 1."""

    tables: tuple[Floats, ...]
    places: tuple[Mapping[Key, int], ...]

    def of(self, issues: Sequence[Issue], offer: Offer) -> float | None:
        """Their estimated utility of a package; None when it has an unknown value."""
        total = 0.0
        for issue, table, places in zip(issues, self.tables, self.places, strict=True):
            place = places.get(key(offer[issue.name])) if issue.name in offer else None
            if place is None:
                return None
            total += float(table[place])
        return total


@dataclass(frozen=True, slots=True)
class Demands:
    """Weighted hypotheses of the least they accept over time, in their estimated utility."""

    ends: Floats
    powers: Floats
    biases: Floats
    weights: Floats

    def least(self, time: Floats) -> Floats:
        """Least accepted utility, hypotheses by times, before the model bias is taken off."""
        return 1.0 - (1.0 - self.ends[:, None]) * time[None, :] ** self.powers[:, None]

    def acceptance(self, worth: Floats, time: Floats) -> Floats:
        """Chance of a yes: (hypotheses, ..., times) for packages of their utility `worth`."""
        least = self.least(time)
        shape = (len(self.weights),) + (1,) * (worth.ndim - 1)
        level = least.reshape((*shape, len(time))) - self.biases.reshape((*shape, 1))
        return 1.0 / (1.0 + np.exp(np.clip((level - worth[None]) / ANSWER_SPREAD, -40, 40)))

    def walk_away(self) -> tuple[float, float, float]:
        """Low, likely and high estimate of the utility below which they leave."""
        order = np.argsort(self.ends, kind="stable")
        mass = np.cumsum(self.weights[order])
        low, mid, high = (
            float(self.ends[order][min(len(mass) - 1, int(np.searchsorted(mass, q)))])
            for q in (0.1, 0.5, 0.9)
        )
        return low, mid, high


def read_taste(situation: Situation) -> Taste:
    """Estimate their part-worths from their offers, and from mine where they are silent."""
    raw: list[Floats] = []
    places: list[Mapping[Key, int]] = []
    for issue in situation.issues:
        place = {key(value): k for k, value in reversed(list(enumerate(issue.values)))}
        mine = np.array([situation.worths[issue.name][key(v)] for v in issue.values], dtype=float)
        seen = [
            at
            for past in situation.theirs
            if issue.name in past.offer
            and (at := place.get(key(past.offer[issue.name]))) is not None
        ]
        many = len(issue.values) > MANY_VALUES
        raw.append(_ranked(mine, seen) if many else _counted(mine, seen))
        places.append(place)
    total = sum(float(table.max()) for table in raw)
    scale = 1.0 / total if total > 0 else 0.0
    return Taste(tuple(table * scale for table in raw), tuple(places))


def _opposed(mine: Floats) -> Floats:
    span = float(np.ptp(mine))
    return (mine.max() - mine) / span if span > 0 else np.zeros_like(mine)


def _counted(mine: Floats, seen: Sequence[int]) -> Floats:
    """Log counts, early offers heavier: later ones are already concessions."""
    if len(mine) == 1:
        return np.zeros(1)
    prior = np.exp(PRIOR_SHARPNESS * _opposed(mine))
    counts = PSEUDO_COUNT * prior / prior.sum()
    if seen:
        ages = np.arange(len(seen)) / len(seen)
        np.add.at(counts, np.array(seen), (1.0 - 0.7 * ages) * _damping(len(seen)))
    logs = np.log(counts)
    return logs - logs.min()


def _damping(count: int) -> float:
    """Offers repeat themselves: n of them carry less than n independent draws."""
    return min(1.0, float(count) ** -0.25) * 1.5


def _ranked(mine: Floats, seen: Sequence[int]) -> Floats:
    """For long lists: values they named, and neighbours of those, above the opposed prior."""
    prior = 0.8 * _opposed(mine)
    if not seen:
        return prior
    size = len(mine)
    worth = prior.copy()
    first = list(dict.fromkeys(seen))
    levels = 1.0 - 0.4 * np.arange(len(first)) / max(8, len(first))
    if _ordered(mine):
        gaps = (np.arange(size)[:, None] - np.array(first)[None, :]) / size
        near = np.exp(-0.5 * (gaps / 0.03) ** 2)
        pull = near.max(axis=1)
        worth = (1 - pull) * prior + pull * (near @ levels) / np.maximum(near.sum(axis=1), 1e-12)
    worth[np.array(first)] = np.maximum(levels, worth[np.array(first)])
    return worth


def _ordered(mine: Floats) -> bool:
    """Whether the list's order means something: my own utility runs smoothly along it."""
    span = float(np.ptp(mine))
    return span > 0 and float(np.abs(np.diff(mine)).mean()) < 0.1 * span


def read_demands(situation: Situation, taste: Taste) -> Demands:
    """Weigh the hypotheses by what they offered and what they refused."""
    ends, powers, biases = (
        grid.ravel() for grid in np.meshgrid(_ENDS, _POWERS, _BIASES, indexing="ij")
    )
    flat = Demands(ends, powers, biases, np.ones(len(ends)))
    rounds = situation.progress.rounds
    score = _prior(ends, powers)
    offered = _track(situation, taste, "them")
    if len(offered):
        least = flat.least(np.minimum(1.0, offered[:, 0] / rounds)) - biases[:, None]
        gap = (offered[:, 1][None, :] - least) / OFFER_SPREAD
        score -= 0.5 * np.minimum(gap**2, 9.0).sum(axis=1) * _temper(len(offered))
    refused = _track(situation, taste, "me")
    if len(refused):
        times = np.minimum(1.0, refused[:, 0] / rounds)
        yes = flat.acceptance(refused[:, 1], times)
        score += np.log(np.maximum(1.0 - yes, 1e-3)).sum(axis=1) * _temper(len(refused))
    weights = np.exp(score - score.max())
    return Demands(ends, powers, biases, weights / weights.sum())


def _prior(ends: Floats, powers: Floats) -> Floats:
    """Most bargainers hold long and give in late; a few never move."""
    return np.where(powers >= 2.0, LATE_MOVER, 0.0) - HARDNESS_COST * ends


def _temper(count: int) -> float:
    return min(1.0, EVIDENCE_CAP / count)


def _track(situation: Situation, taste: Taste, by: str) -> Floats:
    """Rows of (rounds done when it was said, their estimated utility) for one side's offers."""
    rows = [
        (past.step + 1.0, worth)
        for past in situation.history
        if past.by == by and (worth := taste.of(situation.issues, past.offer)) is not None
    ]
    return np.array(rows, dtype=float).reshape(-1, 2)
