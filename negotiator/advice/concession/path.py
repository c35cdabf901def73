"""The steps from the opening to the end of the path, each an if-then trade.

Steps shrink, which signals a limit (in 1,299 price talks the median step is half of the one before). No issue ever goes
back in the user's favour. A step gives on the issue that costs the user least for what it brings the other side
(logrolling), and asks for one that was not given yet.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations, pairwise
from typing import Final, Literal

from negotiator.advice.concession.aims import LAST_RESERVE, RESERVE, Aims, IssueAim, Style, keeps_limits
from negotiator.terms import limits
from negotiator.terms.issues import UNORDERED_TYPES, Issue, Package, Scalar, nearest_in_range, same_value, worth_of
from negotiator.terms.terms import AllowedTrade

STEP_RATIO: Final[Mapping[str, float]] = {"cooperative": 0.6, "balanced": 0.7, "firm": 0.8}
"""Each step is about this share of the one before."""
LONG_TALK: Final = 5
"""With more steps to come than this, each is nearer in size to the one before."""
USUAL_STEPS: Final[Mapping[str, int]] = {"cooperative": 3, "balanced": 4, "firm": 5}
"""Steps after the opening in a talk without stated rounds; price talks have a median of three figures a side."""
MAX_STEPS: Final = 8
LAST_STEPS: Final = 2
"""Steps that remain when the deadline is within a day."""
LOGROLLING_BIAS: Final = 0.25
"""Cost of giving on the issue that suits least, in shares of the intended size of a step."""
LEARNED_BIAS: Final = 0.6
"""Taken off the cost of giving on an issue that matters twice as much to them as to the user, or more."""
PAIR_COST: Final = 0.05
EQUAL_WORTH: Final = 0.02
"""Packages whose utility differs by less are of equal worth."""
MAX_ALTERNATIVES: Final = 2
SHRINK: Final = 0.95
"""A step is at most this share of the one before, where the figures that people would name allow it."""
ISSUE_SHARE: Final = 0.5
"""A step gives at most this share of what is left on one issue, where that has values enough in between."""
MANY_VALUES: Final = 4
ASKED_SHARE: Final = 0.25
"""What is asked for a step is worth at least this share of it to the user; where nothing is, a step of theirs is."""
TARGET_PULL: Final = 0.2
"""Where one figure is all, a step whose size is this near, as a share of it, goes to the target itself."""
GIFT_SHARE: Final = 0.5
"""The share of what they gave on an issue that is given back on the others, beside the step itself."""
LEAST_STEP: Final = 0.25
"""Where they chose a value that costs the user something, that counts for the step, up to all but this share."""
TOLERANCE: Final = 1e-9

AskKind = Literal["issue", "movement", "close"]


@dataclass(frozen=True, slots=True)
class ValueChange:
    """One issue going from one value to another."""

    issue: Issue
    before: Scalar
    after: Scalar


@dataclass(frozen=True, slots=True)
class StepAsk:
    """What is asked for a step: a value on an issue, a step of theirs on the price, or the end of the talk."""

    kind: AskKind
    issue: Issue | None = None
    value: Scalar | None = None


@dataclass(frozen=True, slots=True)
class PathStep:
    """One offer of the path: its package and utility, the utility given since the last, what changes, what is asked.

    `alternatives` are packages of equal worth to the user that give on other issues; offered together with this one
    they show what the other side values (multiple equivalent simultaneous offers, Leonardelli et al. 2019).
    """

    package: dict[str, Scalar]
    utility: float
    given: float
    gives: tuple[ValueChange, ...]
    ask: StepAsk | None
    alternatives: tuple[dict[str, Scalar], ...] = ()


@dataclass(frozen=True, slots=True)
class PricedTrade:
    """A trade beyond an own limit that the user allowed: the package, and what passing the limit costs in money.

    `cost` is None when no price can express it.
    """

    allowed: AllowedTrade
    package: dict[str, Scalar]
    utility: float
    cost: Decimal | None


@dataclass(frozen=True, slots=True)
class ConcessionPath:
    """The path from where the user stands. `now` is the opening, or the last offer they made (`made` counts those)."""

    aims: Aims
    now: PathStep
    steps: tuple[PathStep, ...]
    made: int
    allowed: tuple[PricedTrade, ...]


def concession_path(
    aims: Aims,
    own: Sequence[Package] = (),
    *,
    style: Style = "balanced",
    days_left: float | None = None,
    their_last: Package | None = None,
    growth: float = 0.0,
    chosen: Package | None = None,
) -> ConcessionPath:
    """The path after the `own` offers, oldest first and complete; the same input gives the same path.

    `days_left` is the time to the deadline. `their_last` is their latest package, which shows what to ask for.
    `growth` is how large the first step may be where the last of the `own` was smaller. `chosen` are the values
    that they chose among the user's packages.
    """
    start = position(aims, own, their_last, chosen)
    count = steps_left(aims, len(own), style=style, days_left=days_left)
    if not aims.is_acceptable(start):
        count = 0
    now = PathStep(start, aims.worth(start), 0.0, (), None)
    said: list[Package] = list(own) or [start]
    steps: list[PathStep] = []
    for k in range(count):
        step = next_step(
            aims,
            said,
            left=steps_left(aims, max(len(own), 1) + k, style=style, days_left=days_left),
            style=style,
            their_last=their_last,
            growth=growth,
            before=steps[-1] if steps else None,
            chosen=chosen,
        )
        if step is None:
            break
        steps.append(step)
        said.append(step.package)
    return ConcessionPath(aims, now, tuple(steps), len(own), priced_trades(aims, said[-1]))


def position(
    aims: Aims, own: Sequence[Package], their_last: Package | None = None, chosen: Package | None = None
) -> dict[str, Scalar]:
    """The package that the next step starts from: the most generous value of each issue that the user ever offered.

    What they `chose` holds, and where they offer better on an issue than the user asks, what they offer. Where these
    together break a limit, the last offer; where that breaks one too, the nearest package that keeps all. Before the
    first offer the opening.
    """
    if not own:
        their_last = _comparable(aims, aims.opening, their_last)
        return {a.issue.name: _better(aims, a, a.opening, their_last) for a in aims.issues}
    spoken: dict[str, Scalar] = {}
    for aim in aims.issues:
        name = aim.issue.name
        values = [package[name] for package in own if name in package]
        spoken[name] = min(values, key=lambda value: _worth(aim.issue, value), default=aim.opening)
    last = {**aims.opening, **own[-1]}
    their_last = _comparable(aims, spoken, their_last)
    taken = {a.issue.name: _better(aims, a, spoken[a.issue.name], their_last) for a in aims.issues} | dict(chosen or {})
    for package in (taken, spoken, last):
        if aims.is_acceptable(package):
            return package
    return _corrected(aims, last, their_last)


def _comparable(aims: Aims, mine: Package, theirs: Package | None) -> Package | None:
    """Their package, without its price where they ask for more on another issue: that price is for less."""
    if theirs is None or aims.price is None:
        return theirs
    asks_more = any(
        _worth(aim.issue, theirs[aim.issue.name]) < _worth(aim.issue, mine[aim.issue.name]) - TOLERANCE
        for aim in aims.issues
        if aim.issue is not aims.price and aim.issue.name in theirs
    )
    return {name: value for name, value in theirs.items() if name != aims.price.name} if asks_more else theirs


def taken_over(aims: Aims, own: Sequence[Package], their_last: Package | None) -> frozenset[str]:
    """The issues on which they offer as much as the user asks for, or better."""
    if their_last is None:
        return frozenset()
    start = position(aims, own, their_last)
    return frozenset(
        aim.issue.name
        for aim in aims.issues
        if aim.issue.name in their_last
        and _worth(aim.issue, their_last[aim.issue.name]) >= _worth(aim.issue, start[aim.issue.name]) - TOLERANCE
    )


def _better(aims: Aims, aim: IssueAim, value: Scalar, their_last: Package | None) -> Scalar:
    """The value, or what they offer on the issue where that is better for the user and keeps the limits."""
    theirs = None if their_last is None else their_last.get(aim.issue.name)
    if theirs is None:
        return value
    theirs = nearest_in_range(aim.issue, theirs)
    is_better = _worth(aim.issue, theirs) > _worth(aim.issue, value)
    return theirs if is_better and keeps_limits(aims.terms, aim.issue, theirs) else value


def _corrected(aims: Aims, package: Package, their_last: Package | None) -> dict[str, Scalar]:
    """The package with each value that breaks a limit at the end of the path, and better where the walk-away needs it.

    Where they offer better than the end of the path, what they offer.
    """
    found = {
        aim.issue.name: value
        if keeps_limits(aims.terms, aim.issue, value)
        else _better(aims, aim, aim.last, their_last)
        for aim in aims.issues
        for value in [package[aim.issue.name]]
    }
    for aim in sorted(aims.issues, key=lambda aim: aim.pull):
        name, here = aim.issue.name, found[aim.issue.name]
        for value in reversed(aim.values):
            if aims.is_acceptable(found):
                return found
            if _worth(aim.issue, value) > _worth(aim.issue, here):
                found[name] = value
    return found


def steps_left(aims: Aims, made: int, *, style: Style = "balanced", days_left: float | None = None) -> int:
    """How many offers the user still makes after the one they stand at.

    As many as the stated rounds leave; without a stated number three to five in all, and at least one as long as the
    talk goes on. A deadline that is far away changes nothing.
    """
    rounds = aims.terms.max_rounds
    spoken = max(made, 1)
    if rounds is not None:
        left = min(rounds, MAX_STEPS + 1) - spoken
        left = max(left, 1 if made < rounds else 0)
    else:
        left = max(USUAL_STEPS[style] + 1 - spoken, LAST_STEPS)
    if days_left is not None and days_left <= 1.0:
        left = min(left, LAST_STEPS)
    return max(0, left)


def next_step(
    aims: Aims,
    own: Sequence[Package],
    *,
    left: int,
    style: Style = "balanced",
    their_last: Package | None = None,
    scale: float = 1.0,
    closing: bool = False,
    growth: float = 0.0,
    before: PathStep | None = None,
    chosen: Package | None = None,
) -> PathStep | None:
    """The step after the `own` offers with `left` steps to come, this one included; None when nothing is left to give.

    The steps are a falling geometric series over what is left to concede; none exceeds the one before, in all and on
    any issue, unless it is at most `growth`. `scale` makes the step smaller, for an answer to a small move of theirs.
    `closing` also spends what the planned steps keep back. `before` is the last of `own` if that is itself a step of
    the path. Of what the start is worth beyond the last of `own`, since they gave it, a share is given back.
    """
    start = position(aims, own, their_last, chosen) if before is None else before.package
    if left < 1:
        return None
    gift = aims.worth(start) - aims.worth({**start, **own[-1]}) if own else 0.0
    falls = None if math.isinf(growth) else _falls_of(aims, own, before, growth, max(0.0, gift))
    moves: list[_Move] = []
    for theirs in (their_last, None) if their_last is not None else (None,):
        room = aims.worth(start) - _end(aims, start, theirs, closing=closing)
        if room > TOLERANCE:
            ratio = STEP_RATIO[style] ** min(1.0, LONG_TALK / left)
            back = GIFT_SHARE * max(gift, 0.0)
            wished = back + max(0.0, room - back) * (1 - ratio) / (1 - ratio**left) * scale
            wished = max(wished + min(gift, 0.0), wished * LEAST_STEP)
            moves = _moves_within(aims, start, their_last, wished, room, falls)
        if moves:
            break
    if not moves:
        return None
    by_cost = sorted(moves, key=lambda move: move.cost)
    best = next((move for move in by_cost if aims.is_acceptable(move.package(start))), None)
    if best is None:
        return None
    package = best.package(start)
    return PathStep(
        package,
        aims.worth(package),
        best.given,
        best.changes,
        _ask(aims, package, best.changes, their_last, last=left == 1, turn=len(own)),
        _alternatives(aims, start, moves, best),
    )


@dataclass(frozen=True, slots=True)
class _Falls:
    """The sizes that the next step may have at most: in all, and on each issue. Infinite before a first step."""

    whole: float
    issues: Mapping[str, float]


def _falls_of(aims: Aims, own: Sequence[Package], before: PathStep | None, growth: float, gift: float) -> _Falls:
    """The size of the user's last step and the `gift` on top; on the first step of a path at least `growth`."""
    least = growth if before is None else 0.0

    def bound(worths: Sequence[float]) -> float:
        falls = [a - b for a, b in pairwise(worths) if a - b > TOLERANCE]
        return max(falls[-1] + gift, least) if falls else math.inf

    on_issue = {
        aim.issue.name: bound([aim.issue.weight * _worth(aim.issue, one.get(aim.issue.name)) for one in own])
        for aim in aims.issues
    }
    whole = bound([aims.worth(one) for one in own]) if before is None else before.given + gift
    return _Falls(whole, on_issue)


