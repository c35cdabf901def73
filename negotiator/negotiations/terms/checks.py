"""Field errors of a negotiation's body beyond its shape: what contradicts its issues, its currency or itself."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from negotiator.currencies import MINOR_UNITS
from negotiator.negotiations.leverage.position import Estimate
from negotiator.negotiations.preferences.issues import UNORDERED_TYPES, Issue, Refusal, coordinate
from negotiator.negotiations.preferences.utility import (
    Preferences,
    Worth,
    check_worth,
    worth,
)
from negotiator.negotiations.preferences.values import check_value
from negotiator.negotiations.schemas.parts import (
    NO_ESTIMATE,
    AuthorityBody,
    ConstraintBody,
    TheirEstimate,
    WorthBody,
)
from negotiator.negotiations.schemas.session import NegotiationBody
from negotiator.negotiations.terms.terms import Terms, named

_HAIR: Final = 1e-9


def worth_of_body(body: WorthBody | None) -> Worth | None:
    """A target, walk-away or alternative as the arithmetic takes it."""
    return None if body is None else Worth(body.package, body.utility)


def check_terms(mine: Preferences, body: NegotiationBody) -> list[Refusal]:
    """Limits, constraints and authority that name unknown issues or values they do not have."""
    return [
        *_limits(mine, body),
        *_constraint_refusals(mine.issues, body.constraints or ()),
        *_authority_refusals(mine, body.authority),
    ]


def check_currency(body: NegotiationBody) -> list[Refusal]:
    """An unknown code, and money issues in another currency: nothing is ever converted silently."""
    found: list[Refusal] = []
    if body.currency is not None and body.currency not in MINOR_UNITS:
        found.append(Refusal("/currency", "Not an active ISO 4217 code."))
    for place, issue in enumerate(body.issues):
        foreign = issue.type == "money" and issue.unit in MINOR_UNITS
        if foreign and body.currency is not None and issue.unit != body.currency:
            text = f"All money is in {body.currency}; nothing is converted."
            found.append(Refusal(f"/issues/{place}/unit", text))
    return found


def _limits(mine: Preferences, body: NegotiationBody) -> list[Refusal]:
    """Worths that name unknown issues or values. Walk-away and alternative may lie beyond a range."""
    wide = Preferences(tuple(replace(issue, range=None) for issue in mine.issues))
    theirs = body.their_estimate or NO_ESTIMATE
    batna = body.batna.value if body.batna else None
    found = [
        *check_worth(mine, worth_of_body(body.target), "/target"),
        *check_worth(wide, worth_of_body(body.walk_away), "/walk_away"),
        *check_worth(wide, worth_of_body(batna), "/batna/value"),
        *check_worth(wide, worth_of_body(theirs.target), "/their_estimate/target"),
        *check_worth(wide, worth_of_body(theirs.batna), "/their_estimate/batna"),
    ]
    if (estimate := estimate_of(mine, theirs)) is not None:
        found += estimate.refusals()
    names = {issue.name for issue in mine.issues}
    found += [
        Refusal(f"/their_estimate/priorities/{place}", "No issue has this name.")
        for place, name in enumerate(theirs.priorities or ())
        if name not in names
    ]
    return found


def estimate_of(mine: Preferences, theirs: TheirEstimate) -> Estimate | None:
    """Their walk-away as estimated; in money by default where one price is all."""
    given = theirs.walk_away
    if given is None:
        return None
    price_only = len(mine.issues) == 1 and mine.issues[0].type == "money"
    unit = given.unit or ("money" if price_only else "utility")
    return Estimate(float(given.low), float(given.likely), float(given.high), unit)


def _constraint_refusals(
    issues: Sequence[Issue], bodies: Sequence[ConstraintBody]
) -> list[Refusal]:
    found: list[Refusal] = []
    for place, body in enumerate(bodies):
        at = f"/constraints/{place}"
        issue = named(issues, body.issue)
        if issue is None:
            found.append(Refusal(f"{at}/issue", "No issue of this negotiation has this name."))
            continue
        if isinstance(body.value, list) != (body.op in {"in", "not_in"}):
            found.append(Refusal(f"{at}/value", "A list goes with in and not_in, and only there."))
            continue
        if body.op in {"<=", ">=", "<", ">"} and issue.type in UNORDERED_TYPES:
            found.append(Refusal(f"{at}/op", f"{issue.name} has no order."))
            continue
        wide = replace(issue, range=None)
        for value in body.values:
            found += check_value(wide, value, f"{at}/value")
    return found


def _authority_refusals(mine: Preferences, body: AuthorityBody | None) -> list[Refusal]:
    if body is None:
        return []
    found: list[Refusal] = []
    limit = body.limit
    if limit is not None and limit.amount is None:
        wide = Preferences(tuple(replace(issue, range=None) for issue in mine.issues))
        found += check_worth(wide, worth_of_body(limit), "/authority/limit")
    elif limit is not None and (limit.package is not None or limit.utility is not None):
        found.append(Refusal("/authority/limit", "Must be an amount, a package or a utility."))
    priced = any(issue.type == "money" for issue in mine.issues)
    for name, amount in (
        ("limit", limit.amount if limit else None),
        ("needs_approval_above", body.needs_approval_above),
    ):
        if amount is not None and not priced:
            found.append(Refusal(f"/authority/{name}", "There is no money issue to hold it to."))
    return found


def check_order(terms: Terms, body: NegotiationBody) -> list[Refusal]:
    """Target ≥ walk-away ≥ what the alternative is surely worth (reference §2.1), where they can be compared."""
    mine = terms.preferences
    floor = worth(mine, terms.walk_away, fill="low")
    if floor is None or terms.unvalued:
        return _price_order(terms)
    found: list[Refusal] = []
    goal = worth(mine, terms.target, fill="high")
    if goal is not None and goal < floor - _HAIR:
        found.append(Refusal("/target", "Worth less to you than your walk-away."))
    excused = (body.walk_away and body.walk_away.override_reason) or (
        body.batna and body.batna.override_reason
    )
    if terms.certain is not None and terms.certain > floor + _HAIR and not excused:
        text = "Worth less to you than your best alternative; give an override_reason if meant."
        found.append(Refusal("/walk_away", text))
    return found


def _price_order(terms: Terms) -> list[Refusal]:
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
    return [Refusal("/target", "Worth less to you than your walk-away.")] if worse else []
