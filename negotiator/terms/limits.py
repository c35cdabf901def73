"""Whether a package keeps the walk-away, the hard constraints and the authority, and which figures stay private.

No other function decides this: a package that is refused here is accepted nowhere.
"""

from collections.abc import Collection, Mapping
from decimal import Decimal
from typing import Final

from negotiator.base.search_terms import stemmed_terms
from negotiator.numbers.read import number_readings, number_runs, number_tokens
from negotiator.terms.issues import (
    Issue,
    Package,
    Scalar,
    canonical_value,
    coordinate,
    is_outside_range,
    same_value,
    worth_of,
)
from negotiator.terms.terms import AllowedTrade, Constraint, Terms
from negotiator.terms.utility import Worth, issue_bounds, package_utility, utility_of_worth

TOLERANCE: Final = 1e-9
"""Utilities nearer than this are the same: the last digit of a float decides nothing."""


def utility_floor(terms: Terms) -> float | None:
    """The least utility to agree to: the walk-away, or what the alternative is surely worth without one."""
    if terms.walk_away is None:
        return terms.certain
    return utility_of_worth(terms.preferences, terms.walk_away, fill="low")


def is_below_floor(terms: Terms, package: Package, *, binding: bool) -> bool:
    """Whether a package lies below the walk-away.

    What a partial package leaves out counts at its best in an offer, at its worst when it is `binding`, as in
    an acceptance. A walk-away that names a single issue is a limit on that issue, whatever the others bring, except
    in a trade that the user allows. A value beyond the bad end of a range is below every walk-away that does not
    itself go as far.
    """
    if terms.walk_away is None:
        return False
    least = terms.walk_away.package or {}
    if any(
        _is_beyond_bad_end(issue, package[issue.name], least.get(issue.name))
        for issue in terms.issues
        if issue.name in package
    ):
        return True
    allowed = {trade.issue for trade in terms.allowed if _is_paid(terms, trade, package)}
    return _worse(terms, package, terms.walk_away, binding=binding, allowed=allowed)


def shortfall(terms: Terms, package: Package, *, binding: bool) -> Decimal | None:
    """By how much a package lies below the walk-away, as a change of the price; None where no money says it.

    `binding` is as in `is_below_floor`.
    """
    limit, price = single_limit(terms), terms.price
    if limit is not None and price is not None and limit[0].name == price.name:
        at, least = (coordinate(price.type, value) for value in (package.get(price.name), limit[1]))
        if at is not None and least is not None and falls_short(price, package[price.name], limit[1]):
            return abs(at - least)
    floor, ends = utility_floor(terms), package_utility(terms.preferences, package)
    gap = 0.0 if floor is None else floor - (ends.low if binding else ends.high)
    return terms.money_of_utility(gap) if gap > TOLERANCE else None


def broken_constraints(terms: Terms, package: Package) -> list[Constraint]:
    """The hard constraints that a package breaks; it breaks none on an issue it leaves out."""
    return [
        rule
        for rule in terms.constraints
        if rule.hard and rule.issue in package and not satisfies_constraint(terms, rule, package[rule.issue])
    ]


def needs_approval(terms: Terms, package: Package) -> bool:
    """Whether agreeing to a package goes beyond the authority."""
    given = terms.authority
    if given.least is not None and _worse(terms, package, given.least, binding=False):
        return True
    price = terms.price
    if price is None or price.name not in package:
        return False
    return any(_is_worse(price, package[price.name], limit) for limit in given.prices)


def satisfies_constraint(terms: Terms, rule: Constraint, value: Scalar) -> bool:
    """Whether a value of the rule's issue keeps the rule; a value without a place on the axis does not."""
    issue = terms.issue(rule.issue)
    if issue is None:
        return True
    if rule.op in {"==", "in"}:
        return any(same_value(issue.type, wanted, value) for wanted in rule.values)
    if rule.op in {"!=", "not_in"}:
        return not any(same_value(issue.type, wanted, value) for wanted in rule.values)
    at, limit = coordinate(issue.type, value), coordinate(issue.type, rule.values[0])
    if at is None or limit is None:
        return False
    orders: Mapping[str, bool] = {"<=": at <= limit, ">=": at >= limit, "<": at < limit, ">": at > limit}
    return orders[rule.op]


def single_limit(terms: Terms) -> tuple[Issue, Scalar] | None:
    """The issue and value of a walk-away that names one issue only."""
    return None if terms.walk_away is None else _single(terms, terms.walk_away)


def within_limit(terms: Terms, issue: Issue, value: Scalar) -> bool:
    """Whether one value keeps every hard constraint on its issue and a walk-away that is a limit on it."""
    limit = single_limit(terms)
    if limit is not None and limit[0].name == issue.name and falls_short(issue, value, limit[1]):
        return False
    rules = (rule for rule in terms.constraints if rule.hard and rule.issue == issue.name)
    return all(satisfies_constraint(terms, rule, value) for rule in rules)