def _moves_within(
    aims: Aims, start: Package, theirs: Package | None, wished: float, room: float, falls: _Falls | None
) -> "list[_Move]":
    """The moves of about the wished size; first those that are clearly smaller than the step before."""
    if falls is None:
        return _moves(aims, start, theirs, wished, room, None, room)
    for share in (SHRINK, 1.0):
        most = min(room, falls.whole * share)
        moves = _moves(aims, start, theirs, min(wished, most), most, falls.issues, room)
        if moves:
            return moves
    return []


def _end(aims: Aims, start: Package, their_last: Package | None, *, closing: bool) -> float:
    """The utility at which the path ends; what they already offer on an issue need not be given."""
    share = LAST_RESERVE if closing else RESERVE
    planned = aims.last_end if closing else aims.end
    if their_last is None:
        return planned
    bottom = aims.terms.preferences.constant
    for aim in aims.issues:
        name = aim.issue.name
        here = aim.issue.weight * _worth(aim.issue, start[name])
        theirs = aim.issue.weight * _worth(aim.issue, their_last.get(name))
        bottom += min(here, max(theirs, aim.issue.weight * _worth(aim.issue, aims.lowest[name])))
    bottom = max(aims.floor, bottom)
    return max(planned, bottom + share * (aims.opening_utility - bottom))


