"""The parts of a negotiation's page on what was done: its history, and its end with the record of a win."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, cast

from negotiator.advice.passed_limits import past_limits_view
from negotiator.base.values import MINOR_UNITS
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.form_fields import read_entered
from negotiator.console.negotiation_words import NegotiationWords, amount_text, percent_text, table
from negotiator.console.page_calls import Members, PageCalls
from negotiator.console.page_router import RefusedForm, UnreadFields
from negotiator.memory.schemas_wins import WinView, calculate_savings, gains_when_higher
from negotiator.negotiations.schemas_negotiations import NegotiationView
from negotiator.negotiations.schemas_offers import OfferView
from negotiator.terms.plain_text import join_words

MEMBERS: Final = table("members")


def edit_text(detail: Mapping[str, Any]) -> str:
    """What an edit changed: each limit with its old and new figure, and the other members by name."""
    limits: Sequence[Mapping[str, Any]] = detail.get("limits") or ()
    said = [f"your {one['name']} from {one['was'] or 'none'} to {one['now'] or 'none'}" for one in limits]
    told = {_member(one["limit"]) for one in limits}
    changed: Sequence[str] = detail["changed"]
    said += [MEMBERS.get(name, name) for name in changed if name not in told]
    return join_words(said) or "nothing"


def _member(limit: str) -> str:
    """The member of a negotiation that tells of a limit: that of an issue follows from the walk-away."""
    first, _, rest = limit.partition("/")
    return "walk_away" if first == "issues" and rest else first


EVENT_WORDS: Final = {"actors": table("actors"), "entered": table("entered"), "edit_text": edit_text}
"""What the template of events puts them in words with."""
BASELINES: Final = table("compared_with")
_OVER: Final = frozenset({"agreed", "won", "lost", "walked_away", "cancelled", "expired"})
_A_YEAR: Final = 12


@dataclass(frozen=True, slots=True)
class WinForm:
    """The record of a win as it was typed or prefilled, its figures, and what it comes to in words.

    `faults` are sentences by field; with any, there is no `result`.
    """

    filled: Mapping[str, str]
    figures: Mapping[str, Decimal]
    result: str
    faults: Mapping[str, str]


async def end_part(
    calls: PageCalls,
    session: SignedInSession,
    view: NegotiationView,
    offers: Sequence[OfferView],
    words: NegotiationWords,
    form: RefusedForm,
) -> Members:
    """What the template of the end reads."""
    state, win = view["state"], None
    if state in {"agreed", "won"}:
        members = {"negotiation_id": view["id"], "limit": 1}
        found = cast("list[WinView]", (await calls.run(session, "list_wins", members))["items"])
        win = found[0] if found else None
    records = state in {"agreed", "won"} and win is None and not view.get("example")
    return {
        "is_over": state in _OVER,
        "passed_limits": past_limits_view,
        "win": win_form(view, offers, words, form.typed if form.name == "win" else {}) if records else None,
        "won": win,
        "baselines": BASELINES,
    }


def win_form(
    view: NegotiationView, offers: Sequence[OfferView], words: NegotiationWords, typed: Mapping[str, str]
) -> WinForm | None:
    """The record of the win of an agreement, prefilled from it; None where no price was agreed.

    `offers` are newest first.
    """
    price, package, currency = words.terms.price, _agreed_package(view), view["currency"]
    if price is None or price.name not in package or not currency:
        return None
    kind, baseline = _baseline(view, offers, price.name)
    filled = {
        "baseline_kind": kind,
        "baseline": baseline,
        "achieved": _whole(package[price.name]),
        "quantity": format(words.quantity(package), "f"),
        "lesson": "",
        **typed,
    }
    if filled["baseline_kind"] not in BASELINES:
        filled["baseline_kind"] = "other"
    figures: dict[str, Decimal] = {}
    faults: dict[str, str] = {}
    for name in ("baseline", "achieved", "quantity"):
        try:
            figures[name] = read_entered(filled[name], "number" if name == "quantity" else "money", currency=currency)
            if figures[name] <= 0:
                raise ValueError("Write a number above zero.")
        except ValueError as fault:
            faults[name] = str(fault)
    result = "" if faults else _result(figures, currency, gains=_gains(view))
    return WinForm(filled, figures, result, faults if typed else {})


def _agreed_package(view: NegotiationView) -> dict[str, Any]:
    return (view["outcome"] or {}).get("package") or {}


def _baseline(view: NegotiationView, offers: Sequence[OfferView], price: str) -> tuple[str, str]:
    """Where the figure to compare with comes from, and the figure: the user's own, else their first offer."""
    given = view["baseline"]
    if given and given["value"] is not None:
        return given["kind"], _whole(given["value"])
    asked = (one["package"] or {} for one in reversed(offers) if one["by"] == "them")
    first = next((package[price] for package in asked if price in package), None)
    return ("other", "") if first is None else ("first_quote", _whole(first))


def _whole(amount: object) -> str:
    return str(amount).removesuffix(".00")


def win_members(
    view: NegotiationView, offers: Sequence[OfferView], words: NegotiationWords, typed: Mapping[str, str]
) -> Members:
    """The body of `record_win` for what was typed; raises `UnreadFields` where a figure is missing or wrong."""
    form = win_form(view, offers, words, typed)
    if form is None or form.faults:
        raise UnreadFields(form.faults if form else {})
    party = view["counterparty"] or {}
    is_yearly = words.total(_agreed_package(view)).endswith("a year")
    return {
        "negotiation_id": view["id"],
        "counterparty": party.get("organisation") or party.get("name"),
        "category": view["category"],
        "kind": view["kind"],
        "role": view["role"],
        "currency": view["currency"],
        "baseline": {"kind": form.filled["baseline_kind"], "amount": str(form.figures["baseline"])},
        "achieved": {"amount": str(form.figures["achieved"])},
        "quantity": str(form.figures["quantity"]),
        "savings_type": "revenue_gain" if _gains(view) else "cost_reduction",
        "rounds": sum(1 for one in offers if one["by"] == "me" and one["kind"] != "acceptance"),
        "period_months": _A_YEAR if is_yearly else None,
        "notes": form.filled["lesson"].strip() or None,
    }


def _gains(view: NegotiationView) -> bool:
    return gains_when_higher(view["role"], "cost_reduction")


def _result(figures: Mapping[str, Decimal], currency: str, *, gains: bool) -> str:
    """What the record will say, by the calculation of the API."""
    saved = calculate_savings(
        figures["baseline"],
        figures["achieved"],
        quantity=figures["quantity"],
        period_months=None,
        above=gains,
        places=MINOR_UNITS.get(currency, 2),
    )
    if saved.total == 0:
        return "The same as the figure that you compare with."
    more = "gained" if gains else "saved"
    amount = amount_text(str(abs(saved.total)), currency)
    return f"{amount} {more if saved.total > 0 else 'lost'}, {percent_text(float(abs(saved.rate)))}"