def own_limit(terms: Terms, issue: Issue) -> Scalar | None:
    """The worst value that the user takes on an issue; None where they named none."""
    return issue_limit(issue, terms.walk_away, terms.target)


def issue_limit(issue: Issue, walk_away: Worth | None, target: Worth | None) -> Scalar | None:
    """The limit of an issue: the one that it has, or else its value in the walk-away package.

    That binds no compensated issue, since the walk-away is kept in all there. Where the target is worse than the
    walk-away on this issue, the target's value is the limit: what the user aims for passes no limit of theirs.
    """
    if issue.limit is not None or issue.compensated:
        return issue.limit
    least, goal = (
        worth.package.get(issue.name) if worth is not None and worth.package else None for worth in (walk_away, target)
    )
    if least is None:
        return None
    limit = goal if goal is not None and falls_short(issue, goal, least) else least
    return canonical_value(issue.type, limit)


def passes_own_limit(terms: Terms, package: Package, *, binding: bool = False) -> tuple[str, ...]:
    """The names of the issues on which a package is worse than the user's own limit, in the order of the issues.

    What the package leaves out counts at its worst when it is `binding`.
    """
    return tuple(
        issue.name
        for issue in terms.issues
        if (limit := own_limit(terms, issue)) is not None
        and (
            falls_short(issue, package[issue.name], limit) or _is_beyond_bad_end(issue, package[issue.name], limit)
            if issue.name in package
            else binding and _may_fall_short(issue, limit)
        )
    )


def unpaid_issues(terms: Terms, package: Package, *, binding: bool = False) -> tuple[str, ...]:
    """The names of the issues on which a package passes the user's own limit without a trade that they allow.

    A trade allows the step as far as its `to`, in a package that reaches each value of its `in_return`. An issue that
    the package leaves out reaches nothing. `binding` is as in `passes_own_limit`.
    """
    return tuple(
        name
        for name in passes_own_limit(terms, package, binding=binding)
        if not any(_is_paid(terms, trade, package) for trade in terms.allowed if trade.issue == name)
    )


def passed_beside_walk_away(terms: Terms, package: Package, *, below: bool, binding: bool) -> tuple[str, ...]:
    """The unpaid issues without the one that a walk-away on a single issue names, where the package is `below` it."""
    told = issues_of_walk_away(terms) if below else set[str]()
    return tuple(name for name in unpaid_issues(terms, package, binding=binding) if name not in told)


def issues_of_walk_away(terms: Terms) -> set[str]:
    """The issue of which a walk-away says all: the only one, or the only one that it names."""
    single = single_limit(terms)
    told = {terms.issues[0].name} if len(terms.issues) == 1 else set[str]()
    return told if single is None else told | {single[0].name}


def allowed_by(terms: Terms, package: Package) -> bool:
    """Whether the user allows every step beyond an own limit that a package takes; true where it takes none."""
    return not unpaid_issues(terms, package)


def keeps_limits(terms: Terms, package: Package) -> bool:
    """Whether the user may sign a whole package: walk-away, hard constraints, and the limit of each issue."""
    return (
        not is_below_floor(terms, package, binding=True)
        and not broken_constraints(terms, package)
        and allowed_by(terms, package)
    )


# What stays private


def private_limits(terms: Terms) -> dict[str, set[Decimal]]:
    """By ordered issue, the values of the limits, the walk-away and the alternative, which must not be said."""
    found: dict[str, set[Decimal]] = {}
    for issue in terms.issues:
        values = [given.package.get(issue.name) for given in (terms.walk_away, terms.batna)
                  if given is not None and given.package is not None]  # fmt: skip
        places = {coordinate(issue.type, value) for value in (*values, own_limit(terms, issue))}
        if known := {at for at in places if at is not None}:
            found[issue.name] = known
    return found


def private_figures(terms: Terms) -> dict[str, set[Decimal]]:
    """The same with the target, the authority and what the alternative costs: no message may name them."""
    found = private_limits(terms)
    named = [(issue, worth.package.get(issue.name)) for worth in (terms.target, terms.authority.least)
             if worth is not None and worth.package is not None for issue in terms.issues]  # fmt: skip
    if terms.price is not None:
        cost = None if terms.batna_details is None else terms.batna_details.cost
        named += [(terms.price, amount) for amount in (*terms.authority.prices, cost) if amount]
    for issue, value in named:
        if (at := coordinate(issue.type, value)) is not None:
            found.setdefault(issue.name, set()).add(at)
    return found


def shows_limit(terms: Terms, package: Package) -> bool:
    """Whether a package has a price of the walk-away or of the alternative, so that saying it would show them."""
    private = private_limits(terms)
    return any(
        coordinate(issue.type, package.get(issue.name)) in private.get(issue.name, ())
        for issue in terms.issues
        if issue.type == "money"
    )


