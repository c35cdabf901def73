"""The end of a negotiation on its page: pausing and closing it, the record of a win, and what was learned."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from negotiator.advice.passed_limits import past_limits_view
from negotiator.base.values import MINOR_UNITS
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.entered_numbers import read_entered
from negotiator.console.negotiation_words import STATES, NegotiationWords, amount_text, day_text
from negotiator.console.page_calls import PageCalls
from negotiator.console.talk.workspace_history import TalkSoFar
from negotiator.memory.wins_savings import calculate_savings, gains_when_higher

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
_REOPENED: Final = frozenset({"agreed", "lost", "walked_away", "expired"})
_CLOSED: Final = ("lost", "walked_away", "cancelled")
_A_YEAR: Final = 12


@dataclass(frozen=True, slots=True)
class WinForm:
    """The record of a win as it was typed or prefilled, and what it comes to in words.

    `faults` are sentences by field; with any, there is no `result`.
    """

    kind: str
    baseline: str
    achieved: str
    quantity: str
    lesson: str
    unit: str
    result: str
    faults: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class EndOverview:
    """How a negotiation can end or has ended. `standing` are the offers that may be agreed on, as (id, words)."""

    is_over: bool
    state: str
    headline: str
    total: str
    past_limits: str
    reason: str
    since: str
    can_pause: bool
    can_resume: bool
    can_reopen: bool
    closings: Sequence[str]
    standing: Sequence[tuple[str, str]]
    alternative: str
    win_form: WinForm | None
    saved: str
    saved_note: str


async def end_part(
    calls: PageCalls, session: SignedInSession, view: dict[str, Any], talk: TalkSoFar, *, typed: Mapping[str, str]
) -> dict[str, Any]:
    """What the template of the end reads."""
    win = None
    if view["state"] in {"agreed", "won"}:
        members = {"negotiation_id": view["id"], "limit": 1}
        win = next(iter((await calls.run(session, "list_wins", members))["items"]), None)
    return {"end": end_overview(view, talk, win, typed), "baselines": BASELINES}


def end_overview(
    view: dict[str, Any], talk: TalkSoFar, win: dict[str, Any] | None, typed: Mapping[str, str]
) -> EndOverview:
    """How the negotiation can end or has ended; `win` is the record of its win."""
    words = talk.words
    state: str = view["state"]
    outcome: dict[str, Any] = view["outcome"] or {}
    package: dict[str, Any] | None = outcome.get("package")
    said = words.package(package, with_total=False) if package else ""
    ended = outcome.get("closed_at") or outcome.get("agreed_at")
    form = None
    if state in {"agreed", "won"} and package and win is None and not view.get("example"):
        form = win_form(view, talk, typed)
    alternative: dict[str, Any] = view["batna"] or {}
    return EndOverview(
        state in _OVER,
        state,
        f"{STATES[state]}{f': {said}' if said else ''}",
        words.total(package) if package else "",
        words.past_limits(outcome.get("past_limits") or ()),
        view["state_reason"] or "",
        day_text(ended) if ended else "",
        state == "active",
        state == "paused",
        state in _REOPENED,
        _CLOSED if state not in _OVER else (),
        [
            (one["id"], f"{'Yours' if one['by'] == 'me' else 'Theirs'}: {_standing_words(one, words)}")
            for one in talk.offers
            if one["status"] == "live" and one["complete"] and state == "active"
        ],
        alternative.get("description") or "",
        form,
        amount_text(win["savings_total"], win["currency"]) if win else "",
        _compared(win) if win else "",
    )


def _standing_words(offer: Mapping[str, Any], words: NegotiationWords) -> str:
    """An offer that may be agreed on, with the limits of the user that it passes."""
    passed = words.past_limits(past_limits_view(words.terms, offer["package"]))
    said = words.package(offer["package"])
    return f"{said}. {passed}" if passed else said


def _compared(win: Mapping[str, Any]) -> str:
    figure = amount_text(win["baseline"]["amount"], win["currency"])
    rate = f"{win['savings_rate'] * 100:.1f}".removesuffix(".0")
    return f"{rate}% against {BASELINES[win['baseline']['kind']]}, {figure}"


def win_form(view: dict[str, Any], talk: TalkSoFar, typed: Mapping[str, str]) -> WinForm | None:
    """The record of the win of an agreement, prefilled from it; None where no price was agreed."""
    words = talk.words
    price, package = words.terms.price, _agreed_package(view)
    if price is None or price.name not in package or not view["currency"]:
        return None
    kind, baseline = _baseline(view, talk.offers, price.name)
    filled = {
        "baseline_kind": kind,
        "baseline": baseline,
        "achieved": str(package[price.name]).removesuffix(".00"),
        "quantity": format(words.quantity(package), "f"),
        "lesson": "",
    } | {name: value for name, value in typed.items() if name != "csrf"}
    figures, faults = _read(filled, view["currency"])
    return WinForm(
        filled["baseline_kind"] if filled["baseline_kind"] in BASELINES else "other",
        filled["baseline"],
        filled["achieved"],
        filled["quantity"],
        filled["lesson"],
        view["currency"],
        "" if faults else _result(figures, view),
        faults if typed else {},
    )


def _agreed_package(view: Mapping[str, Any]) -> dict[str, Any]:
    outcome: dict[str, Any] = view["outcome"] or {}
    return outcome.get("package") or {}


def _baseline(view: Mapping[str, Any], offers: Sequence[dict[str, Any]], price: str) -> tuple[str, str]:
    """Where the figure to compare with comes from, and the figure: the user's own, else their first offer."""
    given: dict[str, Any] | None = view["baseline"]
    if given and given["value"] is not None:
        return given["kind"], str(given["value"]).removesuffix(".00")
    asked = [one["package"][price] for one in reversed(offers) if _asks(one, price)]
    return ("first_quote", str(asked[0]).removesuffix(".00")) if asked else ("other", "")


