"""What a rehearsal that is over shows: computed from the terms, the person and the turns, without a word."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Final

from negotiator.rehearsals.best_deal import best_deal, least_signed, price_at_floor
from negotiator.rehearsals.counterpart.person import Person, Ploy
from negotiator.rehearsals.counterpart.remarks import Remark
from negotiator.rehearsals.own_worth import Gap, OwnWorth, own_worth
from negotiator.rehearsals.record import RehearsalState, RehearsalTurn, Side, TurnAction
from negotiator.terms import limits
from negotiator.terms.issues import Package, Scalar, coordinate, same_value
from negotiator.terms.terms import Terms

BEST_SCORE: Final = 100
ANSWERS: Final[frozenset[Remark]] = frozenset(
    {"reason", "alternative", "question_interest", "question_limit", "question_why", "names_tactic"}
)
"""Remarks that answer a tactic."""
_SAME: Final = 1e-9


@dataclass(frozen=True, slots=True)
class OwnOpening:
    """The user's first offer, and by how much it asks for more than the target."""

    turn: int
    package: Package
    ahead: Gap | None


@dataclass(frozen=True, slots=True)
class OfferChange:
    """A side's offer that is worse for itself than its offer before: it costs the user `gap`, or brings it to them."""

    turn: int
    by: Side
    before: Package
    after: Package
    gap: Gap


@dataclass(frozen=True, slots=True)
class TurnLoss:
    """By how much a turn brought what is left on the table up (below zero: down)."""

    turn: int
    action: TurnAction
    gap: Gap


@dataclass(frozen=True, slots=True)
class PassedOwnLimit:
    """A turn in which the user passed a limit of theirs: on one issue, or the walk-away as a whole.

    `money` is the amount on the price by which it was passed.
    """

    turn: int
    issue: str | None
    value: Scalar | None
    limit: Scalar | None
    package: Package
    money: Decimal | None


@dataclass(frozen=True, slots=True)
class UnansweredPloy:
    """A turn of the person's with a tactic that the user gave in to: in `reply`, and what that cost them."""

    turn: int
    ploy: Ploy
    reply: int
    accepted: bool
    gap: Gap


@dataclass(frozen=True, slots=True)
class IssueGap:
    """How much better the best deal is than the deal on one issue."""

    issue: str
    deal: Scalar
    best: Scalar
    gap: Gap


@dataclass(frozen=True, slots=True)
class OfferPoint:
    """A turn with a package: what it is worth to the user, its price, and the last price they would have signed."""

    turn: int
    by: Side
    action: TurnAction
    package: Package
    utility: float
    price: Decimal | None
    floor_price: Decimal | None
    final: bool
    withdraws: bool


@dataclass(frozen=True, slots=True)
class Debrief:
    """The result of a rehearsal. Amounts of money are on the price, before a unit price is multiplied.

    `best` is the package best for the user that the person would have signed within the user's limits, `floor` the
    least that the person would have signed, `last_price` the deal at the last price they would have signed it at.
    `left` is what the best deal is better by than the deal, or than no deal; None without a best deal. `losses` add up
    to it; `costliest` is the turn with the largest. `moved_too_early` marks a move of the user's after
    a last offer where the person would in the end have signed what the user had offered before.
    """

    terms: Terms
    state: RehearsalState
    score: int
    floor: Package
    deal: Package | None
    best: Package | None
    last_price: Package | None
    left: Gap | None
    parts: tuple[IssueGap, ...]
    losses: tuple[TurnLoss, ...]
    costliest: TurnLoss | None
    opening: OwnOpening | None
    moves: tuple[OfferChange, ...]
    passed: tuple[PassedOwnLimit, ...]
    deal_passes: tuple[PassedOwnLimit, ...]
    unanswered: tuple[UnansweredPloy, ...]
    points: tuple[OfferPoint, ...]
    target: float | None
    reservation: float
    best_utility: float | None
    deal_utility: float | None
    target_gap: Gap | None
    moved_too_early: bool

    @property
    def first_mover(self) -> Side | None:
        """The side that was the first to offer less for itself than before."""
        return self.moves[0].by if self.moves else None


def make_debrief(terms: Terms, person: Person, turns: Sequence[RehearsalTurn], state: RehearsalState) -> Debrief:
    """The debrief of a rehearsal that ended in this state."""
    own = own_worth(terms, person.interests)
    deal = _deal(turns, state)
    best = best_deal(own, person, deal)
    losses = tuple(_losses(own, best, turns, state))
    costly = [one for one in losses if one.gap.utility > _SAME]
    moves = tuple(_moves(own, person, turns))
    at_floor = None if deal is None else price_at_floor(own, person, deal)
    return Debrief(
        terms=own.terms,
        state=state,
        score=score(own, best, deal, state),
        floor=least_signed(own, person),
        deal=deal,
        best=best,
        last_price=None if deal is None or at_floor is None else {**deal, **at_floor},
        left=None if best is None else left_on_table(own, best, deal),
        parts=tuple(_parts(own, best, deal)),
        losses=losses,
        costliest=max(costly, key=lambda one: one.gap.utility, default=None),
        opening=_opening(own, turns),
        moves=moves,
        passed=tuple(_passed(own, turns)),
        deal_passes=() if deal is None else tuple(_passed_by(own, turns[-1].number, deal)),
        unanswered=tuple(_unanswered(own, best, turns)),
        points=tuple(_points(own, person, turns)),
        target=own.target_utility(),
        reservation=own.reservation,
        best_utility=None if best is None else own.utility(best),
        deal_utility=None if deal is None else own.utility(deal),
        target_gap=None if deal is None else _ahead_of_target(own, deal),
        moved_too_early=_moved_too_early(person, turns),
    )


