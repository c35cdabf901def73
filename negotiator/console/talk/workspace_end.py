"""The end of a negotiation on its page: pausing and closing it, the record of a win, and what was learned."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, cast

from negotiator.advice.passed_limits import past_limits_view
from negotiator.base.values import MINOR_UNITS
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.entered_numbers import read_entered
from negotiator.console.negotiation_words import amount_text, percent_text
from negotiator.console.page_calls import Members, PageCalls
from negotiator.console.talk.workspace_history import TalkSoFar
from negotiator.memory.schemas_wins import WinView, calculate_savings, gains_when_higher
from negotiator.negotiations.schemas_negotiations import NegotiationView

BASELINES: Final = {
    "previous_price": "what was paid before",
    "first_quote": "their first offer",
    "list_price": "the list price",
    "budget": "your budget",
    "market": "the market price",
    "should_cost": "what it should cost",
    "other": "another figure",
}
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
    calls: PageCalls, session: SignedInSession, view: NegotiationView, talk: TalkSoFar, *, typed: Mapping[str, str]
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
        "win": win_form(view, talk, typed) if records else None,
        "saved": _saved(win) if win else None,
        "baselines": BASELINES,
    }


def _saved(win: WinView) -> dict[str, str]:
    """What a recorded win saved, and compared with what."""
    currency, baseline = win["currency"], win["baseline"]
    return {
        "amount": amount_text(win["savings_total"], currency),
        "compared": f"{percent_text(win['savings_rate'])} against {BASELINES[baseline['kind']]}, "
        f"{amount_text(baseline['amount'], currency)}",
    }


def win_form(view: NegotiationView, talk: TalkSoFar, typed: Mapping[str, str]) -> WinForm | None:
    """The record of the win of an agreement, prefilled from it; None where no price was agreed."""
    words = talk.words
    price, package, currency = words.terms.price, _agreed_package(view), view["currency"]
    if price is None or price.name not in package or not currency:
        return None
    kind, baseline = _baseline(view, talk, price.name)
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


def _baseline(view: NegotiationView, talk: TalkSoFar, price: str) -> tuple[str, str]:
    """Where the figure to compare with comes from, and the figure: the user's own, else their first offer."""
    given = view["baseline"]
    if given and given["value"] is not None:
        return given["kind"], _whole(given["value"])
    asked = (one["package"] or {} for one in reversed(talk.offers) if one["by"] == "them")
    first = next((package[price] for package in asked if price in package), None)
    return ("other", "") if first is None else ("first_quote", _whole(first))


def _whole(amount: object) -> str:
    return str(amount).removesuffix(".00")


def win_members(view: NegotiationView, talk: TalkSoFar, typed: Mapping[str, str]) -> Members | None:
    """The body of `record_win` for what was typed; None where a figure is missing or wrong."""
    form = win_form(view, talk, typed)
    if form is None or form.faults:
        return None
    party = view["counterparty"] or {}
    is_yearly = talk.words.total(_agreed_package(view)).endswith("a year")
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
        "rounds": sum(1 for one in talk.offers if one["by"] == "me" and one["kind"] != "acceptance"),
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
