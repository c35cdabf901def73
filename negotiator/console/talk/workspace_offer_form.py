"""The form of a negotiation's page that records what a side did: its fields, how it is read, and its refusals; pure."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from negotiator.advice.passed_limits import past_limits_view
from negotiator.base.errors import Conflict, Refusal, ValidationFailed
from negotiator.console.entered_numbers import read_entered_value
from negotiator.console.negotiation_words import NegotiationWords, issue_options, issue_unit
from negotiator.terms.limits import is_below_floor

ISSUE_FIELD: Final = "issue:"
PACKAGE_FIELD: Final = "package"
"""A whole offer as JSON: what "I said this" records."""
OFFERS: Final = frozenset({"offer", "counter", "final"})
AGREED: Final = "agreed"
"""The choice that records what was agreed: their offer, and the user's acceptance of it."""
KINDS: Final = {
    "offer": "Made an offer",
    AGREED: "We agreed on this",
    "final": "Made a last offer, take it or leave it",
    "acceptance": "Said yes to the other side's offer",
    "rejection": "Said no",
    "withdrawal": "Took their own offer back",
}
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
class OfferField:
    """One field of the form, for the value of one issue."""

    name: str
    id: str
    label: str
    unit: str
    value: str
    options: Sequence[tuple[str, str]]
    input_type: str
    fault: str


@dataclass(frozen=True, slots=True)
class OfferForm:
    """The form: its fields, what was typed, what is wrong with it, and whether the user may insist.

    `first` is the id of the first field. `focus` is the id of the field to mend.
    """

    fields: Sequence[OfferField]
    typed: Mapping[str, str]
    faults: Mapping[str, str]
    refused: str
    insist: str
    first: str
    focus: str
    kinds: Mapping[str, str]
    live_me: str
    live_them: str


@dataclass(frozen=True, slots=True)
class ReadOffer:
    """What was typed as the members of `record_offer`; `faults` has a sentence for each field that was not read."""

    members: dict[str, Any]
    faults: dict[str, str]


def read_offer(form: Mapping[str, str], words: NegotiationWords) -> ReadOffer:
    """The members of the operation. What answers an offer carries no values, only the id of the offer that stood."""
    by, kind = form.get("by", "them"), form.get("kind", "offer")
    members: dict[str, Any] = {"by": by, "kind": kind}
    faults: dict[str, str] = {}
    if kind == AGREED:
        members |= {"by": "them", "kind": "offer"}
    if kind in OFFERS or kind == AGREED:
        members["package"], faults = _package(form, words)
        if until := form.get("valid_until", ""):
            members["valid_until"] = f"{until}T23:59:59Z"
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
    if form.get("confirms"):
        members["confirms"] = form["confirms"]
    if form.get("override"):
        members |= {"override": True, "reason": form.get("reason", "").strip() or None}
    return ReadOffer(members, faults)


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


def offer_key(negotiation: Mapping[str, Any], members: Mapping[str, Any]) -> str:
    """The idempotency key of what is recorded on a page that showed this revision."""
    sent = orjson.dumps(members, option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(f"{negotiation['id']}.{negotiation['revision']}.".encode() + sent).hexdigest()


def _package(form: Mapping[str, str], words: NegotiationWords) -> tuple[dict[str, Any], dict[str, str]]:
    if form.get(PACKAGE_FIELD):
        try:
            return dict(orjson.loads(form[PACKAGE_FIELD])), {}
        except (ValueError, TypeError):
            return {}, {}
    package: dict[str, Any] = {}
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


def offer_form(
    view: Mapping[str, Any],
    words: NegotiationWords,
    live: Mapping[str, str],
    *,
    typed: Mapping[str, str] | None = None,
    faults: Mapping[str, str] | None = None,
    refusal: Refusal | None = None,
) -> OfferForm:
    """The form, empty or with what was typed and refused. `live` has the ids of the offers that stand, by side."""
    typed = typed or {}
    found = {**(faults or {}), **_faults(refusal)}
    fields = [
        OfferField(
            f"{ISSUE_FIELD}{issue['name']}",
            f"answer-{place}",
            words.label(issue["name"]),
            issue_unit(view, issue),
            _typed_value(typed, issue["name"]),
            issue_options(issue, words),
            "date" if issue["type"] == "date" else "text",
            found.get(f"{ISSUE_FIELD}{issue['name']}", ""),
        )
        for place, issue in enumerate(view["issues"])
    ]
    ids = {field.name: field.id for field in fields}
    wrong = next((ids.get(name, f"answer-{name}") for name in found if name), "")
    insist = _insist(refusal, words)
    return OfferForm(
        fields,
        typed,
        found,
        "" if insist else found.get("", ""),
        insist,
        fields[0].id if fields else "answer-rationale",
        "answer-reason" if insist else wrong,
        KINDS,
        live.get("me", ""),
        live.get("them", ""),
    )


def _typed_value(typed: Mapping[str, str], issue: str) -> str:
    """What was typed, or the value of the whole offer that a button sent."""
    if typed.get(PACKAGE_FIELD):
        try:
            value = orjson.loads(typed[PACKAGE_FIELD]).get(issue, "")
        except (ValueError, AttributeError):
            return ""
        return str(value).lower() if isinstance(value, bool) else str(value)
    return typed.get(f"{ISSUE_FIELD}{issue}", "")


def _faults(refusal: Refusal | None) -> dict[str, str]:
    """The sentences of a refusal by field; those of no field stand at ""."""
    if refusal is None:
        return {}
    if not isinstance(refusal, ValidationFailed):
        return {"": refusal.description}
    found: dict[str, str] = {}
    for error in refusal.errors:
        first, _, rest = error.pointer.lstrip("/").partition("/")
        field = f"{ISSUE_FIELD}{rest}" if first == "package" and rest else _FIELDS.get(first, "")
        found.setdefault(field, error.description)
    return found


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
