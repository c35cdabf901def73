"""One situation in, the leverage answer of contract §3 out.

A talk about one money issue is answered in money, any other in utilities. What is not known is
null, and what had to be assumed is a sentence in `assumptions`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal

from negotiator.negotiations.leverage.expected import (
    Expected,
    cent_of,
    expected_package,
    expected_price,
)
from negotiator.negotiations.leverage.outcomes import (
    GROWN,
    OutcomeSpace,
    frontier,
    outcome_space,
)
from negotiator.negotiations.leverage.points import (
    NO_DEAL,
    ParetoSummary,
    Points,
    solve,
    summary,
    unsolved,
)
from negotiator.negotiations.leverage.position import (
    Estimate,
    Position,
    Room,
    Spread,
    Zopa,
    mean_below,
    probability_below,
    room,
    shown_walk_away,
)
from negotiator.negotiations.leverage.power import (
    NOTHING_KNOWN,
    Power,
    SideFacts,
    alternative_strength,
    power,
)
from negotiator.negotiations.leverage.signals import (
    Claim,
    Concessions,
    LedgerOffer,
    Signal,
    bluff_signals,
    concessions,
)
from negotiator.negotiations.preferences.issues import Issue, coordinate
from negotiator.negotiations.preferences.utility import (
    Preferences,
    Worth,
    alternative,
    in_play,
    left_out,
    only_price,
    opposed,
    price_of,
    utility,
    utility_at,
    worth,
)
from negotiator.negotiations.preferences.values import GRID

BETWEEN_STEPS = "No price of the range's steps lies between the two walk-aways."
PRICE_GRID = 1001
"""Prices that stand in for a continuous price range when points are looked for."""


@dataclass(frozen=True, slots=True)
class LeverageInput:
    """All that leverage is computed from; everything but my preferences may be unknown.

    Without `their_preferences` theirs are opposed to mine, weighted by each `their_weight`.
    `judgements` sets power factors outright.
    """

    mine: Preferences
    walk_away: Worth | None = None
    target: Worth | None = None
    batna: Worth | None = None
    their_preferences: Preferences | None = None
    their_walk_away: Estimate | None = None
    their_target: Worth | None = None
    their_batna: Worth | None = None
    me: SideFacts = NOTHING_KNOWN
    them: SideFacts = NOTHING_KNOWN
    judgements: Mapping[str, float] = field(default_factory=dict[str, float])
    ledger: tuple[LedgerOffer, ...] = ()
    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True, slots=True)
class Leverage:
    """The answer; `concessions` and `signals` are there when there is a ledger."""

    position: Position
    power: Power
    points: Points
    expected: Expected | None
    assumptions: tuple[str, ...]
    approximate: bool
    concessions: Concessions | None = None
    signals: tuple[Signal, ...] = ()


@dataclass(frozen=True, slots=True)
class _Ground:
    """What both branches stand on: utilities, floors, spread and the notes taken on the way."""

    given: LeverageInput
    theirs: Preferences
    space: OutcomeSpace
    price: Issue | None
    floor: float | None
    batnas: tuple[float | None, float | None]
    notes: list[str]


def assess(situation: LeverageInput) -> Leverage:
    """Position, power, solution points and expected agreement of a situation. Same in, same out."""
    ground = _ground(situation)
    notes, mine, theirs = ground.notes, situation.mine, ground.theirs
    moves = concessions(situation.ledger, mine, theirs) if situation.ledger else None
    split = power(*_facts(ground), situation.judgements)
    spread = _spread(ground, moves)
    answer = _price_talk if ground.price is not None else _package_talk
    position, points, expected = answer(ground, spread, split.alpha)
    if split.missing:
        notes.append("Unknown power inputs count as usual ones and widen the interval of alpha.")
    return Leverage(
        position,
        split,
        points,
        expected,
        assumptions=tuple(notes),
        approximate=not ground.space.exact or bool(ground.space.gridded),
        concessions=moves,
        signals=bluff_signals(situation.ledger, mine, theirs, claims=situation.claims),
    )


def _ground(given: LeverageInput) -> _Ground:
    notes: list[str] = []
    mine, theirs = given.mine, given.their_preferences
    if theirs is None:
        theirs = opposed(mine)
        weighted = any(issue.their_weight is not None for issue in mine.issues)
        weights = "the weights you estimated for them" if weighted else "your weights"
        notes.append(f"They are taken to want the opposite on every issue, with {weights}.")
    price = only_price(mine, theirs)
    space = outcome_space(mine, theirs, grid=GRID if price is None else PRICE_GRID)
    if space.gridded:
        notes.append(f"An even grid stands in for the values of {', '.join(space.gridded)}.")
    if not space.exact:
        notes.append(GROWN.format(space.size))
    floor = worth(mine, given.walk_away, fill="low")
    batna = alternative(mine, given.batna)
    for name, what in {"walk-away": given.walk_away, "target": given.target}.items():
        silent = left_out(mine.issues, what.package) if what and what.package else ()
        end = "best" if name == "target" else "worst"
        if silent:
            notes.append(f"Your {name} leaves out {', '.join(silent)}: taken at the {end}.")
    if floor is None and batna is not None:
        floor = batna
        notes.append("Your walk-away is not given: your best alternative stands in for it.")
    if floor is not None and batna is not None and batna > floor:
        notes.append("Your best alternative beats your walk-away: it cuts off what is worse.")
    batnas = (batna, alternative(theirs, given.their_batna))
    return _Ground(given, theirs, space, price, floor, batnas, notes)


def _facts(ground: _Ground) -> tuple[SideFacts, SideFacts]:
    """Both sides' facts, the strength of an alternative read from its utility where not given."""
    given = ground.given
    sides = (
        (given.me, given.mine, ground.batnas[0], given.target),
        (given.them, ground.theirs, ground.batnas[1], given.their_target),
    )
    me, them = (
        replace(facts, alternative=alternative_strength(preferences, batna, target))
        if facts.alternative is None and batna is not None
        else facts
        for facts, preferences, batna, target in sides
    )
    return me, them