@dataclass(frozen=True, slots=True)
class _Move:
    changes: tuple[ValueChange, ...]
    given: float
    cost: float

    def package(self, start: Package) -> dict[str, Scalar]:
        return {**start, **{change.issue.name: change.after for change in self.changes}}


def _moves(
    aims: Aims,
    start: Package,
    theirs: Package | None,
    wished: float,
    most: float,
    on_issue: Mapping[str, float] | None,
    room: float,
) -> list[_Move]:
    """Concessions on one or two issues; the cost counts the distance from the wished size and how badly it suits.

    `on_issue` bounds the step on each issue, None for the last steps of a talk. A listed value that they ask for is
    bounded by the `room` alone, since there is nothing smaller to give on it.
    """
    limit = most + TOLERANCE
    paid = {aim.issue.name for aim in aims.issues if aim.wanted == "paid"}

    def off(names: set[str], given: float) -> float:
        """How far the size of a move is from the wished one, as a share; of the larger one where they pay for it."""
        return abs(given - wished) / (max(given, wished) if names <= paid else wished)

    def within(aim: IssueAim) -> list[tuple[ValueChange, float]]:
        is_wanted = aim.wanted != "no" and (aim.issue.type in UNORDERED_TYPES or bool(aim.issue.options))
        bound = limit if on_issue is None else min(limit, _issue_bound(aim, start, on_issue))
        bound = room + TOLERANCE if is_wanted else bound
        return _values_below(aim, start[aim.issue.name], bound, None if aim.wanted == "invited" else theirs)

    single = {aim.issue.name: within(aim) for aim in aims.issues}
    pulls = sorted({round(aim.pull, 6) for aim in aims.issues if single[aim.issue.name]})
    suits = {aim.issue.name: LOGROLLING_BIAS * (1.0 - _rank(pulls, round(aim.pull, 6))) for aim in aims.issues}
    gains = {aim.issue.name: LEARNED_BIAS * min(1.0, max(0.0, aim.pull - 1)) for aim in aims.issues}
    found: list[_Move] = []
    goal = aims.issues[0].target if len(aims.issues) == 1 else None
    for name, falls in single.items():
        for change, given in falls:
            cost = off({name}, given) + suits[name] - gains[name]
            if goal is not None and same_value(change.issue.type, change.after, goal):
                cost -= TARGET_PULL
            found.append(_Move((change,), given, cost))
    for one, other in combinations([name for name, falls in single.items() if falls], 2):
        for (first, a), (second, b) in _pairs(single[one], single[other]):
            if a + b <= (room + TOLERANCE if {one, other} <= paid else limit):
                share = (a * suits[one] + b * suits[other]) / (a + b)
                cost = off({one, other}, a + b) + share + PAIR_COST - gains[one] - gains[other]
                found.append(_Move((first, second), a + b, cost))
    return found


