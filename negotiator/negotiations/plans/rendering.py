"""Values and packages as a plan shows them, and the check whether a package can be said to the other side."""

from decimal import Decimal
from typing import Any

from negotiator.negotiations.issues import Issue, Package, coordinate
from negotiator.negotiations.limits import single_limit
from negotiator.negotiations.plans.admissible_packages import AdmissiblePackages
from negotiator.negotiations.plans.brief import PackageFigures, figure
from negotiator.negotiations.plans.concession_path import ConcessionStep
from negotiator.negotiations.terms import Terms
from negotiator.negotiations.terms_view import value_view
from negotiator.negotiations.utility import Worth


def package_figures(terms: Terms, package: Package, source: str) -> PackageFigures:
    """A package in which every value has the same source."""
    return {
        issue.name: figure(value_view(issue, package[issue.name], terms.currency), source)
        for issue in terms.issues
        if issue.name in package
    }


def pointer_figures(terms: Terms, package: Package, pointer: str) -> PackageFigures:
    """A package of the negotiation itself: the source of each value is `pointer` and the escaped name of its issue."""
    return {
        name: {**one, "source": f"{pointer}/{escape_pointer(name)}"}
        for name, one in package_figures(terms, package, "").items()
    }


def escape_pointer(name: str) -> str:
    """A member name, escaped for use in a JSON pointer (RFC 6901 §3)."""
    return name.replace("~", "~0").replace("/", "~1")


def issue_label(issue: Issue) -> str:
    """The name of an issue in a sentence."""
    return issue.label or issue.name


def value_in_words(terms: Terms, issue: Issue, value: object) -> str:
    """One value of an offer in words, for example `price at 8300.00 EUR`."""
    shown = value_view(issue, value, terms.currency)
    name = issue_label(issue)
    match issue.type:
        case "boolean":
            return f"{'with' if shown else 'without'} {name}"
        case "money":
            return f"{name} at {shown} {terms.currency or ''}".rstrip()
        case "percent":
            return f"{name} at {shown:g} %" if isinstance(shown, float) else f"{name} at {shown} %"
        case "duration_days":
            return f"{name} of {shown} days"
        case _:
            plain = f"{shown:g}" if isinstance(shown, float) else str(shown)
            unit = f" {issue.unit}" if issue.unit else ""
            return f"{name}: {plain}{unit}"


def package_in_words(terms: Terms, package: Package) -> str:
    parts = [
        value_in_words(terms, issue, package[issue.name])
        for issue in terms.issues
        if issue.name in package
    ]
    return ", ".join(parts)


def private_limits(terms: Terms) -> dict[str, set[Decimal]]:
    """By ordered issue, the values of the walk-away and of the alternative, which must not be said."""
    found: dict[str, set[Decimal]] = {}
    for given in (terms.walk_away, terms.batna):
        if given is None or given.package is None:
            continue
        for name, value in given.package.items():
            issue = terms.issue(name)
            at = None if issue is None else coordinate(issue.type, value)
            if at is not None:
                found.setdefault(name, set()).add(at)
    return found


def may_be_said(admissible: AdmissiblePackages, step: ConcessionStep) -> bool:
    """Whether a package reveals no limit: it has no price of a limit and is worth more than the walk-away."""
    terms = admissible.terms
    if admissible.floor is not None and step.utility <= admissible.floor + 1e-9:
        return False
    single = single_limit(terms)
    watched = {issue.name for issue in terms.issues if issue.type == "money"}
    watched |= {single[0].name} if single else set()
    return not any(
        issue.name in watched
        and issue.name in step.package
        and coordinate(issue.type, step.package[issue.name])
        in private_limits(terms).get(issue.name, ())
        for issue in terms.issues
    )


def worth_figures(terms: Terms, given: Worth | None, pointer: str) -> dict[str, Any] | None:
    """A target or walk-away as given, as a package or a utility, with its sources; None without one."""
    if given is None:
        return None
    if given.package is not None:
        return {"package": pointer_figures(terms, given.package, f"session:{pointer}/package")}
    return {"given_utility": figure(given.utility, f"session:{pointer}/utility")}
