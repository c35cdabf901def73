"""What the forms of a negotiation share, and the form that changes what a person aims for and their limits."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, Literal, NamedTuple, cast

import orjson

from negotiator.base.errors import PreconditionFailed
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.form_fields import read_entered_value
from negotiator.console.negotiation_words import NegotiationWords, object_member
from negotiator.console.page_calls import Members, PageCalls
from negotiator.console.page_router import NO_FORM, RefusedForm, UnreadFields
from negotiator.negotiations.schemas_negotiations import NegotiationView
from negotiator.negotiations.schemas_offers import OfferView
from negotiator.terms.terms_parsing import MEANT

MAX_OFFERS: Final = 100


async def read_negotiation(calls: PageCalls, session: SignedInSession, negotiation: str) -> NegotiationView:
    """The negotiation; raises NotFound where it is not the user's."""
    return cast("NegotiationView", await calls.run(session, "get_negotiation", {"id": negotiation}))


async def read_offers(calls: PageCalls, session: SignedInSession, negotiation: str) -> list[OfferView]:
    """The last 100 rows of its ledger, newest first."""
    members = {"id": negotiation, "limit": MAX_OFFERS}
    return cast("list[OfferView]", (await calls.run(session, "list_offers", members))["items"])


class ArgumentField(NamedTuple):
    """A field for facts that speak for the user, one a line, with the kind of these facts."""

    name: str
    kind: str
    label: str
    hint: str


ARGUMENT_FIELDS: Final = (
    ArgumentField(
        *("reasons", "reason", "What speaks for you?"),
        "Two tyres are worn; a set costs about 250.\nI can pay and collect it this week.",
    ),
    ArgumentField("gives", "give", "What could you give that costs you little?", "I can collect it myself."),
    ArgumentField("wishes", "wish", "What would you like on top?", "A full tank."),
)


def argument_texts(arguments: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """What the fields hold for the facts of a negotiation."""
    return {
        field.name: "\n".join(" ".join(one["fact"].split()) for one in arguments if one["kind"] == field.kind)
        for field in ARGUMENT_FIELDS
    }


def typed_arguments(typed: Mapping[str, str], known: Sequence[Mapping[str, Any]] = ()) -> list[Members]:
    """The facts of the fields, each with all that is known of it; known facts of which no field tells come last."""
    before = {(one["kind"], " ".join(one["fact"].split())): dict(one) for one in known}
    lines = [(of.kind, " ".join(line.split())) for of in ARGUMENT_FIELDS for line in typed[of.name].splitlines()]
    found = [before.get((kind, line), {"fact": line, "kind": kind}) for kind, line in lines if line]
    return [*found, *(dict(one) for one in known if one["kind"] == "fact")]


def argument_field(pointer: str, arguments: Sequence[Mapping[str, Any]]) -> str:
    """The name of the field that a pointer into these facts means; empty for none."""
    place = pointer.split("/")[2:3]
    kind = arguments[int(place[0])]["kind"] if place else ARGUMENT_FIELDS[0].kind
    return next((field.name for field in ARGUMENT_FIELDS if field.kind == kind), "")


def value_text(value: object) -> str:
    """A value of an issue as it would have been typed or chosen; empty for none."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def amount_as_typed(amount: object) -> str:
    """An amount of money as it would have been typed: `45` for `45.00`; empty for none."""
    return "" if amount is None else f"{Decimal(str(amount)).normalize():f}"


def package_of(worth: Mapping[str, Any] | None) -> Members:
    """The package of a target, walk-away or alternative; empty where it has none."""
    return object_member(worth or {}, "package")


def price_of_alternative(view: NegotiationView) -> str:
    """The price of the user's alternative as its field holds it."""
    price = next((issue["name"] for issue in view["issues"] if issue["type"] == "money"), "")
    return amount_as_typed(package_of(object_member(view, "batna").get("value")).get(price))


def alternative_patch(
    description: str, price_text: str, view: NegotiationView, words: NegotiationWords
) -> Members | None:
    """The alternative as typed; points beside its price keep their values, or count as in the limit.

    Raises ValueError with a sentence for the user where the price cannot be read.
    """
    if not description and not price_text:
        return None
    patch: Members = {"description": description or None}
    price = words.terms.price
    if not price_text:
        patch["value"] = None
    elif price is not None:
        rest = package_of(object_member(view, "batna").get("value")) or package_of(view["walk_away"])
        amount = read_entered_value(price_text, price, words.terms.currency)
        patch["value"] = {"package": {**rest, price.name: amount}}
    return patch


def form_key(page: str, members: Mapping[str, Any]) -> str:
    """The idempotency key of what a page sent, so that the same form sent twice from one page counts once."""
    sent = orjson.dumps(members, option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(page.encode() + b"." + sent).hexdigest()


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
    """The form: what all fields hold, and what is wrong."""

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
        faults = form.faults(lambda pointer: _field_of(pointer, facts))
    if BELOW_ALTERNATIVE in faults:
        faults[BELOW_ALTERNATIVE] = faults[BELOW_ALTERNATIVE].partition(MEANT)[0]
    price_unit = (view["currency"] or "") if words.terms.price else ""
    return LimitsForm(shown, faults, price_unit, is_open=bool(form.typed))


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


def limits_patch(typed: Mapping[str, str], view: NegotiationView, words: NegotiationWords) -> Members:
    """The merge patch of what was changed; raises `UnreadFields`."""
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
    if faults:
        raise UnreadFields(faults)
    return patch


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
