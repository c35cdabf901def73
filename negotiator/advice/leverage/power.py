"""The split of power alpha: logit alpha = Σ beta · f, with each factor f in [-1, 1] and 0 when both sides match.

Each fact of a side becomes a strength from 0 to 1, and a factor is my strength minus theirs. Swapping the sides negates
each factor, so alpha(me) + alpha(them) = 1. Facts have no unit of money or utility, so alpha does not depend on either.

The betas are assumed priors, not estimates. In Rubinstein (1982) a side gets r2/(r1+r2), a slope of 2 if time were
the only factor and both sides had full information; human negotiators respond much less, so time has a quarter of that.
Alternatives weigh most, because they bound a split (Binmore, Shaked and Sutton 1989), then time and competition, then
dependency, information and market; authority, commitment and relationship weigh least. One factor at its extreme moves
alpha from 0.5 to at most 0.67, all nine together to 0.95.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from negotiator.advice.leverage.factor_words import PowerSide, factor_explanation
from negotiator.terms.terms import SideFacts
from negotiator.terms.utility import Preferences, Worth, utility_bounds, utility_of_worth

CONTRIBUTION_GRAIN = 2.0**-20
"""Contributions are whole multiples of this, so their sum does not depend on the order of addition."""
UNKNOWN_STRENGTH_DEVIATION = 0.29
"""Standard deviation of an unknown strength: uniform over 0 to 1."""
MODEL_SPREAD = 0.25
"""Standard deviation of logit alpha that remains when every input is known."""
EIGHTY_PERCENT_QUANTILE = 1.2816
USUAL_DAYS = 30.0
"""Deadline assumed for a side when only the other's is known."""
MAX_RIVALS = 8


@dataclass(frozen=True, slots=True)
class Factor:
    """A factor's weight, the strength assumed where a side's is unknown, and what one action of the user can change.

    `movable` is the share of the way from the user's own strength to the full strength of 1.
    """

    name: str
    beta: float
    assumed: float
    movable: float
    advice: str


FACTORS: tuple[Factor, ...] = (
    Factor("alternatives", 0.70, 0.0, 0.5, "Improve your best alternative before you concede."),
    Factor("time", 0.50, 0.5, 0.5, "Gain time: move your deadline or make waiting cost less."),
    Factor("competition", 0.45, 0.0, 0.5, "Bring one more serious bidder to the table."),
    Factor("dependency", 0.35, 0.5, 0.2, "Make it cheaper for you to end this relationship."),
    Factor("information", 0.30, 0.25, 0.5, "Learn their limits and priorities before you offer."),
    Factor("market", 0.25, 0.5, 0.2, "Find market figures that support your target."),
    Factor("authority", 0.15, 0.5, 0.4, "Get more authority, or speak with the person who decides."),
    Factor("commitment", 0.15, 0.5, 0.25, "Keep other options open, and spend no more on this deal first."),
    Factor("relationship", 0.10, 0.5, 0.1, "Make the relationship matter as much to them as it does to you."),
)
FACTOR_NAMES: tuple[str, ...] = tuple(factor.name for factor in FACTORS)
SIDES: Final[tuple[PowerSide, ...]] = ("me", "them")
PLAUSIBLE_ENDS: Final[Mapping[str, tuple[Mapping[str, float], Mapping[str, float]]]] = {
    "alternatives": ({"alternative": 0.0}, {"alternative": 0.9}),
    "time": ({"days_left": 7.0}, {"days_left": 90.0}),
    "competition": ({"rivals": 0}, {"rivals": 4}),
    **{
        name: ({name: 0.1}, {name: 0.9})
        for name in ("dependency", "information", "market", "authority", "commitment", "relationship")
    },
}
"""The ends between which an unknown fact plausibly lies: for a share the middle 80 %, for an alternative none or a good
one, for time a week or three months, for rivals none or four."""


@dataclass(frozen=True, slots=True)
class FactorShare:
    """One factor's value in [-1, 1], its contribution to logit alpha, and a sentence that explains it."""

    name: str
    value: float
    contribution: float
    explanation: str