def _spread(ground: _Ground, moves: Concessions | None) -> Spread | None:
    """Their walk-away in the talk's own unit: given, their alternative, or read off the ledger."""
    given = ground.given.their_walk_away
    if given is not None and (given.unit == "utility" or ground.price is not None):
        spread = Spread(given.low, given.likely, given.high)
        return _in_money(ground, spread) if given.unit == "utility" else spread
    if given is not None:
        ground.notes.append(
            "Their walk-away is a price, but the talk is not about price alone: not used."
        )
    if ground.batnas[1] is not None:
        ground.notes.append("Their walk-away is not given: their alternative stands in for it.")
        return _in_money(ground, Spread(*[ground.batnas[1]] * 3))
    if moves is not None and moves.them.limit is not None:
        ground.notes.append("Their walk-away is read from how their concessions shrink.")
        return _in_money(ground, moves.them.limit)
    return None


def _in_money(ground: _Ground, spread: Spread) -> Spread | None:
    """A spread of their utility as prices when price is all, else as it is."""
    if ground.price is None:
        return spread
    prices = [price_of(ground.theirs, u) for u in (spread.low, spread.likely, spread.high)]
    known = sorted(float(price) for price in prices if price is not None)
    return Spread(*known) if len(known) == 3 else None


def _my_price(ground: _Ground, given: Worth | None) -> Decimal | None:
    issue = ground.given.mine.issues[0]
    if given is not None and given.package is not None:
        return coordinate(issue.type, given.package.get(issue.name))
    at = worth(ground.given.mine, given, fill="low")
    return None if at is None else price_of(ground.given.mine, at)


def _price_talk(
    ground: _Ground, spread: Spread | None, alpha: float
) -> tuple[Position, Points, Expected | None]:
    given, issue = ground.given, ground.given.mine.issues[0]
    batna = in_play(issue, _my_price(ground, given.batna))
    mine = _my_price(ground, given.walk_away) if given.walk_away else batna
    cent = cent_of(issue.range.max - issue.range.min) if issue.range else Decimal("0.01")
    shown = shown_walk_away(spread, cent)
    wanted = "below" if issue.direction == "lower" else "above"
    found = room(spread, float(mine), wanted) if mine is not None and spread is not None else None
    if mine is None or found is None or found.their_walk_away is None:
        position = Position(Zopa(found.probability if found else None, None, None), mine, shown)
        return position, _no_points(ground, found), None
    theirs = Decimal(repr(found.their_walk_away)).quantize(cent)
    low, high = min(mine, theirs), max(mine, theirs)
    if (theirs > mine) == (issue.direction == "lower"):
        low = high = theirs = mine
    position = Position(Zopa(found.probability, low, high), mine, shown)
    other = price_of(ground.theirs, ground.batnas[1]) if ground.batnas[1] is not None else None
    price = expected_price(
        (float(mine), float(theirs)),
        alpha,
        better=issue.direction,
        alternatives=(batna, other),
    )
    floors = (utility_at(given.mine, mine), utility_at(ground.theirs, theirs))
    points = solve(ground.space, frontier(ground.space, floors[0]).above(*floors), floors)
    points = replace(points, reason=points.reason and BETWEEN_STEPS)
    return position, points, _expected_at(ground, price, (low, high), cent)


def _expected_at(
    ground: _Ground, price: float | None, ends: tuple[Decimal, Decimal], cent: Decimal
) -> Expected | None:
    if price is None:
        return None
    exact = min(max(Decimal(repr(price)).quantize(cent), ends[0]), ends[1])
    package = {ground.given.mine.issues[0].name: exact}
    mine, theirs = (utility(side, package).low for side in (ground.given.mine, ground.theirs))
    return Expected(dict(package), exact, mine, theirs)


def _no_points(ground: _Ground, found: Room | None) -> Points:
    if found is not None:
        return unsolved(NO_DEAL, ParetoSummary(0, ()))
    pareto = summary(ground.space, frontier(ground.space))
    if ground.floor is None:
        return unsolved("Your walk-away is not known.", pareto)
    return unsolved("Their walk-away is not known.", pareto)


def _package_talk(
    ground: _Ground, spread: Spread | None, alpha: float
) -> tuple[Position, Points, Expected | None]:
    floor, shown = ground.floor, shown_walk_away(spread, None)
    if floor is None or spread is None:
        return Position(Zopa(None, None, None), floor, shown), _no_points(ground, None), None
    edge = frontier(ground.space, floor)
    most = float(edge.theirs.max()) if len(edge.theirs) else float("-inf")
    chance, theirs = probability_below(spread, most), mean_below(spread, most)
    if theirs is None:
        position = Position(Zopa(chance, None, None), floor, shown)
        return position, _no_points(ground, Room(chance, None)), None
    floors = (floor, theirs)
    edge = edge.above(*floors)
    points = solve(ground.space, edge, floors)
    expected = expected_package(ground.space, edge, floors, alpha=alpha, alternatives=ground.batnas)
    return Position(Zopa(chance, floor, float(edge.mine.max())), floor, shown), points, expected