def _pairs(
    one: Sequence[tuple[ValueChange, float]], other: Sequence[tuple[ValueChange, float]]
) -> list[tuple[tuple[ValueChange, float], tuple[ValueChange, float]]]:
    few = (_thinned(one), _thinned(other))
    return [(a, b) for a in few[0] for b in few[1]]


def _thinned(falls: Sequence[tuple[ValueChange, float]], count: int = 12) -> Sequence[tuple[ValueChange, float]]:
    if len(falls) <= count:
        return falls
    return [falls[round(k * (len(falls) - 1) / (count - 1))] for k in range(count)]


def _rank(pulls: Sequence[float], pull: float) -> float:
    """1 for the issue that matters most to them relative to the user, 0 for the least; 1 where all are alike."""
    return 1.0 if len(pulls) < 2 or pull not in pulls else pulls.index(pull) / (len(pulls) - 1)


def _issue_bound(aim: IssueAim, start: Package, on_issue: Mapping[str, float]) -> float:
    """The most to give on one issue: a share of what is left, and no more than last time; all of it on a short list."""
    here = aim.issue.weight * _worth(aim.issue, start[aim.issue.name])
    if sum(worth < here - TOLERANCE for worth in aim.worths) < MANY_VALUES:
        return here
    return min(ISSUE_SHARE * (here - aim.worths[-1]), on_issue[aim.issue.name]) + TOLERANCE