@dataclass(frozen=True, slots=True)
class MostMovable:
    """The factor by which one action of the user raises alpha most, by how much, and the advice."""

    name: str
    alpha_gain: float
    advice: str


@dataclass(frozen=True, slots=True)
class UnknownFact:
    """A fact of one side that is not known, and alpha at its plausible ends: the worse for the user, and the better."""

    factor: str
    side: PowerSide
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Power:
    """My share of the surplus (0 to 1), its 80 % interval, its factors, and the unknown facts.

    `unknown` has the facts of `missing`, the one that changes alpha most between its plausible ends first.
    """

    alpha: float
    low: float
    high: float
    factors: tuple[FactorShare, ...]
    missing: tuple[str, ...]
    most_movable: MostMovable
    unknown: tuple[UnknownFact, ...]


def logistic(x: float) -> float:
    """1 / (1 + e^-x), computed in the form that does not overflow."""
    return 1.0 / (1.0 + math.exp(-x)) if x >= 0 else math.exp(x) / (1.0 + math.exp(x))


def split_power(me: SideFacts, them: SideFacts, judgements: Mapping[str, float] | None = None) -> Power:
    """The split of power from both sides' facts; `judgements` sets factors directly, clipped to [-1, 1].

    An unknown fact counts as the factor's assumed strength and widens the interval.
    """
    given = judgements or {}
    shares: list[FactorShare] = []
    silent: list[tuple[Factor, PowerSide]] = []
    variance = MODEL_SPREAD**2
    for factor in FACTORS:
        judged = given.get(factor.name)
        known = _known_sides(factor.name, me, them)
        value = _value(factor, me, them) if judged is None else min(1.0, max(-1.0, judged))
        text = factor_explanation(factor.name, value, known, judged=judged is not None)
        shares.append(FactorShare(factor.name, value, _contribution(factor, value), text))
        if judged is None:
            for side in SIDES:
                if side not in known:
                    variance += (factor.beta * UNKNOWN_STRENGTH_DEVIATION) ** 2
                    silent.append((factor, side))
    logit = sum(share.contribution for share in shares)
    half = EIGHTY_PERCENT_QUANTILE * math.sqrt(variance)
    return Power(
        alpha=logistic(logit),
        low=logistic(logit - half),
        high=logistic(logit + half),
        factors=tuple(shares),
        missing=tuple(f"{factor.name} ({side})" for factor, side in silent),
        most_movable=_most_movable(shares, logit, (me, them), given),
        unknown=_unknown_facts(shares, logit, (me, them), silent),
    )


def _contribution(factor: Factor, value: float) -> float:
    return round(factor.beta * value / CONTRIBUTION_GRAIN) * CONTRIBUTION_GRAIN


def _known_sides(name: str, me: SideFacts, them: SideFacts) -> frozenset[PowerSide]:
    facts: tuple[tuple[PowerSide, SideFacts], ...] = (("me", me), ("them", them))
    return frozenset(side for side, given in facts if _known(name, given) is not None)


def _known(name: str, facts: SideFacts) -> float | None:
    """A side's strength in a factor, or for `time` its rate of loss a day; None if unknown."""
    match name:
        case "alternatives":
            return _clipped(facts.alternative)
        case "time":
            return _loss_rate(facts)
        case "competition":
            return None if facts.rivals is None else _rivalry(facts.rivals)
        case "information":
            return _clipped(facts.information)
        case "market":
            return _clipped(facts.market)
        case "authority":
            return _clipped(facts.authority)
        case "dependency":
            return _inverse(facts.dependency)
        case "commitment":
            return _inverse(facts.commitment)
        case _:
            return _inverse(facts.relationship)


def _clipped(share: float | None) -> float | None:
    return None if share is None else min(1.0, max(0.0, share))


def _inverse(share: float | None) -> float | None:
    return None if share is None else 1.0 - min(1.0, max(0.0, share))


def _rivalry(rivals: int) -> float:
    """Rival bidders on a log scale from 0 to 1; more than eight count as eight."""
    return math.log1p(min(MAX_RIVALS, max(0, rivals))) / math.log1p(MAX_RIVALS)


