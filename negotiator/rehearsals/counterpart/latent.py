"""Draws what a simulated counterpart wants from what the user believes of the other side, and from nothing else.

The user's target, walk-away and alternative are not read: the counterpart cannot know them. A floor of the price comes
from the estimate of the other side's walk-away where there is one, else from the range of the issue.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from random import Random
from typing import Final

from negotiator.rehearsals.counterpart.interests import Interests, Stake, round_unit, rounded
from negotiator.rehearsals.counterpart.person import Hardness, Person, PersonKind, draw_person
from negotiator.terms.issues import (
    UNORDERED_TYPES,
    Issue,
    IssueRange,
    Package,
    Scalar,
    coordinate,
    value_at_coordinate,
    values_of,
    worth_of,
)
from negotiator.terms.terms import Terms

FIRST_OFFER_SHARES: Final[Mapping[str, tuple[float, float]]] = {"employment": (0.06, 0.16), "real_estate": (0.05, 0.14)}
"""How far a first price lies from the floor, as a share of the floor, by category."""
OTHER_FIRST_OFFER_SHARES: Final = (0.12, 0.3)
FLOOR_SHARES: Final = (0.2, 0.6)
"""Where a floor lies on an issue without an estimate, from the user's best end of the range (0) to the worst (1)."""
ASK_SHARES: Final = (0.75, 1.0)
"""Where a first ask on an issue other than the price lies, on the same scale."""
LEAST_DISTANCE: Final = 0.04
"""A first price differs from the floor by at least this share of the floor."""
GIVEN_ROOM: Final = (0.02, 0.08)
"""How far below an offer that was really made a floor lies, where the estimate lies above that offer."""
PRICE_WEIGHT: Final = 0.5
"""The weight of the price where nothing is known of their priorities."""
PRIORITY_FACTOR: Final = 2.0
WEIGHT_SPREAD: Final = 0.3
WORTH_NOISE: Final = 0.15
_SPREADS: Final = {True: 0.0, False: 0.08}
"""The spread of the floor around the drawn one, with and without an estimate of it."""


def draw_counterpart(
    terms: Terms, kind: PersonKind, key: str, *, hardness: Hardness = "normal", offered: Package | None = None
) -> Person | None:
    """The counterpart of this kind; the same `key` meets the same person in the same negotiation.

    `offered` is what the other side really has on the table, with which the person then opens. None where no issue has
    a range, options, an estimate or an offer to draw from.
    """
    rng = Random(f"latent {key}")  # noqa: S311  a simulated person, whose key is what is secret
    stakes = [
        stake
        for issue in terms.issues
        if (stake := _stake(terms, issue, rng, (offered or {}).get(issue.name))) is not None
    ]
    if not stakes:
        return None
    interests = Interests(tuple(stakes)).weighted(_weights(terms, stakes, rng))
    person = draw_person(
        interests, kind, key, hardness=hardness, floor_spread=_SPREADS[terms.their_walk_away is not None]
    )
    opening = interests.ask if offered else person.opening
    return replace(person, opening=opening, hazard=0.0)


def _stake(terms: Terms, issue: Issue, rng: Random, offered: Scalar | None) -> Stake | None:
    """The issue as the person sees it; the same random numbers are drawn whatever is known."""
    draws = [rng.random() for _ in range(4)]
    if issue.type in UNORDERED_TYPES or issue.options:
        return _listed_stake(issue, rng, offered)
    if issue is terms.price:
        return _price_stake(terms, issue, draws, offered)
    if issue.range is None:
        return None
    best, worst = _ends(issue, issue.range)
    floor = best + (worst - best) * _between(FLOOR_SHARES, draws[0])
    if terms.their_walk_away is not None and terms.their_walk_away.unit == "utility":
        floor = best + (worst - best) * _between(terms.their_walk_away.ends[::2], draws[0])
    ask = best + (worst - best) * _between(ASK_SHARES, draws[1])
    return _ordered_stake(issue, floor, ask, offered)