def _moved_too_early(person: Person, turns: Sequence[RehearsalTurn]) -> bool:
    """Whether the user moved on after a last offer although the person would have signed what the user had offered."""
    own = [one for one in turns if one.by == "me" and one.action in {"offer", "accept"}]
    for before, after in pairwise(own):
        if before.package is None or person.interests.worth(before.package) < person.floor:
            continue
        between = [one for one in turns if before.number < one.number < after.number and one.final]
        if between and after.package != before.package:
            return True
    return False


def score(own: OwnWorth, best: Package | None, deal: Package | None, state: RehearsalState) -> int:
    """The share of what was to be had above the reservation, of 100.

    No deal is worth 0 where one was possible and 100 where none was; a deal past the user's own limits is worth 0.
    """
    if deal is None:
        return 0 if best is not None or state == "running" else BEST_SCORE
    gained = own.gap(deal, None).utility
    if gained < -_SAME or limits.is_below_floor(own.terms, deal, binding=True):
        return 0
    room = 0.0 if best is None else own.gap(best, None).utility
    if room <= _SAME:
        return 0 if best is None else BEST_SCORE
    return round(BEST_SCORE * min(1.0, max(0.0, gained / room)))


def _deal(turns: Sequence[RehearsalTurn], state: RehearsalState) -> Package | None:
    if state != "agreed":
        return None
    return next((turn.package for turn in reversed(turns) if turn.action == "accept"), None)


# What was left on the table


def left_on_table(own: OwnWorth, best: Package, now: Package | None) -> Gap:
    """By how much the best deal is better than a package, or than no deal; not below 0.

    A package past the walk-away is no better than no deal, whatever else it brings.
    """
    gaps = [Gap(0.0, Decimal(0)), own.gap(best, now)]
    if now is not None and limits.is_below_floor(own.terms, now, binding=True):
        gaps.append(own.gap(best, None))
    known = [gap.money for gap in gaps if gap.money is not None]
    return Gap(max(gap.utility for gap in gaps), max(known) if len(known) == len(gaps) else None)


def _losses(
    own: OwnWorth, best: Package | None, turns: Sequence[RehearsalTurn], state: RehearsalState
) -> Iterator[TurnLoss]:
    """What each own turn changed of what is left; an end without a deal counts for the user's last turn."""
    if best is None:
        return
    rows: list[tuple[RehearsalTurn, Package | None]] = [(turn, package) for turn, package in _own_packages(turns)]
    mine = [turn for turn in turns if turn.by == "me"]
    if state in {"left_by_me", "left_by_them"} and mine:
        rows.append((mine[-1], None))
    before = Gap(0.0, Decimal(0))
    found: dict[int, TurnLoss] = {}
    for turn, package in rows:
        now = left_on_table(own, best, package)
        gone = _sum(now, before, sign=-1)
        if (earlier := found.get(turn.number)) is not None:
            gone = _sum(gone, earlier.gap)
        action: TurnAction = "leave" if package is None and state == "left_by_me" else turn.action
        found[turn.number] = TurnLoss(turn.number, action, gone)
        before = now
    yield from found.values()


def _own_packages(turns: Sequence[RehearsalTurn]) -> list[tuple[RehearsalTurn, Package]]:
    """The turns in which the user offered or accepted a package."""
    return [
        (turn, turn.package)
        for turn in turns
        if turn.by == "me" and turn.action in {"offer", "accept"} and turn.package is not None
    ]


def _sum(one: Gap, other: Gap, *, sign: int = 1) -> Gap:
    money = None if one.money is None or other.money is None else one.money + sign * other.money
    return Gap(one.utility + sign * other.utility, money)


def _parts(own: OwnWorth, best: Package | None, deal: Package | None) -> Iterator[IssueGap]:
    """The issues on which the best deal differs from the deal; together they make the difference in worth."""
    if best is None or deal is None:
        return
    for issue in own.terms.issues:
        if issue.name not in best or issue.name not in deal:
            continue
        one, other = best[issue.name], deal[issue.name]
        if same_value(issue.type, one, other):
            continue
        gap = own.issue_gap(issue, one, other)
        money = own.money(best, deal) if own.only_price is not None else own.money_of(gap)
        yield IssueGap(issue.name, other, one, Gap(gap, money))


# What happened


