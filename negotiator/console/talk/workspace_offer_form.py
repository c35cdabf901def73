"""The form of a negotiation's page that records what a side did: its fields, how it is read, and its refusals; pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import orjson

from negotiator.advice.passed_limits import past_limits_view
from negotiator.base.errors import Conflict, Refusal, ValidationFailed
from negotiator.console.form_fields import read_entered_value
from negotiator.console.negotiation_words import NegotiationWords, table
from negotiator.console.page_calls import Members
from negotiator.console.page_router import NO_FORM, RefusedForm, UnreadFields
from negotiator.console.talk.workspace_fields import value_text
from negotiator.negotiations.schemas_negotiations import NegotiationView
from negotiator.terms.limits import is_below_floor

ISSUE_FIELD: Final = "issue:"
PACKAGE_FIELD: Final = "package"
"""A whole offer as JSON: what "I said this" records."""
OFFERS: Final = frozenset({"offer", "counter", "final"})
AGREED: Final = "agreed"
"""The choice that records what was agreed: their offer, and the user's acceptance of it."""
KINDS: Final = table("offer_choices")
"""What a side can do, in the order of the form."""
_BEYOND: Final = frozenset({"below_walk_away", "constraint_violated"})
"""Refusals that a person may insist against."""
_FIELDS: Final = {
    "conditions": "conditions",
    "valid_until": "valid_until",
    "rationale": "rationale",
    "reason": "reason",
    "in_reply_to": "kind",
    "kind": "kind",
    "by": "by",
}
"""By the first part of the API's pointer, the field that a fault stands at."""


@dataclass(frozen=True, slots=True)
class OfferForm:
    """The form: what was typed, what is wrong with it, and whether the user may insist.

    `first` is the id of the first field, `focus` that of the field to mend. `live` has the ids of the offers that
    stand, by side.
    """

    typed: Mapping[str, str]
    faults: Mapping[str, str]
    refused: str
    insist: str
    first: str
    focus: str
    live: Mapping[str, str]


def read_offer(form: Mapping[str, str], words: NegotiationWords) -> Members:
    """The members of `record_offer`; raises `UnreadFields`.

    What answers an offer carries no values, only the id of the offer that stood.
    """
    by, kind = form.get("by", "them"), form.get("kind", "offer")
    members: Members = {"by": by, "kind": kind}
    faults: dict[str, str] = {}
    if kind == AGREED:
        members |= {"by": "them", "kind": "offer"}
    if kind in OFFERS or kind == AGREED:
        members["package"], faults = _package(form, words)
        if until := form.get("valid_until", ""):
            members["valid_until"] = until
        conditions = [line.strip() for line in form.get("conditions", "").splitlines()]
        members["conditions"] = [line for line in conditions if line]
        if kind == AGREED and not members["package"] and not faults:
            faults["kind"] = "Write what you agreed on in the fields below."
    else:
        answered = by if kind == "withdrawal" else ("them" if by == "me" else "me")
        if offer := form.get(f"live_{answered}", ""):
            members["in_reply_to"] = offer
        elif kind == "acceptance":
            side = "You have" if answered == "me" else f"{words.them} has"
            faults["kind"] = f"{side} no offer that stands, so there is none to say yes to."
    if rationale := form.get("rationale", "").strip():
        members["rationale"] = rationale
    if form.get("override"):
        members |= {"override": True, "reason": form.get("reason", "").strip() or None}
    if faults:
        raise UnreadFields(faults)
    return members


def past_limits_conflict(
    members: Mapping[str, Any], accepted: Mapping[str, Any] | None, words: NegotiationWords
) -> Conflict | None:
    """What to ask before an offer or acceptance of the user's own passes a limit on an issue; None where none does.

    `members` are those of `record_offer`, `accepted` is the package that an acceptance takes.
    """
    package = accepted or (members.get("package") if members["by"] == "me" else None)
    if not package or members.get("override"):
        return None
    try:
        passed = past_limits_view(words.terms, package)
    except (TypeError, ValueError):
        return None
    if not passed or is_below_floor(words.terms, package, binding=accepted is not None):
        return None  # what is below the walk-away the operation refuses, and says by how much
    return Conflict("This passes your limit.", error="below_walk_away", members={"past_limits": passed})


def _package(form: Mapping[str, str], words: NegotiationWords) -> tuple[Members, dict[str, str]]:
    if form.get(PACKAGE_FIELD):
        return _whole_offer(form), {}
    package: Members = {}
    faults: dict[str, str] = {}
    for issue in words.terms.issues:
        name = f"{ISSUE_FIELD}{issue.name}"
        text = form.get(name, "").strip()
        if not text:
            continue
        try:
            package[issue.name] = read_entered_value(text, issue, words.terms.currency)
        except ValueError as fault:
            faults[name] = str(fault)
    return package, faults


def _whole_offer(form: Mapping[str, str]) -> Members:
    """The whole offer that a button sent; empty where none was, or none that can be read."""
    try:
        found = orjson.loads(form.get(PACKAGE_FIELD, ""))
    except ValueError:
        return {}
    return cast("Members", found) if isinstance(found, dict) else {}


def offer_form(
    view: NegotiationView, words: NegotiationWords, live: Mapping[str, str], form: RefusedForm = NO_FORM
) -> OfferForm:
    """The form, empty or with what was typed and refused. `live` has the ids of the offers that stand, by side."""
    faults = form.faults(_field_of)
    sent = {f"{ISSUE_FIELD}{name}": value_text(value) for name, value in _whole_offer(form.typed).items()}
    ids = {f"{ISSUE_FIELD}{issue['name']}": f"answer-{place}" for place, issue in enumerate(view["issues"])}
    wrong = next((ids.get(name, f"answer-{name}") for name in faults if name), "")
    insist = _insist(form.refusal, words)
    return OfferForm(
        {**form.typed, **sent},
        faults,
        "" if insist else faults.get("", ""),
        insist,
        "answer-0" if ids else "answer-rationale",
        "answer-reason" if insist else wrong,
        live,
    )


def _field_of(pointer: str) -> str:
    first, _, rest = pointer.lstrip("/").partition("/")
    return f"{ISSUE_FIELD}{rest}" if first == "package" and rest else _FIELDS.get(first, "")


def _insist(refusal: Refusal | None, words: NegotiationWords) -> str:
    """What an offer of the user's own breaks, where they may record it all the same; else empty."""
    if isinstance(refusal, ValidationFailed):
        named = [error for error in refusal.errors if error.pointer == "/reason"]
        return "Passing your limit needs a reason, so that it is clear later why." if named else ""
    if not isinstance(refusal, Conflict) or refusal.error not in _BEYOND:
        return ""
    if refusal.error == "constraint_violated":
        broken = [words.label(rule["issue"]) for rule in refusal.members["constraints"]]
        return f"This breaks a rule of yours on {', '.join(broken)}."
    short = refusal.members.get("shortfall")
    if not short and (passed := words.past_limits(refusal.members.get("past_limits") or ())):
        return passed
    return f"This is {short} worse than your limit." if short else "This is worse than your limit."
