"""A negotiation's terms as their owner sees them: every money amount a decimal string."""

from decimal import Decimal
from typing import Any

from negotiator import values
from negotiator.negotiations.issues import Issue, Package, coordinate, value_at_coordinate
from negotiator.negotiations.schemas_negotiations import NegotiationBody
from negotiator.negotiations.schemas_terms import Batna, TheirEstimate
from negotiator.negotiations.terms import Terms
from negotiator.negotiations.utility import Worth
from negotiator.values import LARGEST_WHOLE, format_money, milliseconds


def terms_view(body: NegotiationBody, terms: Terms) -> dict[str, Any]:
    """The members that come from the body, in the order of the contract."""
    return {
        "title": body.title,
        "category": body.category,
        "kind": body.kind,
        "role": body.role,
        "counterparty": body.counterparty.model_dump() if body.counterparty else None,
        "currency": body.currency,
        "issues": [issue_view(issue, terms.currency) for issue in terms.issues],
        "target": worth_view(terms, terms.target),
        "walk_away": _walk_away(body, terms),
        "batna": _batna(body.batna, terms),
        "their_estimate": _their_estimate(body.their_estimate, terms),
        "deadline": values.timestamp_or_none(terms.deadline),
        "max_rounds": body.max_rounds,
        "constraints": _constraints(body, terms),
        "authority": _authority(body, terms),
        "baseline": _baseline(body, terms),
        "facts": body.facts.model_dump(exclude_none=True) if body.facts else None,
    }


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
        "range": None
        if issue.range is None
        else {
            "min": one(issue.range.min),
            "max": one(issue.range.max),
            "step": None if step is None else int(step) if issue.type == "date" else one(step),
        },
        "options": [
            {"value": value_view(issue, option.value, currency), "utility": option.utility}
            for option in issue.options
        ],
        "value_points": [[one(x), u] for x, u in issue.value_points],
        "their_weight": issue.their_weight,
        "tradeable": issue.tradeable,
    }


def _walk_away(body: NegotiationBody, terms: Terms) -> dict[str, Any] | None:
    shown = worth_view(terms, terms.walk_away)
    if shown is not None and body.walk_away is not None and body.walk_away.override_reason:
        shown["override_reason"] = body.walk_away.override_reason
    return shown


def _batna(body: Batna | None, terms: Terms) -> dict[str, Any] | None:
    if body is None:
        return None
    return {
        "description": body.description,
        "value": worth_view(terms, terms.batna),
        "probability": body.probability,
        "cost": _amount(body.cost, terms),
        "available_until": values.timestamp_or_none(milliseconds(body.available_until)),
        "override_reason": body.override_reason,
    }


def _their_estimate(body: TheirEstimate | None, terms: Terms) -> dict[str, Any] | None:
    if body is None:
        return None
    given, read = body.walk_away, terms.their_walk_away
    walk_away: dict[str, Any] | None = None
    if given is not None and read is not None:
        ends = {"low": given.low, "likely": given.likely, "high": given.high}
        in_money = read.unit == "money"
        walk_away = {
            **{name: _amount(end, terms) if in_money else float(end) for name, end in ends.items()},
            "unit": read.unit,
        }
    return {
        "walk_away": walk_away,
        "target": worth_view(terms, terms.their_target),
        "batna": worth_view(terms, terms.their_batna),
        "deadline": values.timestamp_or_none(terms.their_deadline),
        "priorities": body.priorities or [],
        "confidence": body.confidence,
        "source": body.source,
    }


def _constraints(body: NegotiationBody, terms: Terms) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for sent, rule in zip(body.constraints or (), terms.constraints, strict=True):
        issue = terms.issue(rule.issue)
        listed = [value_view(issue, value, terms.currency) for value in rule.values]
        value: Any = listed if rule.op in {"in", "not_in"} else listed[0]
        rows.append(
            {
                "issue": rule.issue,
                "op": rule.op,
                "value": value,
                "hard": rule.hard,
                "reason": sent.reason,
            }
        )
    return rows


def _authority(body: NegotiationBody, terms: Terms) -> dict[str, Any] | None:
    sent = body.authority
    if sent is None:
        return None
    limit: Any = worth_view(terms, terms.authority.least)
    if sent.limit is not None and sent.limit.amount is not None:
        limit = _amount(sent.limit.amount, terms)
    return {
        "limit": limit,
        "approver": sent.approver,
        "needs_approval_above": _amount(sent.needs_approval_above, terms),
    }


def _baseline(body: NegotiationBody, terms: Terms) -> dict[str, Any] | None:
    sent = body.baseline
    if sent is None:
        return None
    return {
        "kind": sent.kind,
        "value": _amount(sent.value, terms),
        "as_of": sent.as_of,
        "evidence": list(sent.evidence or ()),
    }


def _amount(amount: Decimal | None, terms: Terms) -> str | None:
    return None if amount is None else format_money(amount, terms.currency)