def _opening(own: OwnWorth, turns: Sequence[RehearsalTurn]) -> OwnOpening | None:
    first = next((turn for turn in turns if turn.by == "me" and turn.action == "offer"), None)
    if first is None or first.package is None:
        return None
    return OwnOpening(first.number, first.package, _ahead_of_target(own, first.package))


def _ahead_of_target(own: OwnWorth, package: Package) -> Gap | None:
    """By how much a package is better than the target."""
    goal = own.target_utility()
    if goal is None:
        return None
    ahead = own.utility(package) - goal
    issue, named = own.only_price, own.target or {}
    if issue is not None and issue.name in named:
        return Gap(ahead, own.money(package, named))
    return Gap(ahead, own.money_of(ahead))


def _moves(own: OwnWorth, person: Person, turns: Sequence[RehearsalTurn]) -> Iterator[OfferChange]:
    last: dict[Side, Package] = {}
    for turn in turns:
        if turn.action != "offer" or turn.package is None:
            continue
        before, after = last.get(turn.by), turn.package
        last[turn.by] = after
        if before is None:
            continue
        measure = own.utility if turn.by == "me" else person.interests.worth
        if measure(after) < measure(before) - _SAME:
            gap = own.gap(before, after) if turn.by == "me" else own.gap(after, before)
            yield OfferChange(turn.number, turn.by, before, after, gap)


def _passed(own: OwnWorth, turns: Sequence[RehearsalTurn]) -> Iterator[PassedOwnLimit]:
    """The limits that own offers and the deal pass, each told again only where it is passed at another value."""
    told: dict[str | None, object] = {}
    for turn, package in _own_packages(turns):
        now = {one.issue: one for one in _passed_by(own, turn.number, package)}
        for issue, one in now.items():
            if told.get(issue) != (one.value if issue else one.money):
                yield one
        told = {issue: one.value if issue else one.money for issue, one in now.items()}


def _passed_by(own: OwnWorth, turn: int, package: Package) -> Iterator[PassedOwnLimit]:
    terms = own.terms
    below = limits.is_below_floor(terms, package, binding=True)
    if below:
        money = limits.shortfall(terms, package, binding=True)
        yield PassedOwnLimit(turn, None, None, None, package, money)
    unpaid = limits.passed_beside_walk_away(terms, package, below=below, binding=True)
    beside = [name for name in unpaid if name in package]  # what nobody named passes nothing
    for name in beside:
        issue = terms.issue(name)
        yield _passed_issue(own, turn, name, package, None if issue is None else limits.own_limit(terms, issue))
    known = {*beside, *limits.issues_of_walk_away(terms)} if below else {*beside}
    for rule in limits.broken_constraints(terms, package):
        if rule.issue not in known:
            known.add(rule.issue)
            limit = rule.values[0] if rule.op in {"<=", ">=", "<", ">"} else None
            yield _passed_issue(own, turn, rule.issue, package, limit)


def _passed_issue(own: OwnWorth, turn: int, name: str, package: Package, limit: Scalar | None) -> PassedOwnLimit:
    issue, money = own.terms.issue(name), None
    if issue is not None and limit is not None:
        at, least = (coordinate(issue.type, value) for value in (package[name], limit))
        if own.terms.price is not None and own.terms.price.name == name:
            money = None if at is None or least is None else abs(at - least)
        else:
            gap = own.issue_gap(issue, limit, package[name])
            money = own.money_of(gap) if gap > _SAME else None
    return PassedOwnLimit(turn, name, package[name], limit, package, money)


def _unanswered(own: OwnWorth, best: Package | None, turns: Sequence[RehearsalTurn]) -> Iterator[UnansweredPloy]:
    """Tactics after which the user's next turn gave in, without a question, a reason or a word about the tactic."""
    offered: Package | None = None
    for place, turn in enumerate(turns):
        if turn.by == "me":
            offered = turn.package if turn.action == "offer" and turn.package else offered
            continue
        reply = next((one for one in turns[place + 1 :] if one.by == "me"), None)
        if turn.ploy is None or reply is None or reply.package is None or ANSWERS & {*reply.remarks}:
            continue
        if reply.action not in {"offer", "accept"}:
            continue
        accepted = reply.action == "accept"
        cost = Gap(0.0, None)
        if offered is not None:
            cost = own.gap(offered, reply.package)
        elif accepted and best is not None:
            cost = left_on_table(own, best, reply.package)
        if cost.utility > _SAME:
            yield UnansweredPloy(turn.number, turn.ploy, reply.number, accepted, cost)


def _points(own: OwnWorth, person: Person, turns: Sequence[RehearsalTurn]) -> Iterator[OfferPoint]:
    price = "" if own.terms.price is None else own.terms.price.name
    for turn in turns:
        if turn.package is None or turn.action not in {"offer", "accept"}:
            continue
        floor = price_at_floor(own, person, turn.package) or {}
        yield OfferPoint(
            turn=turn.number,
            by=turn.by,
            action=turn.action,
            package=turn.package,
            utility=own.utility(turn.package),
            price=coordinate("money", turn.package.get(price)),
            floor_price=coordinate("money", floor.get(price)),
            final=turn.final,
            withdraws=turn.withdraws,
        )
