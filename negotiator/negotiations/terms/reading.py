"""A negotiation's body into its terms, or every field error of it at once."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

from negotiator.errors import FieldError, ValidationFailed
from negotiator.negotiations.preferences.issues import UNORDERED_TYPES, Issue, Refusal
from negotiator.negotiations.preferences.reading import read_issues
from negotiator.negotiations.preferences.utility import (
    Preferences,
    alternative,
    bounds,
    missing_inputs,
)
from negotiator.negotiations.schemas.parts import (
    NO_ESTIMATE,
    AuthorityBody,
    Batna,
    ConstraintBody,
    IssueBody,
    lacks_values,
    with_stand_in,
)
from negotiator.negotiations.schemas.session import NegotiationBody
from negotiator.negotiations.terms.checks import (
    check_currency,
    check_order,
    check_terms,
    estimate_of,
    worth_of_body,
)
from negotiator.negotiations.terms.facts import side_facts
from negotiator.negotiations.terms.terms import Authority, Constraint, Terms
from negotiator.scalars import milliseconds

SELLING: Final = frozenset({"seller", "candidate", "landlord"})
BUYING: Final = frozenset({"buyer", "employer", "tenant"})


def read_terms(
    body: NegotiationBody, *, lenient: bool = False, mine: Preferences | None = None
) -> Terms:
    """The terms of a body; 422 with every field error.

    `lenient` is for what-if questions: limits may contradict each other there, and the answer says so. `mine` takes
    the place of the body's issues where full preferences are given instead.
    """
    found = check_currency(body)
    if mine is None:
        issues, refused = _issues(body)
        found = [*refused, *found]
        if not issues:
            raise failed(found)
        mine = Preferences(issues)
    found += check_terms(mine, body)
    if found:
        raise failed(found)
    terms = _terms(body, mine)
    if not lenient and (crossed := check_order(terms, body)):
        raise failed(crossed)
    return terms


def failed(found: Sequence[Refusal]) -> ValidationFailed:
    """The refusal that carries these field errors."""
    return ValidationFailed([FieldError(error.pointer, error.description) for error in found])


def _issues(body: NegotiationBody) -> tuple[tuple[Issue, ...], list[Refusal]]:
    """The issues; a numeric one without a range is read over a stand-in and left without its range."""
    rows = [_row(issue, body.role) for issue in body.issues]
    issues, found = read_issues(rows)
    read = tuple(
        replace(issue, range=None) if _is_unvalued(sent) else issue
        for issue, sent in zip(issues, body.issues, strict=bool(issues))
    )
    return read, list(found)


def _row(issue: IssueBody, role: str) -> dict[str, Any]:
    row = issue.model_dump(exclude={"weight_given"})
    if row["direction"] is None and issue.type == "money" and role in BUYING:
        row["direction"] = "lower"
    return with_stand_in(row)


def _is_unvalued(issue: IssueBody) -> bool:
    return lacks_values(issue.model_dump(include={"type", "range", "options", "value_points"}))


def _constraint(body: ConstraintBody) -> Constraint:
    return Constraint(body.issue, body.op, tuple(body.values), body.hard)


def _authority(body: AuthorityBody | None) -> Authority:
    if body is None:
        return Authority()
    limit = body.limit
    amounts = (limit.amount if limit else None, body.needs_approval_above)
    least = worth_of_body(limit) if limit is not None and limit.amount is None else None
    return Authority(least, tuple(a for a in amounts if a is not None), body.approver)


def _terms(body: NegotiationBody, mine: Preferences) -> Terms:
    theirs = body.their_estimate or NO_ESTIMATE
    me, them = side_facts(body)
    read = Terms(
        title=body.title,
        role=body.role,
        category=body.category,
        kind=body.kind,
        currency=body.currency,
        preferences=mine,
        walk_away=worth_of_body(body.walk_away),
        target=worth_of_body(body.target),
        batna=worth_of_body(body.batna.value if body.batna else None),
        their_walk_away=estimate_of(mine, theirs),
        their_target=worth_of_body(theirs.target),
        their_batna=worth_of_body(theirs.batna),
        deadline=milliseconds(body.deadline),
        their_deadline=milliseconds(theirs.deadline),
        max_rounds=body.max_rounds,
        constraints=tuple(_constraint(row) for row in body.constraints or ()),
        authority=_authority(body.authority),
        me=me,
        them=them,
        unvalued=tuple(issue.name for issue in body.issues if _is_unvalued(issue)),
    )
    certain = _certain(read, body.batna)
    doubtful = body.batna is not None and (
        body.batna.probability is not None or body.batna.cost is not None
    )
    return replace(
        read,
        certain=certain,
        batna_uncertain=doubtful and certain is not None,
        missing=_missing(read, body),
    )


def _certain(terms: Terms, batna: Batna | None) -> float | None:
    """V = p · value + (1 - p) · worst package - cost, in utility; the cost counts where one price is all."""
    mine = terms.preferences
    value = alternative(mine, terms.batna)
    if value is None or batna is None or terms.unvalued:
        return None
    low = bounds(mine).low
    chance = 1.0 if batna.probability is None else batna.probability
    certain = chance * value + (1.0 - chance) * low
    price = terms.price
    if batna.cost is not None and price is not None and price.range and len(mine.issues) == 1:
        certain -= float(Decimal(batna.cost) / (price.range.max - price.range.min))
    return max(certain, low)


def _missing(terms: Terms, body: NegotiationBody) -> tuple[str, ...]:
    """Names of what advice cannot do without, as pointers without their first slash."""
    money = terms.price is not None
    names = [f"issues/{n}/range" for n, i in enumerate(terms.issues) if i.name in terms.unvalued]
    names += [
        f"issues/{place}/direction"
        for place, issue in enumerate(body.issues)
        if issue.direction is None
        and issue.type not in UNORDERED_TYPES
        and not issue.options
        and not issue.value_points
        and not (issue.type == "money" and body.role in SELLING | BUYING)
    ]
    ends = terms.deadline or terms.max_rounds
    given = missing_inputs(
        terms.issues,
        currency=terms.currency if money else "",
        target=terms.target,
        walk_away=terms.walk_away,
        batna=terms.batna,
        their_estimate=terms.their_walk_away or terms.their_batna,
        deadline=ends,
    )
    return (*given, *names)
