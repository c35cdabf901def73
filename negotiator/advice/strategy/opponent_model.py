"""An estimate of the other side's preferences and of how far they will concede.

A hypothesis is an additive utility with a concession curve 1 - (1 - m) t^p (Faratin et al. 1998). It is likely when the
other side's offers lie near its curve, above most other packages, and the offers that they refused lie below it (cf.
Hindriks and Tykhonov 2008). The hypotheses are drawn by Gibbs sampling: each chain redraws one issue after the other
from the prior, in proportion to the likelihood. The random seed is fixed, so the same negotiation gives the same
estimate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from negotiator.advice.strategy.preference_prior import (
    LEVELS,
    Floats,
    Indices,
    IssueDraws,
    IssuePrior,
    hint_confidence,
    hinted_reservation,
    issue_prior,
)
from negotiator.advice.strategy.situation import (
    OfferValues,
    PreferenceHints,
    StrategyIssue,
    StrategySituation,
    ValueKey,
    typed_key,
)

CHAINS = 96
CANDIDATES = 24
FIRST_SWEEPS = 5
KEPT_SWEEPS = 3
OFFER_SPREAD = 0.1
REFUSAL_SPREAD = 0.04
ANSWER_SPREAD = 0.06
ANSWER_MARGIN = 0.05
EVIDENCE_CAP = 14.0
MAX_REFUSALS = 4
FINAL_OFFER_WEIGHT = 0.5
LAST_OFFER_WEIGHT = 8.0
RESERVATION_SPREAD = 0.1
LATE_MOVER = 0.7
LAST_MINUTE_COST = 1.5

_ENDS, _POWERS = (
    grid.ravel()
    for grid in np.meshgrid((0.0, 0.15, 0.3, 0.45, 0.6, 0.75, 0.87, 0.97), (0.3, 1.0, 2.5, 4.5, 10.0), indexing="ij")
)


@dataclass(frozen=True)
class OpponentModel:
    """Equally likely hypotheses about the other side, in each of which their best package is worth 1.

    `tables` holds the part-worths: per issue an array of hypotheses by values. `ends` (m) is the least they accept at
    the end, `powers` (p) how late they concede; both have one number per hypothesis. `informed` says for each issue
    whether anything is known of it.
    """

    issues: tuple[StrategyIssue, ...]
    tables: tuple[Floats, ...]
    ends: Floats
    powers: Floats
    informed: tuple[bool, ...]

    @cached_property
    def places(self) -> tuple[Mapping[ValueKey, int], ...]:
        """The position of each value in its issue's list, one mapping per issue."""
        return _places(self.issues)

    @cached_property
    def mean(self) -> tuple[Floats, ...]:
        """Expected part-worths, one array per issue; the best package is worth 1, and all 0 while nothing is known."""
        tables = [
            table.mean(axis=0) if informed else np.zeros(table.shape[1])
            for table, informed in zip(self.tables, self.informed, strict=True)
        ]
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
        total = np.zeros((len(self.ends), len(choices)))
        for k, table in enumerate(self.tables):
            total += table[:, choices[:, k]]
        return total

    def least(self, times: Floats) -> Floats:
        """The least utility they accept, hypotheses by times; a time is a share of the negotiation, 0 to 1."""
        return _least(self.ends, self.powers, times)


def acceptance(excess: Floats) -> Floats:
    """The probability that they accept a package worth `excess` more to them than the least they accept."""
    return 1.0 / (1.0 + np.exp(np.clip((ANSWER_MARGIN - excess) / ANSWER_SPREAD, -40, 40)))


