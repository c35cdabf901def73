"""Assesses a negotiation: zone of agreement, split of power and solution points.

A negotiation about one money issue is assessed in money, any other in utilities. An unknown value is None, and each
assumption is a sentence in `assumptions`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from negotiator.advice.leverage.concessions import (
    BluffSignal,
    Concessions,
    LedgerOffer,
    StatedClaim,
    bluff_signals,
    concession_analysis,
)
from negotiator.advice.leverage.outcomes import APPROXIMATE_FRONTIER_NOTE, OutcomeSpace, outcome_space, pareto_frontier
from negotiator.advice.leverage.power import Power, alternative_strength, split_power
from negotiator.advice.leverage.solutions import (
    NO_DEAL,
    AsymmetricNash,
    ParetoSummary,
    SolutionPoints,
    asymmetric_nash_package,
    asymmetric_nash_price,
    no_solution,
    pareto_summary,
    price_precision,
    solution_points,
)
from negotiator.advice.leverage.zone_of_agreement import (
    Position,
    Spread,
    Zopa,
    ZopaEstimate,
    mean_below,
    probability_below,
    walk_away_view,
    zopa_estimate,
)
from negotiator.terms.issues import VALUE_GRID_SIZE, Issue, coordinate
from negotiator.terms.terms import SideFacts, Terms, days_left
from negotiator.terms.utility import (
    Preferences,
    Worth,
    alternative_price,
    issues_outside_range,
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
class Leverage:
    """The assessment. `concessions` is None and `signals` is empty without offers."""

    position: Position
    power: Power
    points: SolutionPoints
    asymmetric_nash: AsymmetricNash | None
    assumptions: tuple[str, ...]
    approximate: bool
    concessions: Concessions | None = None
    signals: tuple[BluffSignal, ...] = ()


@dataclass(frozen=True, slots=True)
class _AssessmentBasis:
    """The terms with the utilities derived from them (`batnas`: the user's, theirs) and the assumptions made so far."""

    terms: Terms
    theirs: Preferences
    space: OutcomeSpace
    price: Issue | None
    floor: float | None
    batnas: tuple[float | None, float | None]
    notes: list[str]

    @property
    def mine(self) -> Preferences:
        return self.terms.preferences


def assess_leverage(
    terms: Terms, offers: Sequence[LedgerOffer] = (), *, now: int = 0, claims: Sequence[StatedClaim] = ()
) -> Leverage:
    """The assessment of a negotiation in which every issue has its values (a range, points or options).

    `offers` are those of both sides. Deadlines count from `now`, in milliseconds since the epoch. `claims` are stated
    limits, alternatives and deadlines, in which `bluff_signals` looks for contradictions.
    """
    basis = _basis(terms)
    notes, mine, theirs = basis.notes, basis.mine, basis.theirs
    for name in dict.fromkeys(name for row in offers for name in issues_outside_range(terms.issues, row.package)):
        notes.append(f"An offer outside the range of {name} counts as the nearest end of that range.")
    moves = concession_analysis(offers, mine, theirs) if offers else None
    split = split_power(*_facts(basis, now), terms.judgements)
    spread = _spread(basis, moves)
    assess = _price_talk if basis.price is not None else _package_talk
    position, points, by_power = assess(basis, spread, split.alpha)
    if split.missing:
        notes.append(
            "Where nothing is known about the power of a side, a usual value counts, and the result is less certain."
        )
    return Leverage(
        position,
        split,
        points,
        by_power,
        assumptions=tuple(notes),
        approximate=not basis.space.exact or bool(basis.space.gridded),
        concessions=moves,
        signals=bluff_signals(offers, mine, theirs, claims=claims),
    )


def _basis(terms: Terms) -> _AssessmentBasis:
    notes: list[str] = []
    mine, theirs = terms.preferences, terms.their_preferences
    if theirs is None:
        theirs = opposed_preferences(mine)
        weighted = any(issue.their_weight is not None for issue in mine.issues)
        weights = "the weights you estimated for them" if weighted else "your weights"
        notes.append(f"The other side is assumed to want the opposite of what you want on every issue, with {weights}.")
    price = single_price_issue(mine, theirs)
    space = outcome_space(mine, theirs, grid=VALUE_GRID_SIZE if price is None else PRICE_GRID_SIZE)
    if space.gridded:
        notes.append(f"Only evenly spaced values of {', '.join(space.gridded)} are compared.")
    if not space.exact:
        notes.append(APPROXIMATE_FRONTIER_NOTE.format(space.size))
    floor = utility_of_worth(mine, terms.walk_away, fill="low")
    batna = utility_of_alternative(mine, terms.certain_batna)
    for name, limit in {"walk-away": terms.walk_away, "target": terms.target}.items():
        silent = missing_issues(mine.issues, limit.package) if limit and limit.package else ()
        end = "best" if name == "target" else "worst"
        if silent:
            notes.append(f"Your {name} does not mention {', '.join(silent)}, so the {end} value is assumed.")
    if floor is None and batna is not None:
        floor = batna
        notes.append("You gave no walk-away, so your best alternative is used instead.")
    if floor is not None and batna is not None and batna > floor:
        notes.append("Your best alternative is better than your walk-away, so it is your limit.")
    batnas = (batna, utility_of_alternative(theirs, terms.their_batna))
    return _AssessmentBasis(terms, theirs, space, price, floor, batnas, notes)


def _facts(basis: _AssessmentBasis, now: int) -> tuple[SideFacts, SideFacts]:
    """Both sides' facts, with the days to their deadlines and, where not given, the strength of their alternatives."""
    terms, (my_batna, their_batna) = basis.terms, basis.batnas
    return (
        _side(terms.me, days_left(terms.deadline, now), (basis.mine, my_batna, terms.target)),
        _side(terms.them, days_left(terms.their_deadline, now), (basis.theirs, their_batna, terms.their_target)),
    )


def _side(
    facts: SideFacts, days: float | None, alternative: tuple[Preferences, float | None, Worth | None]
) -> SideFacts:
    if days is not None:
        facts = replace(facts, days_left=days)
    preferences, batna, target = alternative
    if facts.alternative is None and batna is not None:
        facts = replace(facts, alternative=alternative_strength(preferences, batna, target))
    return facts


def _spread(basis: _AssessmentBasis, moves: Concessions | None) -> Spread | None:
    """Their walk-away in the unit of the assessment: as given, else from their alternative or their concessions."""
    given = basis.terms.their_walk_away
    if given is not None and (given.unit == "utility" or basis.price is not None):
        spread = Spread(*given.ends)
        return _in_money(basis, spread) if given.unit == "utility" else spread
    if given is not None:
        basis.notes.append(
            "Your estimate of their walk-away is a price alone, but other points are open too, so it is not used."
        )
    if basis.batnas[1] is not None:
        basis.notes.append("You gave no estimate of their walk-away, so their alternative is used instead.")
        return _in_money(basis, Spread(*[basis.batnas[1]] * 3))
    if moves is not None and moves.them.limit is not None:
        basis.notes.append("Their walk-away is estimated from how their concessions shrink.")
        return _in_money(basis, moves.them.limit)
    return None


def _in_money(basis: _AssessmentBasis, spread: Spread) -> Spread | None:
    """A spread of their utility, converted to prices when the price is the only issue."""
    if basis.price is None:
        return spread
    prices = [price_of(basis.theirs, u) for u in (spread.low, spread.likely, spread.high)]
    known = sorted(float(price) for price in prices if price is not None)
    return Spread(*known) if len(known) == 3 else None


def _my_price(basis: _AssessmentBasis, given: Worth | None) -> Decimal | None:
    issue = basis.mine.issues[0]
    if given is not None and given.package is not None:
        return coordinate(issue.type, given.package.get(issue.name))
    at = utility_of_worth(basis.mine, given, fill="low")
    return None if at is None else price_of(basis.mine, at)


def _price_talk(
    basis: _AssessmentBasis, spread: Spread | None, alpha: float
) -> tuple[Position, SolutionPoints, AsymmetricNash | None]:
    terms, issue = basis.terms, basis.mine.issues[0]
    batna = alternative_price(issue, _my_price(basis, terms.certain_batna))
    mine = _my_price(basis, terms.walk_away) if terms.walk_away else batna
    cent = price_precision(issue.range.max - issue.range.min) if issue.range else Decimal("0.01")
    shown = walk_away_view(spread, cent)
    wanted = "below" if issue.direction == "lower" else "above"
    found = zopa_estimate(spread, float(mine), wanted) if mine is not None and spread is not None else None
    if mine is None or found is None or found.their_walk_away is None:
        position = Position(Zopa(found.probability if found else None, None, None), mine, shown)
        return position, _no_points(basis, found), None
    theirs = Decimal(repr(found.their_walk_away)).quantize(cent)
    low, high = min(mine, theirs), max(mine, theirs)
    if (theirs > mine) == (issue.direction == "lower"):
        low = high = theirs = mine
    position = Position(Zopa(found.probability, low, high), mine, shown)
    other = price_of(basis.theirs, basis.batnas[1]) if basis.batnas[1] is not None else None
    price = asymmetric_nash_price(
        (float(mine), float(theirs)), alpha, better=issue.direction, alternatives=(batna, other)
    )
    floors = (utility_at(basis.mine, mine), utility_at(basis.theirs, theirs))
    points = solution_points(basis.space, pareto_frontier(basis.space, floors[0]).above(*floors), floors)
    points = replace(points, reason=points.reason and NO_PRICE_BETWEEN_STEPS)
    return position, points, _nash_at(basis, price, (low, high), cent)


def _nash_at(
    basis: _AssessmentBasis, price: float | None, ends: tuple[Decimal, Decimal], cent: Decimal
) -> AsymmetricNash | None:
    if price is None:
        return None
    exact = min(max(Decimal(repr(price)).quantize(cent), ends[0]), ends[1])
    package = {basis.mine.issues[0].name: exact}
    mine, theirs = (package_utility(side, package).low for side in (basis.mine, basis.theirs))
    return AsymmetricNash(dict(package), exact, mine, theirs)


def _no_points(basis: _AssessmentBasis, found: ZopaEstimate | None) -> SolutionPoints:
    if found is not None:
        return no_solution(NO_DEAL, ParetoSummary(0, ()))
    pareto = pareto_summary(basis.space, pareto_frontier(basis.space))
    if basis.floor is None:
        return no_solution("Your walk-away is not known.", pareto)
    return no_solution("Their walk-away is not known.", pareto)


def _package_talk(
    basis: _AssessmentBasis, spread: Spread | None, alpha: float
) -> tuple[Position, SolutionPoints, AsymmetricNash | None]:
    floor, shown = basis.floor, walk_away_view(spread, None)
    if floor is None or spread is None:
        return Position(Zopa(None, None, None), floor, shown), _no_points(basis, None), None
    edge = pareto_frontier(basis.space, floor)
    most = float(edge.theirs.max()) if len(edge.theirs) else float("-inf")
    chance, theirs = probability_below(spread, most), mean_below(spread, most)
    if theirs is None:
        position = Position(Zopa(chance, None, None), floor, shown)
        return position, _no_points(basis, ZopaEstimate(chance, None)), None
    floors = (floor, theirs)
    edge = edge.above(*floors)
    points = solution_points(basis.space, edge, floors)
    by_power = asymmetric_nash_package(basis.space, edge, floors, alpha=alpha, alternatives=basis.batnas)
    return Position(Zopa(chance, floor, float(edge.mine.max())), floor, shown), points, by_power
