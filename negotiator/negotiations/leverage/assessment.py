"""One situation in, the leverage answer of docs/contract 6.6 out.

A talk about one money issue is answered in money, any other in utilities. What is not known is
null, and what had to be assumed is a sentence in `assumptions`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal

from negotiator.negotiations.issues import VALUE_GRID_SIZE, Issue, coordinate
from negotiator.negotiations.leverage.concessions import (
    BluffSignal,
    Concessions,
    LedgerOffer,
    StatedClaim,
    bluff_signals,
    concession_analysis,
)
from negotiator.negotiations.leverage.outcomes import (
    APPROXIMATE_FRONTIER_NOTE,
    OutcomeSpace,
    outcome_space,
    pareto_frontier,
)
from negotiator.negotiations.leverage.power import (
    NO_FACTS,
    Power,
    SideFacts,
    alternative_strength,
    split_power,
)
from negotiator.negotiations.leverage.solutions import (
    NO_DEAL,
    ExpectedAgreement,
    ParetoSummary,
    SolutionPoints,
    expected_package,
    expected_price,
    no_solution,
    pareto_summary,
    price_precision,
    solution_points,
)
from negotiator.negotiations.leverage.zone_of_agreement import (
    Estimate,
    Position,
    Spread,
    Zopa,
    ZopaEstimate,
    mean_below,
    probability_below,
    walk_away_view,
    zopa_estimate,
)
from negotiator.negotiations.utility import (
    Preferences,
    Worth,
    alternative_price,
    missing_issues,
    opposed_preferences,
    package_utility,
    price_of,
    single_price_issue,
    utility_at,
    utility_of_alternative,
    utility_of_worth,
)

NO_PRICE_BETWEEN_STEPS = "No price of the range's steps lies between the two walk-aways."
PRICE_GRID_SIZE = 1001
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
    me: SideFacts = NO_FACTS
    them: SideFacts = NO_FACTS
    judgements: Mapping[str, float] = field(default_factory=dict[str, float])
    ledger: tuple[LedgerOffer, ...] = ()
    claims: tuple[StatedClaim, ...] = ()


@dataclass(frozen=True, slots=True)
class Leverage:
    """The answer; `concessions` and `signals` are there when there is a ledger."""

    position: Position
    power: Power
    points: SolutionPoints
    expected: ExpectedAgreement | None
    assumptions: tuple[str, ...]
    approximate: bool
    concessions: Concessions | None = None
    signals: tuple[BluffSignal, ...] = ()


@dataclass(frozen=True, slots=True)
class _AssessmentBasis:
    """What both branches stand on: utilities, floors, spread and the notes taken on the way."""

    given: LeverageInput
    theirs: Preferences
    space: OutcomeSpace
    price: Issue | None
    floor: float | None
    batnas: tuple[float | None, float | None]
    notes: list[str]


def assess_leverage(situation: LeverageInput) -> Leverage:
    """Position, power, solution points and expected agreement of a situation. Same in, same out."""
    ground = _ground(situation)
    notes, mine, theirs = ground.notes, situation.mine, ground.theirs
    moves = concession_analysis(situation.ledger, mine, theirs) if situation.ledger else None
    split = split_power(*_facts(ground), situation.judgements)
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


def _ground(given: LeverageInput) -> _AssessmentBasis:
    notes: list[str] = []
    mine, theirs = given.mine, given.their_preferences
    if theirs is None:
        theirs = opposed_preferences(mine)
        weighted = any(issue.their_weight is not None for issue in mine.issues)
        weights = "the weights you estimated for them" if weighted else "your weights"
        notes.append(f"They are taken to want the opposite on every issue, with {weights}.")
    price = single_price_issue(mine, theirs)
    space = outcome_space(mine, theirs, grid=VALUE_GRID_SIZE if price is None else PRICE_GRID_SIZE)
    if space.gridded:
        notes.append(f"An even grid stands in for the values of {', '.join(space.gridded)}.")
    if not space.exact:
        notes.append(APPROXIMATE_FRONTIER_NOTE.format(space.size))
    floor = utility_of_worth(mine, given.walk_away, fill="low")
    batna = utility_of_alternative(mine, given.batna)
    for name, what in {"walk-away": given.walk_away, "target": given.target}.items():
        silent = missing_issues(mine.issues, what.package) if what and what.package else ()
        end = "best" if name == "target" else "worst"
        if silent:
            notes.append(f"Your {name} leaves out {', '.join(silent)}: taken at the {end}.")
    if floor is None and batna is not None:
        floor = batna
        notes.append("Your walk-away is not given: your best alternative stands in for it.")
    if floor is not None and batna is not None and batna > floor:
        notes.append("Your best alternative beats your walk-away: it cuts off what is worse.")
    batnas = (batna, utility_of_alternative(theirs, given.their_batna))
    return _AssessmentBasis(given, theirs, space, price, floor, batnas, notes)


def _facts(ground: _AssessmentBasis) -> tuple[SideFacts, SideFacts]:
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


def _spread(ground: _AssessmentBasis, moves: Concessions | None) -> Spread | None:
    """Their walk-away in the talk's own unit: given, their alternative, or read off the ledger."""
    given = ground.given.their_walk_away
    if given is not None and (given.unit == "utility" or ground.price is not None):
        spread = Spread(*given.ends)
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