def _price_stake(terms: Terms, issue: Issue, draws: Sequence[float], offered: Scalar | None) -> Stake | None:
    made = None if offered is None else coordinate(issue.type, offered)
    estimate = terms.their_walk_away
    sign = Decimal(1 if issue.direction == "lower" else -1)  # what the user wants low they want high
    if estimate is not None and estimate.unit == "money":
        floor = Decimal(repr(_triangular(estimate.ends, draws[0])))
    elif issue.range is not None:
        best, worst = _ends(issue, issue.range)
        share = _between(FLOOR_SHARES, draws[0])
        if estimate is not None:
            share = Decimal(repr(_triangular(estimate.ends, draws[0])))
        floor = best + (worst - best) * share
    elif made is not None:
        floor = made * (1 - sign * _between((0.05, 0.25), draws[0]))
    else:
        return None
    shares = FIRST_OFFER_SHARES.get(terms.category, OTHER_FIRST_OFFER_SHARES)
    ask = floor + sign * abs(floor) * _between(shares, draws[1])
    if issue.range is not None:
        end = issue.range.max if sign > 0 else issue.range.min
        least = floor + sign * abs(floor) * Decimal(repr(LEAST_DISTANCE))
        ask = max(min(ask, end), least) if sign > 0 else min(max(ask, end), least)
    if made is not None and sign * (made - floor) <= 0:
        floor = made - sign * abs(made) * _between(GIVEN_ROOM, draws[2])
    return _ordered_stake(issue, floor, ask, offered)


def _ordered_stake(issue: Issue, floor: Decimal, ask: Decimal, offered: Scalar | None) -> Stake:
    """The stake with values that people name; an offer that was really made is the first ask."""
    made = None if offered is None else coordinate(issue.type, offered)
    ask = ask if made is None else made
    distance = abs(ask - floor)
    unit = round_unit(issue, floor, distance / 5)
    low = rounded(issue, floor, unit)
    high = ask if made is not None else rounded(issue, ask, round_unit(issue, ask, distance))
    return Stake(issue, value_at_coordinate(issue.type, low), value_at_coordinate(issue.type, high), 1.0)


def _listed_stake(issue: Issue, rng: Random, offered: Scalar | None) -> Stake | None:
    """Options: what is worth little to the user is worth more to them, with some noise of their own."""
    listed = values_of(issue)
    if not listed:
        return None
    worths = {value: 1.0 - (worth_of(issue, value) or 0.0) + rng.gauss(0.0, WORTH_NOISE) for value in listed}
    ranked = sorted(listed, key=lambda value: worths[value])
    ask = ranked[-1] if offered is None or offered not in worths else offered
    below = [value for value in ranked if worths[value] < worths[ask]]
    floor = below[len(below) // 2] if below else ask
    span = worths[ask] - worths[floor]
    scaled = {value: (worth - worths[floor]) / (span or 1.0) for value, worth in worths.items()}
    return Stake(issue, floor, ask, 1.0, scaled)


def _weights(terms: Terms, stakes: Sequence[Stake], rng: Random) -> list[float]:
    """Their weights as the user gave them, else by priorities, else with the price as the heaviest; each varied."""
    details = terms.estimate_details
    first = set(details.priorities) if details is not None else set[str]()
    given = [s.issue.their_weight for s in stakes if s.issue.their_weight is not None]
    mean = sum(given) / len(given) if given else 1.0
    others = (1 - PRICE_WEIGHT) / max(1, len(stakes) - 1)
    found: list[float] = []
    for stake in stakes:
        if given:
            known = stake.issue.their_weight
            weight = mean if known is None else known
        elif first:
            weight = PRIORITY_FACTOR if stake.name in first else 1.0
        else:
            weight = PRICE_WEIGHT if stake.issue is terms.price else others
        found.append(weight * rng.lognormvariate(0.0, WEIGHT_SPREAD))
    return found


def _ends(issue: Issue, values: IssueRange) -> tuple[Decimal, Decimal]:
    """The user's best and worst end of a range, which are the person's worst and best."""
    if issue.direction == "lower":
        return values.min, values.max
    return values.max, values.min


def _between(ends: tuple[float, ...], share: float) -> Decimal:
    return Decimal(repr(ends[0] + (ends[1] - ends[0]) * share))


def _triangular(ends: tuple[float, float, float], share: float) -> float:
    """The quantile of a triangular distribution with these ends and this middle as its mode."""
    low, likely, high = ends
    if high <= low:
        return likely
    turn = (likely - low) / (high - low)
    if share < turn:
        return low + (share * (high - low) * (likely - low)) ** 0.5
    return high - ((1 - share) * (high - low) * (high - likely)) ** 0.5
