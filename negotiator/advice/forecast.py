"""The final price of a talk, forecast from the figures of both sides, with an interval.

The median is a weighted mean of anchors that lie between the standing figures: where the concessions of both sides
would meet, the midpoint of the first figures (Galinsky and Mussweiler 2001: outcomes follow first offers), the user's
limit, and the estimate of the other side's. A mean of forecasts with fixed weights errs less than weights fitted to
few data (Clemen 1989). The interval comes from the residuals of simulated talks (split conformal prediction, Vovk et
al. 2005), by the number of figures that were named.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from negotiator.advice.leverage.zone_of_agreement import Spread, zopa_estimate

STEP_RATIO: Final = 0.5
"""A step divided by the one before, where none is seen: the median in 1,299 price talks (CraigslistBargain)."""
RATIO_PRIOR: Final = 2.0
"""How many observed ratios the usual one counts as."""
RATIO_ENDS: Final = (0.1, 2.0)
MAX_RATIO: Final = 0.8
GAP_PRIOR: Final = 2.0
"""How much of the gap each side is taken to give beside what its steps show: steps of few offers say little."""
FIRST_WEIGHT: Final = 0.25
"""Weight of the midpoint of the first figures against the meeting point of the concessions."""
LIMIT_WEIGHT: Final = 0.15
"""Weight of the user's own limit among all anchors: people settle somewhat nearer to it than to the middle."""
LIMIT_MARGIN: Final = 0.25
"""Where both would meet nearer to the user's limit than this share of the way to it, or beyond it, this is taken."""
ESTIMATE_WEIGHT: Final = 0.2
ASK_SHARE: Final = 0.35
"""Where the other side is expected to open beyond the user's limit, as a share of the way to the worst value."""
COMPARABLE_WEIGHT: Final = 0.3
"""Weight of what comparable deals end at, until both sides have named a figure."""
LEVEL: Final = 0.8
"""Share of talks that end inside the interval."""
RESIDUALS: Final[tuple[tuple[float, float], ...]] = (
    (0.3, 1.0),
    (0.28, 1.0),
    (0.38, 1.0),
    (0.4, 1.0),
    (0.6, 1.0),
    (0.46, 1.0),
    (0.68, 1.0),
    (0.6, 1.0),
    (1.0, 1.0),
)
"""Shares of the way from the median to the best and to the worst end that the interval reaches, by figures named.

The last row is for eight and more. `python -m tests.quality.haggling.measure_forecast --calibrate` prints them.
"""
MOST_REACH: Final = 0.9
"""An interval ends before the user's limit: a printed plan does not tell it."""
UNLIMITED_RESIDUALS: Final[tuple[tuple[float, float], ...]] = (
    (0.46, 0.16),
    (0.4, 0.44),
    (0.56, 0.48),
    (0.54, 0.72),
    (0.82, 0.68),
    (0.48, 1.0),
    (1.0, 0.6),
    (0.62, 1.0),
    (1.0, 1.0),
)
"""The same where the user names no limit."""


@dataclass(frozen=True, slots=True)
class PriceTalk:
    """A talk about a price. Every figure is a cost to the user: the higher, the worse for them.

    `mine` and `theirs` are the figures that each side named, oldest first. `aim` is where the user would open, `ask`
    where the other side is expected to. `best` and `worst` are the ends of the possible values. `limit` is the most
    that the user accepts, `their_limit` the estimate of the least that the other side accepts, `comparable` what
    comparable deals end at.
    """

    best: float
    worst: float
    mine: tuple[float, ...] = ()
    theirs: tuple[float, ...] = ()
    aim: float | None = None
    ask: float | None = None
    limit: float | None = None
    their_limit: Spread | None = None
    comparable: float | None = None

    @property
    def has_both(self) -> bool:
        """Whether both sides have named a figure."""
        return bool(self.mine and self.theirs)


@dataclass(frozen=True, slots=True)
class PriceForecast:
    """The median of the final price if there is a deal, and the ends between which `LEVEL` of such talks end.

    `deal_probability` is the chance that some price suits both sides; None where nothing is known of it.
    """

    median: float
    low: float
    high: float
    deal_probability: float | None


@dataclass(frozen=True, slots=True)
class ForecastReach:
    """The median of the final price, the best and the worst price at which a deal is possible, and its chance."""

    median: float
    best: float
    worst: float
    deal_probability: float | None


def forecast_price(talk: PriceTalk) -> PriceForecast | None:
    """The forecast, in time linear in the number of figures; None where no price suits both sides."""
    reach = forecast_reach(talk)
    if reach is None:
        return None
    rows = UNLIMITED_RESIDUALS if talk.limit is None else RESIDUALS
    down, up = rows[min(len(talk.mine) + len(talk.theirs), len(rows) - 1)]
    up = up if talk.limit is None else min(up, MOST_REACH)
    return PriceForecast(
        reach.median,
        reach.median - down * (reach.median - reach.best),
        reach.median + up * (reach.worst - reach.median),
        reach.deal_probability,
    )