def _values_below(aim: IssueAim, now: Scalar, limit: float, theirs: Package | None) -> list[tuple[ValueChange, float]]:
    """The values of an issue below the present one, with the utility that each gives up; none below what they offer."""
    here = aim.issue.weight * _worth(aim.issue, now)
    least = -1.0
    if theirs is not None and aim.issue.name in theirs:
        least = aim.issue.weight * _worth(aim.issue, theirs[aim.issue.name])
    return [
        (ValueChange(aim.issue, now, value), here - worth)
        for value, worth in zip(aim.values, aim.worths, strict=True)
        if TOLERANCE < here - worth <= limit and worth >= least - TOLERANCE
    ]


def _alternatives(aims: Aims, start: Package, moves: Sequence[_Move], best: _Move) -> tuple[dict[str, Scalar], ...]:
    """Packages of equal worth that give on other issues than the chosen step."""
    seen = {frozenset(change.issue.name for change in best.changes)}
    near = sorted(
        (move for move in moves if abs(move.given - best.given) <= EQUAL_WORTH),
        key=lambda move: (abs(move.given - best.given), move.cost),
    )
    found: list[dict[str, Scalar]] = []
    for move in near:
        names = frozenset(change.issue.name for change in move.changes)
        package = move.package(start)
        others = [best.package(start), *found]
        differs = all(_gives_elsewhere(aims, package, one) for one in others)
        if names not in seen and differs and aims.is_acceptable(package):
            seen.add(names)
            found.append(package)
        if len(found) == MAX_ALTERNATIVES:
            break
    return tuple(found)