def _asks(offer: Mapping[str, Any], price: str) -> bool:
    return offer["by"] == "them" and bool(offer["package"]) and price in offer["package"]


def _read(typed: Mapping[str, str], currency: str) -> tuple[dict[str, Decimal], dict[str, str]]:
    found: dict[str, Decimal] = {}
    faults: dict[str, str] = {}
    for name in ("baseline", "achieved", "quantity"):
        try:
            kind = "number" if name == "quantity" else "money"
            number = read_entered(typed[name], kind, currency=currency)
            if number <= 0:
                raise ValueError("Write a number above zero.")
            found[name] = number
        except ValueError as fault:
            faults[name] = str(fault)
    return found, faults


def win_members(view: dict[str, Any], talk: TalkSoFar, typed: Mapping[str, str]) -> dict[str, Any] | None:
    """The body of `record_win` for what was typed; None where a figure is missing or wrong."""
    form = win_form(view, talk, typed)
    if form is None or form.faults:
        return None
    figures, _ = _read(
        {"baseline": form.baseline, "achieved": form.achieved, "quantity": form.quantity}, view["currency"]
    )
    party: dict[str, Any] = view["counterparty"] or {}
    is_yearly = talk.words.total(_agreed_package(view)).endswith("a year")
    return {
        "negotiation_id": view["id"],
        "counterparty": party.get("organisation") or party.get("name"),
        "category": view["category"],
        "kind": view["kind"],
        "role": view["role"],
        "currency": view["currency"],
        "baseline": {"kind": form.kind, "amount": str(figures["baseline"])},
        "achieved": {"amount": str(figures["achieved"])},
        "quantity": str(figures["quantity"]),
        "savings_type": "revenue_gain" if _gains(view) else "cost_reduction",
        "rounds": sum(1 for one in talk.offers if one["by"] == "me" and one["kind"] != "acceptance"),
        **({"period_months": _A_YEAR} if is_yearly else {}),
        **({"notes": form.lesson} if form.lesson.strip() else {}),
    }


def _gains(view: Mapping[str, Any]) -> bool:
    return gains_when_higher(view["role"], "cost_reduction")


def _result(figures: Mapping[str, Decimal], view: Mapping[str, Any]) -> str:
    """What the record will say, by the calculation of the API."""
    currency: str = view["currency"]
    saved = calculate_savings(
        figures["baseline"],
        figures["achieved"],
        quantity=figures["quantity"],
        period_months=None,
        above=_gains(view),
        places=MINOR_UNITS.get(currency, 2),
    )
    rate = f"{abs(saved.rate) * 100:.1f}".removesuffix(".0")
    amount = amount_text(str(abs(saved.total)), currency)
    if saved.total == 0:
        return "The same as the figure that you compare with."
    more = "gained" if _gains(view) else "saved"
    return f"{amount} {more if saved.total > 0 else 'lost'}, {rate}%"
