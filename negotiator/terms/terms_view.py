"""A negotiation's terms as JSON for their owner: every amount of money is a decimal string."""

from collections.abc import Mapping
from dataclasses import asdict
from decimal import Decimal
from typing import Any

from negotiator.base import values
from negotiator.base.values import LARGEST_WHOLE, format_money
from negotiator.terms.issues import (
    Issue,
    IssueOption,
    IssueRange,
    Multiple,
    Package,
    canonical_value,
    coordinate,
    known_coordinate,
    step_type,
    value_at_coordinate,
)
from negotiator.terms.terms import AllowedTrade, Authority, OtherParty, Terms
from negotiator.terms.utility import Preferences, Worth


def terms_view(terms: Terms) -> dict[str, Any]:
    """The members of a negotiation's view that its terms give."""
    return {
        "title": terms.title,
        "category": terms.category,
        "kind": terms.kind,
        "role": terms.role,
        "counterparty": asdict(terms.other_party) if terms.other_party else None,
        "currency": terms.currency,
        "issues": [issue_view(issue, terms.currency) for issue in terms.issues],
        "target": worth_view(terms, terms.target),
        "walk_away": _walk_away(terms),
        "batna": _batna(terms),
        "their_estimate": _their_estimate(terms),
        "deadline": values.timestamp_or_none(terms.deadline),
        "max_rounds": terms.max_rounds,
        "constraints": _constraints(terms),
        "authority": _authority(terms),
        "baseline": _baseline(terms),
        "allow": [
            {
                "issue": trade.issue,
                "to": value_view(terms.issue(trade.issue), trade.to, terms.currency),
                "in_return": package_view(terms, trade.in_return),
            }
            for trade in terms.allowed
        ],
        "arguments": [{**asdict(one), "worth": _amount(one.worth, terms)} for one in terms.arguments],
        "facts": terms.facts,
        "example": terms.example,
    }


def terms_of_view(view: Mapping[str, Any]) -> Terms:
    """The terms that a negotiation's view shows, as far as its words and the limits on an offer need them.

    Nothing is validated: an answer need not be valid input, since it has limits and defaults that nobody sent.
    """
    return Terms(
        **{name: view[name] for name in ("title", "role", "category", "kind", "currency")},
        preferences=Preferences(tuple(map(_viewed_issue, view["issues"]))),
        other_party=OtherParty(**view["counterparty"]) if view["counterparty"] else None,
        target=Worth(**view["target"]) if view["target"] else None,
        walk_away=Worth(view["walk_away"].get("package"), view["walk_away"].get("utility"))
        if view["walk_away"]
        else None,
        authority=Authority(stated=view["authority"] is not None),
        allowed=tuple(AllowedTrade(**trade) for trade in view["allow"]),
    )


def _viewed_issue(view: Mapping[str, Any]) -> Issue:
    kind, ends, limit = view["type"], view["range"], view["limit"]
    read: dict[str, Any] = {
        "options": tuple(IssueOption(**option) for option in view["options"]),
        "value_points": tuple((known_coordinate(kind, at), worth) for at, worth in view["value_points"]),
        "limit": None if limit is None else canonical_value(kind, limit),
        "multiples": tuple(
            Multiple(coordinate("number", one.get("count")), one["of"], one.get("issue")) for one in view["multiples"]
        ),
    }
    if ends:
        low, high = (known_coordinate(kind, ends[name]) for name in ("min", "max"))
        read["range"] = IssueRange(low, high, coordinate(step_type(kind), ends["step"]))
    return Issue(**{**view, **read})


def value_view(issue: Issue | None, value: object, currency: str | None) -> Any:
    """One value in its canonical form: money as a decimal string, a date in ISO form, numbers as numbers."""
    at = None if issue is None else coordinate(issue.type, value)
    if issue is None or at is None:
        return json_scalar(value, currency)
    return json_scalar(value_at_coordinate(issue.type, at), currency)


def json_scalar(value: object, currency: str | None = None) -> Any:
    """A scalar that JSON can carry: decimals as text, whole numbers beyond 2^53 as floats."""
    if isinstance(value, Decimal):
        return format_money(value, currency)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > LARGEST_WHOLE:
        return float(value)
    return value


def package_view(terms: Terms, package: Package) -> dict[str, Any]:
    """A package in its canonical form, in the order of the issues."""
    known = {
        issue.name: value_view(issue, package[issue.name], terms.currency)
        for issue in terms.issues
        if issue.name in package
    }
    rest = {name: json_scalar(value) for name, value in package.items() if name not in known}
    return {**known, **rest}


