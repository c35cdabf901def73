"""A negotiation's body into its terms, or every field error of it at once.

Field errors of a negotiation's body beyond its shape: what contradicts its issues, its currency or itself.

What a negotiation's body says about the power of both sides, as `SideFacts`.
"""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

from negotiator.errors import FieldError, ValidationFailed
from negotiator.negotiations.issue_parsing import parse_issues
from negotiator.negotiations.issues import (
    UNORDERED_TYPES,
    Issue,
    IssueFault,
    check_value,
    coordinate,
)
from negotiator.negotiations.leverage.power import NO_FACTS, SideFacts
from negotiator.negotiations.leverage.zone_of_agreement import Estimate
from negotiator.negotiations.schemas_negotiations import NegotiationBody
from negotiator.negotiations.schemas_terms import (
    NO_ESTIMATE,
    AuthorityBody,
    Batna,
    ConstraintBody,
    IssueBody,
    SideFactsBody,
    TheirEstimate,
    WorthBody,
    lacks_values,
    with_stand_in_range,
)
from negotiator.negotiations.terms import Authority, Constraint, Terms, issue_named
from negotiator.negotiations.utility import (
    Preferences,
    Worth,
    check_worth,
    missing_inputs,
    utility_bounds,
    utility_of_alternative,
    utility_of_worth,
)
from negotiator.values import MINOR_UNITS, milliseconds

_HAIR: Final = 1e-9


def parse_worth(body: WorthBody | None) -> Worth | None:
    """A target, walk-away or alternative as the arithmetic takes it."""
    return None if body is None else Worth(body.package, body.utility)


def check_terms(mine: Preferences, body: NegotiationBody) -> list[IssueFault]:
    """Limits, constraints and authority that name unknown issues or values they do not have."""
    return [
        *_limits(mine, body),
        *_constraint_refusals(mine.issues, body.constraints or ()),
        *_authority_refusals(mine, body.authority),
    ]


def check_currency(body: NegotiationBody) -> list[IssueFault]:
    """An unknown code, and money issues in another currency: nothing is ever converted silently."""
    found: list[IssueFault] = []
    if body.currency is not None and body.currency not in MINOR_UNITS:
        found.append(IssueFault("/currency", "Not an active ISO 4217 code."))
    for place, issue in enumerate(body.issues):
        foreign = issue.type == "money" and issue.unit in MINOR_UNITS
        if foreign and body.currency is not None and issue.unit != body.currency:
            text = f"All money is in {body.currency}; nothing is converted."
            found.append(IssueFault(f"/issues/{place}/unit", text))
    return found


def _limits(mine: Preferences, body: NegotiationBody) -> list[IssueFault]:
    """Worths that name unknown issues or values. Walk-away and alternative may lie beyond a range."""
    wide = Preferences(tuple(replace(issue, range=None) for issue in mine.issues))
    theirs = body.their_estimate or NO_ESTIMATE
    batna = body.batna.value if body.batna else None
    found = [
        *check_worth(mine, parse_worth(body.target), "/target"),
        *check_worth(wide, parse_worth(body.walk_away), "/walk_away"),
        *check_worth(wide, parse_worth(batna), "/batna/value"),
        *check_worth(wide, parse_worth(theirs.target), "/their_estimate/target"),
        *check_worth(wide, parse_worth(theirs.batna), "/their_estimate/batna"),
    ]
    if (estimate := parse_estimate(mine, theirs)) is not None:
        found += estimate.refusals()
    names = {issue.name for issue in mine.issues}
    found += [
        IssueFault(f"/their_estimate/priorities/{place}", "No issue has this name.")
        for place, name in enumerate(theirs.priorities or ())
        if name not in names
    ]
    return found