def forecast_reach(talk: PriceTalk) -> ForecastReach | None:
    """The median and the ends between which a deal is possible; None where no price suits both sides.

    These lie between the standing figures of both sides, inside the user's limit, and inside the best end of the
    estimate of the other side's limit; the median lies inside its mean. A figure that a side has named counts as inside
    its limit. A higher standing figure of either side never lowers the median.
    """
    mine, theirs = ([min(max(figure, talk.best), talk.worst) for figure in side] for side in (talk.mine, talk.theirs))
    zone = _zone(talk, mine, theirs)
    if zone is None:
        return None
    low, high = _standing(talk, mine, theirs)
    bottom = min(low, high) if mine else talk.best
    top = max(low, high) if theirs else talk.worst
    bottom, top = min(max(bottom, min(zone.least, top)), zone.most), min(top, zone.most)
    middle = _pooled(talk, low, high, mine=mine or [low], theirs=theirs or [high])
    median = min(max(middle, bottom, min(zone.likely, top)), top)
    return ForecastReach(median, bottom, top, zone.probability)


@dataclass(frozen=True, slots=True)
class _Zone:
    """The least and the likely limit of the other side, the user's, and the chance that they leave room."""

    least: float
    likely: float
    most: float
    probability: float | None


def _zone(talk: PriceTalk, mine: Sequence[float], theirs: Sequence[float]) -> _Zone | None:
    spread = talk.their_limit
    most = math.inf if talk.limit is None else max([talk.limit, *mine[-1:]])
    named = theirs[-1] if theirs else math.inf
    suits = named <= most < math.inf
    if spread is None:
        return _Zone(-math.inf, -math.inf, most, 1.0 if suits else None)
    if most == math.inf:
        return _Zone(min(spread.low, named), min(spread.likely, named), most, None)
    found = zopa_estimate(spread, most, "below")
    if found.their_walk_away is None and not suits:
        return None
    likely = most if found.their_walk_away is None else found.their_walk_away
    probability = 1.0 if suits else found.probability
    return _Zone(min(spread.low, named), min(likely, named), most, probability)


def _standing(talk: PriceTalk, mine: Sequence[float], theirs: Sequence[float]) -> tuple[float, float]:
    """What each side stands at; before its first figure, where it is expected to open."""
    low = mine[-1] if mine else talk.best if talk.aim is None else max(talk.aim, talk.best)
    high = theirs[-1] if theirs else min(_expected_ask(talk), talk.worst)
    if not mine:
        low = min(low, high)
    if not theirs:
        high = max(low, high)
    return low, high


def _expected_ask(talk: PriceTalk) -> float:
    """Where the other side is expected to open."""
    if talk.ask is not None or talk.limit is None:
        return talk.worst if talk.ask is None else talk.ask
    return talk.limit + ASK_SHARE * (talk.worst - talk.limit)


def _pooled(talk: PriceTalk, low: float, high: float, *, mine: Sequence[float], theirs: Sequence[float]) -> float:
    """The weighted mean of the anchors, each inside the standing figures."""
    ends = sorted((low, high))

    def inside(figure: float) -> float:
        return min(max(figure, ends[0]), ends[1])

    first = inside(mine[0] / 2 + theirs[0] / 2)
    shared = (1 - FIRST_WEIGHT) * _meeting_point(mine, theirs) + FIRST_WEIGHT * first
    if talk.comparable is not None and not talk.has_both:
        shared += COMPARABLE_WEIGHT * (inside(talk.comparable) - shared)
    if talk.limit is not None:
        shared = min(shared, max(ends[0], talk.limit - LIMIT_MARGIN * (talk.limit - ends[0])))
    found, left = 0.0, 1.0
    if talk.limit is not None:
        found, left = LIMIT_WEIGHT * inside(talk.limit), left - LIMIT_WEIGHT
    if talk.their_limit is not None:
        found, left = (found + ESTIMATE_WEIGHT * inside(talk.their_limit.likely), left - ESTIMATE_WEIGHT)
    return found + left * shared


def _meeting_point(mine: Sequence[float], theirs: Sequence[float]) -> float:
    """Where both sides meet when each gives in proportion to what its steps promise; the middle without steps.

    A side that has made no step yet is taken to answer in kind.
    """
    low, high = mine[-1], theirs[-1]
    gap = high - low
    my_room, their_room = _promised(mine, rising=True), _promised(theirs, rising=False)
    if gap <= 0 or (my_room is None and their_room is None):
        return low / 2 + high / 2
    my_room = their_room if my_room is None else my_room
    their_room = my_room if their_room is None else their_room
    prior = GAP_PRIOR * gap
    given, taken = (my_room or 0.0) + prior, (their_room or 0.0) + prior
    return low + gap * (given / (given + taken))


def _promised(figures: Sequence[float], *, rising: bool) -> float | None:
    """What a side would still give if its steps went on as a geometric series; None before its first step."""
    if len(figures) < 2:
        return None
    steps = [b - a if rising else a - b for a, b in pairwise(figures)]
    ratios = _log_ratios([step for step in steps if step > 0])
    mean = (RATIO_PRIOR * math.log(STEP_RATIO) + math.fsum(ratios)) / (RATIO_PRIOR + len(ratios))
    ratio = min(math.exp(mean), MAX_RATIO)
    return max(0.0, steps[-1]) * ratio / (1 - ratio)


def _log_ratios(steps: Sequence[float]) -> list[float]:
    least, most = RATIO_ENDS
    return [math.log(min(max(b / a, least), most)) for a, b in pairwise(steps)]
