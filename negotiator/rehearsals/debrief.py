"""What a rehearsal that is over shows: computed from the terms, the person and the turns, without a word."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from typing import Final

from negotiator.rehearsals.best_deal import Gap, OwnWorth, best_deal, least_signed, own_worth, price_at_floor
from negotiator.rehearsals.counterpart.person import Person, Ploy
from negotiator.rehearsals.counterpart.remarks import Remark
from negotiator.rehearsals.stored import RehearsalState, RehearsalTurn, Side, TurnAction
from negotiator.terms import limits
from negotiator.terms.issues import Issue, Package, Scalar, coordinate, same_value
from negotiator.terms.terms import Terms

BEST_SCORE: Final = 100
ANSWERS: Final[frozenset[Remark]] = frozenset(
    {"reason", "alternative", "question_interest", "question_limit", "question_why", "names_tactic"}
)
"""Remarks that answer a tactic."""
_SAME: Final = 1e-9


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


class Debrief:
    """The result of a rehearsal that ended in `state`. Amounts of money are on the price, for one unit."""

    def __init__(self, terms: Terms, person: Person, turns: Sequence[RehearsalTurn], state: RehearsalState) -> None:
        self.own: Final = own_worth(terms, person.interests)
        self.terms: Final = self.own.terms
        self.state: Final[RehearsalState] = state
        self.person: Final = person
        self.turns: Final = turns
        accepted = next((turn.package for turn in reversed(turns) if turn.action == "accept"), None)
        self.deal: Final = accepted if state == "agreed" else None
        self.best: Final = best_deal(self.own, person, self.deal)
        """The package best for the user that the person would have signed within the user's limits."""
        self.points: Final = _packages(turns)
        self.score: Final = score(self.own, self.best, self.deal, state)

    @cached_property
    def floor(self) -> Package:
        """The least that the person would have signed."""
        return least_signed(self.own, self.person)

    @cached_property
    def last_price(self) -> Package | None:
        """The deal at the last price they would have signed it at."""
        at_floor = None if self.deal is None else price_at_floor(self.own, self.person, self.deal)
        return None if self.deal is None or at_floor is None else {**self.deal, **at_floor}

    @cached_property
    def left(self) -> Gap | None:
        """What the best deal is better by than the deal, or than no deal; None without a best deal."""
        return None if self.best is None else left_on_table(self.own, self.best, self.deal)

    @property
    def parts(self) -> Iterator[tuple[Issue, Gap]]:
        """By how much the best deal is better than the deal on each issue on which they differ."""
        own, best, deal = self.own, self.best, self.deal
        if best is None or deal is None:
            return
        for issue in own.terms.issues:
            if issue.name in best and issue.name in deal:
                one, other = best[issue.name], deal[issue.name]
                if not same_value(issue.type, one, other):
                    gap = own.issue_gap(issue, one, other)
                    yield issue, Gap(gap, own.money(best, deal) if own.only_price is not None else own.money_of(gap))

    @cached_property
    def losses(self) -> Mapping[int, TurnLoss]:
        """What each own turn changed of what is left, by its number; they add up to it.

        An end without a deal counts for the user's last turn.
        """
        if self.best is None:
            return {}
        rows: list[tuple[RehearsalTurn, Package | None]] = [point for point in self.points if point[0].by == "me"]
        mine = [turn for turn in self.turns if turn.by == "me"]
        if self.state in {"left_by_me", "left_by_them"} and mine:
            rows.append((mine[-1], None))
        before = Gap(0.0, Decimal(0))
        found: dict[int, TurnLoss] = {}
        for turn, package in rows:
            now = left_on_table(self.own, self.best, package)
            gone = _sum(now, before, sign=-1)
            if (earlier := found.get(turn.number)) is not None:
                gone = _sum(gone, earlier.gap)
            action: TurnAction = "leave" if package is None and self.state == "left_by_me" else turn.action
            found[turn.number] = TurnLoss(turn.number, action, gone)
            before = now
        return found

    @cached_property
    def costliest(self) -> TurnLoss | None:
        costly = [one for one in self.losses.values() if one.gap.utility > _SAME]
        return max(costly, key=lambda one: one.gap.utility, default=None)

    @property
    def opening(self) -> tuple[RehearsalTurn, Package] | None:
        """The user's first offer."""
        first = next((turn for turn in self.turns if turn.by == "me" and turn.action == "offer"), None)
        return None if first is None or first.package is None else (first, first.package)

    def ahead_of_target(self, package: Package) -> Gap | None:
        """By how much a package is better than the target; None without one."""
        own, goal = self.own, self.own.target_utility()
        if goal is None:
            return None
        ahead = own.utility(package) - goal
        issue, named = own.only_price, own.target or {}
        if issue is not None and issue.name in named:
            return Gap(ahead, own.money(package, named))
        return Gap(ahead, own.money_of(ahead))

    @cached_property
    def moves(self) -> Sequence[OfferChange]:
        """The offers of both sides that are worse for themselves than their offer before."""
        own, last, found = self.own, dict[Side, Package](), list[OfferChange]()
        for turn in self.turns:
            if turn.action != "offer" or turn.package is None:
                continue
            before, after = last.get(turn.by), turn.package
            last[turn.by] = after
            if before is None:
                continue
            measure = own.utility if turn.by == "me" else self.person.interests.worth
            if measure(after) < measure(before) - _SAME:
                gap = own.gap(before, after) if turn.by == "me" else own.gap(after, before)
                found.append(OfferChange(turn.number, turn.by, before, after, gap))
        return found

    @property
    def first_mover(self) -> Side | None:
        """The side that was the first to offer less for itself than before."""
        return self.moves[0].by if self.moves else None

    @property
    def passed(self) -> Iterator[PassedOwnLimit]:
        """The limits that own offers and the deal pass, each told again only where it is passed at another value."""
        told: Mapping[str | None, object] = {}
        for turn, package in self.points:
            if turn.by == "them":
                continue
            now = {one.issue: one for one in _passed_by(self.own, turn.number, package)}
            values = {issue: one.package[issue] if issue else one.money for issue, one in now.items()}
            yield from (one for issue, one in now.items() if told.get(issue) != values[issue])
            told = values

    @cached_property
    def deal_passes(self) -> Sequence[PassedOwnLimit]:
        return [] if self.deal is None else list(_passed_by(self.own, self.turns[-1].number, self.deal))

    @cached_property
    def unanswered(self) -> Sequence[UnansweredPloy]:
        """Tactics after which the user's next turn gave in, without a question, a reason or a word about the tactic."""
        offered, found = None, list[UnansweredPloy]()
        for place, turn in enumerate(self.turns):
            if turn.by == "me":
                offered = turn.package if turn.action == "offer" and turn.package else offered
                continue
            reply = next((one for one in self.turns[place + 1 :] if one.by == "me"), None)
            if turn.ploy is None or reply is None or reply.package is None or ANSWERS & {*reply.remarks}:
                continue
            if reply.action not in {"offer", "accept"}:
                continue
            accepted = reply.action == "accept"
            cost = Gap(0.0, None)
            if offered is not None:
                cost = self.own.gap(offered, reply.package)
            elif accepted and self.best is not None:
                cost = left_on_table(self.own, self.best, reply.package)
            if cost.utility > _SAME:
                found.append(UnansweredPloy(turn.number, turn.ploy, reply.number, accepted, cost))
        return found

    def prices(self, package: Package) -> tuple[Decimal | None, Decimal | None]:
        """The price of a package, and the last one that they would have signed."""
        name = "" if self.terms.price is None else self.terms.price.name
        floor = price_at_floor(self.own, self.person, package) or {}
        return coordinate("money", package.get(name)), coordinate("money", floor.get(name))

    @property
    def moved_too_early(self) -> bool:
        """Whether the user moved after a last offer although the person would have signed what the user had offered."""
        own = [one for one in self.turns if one.by == "me" and one.action in {"offer", "accept"}]
        for before, after in pairwise(own):
            if before.package is None or self.person.interests.worth(before.package) < self.person.floor:
                continue
            between = [one for one in self.turns if before.number < one.number < after.number and one.final]
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


def _packages(turns: Sequence[RehearsalTurn]) -> list[tuple[RehearsalTurn, Package]]:
    """The turns in which a package was offered or accepted."""
    return [(turn, turn.package) for turn in turns if turn.package is not None and turn.action in {"offer", "accept"}]


def _sum(one: Gap, other: Gap, *, sign: int = 1) -> Gap:
    money = None if one.money is None or other.money is None else one.money + sign * other.money
    return Gap(one.utility + sign * other.utility, money)


def _passed_by(own: OwnWorth, turn: int, package: Package) -> Iterator[PassedOwnLimit]:
    terms = own.terms
    below = limits.is_below_floor(terms, package, binding=True)
    if below:
        money = limits.shortfall(terms, package, binding=True)
        yield PassedOwnLimit(turn, None, None, package, money)
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
    return PassedOwnLimit(turn, name, limit, package, money)
