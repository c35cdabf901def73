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
from collections.abc import Mapping
from dataclasses import dataclass

from negotiator.negotiations.terms import SideFacts
from negotiator.negotiations.utility import Preferences, Worth, utility_bounds, utility_of_worth

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
    """A factor's weight, the strength assumed where a side's is unknown, and the share of the way to +1 it can move."""

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
    """One factor's value in [-1, 1], its contribution to logit alpha, and a sentence that explains it."""

    name: str
    value: float
    contribution: float
    explanation: str


@dataclass(frozen=True, slots=True)
class MostMovable:
    """The factor that can raise alpha most, by how much, and the advice."""

    name: str
    alpha_gain: float
    advice: str


@dataclass(frozen=True, slots=True)
class Power:
    """My share of the surplus (0 to 1), its 80 % interval, its factors, and the unknown facts."""

    alpha: float
    low: float
    high: float
    factors: tuple[FactorShare, ...]
    missing: tuple[str, ...]
    most_movable: MostMovable


def logistic(x: float) -> float:
    """1 / (1 + e^-x), computed in the form that does not overflow."""
    return 1.0 / (1.0 + math.exp(-x)) if x >= 0 else math.exp(x) / (1.0 + math.exp(x))


def split_power(
    me: SideFacts, them: SideFacts, judgements: Mapping[str, float] | None = None
) -> Power:
    """The split of power from both sides' facts; `judgements` sets factors directly, clipped to [-1, 1].

    An unknown fact counts as the factor's assumed strength and widens the interval.
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
    """The factor with the largest gain in alpha if its movable share of the way to +1 were closed."""
    gains = [
        (logistic(logit + f.beta * f.movable * (1.0 - share.value)) - logistic(logit), f)
        for f, share in zip(FACTORS, shares, strict=True)
    ]
    gain, factor = max(gains, key=lambda pair: pair[0])
    return MostMovable(factor.name, gain, factor.advice)


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