def _loss_rate(facts: SideFacts) -> float | None:
    """Share of the deal lost per day: the cost of delay, plus the whole deal spread over the days to the deadline."""
    if facts.days_left is None and facts.delay_cost_per_day is None:
        return None
    cost = max(0.0, facts.delay_cost_per_day or 0.0)
    return cost if facts.days_left is None else cost + 1.0 / max(facts.days_left, 1.0 / 24.0)


def _value(factor: Factor, me: SideFacts, them: SideFacts) -> float:
    mine, theirs = _known(factor.name, me), _known(factor.name, them)
    if factor.name == "time":
        if mine is None and theirs is None:
            return 0.0
        a = 1.0 / USUAL_DAYS if mine is None else mine
        b = 1.0 / USUAL_DAYS if theirs is None else theirs
        return (b - a) / (a + b) if a + b > 0 else 0.0
    a = factor.assumed if mine is None else mine
    b = factor.assumed if theirs is None else theirs
    return a - b


def _most_movable(
    shares: Sequence[FactorShare], logit: float, sides: tuple[SideFacts, SideFacts], judgements: Mapping[str, float]
) -> MostMovable:
    """The factor with the largest gain in alpha from one action of the user; the gain is 0 when none is left."""
    gains: list[tuple[float, Factor]] = []
    for factor, share in zip(FACTORS, shares, strict=True):
        value = _improved_value(factor, share, *sides, judged=factor.name in judgements)
        gain = logistic(logit - share.contribution + _contribution(factor, value)) - logistic(logit)
        gains.append((max(0.0, gain), factor))
    gain, factor = max(gains, key=lambda pair: pair[0])
    return MostMovable(factor.name, gain, factor.advice)


def _improved_value(factor: Factor, share: FactorShare, me: SideFacts, them: SideFacts, *, judged: bool) -> float:
    """The factor after one action: twice the time, one rival more, or the movable share of the way to full strength.

    Of a judged factor, half the way to +1 is taken to be the user's own.
    """
    if judged:
        return share.value + factor.movable * (1.0 - share.value) / 2.0
    mine = _known(factor.name, me)
    if factor.name == "time":
        halved = (1.0 / USUAL_DAYS if mine is None else mine) / 2.0
        return _value(factor, replace(me, days_left=None, delay_cost_per_day=halved), them)
    if factor.name == "competition":
        return _value(factor, replace(me, rivals=(me.rivals or 0) + 1), them)
    strength = factor.assumed if mine is None else mine
    return share.value + factor.movable * (1.0 - strength)


def _unknown_facts(
    shares: Sequence[FactorShare],
    logit: float,
    sides: tuple[SideFacts, SideFacts],
    silent: Sequence[tuple[Factor, PowerSide]],
) -> tuple[UnknownFact, ...]:
    """The silent facts with alpha at their plausible ends, largest change first."""
    found: list[UnknownFact] = []
    parts = {share.name: share.contribution for share in shares}
    for factor, side in silent:
        ends: list[float] = []
        for end in PLAUSIBLE_ENDS[factor.name]:
            me, them = sides
            me, them = (_with(me, end), them) if side == "me" else (me, _with(them, end))
            moved = logit - parts[factor.name] + _contribution(factor, _value(factor, me, them))
            ends.append(logistic(moved))
        found.append(UnknownFact(factor.name, side, min(ends), max(ends)))
    return tuple(sorted(found, key=lambda fact: fact.low - fact.high))


def _with(facts: SideFacts, fact: Mapping[str, float]) -> SideFacts:
    changed: dict[str, Any] = dict(fact)
    return replace(facts, **changed)


def alternative_strength(preferences: Preferences, batna: float, target: Worth | None) -> float:
    """The strength of an alternative: 0 at the worst package or below it, 1 at the target or above it.

    `batna` is the utility of the alternative. Without a target the best package stands in. The result does not
    depend on the scale of the utilities.
    """
    ends = utility_bounds(preferences)
    goal = utility_of_worth(preferences, target, fill="high")
    top = ends.high if goal is None or goal <= ends.low else goal
    if top <= ends.low:
        return 0.0
    return min(1.0, max(0.0, (batna - ends.low) / (top - ends.low)))