def worth_view(terms: Terms, worth: Worth | None) -> dict[str, Any] | None:
    """A target, walk-away or alternative."""
    if worth is None:
        return None
    if worth.package is None:
        return {"utility": worth.utility}
    return {"package": package_view(terms, worth.package)}


def issue_view(issue: Issue, currency: str | None) -> dict[str, Any]:
    """An issue with its weight normalised (`weight`) and as it was sent (`weight_given`)."""

    def one(at: Decimal) -> Any:
        return json_scalar(value_at_coordinate(issue.type, at), currency)

    step = issue.range.step if issue.range else None
    return {
        "name": issue.name,
        "label": issue.label,
        "type": issue.type,
        "unit": issue.unit,
        "direction": issue.direction,
        "weight": issue.weight,
        "weight_given": issue.weight_given,
        "worth": issue.worth,
        "range": None
        if issue.range is None
        else {
            "min": one(issue.range.min),
            "max": one(issue.range.max),
            "step": None if step is None else int(step) if issue.type == "date" else one(step),
        },
        "options": [
            {"value": value_view(issue, option.value, currency), "utility": option.utility}
            | ({} if option.worth is None else {"worth": option.worth})
            for option in issue.options
        ],
        "value_points": [[one(x), u] for x, u in issue.value_points],
        "their_weight": issue.their_weight,
        "tradeable": issue.tradeable,
        "limit": None if issue.limit is None else value_view(issue, issue.limit, currency),
        "multiples": [_multiple(multiple) for multiple in issue.multiples],
    }


def _multiple(multiple: Multiple) -> dict[str, Any]:
    if multiple.count is None:
        return {"issue": multiple.issue, "of": multiple.of}
    whole = multiple.count == multiple.count.to_integral_value()
    return {"count": int(multiple.count) if whole else float(multiple.count), "of": multiple.of}


def _walk_away(terms: Terms) -> dict[str, Any] | None:
    view = worth_view(terms, terms.walk_away)
    if view is not None and terms.walk_away_reason:
        view["override_reason"] = terms.walk_away_reason
    return view


def _batna(terms: Terms) -> dict[str, Any] | None:
    details = terms.batna_details
    if details is None:
        return None
    return {
        "description": details.description,
        "value": worth_view(terms, terms.batna),
        "probability": details.probability,
        "cost": _amount(details.cost, terms),
        "available_until": values.timestamp_or_none(details.available_until),
        "override_reason": details.override_reason,
    }


def _their_estimate(terms: Terms) -> dict[str, Any] | None:
    details, estimate = terms.estimate_details, terms.their_walk_away
    if details is None:
        return None
    walk_away: dict[str, Any] | None = None
    if estimate is not None:
        ends = {"low": estimate.low, "likely": estimate.likely, "high": estimate.high}
        walk_away = {
            **{
                name: _amount(Decimal(end), terms) if estimate.unit == "money" else float(end)
                for name, end in ends.items()
            },
            "unit": estimate.unit,
        }
    return {
        "walk_away": walk_away,
        "target": worth_view(terms, terms.their_target),
        "batna": worth_view(terms, terms.their_batna),
        "deadline": values.timestamp_or_none(terms.their_deadline),
        "priorities": list(details.priorities),
        "confidence": details.confidence,
        "source": details.source,
    }


def _constraints(terms: Terms) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for rule in terms.constraints:
        issue = terms.issue(rule.issue)
        listed = [value_view(issue, value, terms.currency) for value in rule.values]
        rows.append(
            {
                "issue": rule.issue,
                "op": rule.op,
                "value": listed if rule.op in {"in", "not_in"} else listed[0],
                "hard": rule.hard,
                "reason": rule.reason,
            }
        )
    return rows


def _authority(terms: Terms) -> dict[str, Any] | None:
    authority = terms.authority
    if not authority.stated:
        return None
    limit: Any = worth_view(terms, authority.least)
    if authority.amount is not None:
        limit = _amount(authority.amount, terms)
    return {
        "limit": limit,
        "approver": authority.approver,
        "needs_approval_above": _amount(authority.needs_approval_above, terms),
    }


def _baseline(terms: Terms) -> dict[str, Any] | None:
    baseline = terms.baseline
    if baseline is None:
        return None
    return {
        "kind": baseline.kind,
        "value": _amount(baseline.value, terms),
        "as_of": baseline.as_of,
        "evidence": list(baseline.evidence),
    }


def _amount(amount: Decimal | None, terms: Terms) -> str | None:
    return None if amount is None else format_money(amount, terms.currency)