def tells_limit(terms: Terms, text: str) -> bool:
    """Whether a text has a price that the user aims for, or the worst that they take."""
    limits = {coordinate(issue.type, issue.limit) for issue in terms.issues if issue.type == "money"}
    return bool(_said_numbers(text) & (limits | _prices(terms, terms.walk_away, terms.target)))


_FEW_LETTERS: Final = 3


def tells_alternative(terms: Terms, text: str) -> bool:
    """Whether a text has a price of the best alternative, or two words that describe it and name no issue."""
    described = terms.batna_details.description if terms.batna_details else None
    named = {*stemmed_terms(" ".join(f"{issue.name} {issue.label}" for issue in terms.issues))}
    shared = {word for word in stemmed_terms(text) if len(word) > _FEW_LETTERS} & {*stemmed_terms(described or "")}
    return len(shared - named) > 1 or bool(_said_numbers(text) & _prices(terms, terms.batna))


def _prices(terms: Terms, *worths: Worth | None) -> set[Decimal | None]:
    """The prices that these name."""
    packages = [worth.package for worth in worths if worth is not None and worth.package is not None]
    prices = [issue for issue in terms.issues if issue.type == "money"]
    return {coordinate(issue.type, package.get(issue.name)) for package in packages for issue in prices}


def _said_numbers(text: str) -> frozenset[Decimal]:
    """Every number that a text may mean, as it is written and as it is spoken."""
    return number_readings([text]).union(*(run.readings for run in number_runs(number_tokens(text))))


def private_numbers(terms: Terms) -> frozenset[Decimal]:
    """Numbers that the other side must not learn: limits, the value of the alternative, weights and utilities."""
    found = {at for places in private_limits(terms).values() for at in places}
    given = [terms.certain]
    given += [worth.utility for worth in (terms.walk_away, terms.batna, terms.target) if worth]
    given += [issue.weight for issue in terms.issues if len(terms.issues) > 1]
    found |= {Decimal(repr(value)) for value in given if value is not None}
    return frozenset(found)


# The rules


def _is_paid(terms: Terms, trade: AllowedTrade, package: Package) -> bool:
    """Whether a package goes no further than a trade allows and has what the trade asks for."""
    issue = terms.issue(trade.issue)
    if issue is None or issue.name not in package:
        return False
    if falls_short(issue, package[issue.name], trade.to):
        return False
    return all(
        (asked := terms.issue(name)) is not None and name in package and not falls_short(asked, package[name], value)
        for name, value in trade.in_return.items()
    )


def _is_beyond_bad_end(issue: Issue, value: Scalar, limit: Scalar | None) -> bool:
    """Whether a value lies beyond the range where the issue is not worth most, and is worse than the limit."""
    if not is_outside_range(issue, value):
        return False
    if (worth_of(issue, value) or 0.0) >= issue_bounds(issue).high - TOLERANCE:
        return False
    return limit is None or _is_worse(issue, value, limit)


def _worse(terms: Terms, package: Package, least: Worth, *, binding: bool, allowed: Collection[str] = ()) -> bool:
    single = _single(terms, least)
    if single is not None:
        issue, limit = single
        paid = issue.name in allowed
        if not paid and issue.name in package and falls_short(issue, package[issue.name], limit):
            return True
        if len(terms.issues) == 1:
            return binding and issue.name not in package
    floor = utility_of_worth(terms.preferences, least, fill="low")
    ends = package_utility(terms.preferences, package)
    return floor is not None and (ends.low if binding else ends.high) < floor - TOLERANCE


def _single(terms: Terms, least: Worth) -> tuple[Issue, Scalar] | None:
    if least.package is None or len(least.package) != 1:
        return None
    ((name, value),) = least.package.items()
    issue = terms.issue(name)
    return None if issue is None else (issue, value)


def falls_short(issue: Issue, value: Scalar, limit: Scalar) -> bool:
    """Whether a value is worse for me than the limit: by its worth, on a straight line by its direction."""
    if not issue.options and not issue.value_points and issue.type != "boolean":
        return _is_worse(issue, value, limit)
    here, least = worth_of(issue, value), worth_of(issue, limit)
    return here is not None and least is not None and here < least - TOLERANCE


def _may_fall_short(issue: Issue, limit: Scalar) -> bool:
    """Whether the issue has values that are worse than the limit."""
    worth = worth_of(issue, limit)
    return worth is None or worth > issue_bounds(issue).low + TOLERANCE


def _is_worse(issue: Issue, value: Scalar, limit: Scalar) -> bool:
    at, least = coordinate(issue.type, value), coordinate(issue.type, limit)
    if at is None or least is None:
        return False
    return at > least if issue.direction == "lower" else at < least