def learn_opponent_model(situation: StrategySituation) -> OpponentModel:
    """The hypotheses after the other side's offers and refusals in `situation`."""
    rng = np.random.default_rng(7)
    issues, places = situation.issues, _places(situation.issues)
    hints = situation.hints or PreferenceHints()
    priors = [issue_prior(situation, issue) for issue in issues]
    chains = _Chains(priors, _offered(situation, places), _refused(situation, places), _curve_prior(hints), rng)
    sweeps = KEPT_SWEEPS + (FIRST_SWEEPS if len(issues) > 1 else 0)
    draws = [prior.draws(CANDIDATES, sweeps, rng) for prior in priors]
    tables = tuple(np.empty((KEPT_SWEEPS * CHAINS, len(issue.values))) for issue in issues)
    curves = np.empty(KEPT_SWEEPS * CHAINS, dtype=np.int64)
    for sweep in range(sweeps):
        chains.redraw([issue_draws[sweep] for issue_draws in draws])
        kept = sweep - (sweeps - KEPT_SWEEPS)
        if kept >= 0:
            rows = slice(kept * CHAINS, (kept + 1) * CHAINS)
            curves[rows] = chains.curves
            for k, table in enumerate(tables):
                np.multiply(chains.share(k)[:, None], chains.shapes[k], out=table[rows])
    heard = bool(len(situation.theirs)) or hints.last_offer is not None
    informed = tuple(heard or prior.known for prior in priors)
    return OpponentModel(issues, tables, _ENDS[curves], _POWERS[curves], informed)


@dataclass(frozen=True, slots=True)
class _Evidence:
    """Packages as value positions, packages by issues, the least they accept then, curves by packages, and weights."""

    choices: Indices
    least: Floats
    weights: Floats


def _curve_prior(hints: PreferenceHints) -> Floats:
    """Log prior of each concession curve."""
    prior = np.where(_POWERS >= 2.0, LATE_MOVER, 0.0)
    prior = prior - np.where(_POWERS >= 9.0, LAST_MINUTE_COST, 0.0)
    reservation = hinted_reservation(hints)
    if reservation is not None:
        missed = np.where(reservation > _ENDS, 2.0, 0.5) * np.abs(_ENDS - reservation)
        prior -= hint_confidence(hints) * missed / RESERVATION_SPREAD
    return prior


def _offered(situation: StrategySituation, places: Sequence[Mapping[ValueKey, int]]) -> _Evidence:
    """Their distinct offers, each at the first and at the last time that they made it, and what they call final."""
    moments = [
        (spots, time)
        for spots, times in _track(situation, places, "them").items()
        for time in sorted({times[0], times[-1]})
    ]
    weight = min(1.0, EVIDENCE_CAP / max(1, len(moments)))
    rows = [(spots, time, weight) for spots, time in moments]
    hints = situation.hints or PreferenceHints()
    finals = [past.offer for past in situation.theirs if past.final][-1:]
    last: list[tuple[OfferValues, float]] = [(offer, FINAL_OFFER_WEIGHT) for offer in finals]
    if hints.last_offer is not None:
        last.append((hints.last_offer, LAST_OFFER_WEIGHT * hint_confidence(hints)))
    for offer, weight in last:
        spots = _spots(situation.issues, places, offer)
        if spots is not None:
            rows.append((tuple(spots), 1.0, weight))
    return _evidence(rows, len(places))


def _refused(situation: StrategySituation, places: Sequence[Mapping[ValueKey, int]]) -> _Evidence:
    """My latest distinct offers, which they refused, at the last time that I made each."""
    track = _track(situation, places, "me")
    latest = sorted(track.items(), key=lambda row: -row[1][-1])[:MAX_REFUSALS]
    return _evidence([(spots, times[-1], len(times) ** 0.5) for spots, times in latest], len(places))


def _evidence(rows: Sequence[tuple[tuple[int, ...], float, float]], issues: int) -> _Evidence:
    choices = np.array([spots for spots, _, _ in rows], dtype=np.int64).reshape(-1, issues)
    times = np.array([time for _, time, _ in rows], dtype=float)
    weights = np.array([weight for _, _, weight in rows], dtype=float)
    return _Evidence(choices, _least(_ENDS, _POWERS, times), weights)


def _track(
    situation: StrategySituation, places: Sequence[Mapping[ValueKey, int]], by: str
) -> dict[tuple[int, ...], list[float]]:
    """The distinct offers of one side as value positions, with their times as shares of the negotiation."""
    rounds = situation.progress.rounds
    seen: dict[tuple[int, ...], list[float]] = {}
    for past in situation.history:
        spots = _spots(situation.issues, places, past.offer) if past.by == by else None
        if spots is not None:
            seen.setdefault(tuple(spots), []).append(min(1.0, (past.step + 1.0) / (rounds + 1.0)))
    return seen


