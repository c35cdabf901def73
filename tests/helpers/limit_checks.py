"""Whether a package that advice proposes keeps everything that the user said they would not go below."""

from negotiator.terms import limits
from negotiator.terms.issues import Issue, Package, Scalar, worth_of
from negotiator.terms.terms import Terms
from negotiator.terms.utility import check_package, is_complete, package_utility


def broken_rules(terms: Terms, package: Package, *, values: bool = True) -> list[str]:
    """What a whole package breaks, in words; empty for one that the user may agree to.

    `values` is whether every value must be one that the issue has, as in an offer of the user.
    """
    found: list[str] = []
    if values and check_package(terms.issues, package):
        found.append("a value that the issue does not have")
    if not is_complete(terms.issues, package):
        found.append("an issue without a value")
    if limits.is_below_floor(terms, package, binding=True):
        found.append("below the walk-away")
    floor = limits.utility_floor(terms)
    if floor is not None and package_utility(terms.preferences, package).low < floor - 1e-9:
        found.append("worth less than no deal")
    if limits.broken_constraints(terms, package):
        found.append("against a hard constraint")
    if not limits.allowed_by(terms, package):
        found.append("beyond an own limit, and not allowed")
    return found


def keeps_alone(terms: Terms, issue: Issue, value: Scalar) -> bool:
    """Whether one value keeps the constraints and the own limit on its issue."""
    return limits.within_limit(terms, issue, value) and not limits.passes_own_limit(terms, {issue.name: value})


def worth(issue: Issue, value: object) -> float:
    """The user's worth of a value before weighting; 0 for one that the issue does not have."""
    return worth_of(issue, value) or 0.0
