"""The form of a negotiation's page that changes what a person aims for and their limits; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from negotiator.base.errors import PreconditionFailed
from negotiator.console.entered_numbers import read_entered_value
from negotiator.console.negotiation_words import NegotiationWords, limit_title
from negotiator.console.page_calls import Members
from negotiator.console.talk.workspace_fields import (
    ARGUMENT_FIELDS,
    NO_FORM,
    ArgumentField,
    RefusedForm,
    ValueField,
    alternative_patch,
    amount_as_typed,
    argument_field,
    argument_texts,
    package_of,
    price_of_alternative,
    typed_arguments,
    value_field,
    value_text,
)
from negotiator.negotiations.schemas_negotiations import NegotiationView
from negotiator.terms.terms_parsing import MEANT

_GOALS: Final[Mapping[Literal["target", "walk_away"], str]] = {"target": "target", "walk_away": "limit"}
"""The members of the negotiation that the fields of each issue change, and what these fields begin with."""
_CHANGED: Final = (
    "This negotiation was changed while you typed, so nothing is saved yet. Your figures are still here: "
    "look at what is new above, then save again."
)
BELOW_ALTERNATIVE: Final = "alternative_reason"
MAX_WEIGHT: Final = 10


@dataclass(frozen=True, slots=True)
class LimitsForm:
    """The form: for each issue its name, its label and its two fields; what all fields hold, and what is wrong."""

    rows: Sequence[tuple[str, str, Sequence[ValueField]]]
    typed: Mapping[str, str]
    faults: Mapping[str, str]
    price_unit: str
    is_open: bool
    argument_fields: Sequence[ArgumentField] = ARGUMENT_FIELDS


def limits_form(view: NegotiationView, words: NegotiationWords, form: RefusedForm = NO_FORM) -> LimitsForm:
    """The form with what is known, or with what was sent and refused."""
    shown = {"reason": "", **limit_values(view), **form.typed}
    if isinstance(form.refusal, PreconditionFailed):
        faults = {"": _CHANGED}
    else:
        facts = _arguments(form.typed, view)
        faults = form.faults_by_field(lambda pointer: _field_of(pointer, facts))
    if BELOW_ALTERNATIVE in faults:
        faults[BELOW_ALTERNATIVE] = faults[BELOW_ALTERNATIVE].partition(MEANT)[0]
    rows: list[tuple[str, str, Sequence[ValueField]]] = []
    for issue in view["issues"]:
        titles = {"target": "What would be good", "limit": limit_title(issue["type"], issue["direction"])}
        fields = [
            value_field(
                issue,
                view,
                words,
                name=f"{goal}:{issue['name']}",
                id=f"{goal}-{issue['name']}",
                label=label,
                typed=shown,
                faults=faults,
            )
            for goal, label in titles.items()
        ]
        rows.append((issue["name"], words.label(issue["name"]), fields))
    price_unit = (view["currency"] or "") if words.terms.price else ""
    return LimitsForm(rows, shown, faults, price_unit, is_open=bool(form.typed))


def limit_values(view: NegotiationView) -> dict[str, str]:
    """What the fields hold for a negotiation as the API answers it."""
    found = {
        "deadline": (view["deadline"] or "")[:10],
        "alternative": (view["batna"] or {}).get("description") or "",
        "alternative_price": price_of_alternative(view),
        **argument_texts(view.get("arguments") or ()),
    }
    for issue in view["issues"]:
        name, text = issue["name"], amount_as_typed if issue["type"] == "money" else value_text
        found[f"weight:{name}"] = f"{_slider(view, issue):g}"
        found |= {f"{goal}:{name}": text(package_of(view[member]).get(name)) for member, goal in _GOALS.items()}
    return found


def limits_patch(
    typed: Mapping[str, str], view: NegotiationView, words: NegotiationWords
) -> tuple[Members, dict[str, str]]:
    """The merge patch of what was changed, and a sentence for each field that cannot be read."""
    known, faults, patch = limit_values(view), dict[str, str](), Members()
    changed = {name: text.strip() for name, text in typed.items() if text.strip() != known.get(name, "")}
    for member, goal in _GOALS.items():
        package: Members = {}
        for issue in words.terms.issues:
            name = f"{goal}:{issue.name}"
            if name in changed:
                try:
                    text = changed[name]
                    package[issue.name] = read_entered_value(text, issue, words.terms.currency) if text else None
                except ValueError as fault:
                    faults[name] = str(fault)
        if package:
            patch[member] = _worth_patch(view[member], package)
    if any(f"weight:{issue['name']}" in changed for issue in view["issues"]):
        patch["issues"] = [_weighted(issue, typed, view) for issue in view["issues"]]
    if "deadline" in changed:
        patch["deadline"] = changed["deadline"] or None
    if "alternative" in changed or "alternative_price" in changed:
        said, price = (typed.get(name, "").strip() for name in ("alternative", "alternative_price"))
        try:
            patch["batna"] = alternative_patch(said, price, view, words)
        except ValueError as fault:
            faults["alternative_price"] = str(fault)
    if (facts := _arguments(typed, view)) != (view.get("arguments") or []):
        patch["arguments"] = facts
    if reason := typed.get("reason", "").strip():
        patch["walk_away"] = {**(patch.get("walk_away") or {}), "override_reason": reason}
    return patch, faults


def _arguments(typed: Mapping[str, str], view: NegotiationView) -> list[Members]:
    """The facts that speak for the user as the form leaves them; those of the view where it changes none."""
    stored, known = view.get("arguments") or [], limit_values(view)
    before, after = (typed_arguments(texts, stored) for texts in (known, {**known, **typed}))
    return stored if before == after else after


def _worth_patch(given: Mapping[str, Any] | None, package: Members) -> Members | None:
    """The patch of a target or walk-away; null where no value is left."""
    merged = {**package_of(given), **package}
    if all(value is None for value in merged.values()):
        return None
    return {"package": package, **({"utility": None} if given and "utility" in given else {})}


def _weighted(issue: Mapping[str, Any], typed: Mapping[str, str], view: NegotiationView) -> Members:
    """An issue as it is sent, with its new weight, which takes the place of a worth in money.

    A limit that follows from the walk-away is not sent.
    """
    unsent = ("weight_given", "worth")
    sent = {name: value for name, value in issue.items() if name not in unsent and value not in (None, [])}
    if issue["options"]:
        sent["options"] = [{name: one[name] for name in ("value", "utility")} for one in issue["options"]]
    if issue["limit"] == package_of(view["walk_away"]).get(issue["name"]):
        sent.pop("limit", None)
    try:
        sent["weight"] = float(typed.get(f"weight:{issue['name']}", ""))
    except ValueError:
        sent["weight"] = _slider(view, issue)
    return sent


def _slider(view: NegotiationView, issue: Mapping[str, Any]) -> float:
    """The weight on the slider, from 0 to 10: as it was given where that fits, else its share of the largest."""
    given = [one["weight_given"] for one in view["issues"]]
    if all(weight is not None and weight <= MAX_WEIGHT for weight in given) and max(given) > 1:
        return float(issue["weight_given"])
    most = max(one["weight"] for one in view["issues"]) or 1.0
    return round(issue["weight"] / most * MAX_WEIGHT * 2) / 2


def _field_of(pointer: str, arguments: Sequence[Members]) -> str:
    first, *rest = pointer.lstrip("/").split("/")
    if first == "arguments":
        return argument_field(pointer, arguments)
    goal = {**_GOALS}.get(first)
    if goal and len(rest) > 1:
        return f"{goal}:{rest[1]}"
    return {"walk_away": BELOW_ALTERNATIVE, "deadline": "deadline", "batna": "alternative_price"}.get(first, "")