def parse_estimate(mine: Preferences, theirs: TheirEstimate) -> Estimate | None:
    """Their walk-away as estimated; in money by default where one price is all."""
    given = theirs.walk_away
    if given is None:
        return None
    price_only = len(mine.issues) == 1 and mine.issues[0].type == "money"
    unit = given.unit or ("money" if price_only else "utility")
    return Estimate(float(given.low), float(given.likely), float(given.high), unit)


def _constraint_refusals(
    issues: Sequence[Issue], bodies: Sequence[ConstraintBody]
) -> list[IssueFault]:
    found: list[IssueFault] = []
    for place, body in enumerate(bodies):
        at = f"/constraints/{place}"
        issue = issue_named(issues, body.issue)
        if issue is None:
            found.append(IssueFault(f"{at}/issue", "No issue of this negotiation has this name."))
            continue
        if isinstance(body.value, list) != (body.op in {"in", "not_in"}):
            found.append(
                IssueFault(f"{at}/value", "A list goes with in and not_in, and only there.")
            )
            continue
        if body.op in {"<=", ">=", "<", ">"} and issue.type in UNORDERED_TYPES:
            found.append(IssueFault(f"{at}/op", f"{issue.name} has no order."))
            continue
        wide = replace(issue, range=None)
        for value in body.values:
            found += check_value(wide, value, f"{at}/value")
    return found


def _authority_refusals(mine: Preferences, body: AuthorityBody | None) -> list[IssueFault]:
    if body is None:
        return []
    found: list[IssueFault] = []
    limit = body.limit
    if limit is not None and limit.amount is None:
        wide = Preferences(tuple(replace(issue, range=None) for issue in mine.issues))
        found += check_worth(wide, parse_worth(limit), "/authority/limit")
    elif limit is not None and (limit.package is not None or limit.utility is not None):
        found.append(IssueFault("/authority/limit", "Must be an amount, a package or a utility."))
    priced = any(issue.type == "money" for issue in mine.issues)
    for name, amount in (
        ("limit", limit.amount if limit else None),
        ("needs_approval_above", body.needs_approval_above),
    ):
        if amount is not None and not priced:
            found.append(IssueFault(f"/authority/{name}", "There is no money issue to hold it to."))
    return found


def check_limit_order(terms: Terms, body: NegotiationBody) -> list[IssueFault]:
    """Target ≥ walk-away ≥ what the alternative is surely worth, where they can be compared."""
    mine = terms.preferences
    floor = utility_of_worth(mine, terms.walk_away, fill="low")
    if floor is None or terms.unvalued:
        return _price_order(terms)
    found: list[IssueFault] = []
    goal = utility_of_worth(mine, terms.target, fill="high")
    if goal is not None and goal < floor - _HAIR:
        found.append(IssueFault("/target", "Worth less to you than your walk-away."))
    excused = (body.walk_away and body.walk_away.override_reason) or (
        body.batna and body.batna.override_reason
    )
    if terms.certain is not None and terms.certain > floor + _HAIR and not excused:
        text = "Worth less to you than your best alternative; give an override_reason if meant."
        found.append(IssueFault("/walk_away", text))
    return found


def _price_order(terms: Terms) -> list[IssueFault]:
    """The same for one price without a range, where the direction alone decides."""
    if len(terms.issues) != 1 or not terms.walk_away or not terms.target:
        return []
    issue = terms.issues[0]
    ends = [
        coordinate(issue.type, worth.package.get(issue.name)) if worth.package else None
        for worth in (terms.target, terms.walk_away)
    ]
    if ends[0] is None or ends[1] is None:
        return []
    worse = ends[0] > ends[1] if issue.direction == "lower" else ends[0] < ends[1]
    return [IssueFault("/target", "Worth less to you than your walk-away.")] if worse else []


_DAY: Final = 86_400_000
_NEEDS: Final = {"new": 0.3, "ongoing": 0.5, "strategic": 0.8}
_DECIDES: Final = {"yes": 0.9, "no": 0.2}
_BOUND: Final = 0.35


