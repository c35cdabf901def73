"""What the pages of a negotiation share: how it is read, a field for a value, and a form that was not accepted."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final, Literal, NamedTuple, cast

import orjson

from negotiator.base.errors import Refusal, ValidationFailed
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.entered_numbers import read_entered_value
from negotiator.console.negotiation_words import NegotiationWords, issue_options, issue_unit, object_member
from negotiator.console.page_calls import Members, PageCalls
from negotiator.negotiations.schemas_negotiations import NegotiationView
from negotiator.negotiations.schemas_offers import OfferView

MAX_OFFERS: Final = 100


async def read_negotiation(calls: PageCalls, session: SignedInSession, negotiation: str) -> NegotiationView:
    """The negotiation; raises NotFound where it is not the user's."""
    return cast("NegotiationView", await calls.run(session, "get_negotiation", {"id": negotiation}))


async def read_offers(calls: PageCalls, session: SignedInSession, negotiation: str) -> list[OfferView]:
    """The last 100 rows of its ledger, newest first."""
    members = {"id": negotiation, "limit": MAX_OFFERS}
    return cast("list[OfferView]", (await calls.run(session, "list_offers", members))["items"])


_UNREAD: Final = 422
"""The status of a form in which a field cannot be read."""


@dataclass(frozen=True, slots=True)
class RefusedForm:
    """A form that was not accepted: what was typed, the sentences by field, and the API's refusal if there was one.

    A form that was only looked at is not `unread`.
    """

    part: Literal["offer", "fact", "limits", "win", "other"]
    typed: Mapping[str, str] = field(default_factory=dict[str, str])
    faults: Mapping[str, str] = field(default_factory=dict[str, str])
    refusal: Refusal | None = None
    unread: bool = True

    @property
    def status(self) -> int:
        if self.refusal:
            return self.refusal.status
        return _UNREAD if self.unread else 200

    def faults_by_field(self, field_of: Callable[[str], str]) -> dict[str, str]:
        """All sentences by field, those of no field at ""; `field_of` finds the field of a pointer of the API."""
        return {**self.faults, **refusal_faults(self.refusal, field_of)}


NO_FORM: Final = RefusedForm("other", unread=False)
"""A page on which no form was sent."""


def refusal_faults(refusal: Refusal | None, field_of: Callable[[str], str]) -> dict[str, str]:
    """The sentences of a refusal by field, the first of each; those of no field stand at ""."""
    if not isinstance(refusal, ValidationFailed):
        return {"": refusal.description} if refusal else {}
    found: dict[str, str] = {}
    for error in refusal.errors:
        found.setdefault(field_of(error.pointer), error.description)
    return found


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


@dataclass(frozen=True, slots=True)
class ValueField:
    """The field for a value of an issue: a choice where it has `options`, else a text or a day."""

    name: str
    id: str
    label: str
    unit: str
    value: str
    options: Sequence[tuple[str, str]]
    input_type: str
    fault: str


def value_field(
    issue: Mapping[str, Any],
    view: NegotiationView,
    words: NegotiationWords,
    *,
    name: str,
    id: str,
    label: str,
    typed: Mapping[str, str],
    faults: Mapping[str, str],
) -> ValueField:
    """The field of this name for values of an issue of the negotiation `view`."""
    return ValueField(
        name,
        id,
        label,
        issue_unit(view, issue),
        typed.get(name, ""),
        issue_options(issue, words),
        "date" if issue["type"] == "date" else "text",
        faults.get(name, ""),
    )
