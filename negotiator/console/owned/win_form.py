"""The form of a result: what is typed becomes the body of a request, with a sentence at each field that is wrong."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from negotiator.base.errors import FieldError
from negotiator.console.entered_numbers import read_entered
from negotiator.terms.issues import IssueType

NUMBERS: Final[Mapping[str, IssueType]] = {
    "baseline": "money",
    "achieved": "money",
    "quantity": "number",
    "period_months": "integer",
}
_REQUIRED: Final = ("baseline", "achieved")
_TEXTS: Final = ("category", "kind", "role", "counterparty", "currency", "notes", "negotiation_id")


def read_win_form(fields: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    """The body of a request and the faults by field; a field that is empty is null, which an edit removes."""
    body: dict[str, Any] = {
        name: fields.get(name, "").strip() or None for name in _TEXTS if name not in {"category", "kind"}
    }
    body |= {name: fields.get(name, "").strip() or "other" for name in ("category", "kind")}
    numbers: dict[str, Decimal] = {}
    faults: dict[str, str] = {}
    for name, kind in NUMBERS.items():
        typed = fields.get(name, "").strip()
        if not typed:
            if name in _REQUIRED:
                faults[name] = "This figure is needed."
            continue
        try:
            numbers[name] = read_entered(typed, kind, currency=fields.get("currency", ""))
        except ValueError as fault:
            faults[name] = str(fault)
    day = fields.get("closed_at", "").strip()
    months = numbers.get("period_months")
    body |= {
        "baseline": {"kind": fields.get("baseline_kind", "other"), "amount": str(numbers.get("baseline", ""))},
        "achieved": {"amount": str(numbers.get("achieved", ""))},
        "quantity": str(numbers.get("quantity", 1)),
        "period_months": None if months is None else int(months),
        "closed_at": f"{day}T12:00:00Z" if day else None,
        "visibility": "contribute_anonymously" if "shared" in fields else "private",
    }
    return body, faults


def field_of(error: FieldError) -> str:
    """The field of the form that a refusal's pointer is about; empty for the whole."""
    parts = error.pointer.split("/")
    return "baseline_kind" if parts[1:] == ["baseline", "kind"] else [*parts, ""][1]


def typed_win(win: Mapping[str, Any]) -> dict[str, str]:
    """A result as it would have been typed."""
    texts = {name: win[name] or "" for name in _TEXTS}
    return {
        **texts,
        "baseline_kind": win["baseline"]["kind"],
        "baseline": win["baseline"]["amount"],
        "achieved": win["achieved"]["amount"],
        "quantity": win["quantity"],
        "period_months": str(win["period_months"] or ""),
        "closed_at": win["closed_at"][:10],
        **({"shared": "on"} if win["visibility"] != "private" else {}),
    }


def win_of_negotiation(view: Mapping[str, Any]) -> dict[str, str]:
    """The form of a negotiation's result, as far as the negotiation knows it."""
    outcome: Mapping[str, Any] = view["outcome"] or {}
    package: Mapping[str, Any] = outcome.get("package") or {}
    issues = view["issues"]
    price = next((issue["name"] for issue in issues if issue["type"] == "money"), "")
    baseline: Mapping[str, Any] = view["baseline"] or {}
    party = view["counterparty"]
    return {
        "negotiation_id": view["id"],
        "category": view["category"] or "",
        "kind": view["kind"] or "",
        "role": view["role"],
        "counterparty": (party["name"] if party else "") or "",
        "currency": view["currency"] or "",
        "baseline_kind": baseline.get("kind") or "other",
        "baseline": str(baseline.get("value") or ""),
        "achieved": str(package.get(price, "")),
        "quantity": "1",
        "closed_at": (outcome.get("closed_at") or outcome.get("agreed_at") or "")[:10],
    }
