"""Split power alpha: logit alpha = Σ beta · f, each factor f in [-1, 1], 0 when both sides match.

Every side fact is turned into a strength from 0 to 1 and a factor is my strength less theirs, so
swapping roles negates each factor and alpha(me) + alpha(them) = 1. Facts carry no unit of money
and no utility scale, so neither can matter.

The betas are stated priors, not estimates. Rubinstein (1982) gives the patient side r2/(r1+r2),
a slope of 2 if time were all and both knew all; people come nowhere near, so time has a quarter
of that. Alternatives weigh most (Binmore, Shaked and Sutton 1989: they are what bounds a split),
then time and competition, then need, knowledge and market; authority, commitment and
relationship least. One factor at its extreme moves alpha from 0.5 to at most 0.67, all nine
together to 0.95: no answer claims more than the facts can carry.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from negotiator.negotiations.terms import SideFacts
from negotiator.negotiations.utility import Preferences, Worth, utility_bounds, utility_of_worth

CONTRIBUTION_GRAIN = 2.0**-20
"""Contributions are whole multiples of this, so their sum is exact in any order of adding."""
UNKNOWN_STRENGTH_DEVIATION = 0.29
"""Standard deviation of a strength nobody told us: uniform over 0 to 1."""
MODEL_SPREAD = 0.25
"""Standard deviation of logit alpha that remains when every input is known."""
EIGHTY_PERCENT_QUANTILE = 1.2816
USUAL_DAYS = 30.0
"""Deadline assumed for a side when only the other's is known."""
MAX_RIVALS = 8


@dataclass(frozen=True, slots=True)
class Factor:
    """How much a factor weighs, the strength assumed for a silent side, how far one can move it."""

    name: str
    beta: float
    assumed: float
    movable: float
    advice: str


FACTORS: tuple[Factor, ...] = (
    Factor("alternatives", 0.70, 0.0, 0.5, "Improve your best alternative before you concede."),
    Factor("time", 0.50, 0.5, 0.5, "Gain time: move your deadline or lower what waiting costs."),
    Factor("competition", 0.45, 0.0, 0.5, "Bring one more serious bidder to the table."),
    Factor("dependency", 0.35, 0.5, 0.2, "Lower what a break would cost you."),
    Factor("information", 0.30, 0.25, 0.5, "Learn their limits and priorities before you offer."),
    Factor("market", 0.25, 0.5, 0.2, "Find benchmarks that support your target."),
    Factor("authority", 0.15, 0.5, 0.4, "Get a wider mandate, or speak with who decides."),
    Factor("commitment", 0.15, 0.5, 0.25, "Keep other paths open; sink no more cost first."),
    Factor(
        "relationship", 0.10, 0.5, 0.1, "Make the relationship matter to them as it does to you."
    ),
)
FACTOR_NAMES: tuple[str, ...] = tuple(factor.name for factor in FACTORS)


@dataclass(frozen=True, slots=True)
class FactorShare:
    """One factor's value in [-1, 1], what it adds to logit alpha, and the sentence to it."""

    name: str
    value: float
    contribution: float
    explanation: str


@dataclass(frozen=True, slots=True)
class MostMovable:
    """The factor through which I can raise alpha most, by how much, and how."""

    name: str
    alpha_gain: float
    advice: str


@dataclass(frozen=True, slots=True)
class Power:
    """My share of the surplus, with its 80 % interval and what it is made of."""

    alpha: float
    low: float
    high: float
    factors: tuple[FactorShare, ...]
    missing: tuple[str, ...]
    most_movable: MostMovable


def logistic(x: float) -> float:
    """1 / (1 + e^-x), by the side that keeps all digits."""
    return 1.0 / (1.0 + math.exp(-x)) if x >= 0 else math.exp(x) / (1.0 + math.exp(x))


def split_power(
    me: SideFacts, them: SideFacts, judgements: Mapping[str, float] | None = None
) -> Power:
    """Split power from both sides' facts; `judgements` sets factors outright, clipped to [-1, 1].

    Unknown facts leave the middle where the assumed strength puts it and widen the interval.
    """
    given = judgements or {}
    shares: list[FactorShare] = []
    missing: list[str] = []
    variance = MODEL_SPREAD**2
    for factor in FACTORS:
        silent = [] if factor.name in given else _silent(factor.name, me, them)
        value = given.get(factor.name)
        value = _value(factor, me, them) if value is None else min(1.0, max(-1.0, value))
        variance += len(silent) * (factor.beta * UNKNOWN_STRENGTH_DEVIATION) ** 2
        missing += [f"{factor.name} ({side})" for side in silent]
        part = round(factor.beta * value / CONTRIBUTION_GRAIN) * CONTRIBUTION_GRAIN
        text = _explanation(factor, value, silent)
        shares.append(FactorShare(factor.name, value, part, text))
    logit = sum(share.contribution for share in shares)
    half = EIGHTY_PERCENT_QUANTILE * math.sqrt(variance)
    return Power(
        alpha=logistic(logit),
        low=logistic(logit - half),
        high=logistic(logit + half),
        factors=tuple(shares),
        missing=tuple(missing),
        most_movable=_most_movable(shares, logit),
    )


def _silent(name: str, me: SideFacts, them: SideFacts) -> list[str]:
    sides = (("me", me), ("them", them))
    return [label for label, facts in sides if _known(name, facts) is None]


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
    """Bidders on a log scale: the first matters most, more than eight add nothing."""
    return math.log1p(min(MAX_RIVALS, max(0, rivals))) / math.log1p(MAX_RIVALS)


def _loss_rate(facts: SideFacts) -> float | None:
    """Share of the deal lost a day: what waiting costs, plus all of it spread to the deadline."""
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


def _explanation(factor: Factor, value: float, silent: list[str]) -> str:
    if len(silent) == 2:
        return f"Nothing is known about {factor.name}; taken as even, the interval is wider."
    lean = "is even" if value == 0 else "favours you" if value > 0 else "favours them"
    name = factor.name.capitalize()
    if not silent:
        return f"{name} {lean} ({value:+.2f})."
    whose = "Yours" if silent == ["me"] else "Theirs"
    return f"{name} {lean} ({value:+.2f}). {whose} is unknown; a usual one is assumed."


def _most_movable(shares: list[FactorShare], logit: float) -> MostMovable:
    """The factor with the largest gain if I closed the movable part of its way to +1."""
    gains = [
        (logistic(logit + f.beta * f.movable * (1.0 - share.value)) - logistic(logit), f)
        for f, share in zip(FACTORS, shares, strict=True)
    ]
    gain, factor = max(gains, key=lambda pair: pair[0])
    return MostMovable(factor.name, gain, factor.advice)


def alternative_strength(preferences: Preferences, batna: float, target: Worth | None) -> float:
    """Where an alternative lies from the worst package (0, also for anything below) to the target.

    Scale-free, and an alternative worse than everything in play is no strength at all.
    """
    ends = utility_bounds(preferences)
    goal = utility_of_worth(preferences, target, fill="high")
    top = ends.high if goal is None or goal <= ends.low else goal
    if top <= ends.low:
        return 0.0
    return min(1.0, max(0.0, (batna - ends.low) / (top - ends.low)))
