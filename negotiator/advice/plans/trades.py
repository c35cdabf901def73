"""Trades between issues that cost the user nothing and help the other side (logrolling)."""

from dataclasses import dataclass
from typing import Final

from negotiator.advice.concession.aims import Aims, IssueAim
from negotiator.terms.issues import Issue, Package, Scalar, worth_of
from negotiator.terms.utility import Preferences, opposed_preferences, package_utility

MAX_TRADES: Final = 3
MAX_PAIRED_ISSUES: Final = 6
"""Issues tried on each end of a trade: those whose weights for the two sides differ most."""
MAX_VALUES_TRIED: Final = 25
STARTS: Final = (0.5, 0.4, 0.3, 0.2, 0.1)
"""Shares of the path at which a trade may start, the first acceptable one counts."""
MIN_GAIN: Final = 1e-3
TOLERANCE: Final = 1e-9


@dataclass(frozen=True, slots=True)
class IssueTrade:
    """A concession on one issue for a gain on another, with the gains of utility of the user and of the other side."""

    give: Issue
    get: Issue
    before: Package
    after: dict[str, Scalar]
    mine: float
    theirs: float


def find_trades(aims: Aims) -> tuple[IssueTrade, ...]:
    """The trades with the largest gain to the other side; empty without an estimate of their weights.

    They start from the middle of the path on every issue, where a talk without trades tends to end, or nearer to its
    beginning if the middle breaks a limit.
    """
    open_ = [one for one in aims.issues if one.issue.tradeable and len(one.values) > 1]
    start = _start(aims)
    if start is None or all(one.issue.their_weight is None for one in open_):
        return ()
    theirs = opposed_preferences(aims.terms.preferences)
    open_.sort(key=lambda one: (-one.pull, one.issue.name))
    found = [
        trade
        for give in open_[:MAX_PAIRED_ISSUES]
        for get in open_[::-1][:MAX_PAIRED_ISSUES]
        if give.pull > get.pull and (trade := _best_trade(aims, theirs, start, give, get))
    ]
    found.sort(key=lambda trade: (-trade.theirs, -trade.mine, trade.give.name, trade.get.name))
    return tuple(found[:MAX_TRADES])


def _start(aims: Aims) -> Package | None:
    for share in STARTS:
        package = {one.issue.name: one.values[int(len(one.values) * share)] for one in aims.issues}
        if aims.is_acceptable(package):
            return package
    return None


def _best_trade(aims: Aims, theirs: Preferences, start: Package, give: IssueAim, get: IssueAim) -> IssueTrade | None:
    pairs = [
        (their_gain + their_loss, my_gain + my_loss, given, got)
        for given, my_loss, their_gain in _changes(theirs, give, start)
        if my_loss < -TOLERANCE
        for got, my_gain, their_loss in _changes(theirs, get, start)
        if my_gain > TOLERANCE
    ]
    good = [pair for pair in pairs if pair[0] > MIN_GAIN and pair[1] >= -TOLERANCE]
    good.sort(key=lambda pair: (-pair[0], -pair[1]))
    for gain, mine, given, got in good:
        after = {**start, give.issue.name: given, get.issue.name: got}
        if aims.is_acceptable(after):
            return IssueTrade(give.issue, get.issue, start, after, max(mine, 0.0), gain)
    return None


def _changes(theirs: Preferences, aim: IssueAim, start: Package) -> list[tuple[Scalar, float, float]]:
    """Values of an issue, each with its change of the user's utility and of theirs."""
    name, stride = aim.issue.name, len(aim.values) // MAX_VALUES_TRIED + 1
    before = package_utility(theirs, start).low
    here = _worth(aim, start[name])
    return [
        (value, _worth(aim, value) - here, package_utility(theirs, {**start, name: value}).low - before)
        for value in aim.values[::stride]
    ]


def _worth(aim: IssueAim, value: Scalar) -> float:
    return aim.issue.weight * (worth_of(aim.issue, value) or 0.0)
