"""The form of a negotiation's page that changes what a person aims for and their limits; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from negotiator.base.errors import PreconditionFailed, Refusal, ValidationFailed
from negotiator.console.entered_numbers import read_entered_value
from negotiator.console.negotiation_words import NegotiationWords, issue_options, issue_unit, limit_title, object_member
from negotiator.terms.terms_parsing import MEANT

GOALS: Final = {"target": "target", "limit": "walk_away"}
"""The fields of each issue, and the member of the negotiation that they change."""
_KEPT: Final = frozenset(
    {"name", "label", "type", "unit", "direction", "range", "options", "value_points", "their_weight", "tradeable"}
)  # fmt: skip
_CHANGED: Final = (
    "This negotiation was changed while you typed, so nothing is saved yet. Your figures are still here: "
    "look at what is new above, then save again."
)
_BELOW_ALTERNATIVE: Final = "alternative_reason"
MAX_WEIGHT: Final = 10


@dataclass(frozen=True, slots=True)
class LimitValue:
    """One field: what would be good on a point, or the least there."""

    name: str
    label: str
    value: str
    fault: str


@dataclass(frozen=True, slots=True)
class LimitRow:
    """The fields of one point."""

    name: str
    label: str
    unit: str
    values: Sequence[LimitValue]
    options: Sequence[tuple[str, str]]
    weight: str
    input_type: str


@dataclass(frozen=True, slots=True)
class LimitsForm:
    """The form, with what is known or was typed, and what is wrong with it."""

    rows: Sequence[LimitRow]
    deadline: str
    alternative: str
    alternative_price: str
    price_unit: str
    reason: str
    asks_reason: bool
    revision: int
    faults: Mapping[str, str]
    refused: str
    is_open: bool


def limits_form(
    view: Mapping[str, Any],
    words: NegotiationWords,
    *,
    typed: Mapping[str, str] | None = None,
    faults: Mapping[str, str] | None = None,
    refusal: Refusal | None = None,
) -> LimitsForm:
    """The form; with `typed`, what was sent and refused."""
    known, typed = limit_values(view), typed or {}
    found = {**(faults or {}), **_faults(refusal)}
    shown = {**known, **typed}
    titles = {one.name: limit_title(one.type, one.direction) for one in words.terms.issues}
    rows = [
        LimitRow(
            issue["name"],
            words.label(issue["name"]),
            issue_unit(view, issue),
            [
                LimitValue(
                    f"{goal}:{issue['name']}",
                    label,
                    shown.get(f"{goal}:{issue['name']}", ""),
                    found.get(f"{goal}:{issue['name']}", ""),
                )
                for goal, label in (("target", "What would be good"), ("limit", titles[issue["name"]]))
            ],
            issue_options(issue, words),
            shown.get(f"weight:{issue['name']}", ""),
            "date" if issue["type"] == "date" else "text",
        )
        for issue in view["issues"]
    ]
    price = words.terms.price
    return LimitsForm(
        rows,
        shown["deadline"],
        shown["alternative"],
        shown["alternative_price"],
        (view["currency"] or "") if price else "",
        shown.get("reason", ""),
        _BELOW_ALTERNATIVE in found,
        view["revision"],
        found,
        found.get("", ""),
        bool(typed),
    )


def limit_values(view: Mapping[str, Any]) -> dict[str, str]:
    """What the fields hold for a negotiation as the API answers it."""
    found = {"deadline": (view["deadline"] or "")[:10]}
    for goal, member in GOALS.items():
        package = object_member(object_member(view, member), "package")
        for issue in view["issues"]:
            found[f"{goal}:{issue['name']}"] = _shown(package.get(issue["name"]), issue)
    for issue in view["issues"]:
        found[f"weight:{issue['name']}"] = f"{_slider(view, issue):g}"
    batna = object_member(view, "batna")
    price = next((issue for issue in view["issues"] if issue["type"] == "money"), None)
    value = object_member(object_member(batna, "value"), "package").get(price["name"]) if price else None
    found["alternative"] = batna.get("description") or ""
    found["alternative_price"] = _shown(value, price) if price else ""
    return found


def limits_patch(
    typed: Mapping[str, str], view: Mapping[str, Any], words: NegotiationWords
) -> tuple[dict[str, Any], dict[str, str]]:
    """The merge patch of what was changed, and a sentence for each field that cannot be read."""
    known, faults, patch = limit_values(view), dict[str, str](), dict[str, Any]()

    def changed(name: str) -> bool:
        return name in typed and typed[name].strip() != known.get(name, "")

    for goal, member in GOALS.items():
        package: dict[str, Any] = {}
        for issue in words.terms.issues:
            name = f"{goal}:{issue.name}"
            if changed(name):
                try:
                    text = typed[name].strip()
                    package[issue.name] = read_entered_value(text, issue, words.terms.currency) if text else None
                except ValueError as fault:
                    faults[name] = str(fault)
        if package:
            patch[member] = _worth_patch(view[member], package)
    if any(changed(f"weight:{issue['name']}") for issue in view["issues"]):
        patch["issues"] = [_weighted(issue, typed, view) for issue in view["issues"]]
    if changed("deadline"):
        day = typed["deadline"].strip()
        patch["deadline"] = f"{day}T23:59:59Z" if day else None
    if changed("alternative") or changed("alternative_price"):
        try:
            patch["batna"] = _alternative(typed, view, words)
        except ValueError as fault:
            faults["alternative_price"] = str(fault)
    if reason := typed.get("reason", "").strip():
        patch["walk_away"] = {**(patch.get("walk_away") or {}), "override_reason": reason}
    return patch, faults


def _worth_patch(given: Mapping[str, Any] | None, package: dict[str, Any]) -> dict[str, Any] | None:
    """The patch of a target or walk-away; null where no value is left."""
    before = object_member(given or {}, "package")
    left = {name for name in before if package.get(name, "") is not None}
    left |= {name for name, value in package.items() if value is not None}
    if not left:
        return None
    return {"package": package, **({"utility": None} if given and "utility" in given else {})}


def _weighted(issue: Mapping[str, Any], typed: Mapping[str, str], view: Mapping[str, Any]) -> dict[str, Any]:
    """An issue as it is sent, with its new weight; a limit that follows from the walk-away is not sent."""
    sent = {name: value for name, value in issue.items() if name in _KEPT and value not in (None, [])}
    if issue["multiples"]:
        sent["multiples"] = [
            {name: value for name, value in one.items() if value is not None} for one in issue["multiples"]
        ]
    if isinstance(sent.get("range"), dict):
        sent["range"] = {name: value for name, value in issue["range"].items() if value is not None}
    least = object_member(object_member(view, "walk_away"), "package").get(issue["name"])
    if issue["limit"] is not None and issue["limit"] != least:
        sent["limit"] = issue["limit"]
    try:
        sent["weight"] = float(typed.get(f"weight:{issue['name']}", ""))
    except ValueError:
        sent["weight"] = _slider(view, issue)
    return sent


def _slider(view: Mapping[str, Any], issue: Mapping[str, Any]) -> float:
    """The weight on the slider, from 0 to 10: as it was given where that fits, else its share of the largest."""
    given = [one["weight_given"] for one in view["issues"]]
    if all(weight is not None and weight <= MAX_WEIGHT for weight in given) and max(given) > 1:
        return float(issue["weight_given"])
    most = max(one["weight"] for one in view["issues"]) or 1.0
    return round(issue["weight"] / most * MAX_WEIGHT * 2) / 2


def _alternative(typed: Mapping[str, str], view: Mapping[str, Any], words: NegotiationWords) -> dict[str, Any] | None:
    """The alternative; points beside the price keep their values, or count as in the limit."""
    text, value = typed.get("alternative", "").strip(), typed.get("alternative_price", "").strip()
    if not text and not value:
        return None
    patch: dict[str, Any] = {"description": text or None}
    if not value:
        return {**patch, "value": None}
    price = words.terms.price
    if price is not None:
        batna = object_member(view, "batna")
        before = object_member(object_member(batna, "value"), "package")
        rest = before or object_member(object_member(view, "walk_away"), "package")
        amount = read_entered_value(value, price, words.terms.currency)
        patch["value"] = {"package": {**rest, price.name: amount}}
    return patch


def _faults(refusal: Refusal | None) -> dict[str, str]:
    """The sentences of a refusal by field; those of no field stand at ""."""
    if refusal is None:
        return {}
    if isinstance(refusal, PreconditionFailed):
        return {"": _CHANGED}
    if not isinstance(refusal, ValidationFailed):
        return {"": refusal.description}
    members = {member: goal for goal, member in GOALS.items()}
    found: dict[str, str] = {}
    for error in refusal.errors:
        first, *rest = error.pointer.lstrip("/").split("/")
        if first in members and len(rest) > 1:
            field = f"{members[first]}:{rest[1]}"
        elif first == "walk_away":
            found.setdefault(_BELOW_ALTERNATIVE, error.description.partition(MEANT)[0])
            continue
        else:
            field = {"deadline": "deadline", "batna": "alternative_price"}.get(first, "")
        found.setdefault(field, error.description)
    return found


def _shown(value: Any, issue: Mapping[str, Any]) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{Decimal(str(value)).normalize():f}" if issue["type"] == "money" else str(value)