def _gives_elsewhere(aims: Aims, one: Package, other: Package) -> bool:
    """Whether each of two packages is better for the user on some issue, so that the choice between them tells."""
    gains = [
        aim.issue.weight * (_worth(aim.issue, one[aim.issue.name]) - _worth(aim.issue, other[aim.issue.name]))
        for aim in aims.issues
    ]
    return max(gains) > TOLERANCE and min(gains) < -TOLERANCE


def _ask(
    aims: Aims, package: Package, changes: Sequence[ValueChange], their_last: Package | None, *, last: bool, turn: int
) -> StepAsk:
    """What to ask for a step: an issue with much to gain for the user that is still at its opening value."""
    given = {change.issue.name for change in changes}
    open_ = [
        (aim.issue.weight * (aim.worths[0] / aim.issue.weight - _their_worth(aim, their_last)), aim)
        for aim in aims.issues
        if aim.issue.name not in given
        and aim.issue.tradeable
        and aim.wanted != "paid"
        and aim.issue.weight > 0
        and same_value(aim.issue.type, package[aim.issue.name], aim.opening)
    ]
    cost = sum(one.issue.weight * (_worth(one.issue, one.before) - _worth(one.issue, one.after)) for one in changes)
    wanted = [(gain, aim) for gain, aim in open_ if gain > max(TOLERANCE, ASKED_SHARE * cost)]
    if wanted and not last:
        wanted.sort(key=lambda pair: -pair[0])
        aim = wanted[(turn - 1) % len(wanted)][1]
        return StepAsk("issue", aim.issue, package[aim.issue.name])
    return StepAsk("close" if last else "movement")


def _their_worth(aim: IssueAim, their_last: Package | None) -> float:
    """The unweighted worth to the user of what they offer on an issue; of the path's end before they spoke."""
    if their_last is not None and aim.issue.name in their_last:
        return _worth(aim.issue, their_last[aim.issue.name])
    return aim.worths[-1] / aim.issue.weight if len(aim.values) > 1 else 0.0


def priced_trades(aims: Aims, start: Package) -> tuple[PricedTrade, ...]:
    """The trades beyond an own limit that the user allowed, as packages from `start`, with their price in money."""
    found: list[PricedTrade] = []
    for allowed in aims.terms.allowed:
        issue = aims.terms.issue(allowed.issue)
        if issue is None:
            continue
        package = {**start, allowed.issue: allowed.to}
        for name, value in allowed.in_return.items():
            wanted = aims.terms.issue(name)
            if wanted is not None and _worth(wanted, package.get(name)) < _worth(wanted, value):
                package[name] = value
        if aims.is_acceptable(package):
            limit = limits.own_limit(aims.terms, issue)
            loss = issue.weight * (_worth(issue, limit) - _worth(issue, allowed.to))
            found.append(PricedTrade(allowed, package, aims.worth(package), aims.terms.money_of_utility(loss)))
    return tuple(found)


def _worth(issue: Issue, value: object) -> float:
    return 0.0 if value is None else worth_of(issue, value) or 0.0