def side_facts(body: NegotiationBody) -> tuple[SideFacts, SideFacts]:
    """Facts of both sides: those given, and those that other members imply where none is given.

    The relationship is needed by both alike; who decides tells their authority; a limit tells mine; the
    confidence of the estimate tells how well I know their limits.
    """
    given = body.facts
    me = _read(given.me if given else None)
    them = _read(given.them if given else None)
    other = body.counterparty
    theirs = body.their_estimate or NO_ESTIMATE
    if other is not None and other.relationship is not None:
        need = _NEEDS[other.relationship]
        me = replace(me, relationship=need if me.relationship is None else me.relationship)
        them = replace(them, relationship=need if them.relationship is None else them.relationship)
    if other is not None and them.authority is None and other.decision_maker is not None:
        them = replace(them, authority=_DECIDES.get(other.decision_maker))
    if me.authority is None and body.authority is not None:
        me = replace(me, authority=_BOUND)
    if me.information is None and theirs.confidence is not None:
        me = replace(me, information=theirs.confidence)
    return me, them


def days_left(deadline: int | None, now: int) -> float | None:
    """Days until a deadline, 0 once it has passed."""
    return None if deadline is None else max(0.0, (deadline - now) / _DAY)


def _read(body: SideFactsBody | None) -> SideFacts:
    return NO_FACTS if body is None else SideFacts(**body.model_dump())


SELLING_ROLES: Final = frozenset({"seller", "candidate", "landlord"})
BUYING_ROLES: Final = frozenset({"buyer", "employer", "tenant"})


def parse_terms(
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
            raise validation_failure(found)
        mine = Preferences(issues)
    found += check_terms(mine, body)
    if found:
        raise validation_failure(found)
    terms = _terms(body, mine)
    if not lenient and (crossed := check_limit_order(terms, body)):
        raise validation_failure(crossed)
    return terms


def validation_failure(found: Sequence[IssueFault]) -> ValidationFailed:
    """The refusal that carries these field errors."""
    return ValidationFailed([FieldError(error.pointer, error.description) for error in found])


def _issues(body: NegotiationBody) -> tuple[tuple[Issue, ...], list[IssueFault]]:
    """The issues; a numeric one without a range is read over a stand-in and left without its range."""
    rows = [_row(issue, body.role) for issue in body.issues]
    issues, found = parse_issues(rows)
    read = tuple(
        replace(issue, range=None) if _is_unvalued(sent) else issue
        for issue, sent in zip(issues, body.issues, strict=bool(issues))
    )
    return read, list(found)


def _row(issue: IssueBody, role: str) -> dict[str, Any]:
    row = issue.model_dump(exclude={"weight_given"})
    if row["direction"] is None and issue.type == "money" and role in BUYING_ROLES:
        row["direction"] = "lower"
    return with_stand_in_range(row)


def _is_unvalued(issue: IssueBody) -> bool:
    return lacks_values(issue.model_dump(include={"type", "range", "options", "value_points"}))


def _constraint(body: ConstraintBody) -> Constraint:
    return Constraint(body.issue, body.op, tuple(body.values), body.hard)


def _authority(body: AuthorityBody | None) -> Authority:
    if body is None:
        return Authority()
    limit = body.limit
    amounts = (limit.amount if limit else None, body.needs_approval_above)
    least = parse_worth(limit) if limit is not None and limit.amount is None else None
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
        walk_away=parse_worth(body.walk_away),
        target=parse_worth(body.target),
        batna=parse_worth(body.batna.value if body.batna else None),
        their_walk_away=parse_estimate(mine, theirs),
        their_target=parse_worth(theirs.target),
        their_batna=parse_worth(theirs.batna),
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
    value = utility_of_alternative(mine, terms.batna)
    if value is None or batna is None or terms.unvalued:
        return None
    low = utility_bounds(mine).low
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
        and not (issue.type == "money" and body.role in SELLING_ROLES | BUYING_ROLES)
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