def _in_money(ground: _AssessmentBasis, spread: Spread) -> Spread | None:
    """A spread of their utility as prices when price is all, else as it is."""
    if ground.price is None:
        return spread
    prices = [price_of(ground.theirs, u) for u in (spread.low, spread.likely, spread.high)]
    known = sorted(float(price) for price in prices if price is not None)
    return Spread(*known) if len(known) == 3 else None


def _my_price(ground: _AssessmentBasis, given: Worth | None) -> Decimal | None:
    issue = ground.given.mine.issues[0]
    if given is not None and given.package is not None:
        return coordinate(issue.type, given.package.get(issue.name))
    at = utility_of_worth(ground.given.mine, given, fill="low")
    return None if at is None else price_of(ground.given.mine, at)


def _price_talk(
    ground: _AssessmentBasis, spread: Spread | None, alpha: float
) -> tuple[Position, SolutionPoints, ExpectedAgreement | None]:
    given, issue = ground.given, ground.given.mine.issues[0]
    batna = alternative_price(issue, _my_price(ground, given.batna))
    mine = _my_price(ground, given.walk_away) if given.walk_away else batna
    cent = price_precision(issue.range.max - issue.range.min) if issue.range else Decimal("0.01")
    shown = walk_away_view(spread, cent)
    wanted = "below" if issue.direction == "lower" else "above"
    found = (
        zopa_estimate(spread, float(mine), wanted)
        if mine is not None and spread is not None
        else None
    )
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
    points = solution_points(
        ground.space, pareto_frontier(ground.space, floors[0]).above(*floors), floors
    )
    points = replace(points, reason=points.reason and NO_PRICE_BETWEEN_STEPS)
    return position, points, _expected_at(ground, price, (low, high), cent)


def _expected_at(
    ground: _AssessmentBasis, price: float | None, ends: tuple[Decimal, Decimal], cent: Decimal
) -> ExpectedAgreement | None:
    if price is None:
        return None
    exact = min(max(Decimal(repr(price)).quantize(cent), ends[0]), ends[1])
    package = {ground.given.mine.issues[0].name: exact}
    mine, theirs = (
        package_utility(side, package).low for side in (ground.given.mine, ground.theirs)
    )
    return ExpectedAgreement(dict(package), exact, mine, theirs)


def _no_points(ground: _AssessmentBasis, found: ZopaEstimate | None) -> SolutionPoints:
    if found is not None:
        return no_solution(NO_DEAL, ParetoSummary(0, ()))
    pareto = pareto_summary(ground.space, pareto_frontier(ground.space))
    if ground.floor is None:
        return no_solution("Your walk-away is not known.", pareto)
    return no_solution("Their walk-away is not known.", pareto)


def _package_talk(
    ground: _AssessmentBasis, spread: Spread | None, alpha: float
) -> tuple[Position, SolutionPoints, ExpectedAgreement | None]:
    floor, shown = ground.floor, walk_away_view(spread, None)
    if floor is None or spread is None:
        return Position(Zopa(None, None, None), floor, shown), _no_points(ground, None), None
    edge = pareto_frontier(ground.space, floor)
    most = float(edge.theirs.max()) if len(edge.theirs) else float("-inf")
    chance, theirs = probability_below(spread, most), mean_below(spread, most)
    if theirs is None:
        position = Position(Zopa(chance, None, None), floor, shown)
        return position, _no_points(ground, ZopaEstimate(chance, None)), None
    floors = (floor, theirs)
    edge = edge.above(*floors)
    points = solution_points(ground.space, edge, floors)
    expected = expected_package(ground.space, edge, floors, alpha=alpha, alternatives=ground.batnas)
    return Position(Zopa(chance, floor, float(edge.mine.max())), floor, shown), points, expected
