"""The user's own decision to go beyond a limit: what advice keeps while such an offer of theirs stands."""

from collections.abc import Sequence
from dataclasses import replace

from negotiator.advice.leverage.concessions import completed_offers
from negotiator.negotiations.offer_history import ledger_offers, live_offers
from negotiator.negotiations.offer_queries import OfferRow
from negotiator.terms import limits
from negotiator.terms.issues import Package
from negotiator.terms.terms import AllowedTrade, Terms
from negotiator.terms.utility import Worth, package_utility


def advised_terms(terms: Terms, rows: Sequence[OfferRow], now: int) -> Terms:
    """The terms that advice keeps: the user's limits, moved as far as their standing offer goes beyond them.

    Only an offer that the user allowed, or made with an override, moves a limit. Without one these are `terms`
    themselves. `now` is in milliseconds since the epoch.
    """
    standing = live_offers(rows, now, side="me")
    if not standing or standing[-1].content.get("override") is None:
        return terms
    whole = completed_offers(ledger_offers(rows))
    package = next((row.package for row in whole if row.seq == standing[-1].seq), None)
    return terms if package is None else _as_far_as(terms, package)


def _as_far_as(terms: Terms, package: Package) -> Terms:
    broken = limits.broken_constraints(terms, package)
    on = {rule.issue for rule in broken} | set(limits.unpaid_issues(terms, package))
    issues = tuple(replace(issue, limit=package[issue.name]) if issue.name in on else issue for issue in terms.issues)
    return replace(
        terms,
        preferences=replace(terms.preferences, issues=issues),
        walk_away=_lowered(terms, package),
        constraints=tuple(rule for rule in terms.constraints if rule not in broken),
        allowed=tuple(
            trade for trade in terms.allowed if trade.issue not in on or _goes_further(terms, trade, package)
        ),
    )


def _goes_further(terms: Terms, trade: AllowedTrade, package: Package) -> bool:
    issue = terms.issue(trade.issue)
    return issue is not None and limits.falls_short(issue, trade.to, package[trade.issue])


def _lowered(terms: Terms, package: Package) -> Worth | None:
    """The walk-away, or what the package is worth where that is less: its values where no worth can be counted."""
    given, single = terms.walk_away, limits.single_limit(terms)
    if given is None or not limits.is_below_floor(terms, package, binding=True):
        return given
    if given.package is not None and (len(terms.issues) == 1 or terms.unvalued):
        worse = {
            issue.name: package[issue.name]
            for issue in terms.issues
            if issue.name in given.package
            and issue.name in package
            and limits.falls_short(issue, package[issue.name], given.package[issue.name])
        }
        return Worth(package={**given.package, **worse})
    floor, worth = limits.utility_floor(terms), package_utility(terms.preferences, package).low
    if single is not None and floor is not None and worth >= floor:
        return Worth(utility=floor)
    return Worth(utility=worth)