class _Chains:
    """Markov chains over hypotheses; each array has one row per chain.

    `parts` says what each issue adds, before scaling, to their utility of every package offered and refused, to that of
    the average package, and to the sum of the weights; `sums` is the total over issues, `variances` what each issue
    adds to the variance of their utility over all packages.
    """

    def __init__(
        self,
        priors: Sequence[IssuePrior],
        offered: _Evidence,
        refused: _Evidence,
        curve_prior: Floats,
        rng: np.random.Generator,
    ) -> None:
        self.offered, self.refused, self.curve_prior, self.rng = offered, refused, curve_prior, rng
        self.heard, self.told = len(offered.weights), len(refused.weights)
        self.least_sums = offered.least @ offered.weights, offered.least**2 @ offered.weights
        self.log_chances = [np.log(prior.chances + 1e-12) for prior in priors]
        self.levels = rng.integers(len(LEVELS), size=CHAINS)
        self.curves = _picked(np.repeat(curve_prior[None], CHAINS, axis=0), rng)
        self.kinds = [_picked(logs[self.levels], rng) for logs in self.log_chances]
        self.weights = [prior.weights(CHAINS, rng) for prior in priors]
        self.shapes = [prior.shapes(kinds, rng) for prior, kinds in zip(priors, self.kinds, strict=True)]
        parts = [self._part(k, shapes, self.weights[k]) for k, shapes in enumerate(self.shapes)]
        self.parts = [part for part, _ in parts]
        self.variances = [variance for _, variance in parts]
        self.sums: Floats = np.sum(self.parts, axis=0)
        self.variance: Floats = np.sum(self.variances, axis=0)

    def redraw(self, candidates: Sequence[IssueDraws]) -> None:
        """Redraw every issue, from these candidates, the concession curve and the level of opposition."""
        for k, draws in enumerate(candidates):
            self._redraw_issue(k, draws)
        self.curves = _picked(self._curve_scores(), self.rng)
        chances = np.zeros((CHAINS, len(LEVELS)))
        for logs, kinds in zip(self.log_chances, self.kinds, strict=True):
            chances += logs[:, kinds].T
        self.levels = _picked(chances, self.rng)

    def share(self, k: int) -> Floats:
        """The weight of an issue where all weights sum to 1."""
        return self.weights[k] / self.sums[:, -1]

    def _part(self, k: int, shapes: Floats, weights: Floats) -> tuple[Floats, Floats]:
        """What an issue of these worths and weights adds: rows of `parts` and of `variances`."""
        worths = [
            shapes[:, self.offered.choices[:, k]],
            shapes[:, self.refused.choices[:, k]],
            shapes.mean(axis=1, keepdims=True),
            np.ones((len(shapes), 1)),
        ]
        return weights[:, None] * np.concatenate(worths, axis=1), weights**2 * shapes.var(axis=1)

    def _redraw_issue(self, k: int, draws: IssueDraws) -> None:
        """Choose weight and worths of one issue among fresh draws and the present ones, given the rest."""
        part, variance = self._part(k, draws.shapes, draws.weights)
        logs = self.log_chances[k]
        score = self._draw_scores(self.sums - self.parts[k], self.variance - self.variances[k], part, variance)
        score = score + logs[self.levels][:, draws.kinds]
        present = self._state_score() + logs[self.levels, self.kinds[k]]
        pick = _picked(np.concatenate([score, present[:, None]], axis=1), self.rng)
        new = np.flatnonzero(pick < len(draws.kinds))
        pick = pick[new]
        self.kinds[k][new] = draws.kinds[pick]
        self.weights[k][new] = draws.weights[pick]
        self.shapes[k][new] = draws.shapes[pick]
        self.sums[new] += part[pick] - self.parts[k][new]
        self.variance[new] += variance[pick] - self.variances[k][new]
        self.parts[k][new] = part[pick]
        self.variances[k][new] = variance[pick]

    def _draw_scores(self, rest: Floats, rest_variance: Floats, part: Floats, variance: Floats) -> Floats:
        """Log likelihood of each draw of one issue beside the other issues of each chain, chains by draws."""
        heard, weights = self.heard, self.offered.weights
        total = rest[:, -1:] + part[:, -1]
        offers, drawn = rest[:, :heard], part[:, :heard]
        given, least = offers * weights, self.offered.least[self.curves] * weights
        squares = (given * offers).sum(axis=1)[:, None] + 2.0 * given @ drawn.T + drawn**2 @ weights
        products = (least * offers).sum(axis=1)[:, None] + least @ drawn.T
        score = self._offer_score(
            squares / total**2,
            products / total,
            (rest[:, -2:-1] + part[:, -2]) / total,
            (rest_variance[:, None] + variance) / total**2,
            [sums[self.curves][:, None] for sums in self.least_sums],
        )
        for r in range(self.told):
            worth = (rest[:, heard + r, None] + part[:, heard + r]) / total
            score -= self._refusal_cost(worth, self.refused.least[self.curves, r, None], r)
        return score

    def _state_score(self) -> Floats:
        """Log likelihood of each chain as it is."""
        total = self.sums[:, -1]
        worth = self.sums / total[:, None]
        offers, weights = worth[:, : self.heard], self.offered.weights
        score = self._offer_score(
            offers**2 @ weights,
            (offers * self.offered.least[self.curves]) @ weights,
            worth[:, -2],
            self.variance / total**2,
            [sums[self.curves] for sums in self.least_sums],
        )
        for r in range(self.told):
            least = self.refused.least[self.curves, r]
            score -= self._refusal_cost(worth[:, self.heard + r], least, r)
        return score

    def _curve_scores(self) -> Floats:
        """Log posterior of each concession curve given the utility of each chain, chains by curves."""
        total = self.sums[:, -1:]
        worth = self.sums / total
        offers, weights = worth[:, : self.heard], self.offered.weights
        score = self.curve_prior + self._offer_score(
            (offers**2 @ weights)[:, None],
            (offers * weights) @ self.offered.least.T,
            worth[:, -2:-1],
            self.variance[:, None] / total**2,
            [sums[None] for sums in self.least_sums],
        )
        for r in range(self.told):
            worth_then = worth[:, self.heard + r, None]
            score -= self._refusal_cost(worth_then, self.refused.least[None, :, r], r)
        return score

    def _offer_score(
        self, squares: Floats, products: Floats, mean: Floats, variance: Floats, curve_sums: Sequence[Floats]
    ) -> Floats:
        """Log likelihood of their offers: near the curve, and relative to how common packages on the curve are.

        Worths and least utilities come as weighted sums over the offers; `mean` and `variance` are those of all
        packages, whose utilities are taken to be normally distributed.
        """
        least, least_squares = curve_sums
        count = float(self.offered.weights.sum())
        spread = variance + OFFER_SPREAD**2
        near = (squares - 2.0 * products + least_squares) / OFFER_SPREAD**2
        common = (least_squares - 2.0 * mean * least + mean**2 * count) / spread
        return 0.5 * (common + count * np.log(spread) - near)

    def _refusal_cost(self, worth: Floats, least: Floats, refusal: int) -> Floats:
        """Log likelihood lost where a package that they refused is worth more than the least they accept."""
        return self.refused.weights[refusal] / REFUSAL_SPREAD * np.maximum(0.0, worth - least)


def _picked(score: Floats, rng: np.random.Generator) -> Indices:
    """For each row a column, at random in proportion to exp(score)."""
    return (score + rng.gumbel(size=score.shape)).argmax(axis=1)


def _least(ends: Floats, powers: Floats, times: Floats) -> Floats:
    return 1.0 - (1.0 - ends[:, None]) * times[None, :] ** powers[:, None]


def _places(issues: Sequence[StrategyIssue]) -> tuple[Mapping[ValueKey, int], ...]:
    return tuple({typed_key(value): k for k, value in reversed(list(enumerate(issue.values)))} for issue in issues)


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
