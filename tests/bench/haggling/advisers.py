"""Advisers to compare: meet in the middle, a fixed path, the engine for agents, the advice to a person."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from negotiator.negotiations import engine_input
from negotiator.negotiations.offer_queries import OfferRow
from negotiator.negotiations.person_advice import stored_person_answer
from negotiator.negotiations.schemas_advice import Style
from negotiator.negotiations.session import NegotiationSession
from negotiator.negotiations.states import ACTIVE
from negotiator.terms.issues import UNORDERED_TYPES, Issue, Package, Scalar, coordinate, value_at_coordinate, worth_of
from negotiator.terms.limits import broken_constraints, is_below_floor, utility_floor
from negotiator.terms.terms import Terms
from negotiator.terms.utility import Worth, package_utility, utility_bounds
from tests.bench.haggling.play import Adviser, Move, MoveAction, TalkState

PATH_STEPS: Final = 5
BOULWARE_EXPONENT: Final = 2.0
"""Share of the path that is gone at a share of the steps, as a power (Faratin, Sierra and Jennings 1998, e = .5)."""
STRETCH: Final = 0.25
"""The path opens beyond the target by this share of the way from walk-away to target."""
PATIENCE: Final = 2
"""A fixed adviser leaves after its last offer has met this many answers in vain."""
NEARLY: Final = 0.02
_ACTIONS: Final[Mapping[str, MoveAction]] = {"accept": "accept", "counter": "offer", "walk_away": "leave"}


def last_packages(ledger: Sequence[OfferRow], side: str) -> list[Package]:
    """The packages of a side, oldest first, each completed by the ones before."""
    found: list[Package] = []
    for row in ledger:
        if row.side == side and row.kind != "withdrawal" and row.package:
            found.append({**(found[-1] if found else {}), **row.package})
    return found


def utility(terms: Terms, package: Package) -> float:
    """What a package is worth to the user, issues left out at their worst."""
    return package_utility(terms.preferences, package).low


def keeps_limits(terms: Terms, package: Package) -> bool:
    """Whether the user may agree to this package."""
    return not is_below_floor(terms, package, binding=True) and not broken_constraints(terms, package)


def whole_package(terms: Terms, worth: Worth | None, *, best: bool) -> Package:
    """A target or walk-away as a whole package; what it leaves open is at its best or worst value."""
    named = (worth.package if worth else None) or {}
    return {issue.name: named.get(issue.name, _end(issue, best=best)) for issue in terms.issues}


def between(terms: Terms, start: Package, end: Package, share: float) -> Package:
    """The package a share of the way from one to another, issue by issue; options change half-way."""
    return {issue.name: _mixed(issue, start[issue.name], end[issue.name], share) for issue in terms.issues}


def _end(issue: Issue, *, best: bool) -> Scalar:
    if issue.range is not None and not issue.options:
        high = (issue.direction == "higher") == best
        return value_at_coordinate(issue.type, issue.range.max if high else issue.range.min)
    values: list[Scalar] = [option.value for option in issue.options] or [False, True]
    order = sorted(values, key=lambda value: worth_of(issue, value) or 0.0)
    return order[-1] if best else order[0]


def _mixed(issue: Issue, start: Scalar, end: Scalar, share: float) -> Scalar:
    if issue.type in UNORDERED_TYPES or issue.options:
        return start if share < 0.5 else end
    low, high = coordinate(issue.type, start), coordinate(issue.type, end)
    if low is None or high is None:
        return start
    at = low + (high - low) * Decimal(repr(share))
    step = issue.range.step if issue.range is not None else None
    if issue.type == "money":
        at = round(at, 2)
    elif step is not None:
        at = low + ((at - low) / step).to_integral_value() * step
    elif issue.type in {"integer", "duration_days", "date"}:
        at = at.to_integral_value()
    return value_at_coordinate(issue.type, at)


class MeetInTheMiddle:
    """Opens at the target, then goes half of the way to their last offer, never past the walk-away."""

    def advise(self, negotiation: Mapping[str, Any], ledger: Sequence[OfferRow], state: TalkState) -> Move:
        terms = state.terms
        mine, theirs = last_packages(ledger, "me"), last_packages(ledger, "them")
        if not mine:
            return _counter(terms, whole_package(terms, terms.target, best=True), theirs, mine)
        if not theirs:
            return Move("wait")
        middle = between(terms, mine[-1], theirs[-1], 0.5)
        if not keeps_limits(terms, middle):
            shares = (0.4, 0.3, 0.2, 0.1, 0.05)
            nearer = (between(terms, mine[-1], theirs[-1], share) for share in shares)
            middle = next((p for p in nearer if keeps_limits(terms, p)), mine[-1])
        return _counter(terms, middle, theirs, mine)


class FixedPath:
    """Goes from a stretched target to the walk-away in five offers, late steps larger, whatever they do."""

    def advise(self, negotiation: Mapping[str, Any], ledger: Sequence[OfferRow], state: TalkState) -> Move:
        terms = state.terms
        mine, theirs = last_packages(ledger, "me"), last_packages(ledger, "them")
        target = whole_package(terms, terms.target, best=True)
        end = whole_package(terms, terms.walk_away, best=False)
        opening = {
            issue.name: _within(issue, _mixed(issue, target[issue.name], end[issue.name], -STRETCH))
            for issue in terms.issues
        }
        gone = min(1.0, len(mine) / (PATH_STEPS - 1)) ** BOULWARE_EXPONENT
        package = between(terms, opening, end, gone)
        while gone > 0 and not keeps_limits(terms, package):
            gone = max(0.0, gone - 0.02)
            package = between(terms, opening, end, gone)
        return _counter(terms, package, theirs, mine)


def _within(issue: Issue, value: Scalar) -> Scalar:
    at = coordinate(issue.type, value)
    if at is None or issue.range is None:
        return value
    return value_at_coordinate(issue.type, min(issue.range.max, max(issue.range.min, at)))


def _counter(terms: Terms, package: Package, theirs: Sequence[Package], mine: Sequence[Package]) -> Move:
    """Accept what is as good as the next offer; leave when the last offer has been repeated in vain."""
    if theirs and keeps_limits(terms, theirs[-1]):
        worn = len(mine) >= PATH_STEPS + PATIENCE
        if worn or utility(terms, theirs[-1]) >= utility(terms, package) - NEARLY:
            return Move("accept")
    if len(mine) > PATH_STEPS + PATIENCE:
        return Move("leave")
    return Move("offer", package)


class EngineForAgents:
    """The strategy engine, asked as the route of a stored negotiation asks it."""

    def advise(self, negotiation: Mapping[str, Any], ledger: Sequence[OfferRow], state: TalkState) -> Move:
        terms = state.terms
        situation = engine_input.stored_turn_input(terms, ledger, opened_at=state.opened_at, now=state.now)
        standing = engine_input.standing_package(terms, ledger, state.now)
        return read_answer(engine_input.next_move_answer(situation, terms, standing))


@dataclass(frozen=True, slots=True)
class AdviceForPeople:
    """The next move with a person, asked as the route of a stored negotiation asks it, with their latest words."""

    style: Style = "balanced"

    def advise(self, negotiation: Mapping[str, Any], ledger: Sequence[OfferRow], state: TalkState) -> Move:
        return read_answer(self.answer(ledger, state))

    def answer(self, ledger: Sequence[OfferRow], state: TalkState) -> dict[str, Any]:
        """The whole answer, from which the move is read."""
        session = NegotiationSession(
            id="neg_0", owner="", request=b"", terms=state.terms, created_at=state.opened_at, state=ACTIVE
        )
        return stored_person_answer(session, ledger, now=state.now, style=self.style)


def read_answer(answer: Mapping[str, Any]) -> Move:
    """An answer of the next-move operation as a move."""
    return Move(_ACTIONS[answer["action"]], answer["offer"], answer["say"])


def floor_of(terms: Terms) -> float:
    """The least utility to agree to: a package below the worst one counts as the worst."""
    found = utility_floor(terms)
    return max(found or 0.0, utility_bounds(terms.preferences).low)


ADVISERS: Final[Mapping[str, Adviser]] = {
    "middle": MeetInTheMiddle(),
    "path": FixedPath(),
    "agents": EngineForAgents(),
    "people": AdviceForPeople(),
    "people_firm": AdviceForPeople("firm"),
    "people_cooperative": AdviceForPeople("cooperative"),
}
