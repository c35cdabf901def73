"""What the home page shows, from the API's answers; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from negotiator.console import charts as drawing
from negotiator.console.charts import Bar
from negotiator.console.negotiation_words import (
    RUNNING,
    STATES,
    NegotiationWords,
    counted_text,
    days_left,
    month_name,
    short_amount,
)
from negotiator.console.page_calls import Members
from negotiator.terms.plain_text import sentence

MAX_WAITING: Final = 8


@dataclass(frozen=True, slots=True)
class Waiting:
    """One thing that waits for the user: what, why, and its one button.

    The button opens `path`, or sends a form to it where `sends` is true. `quote` is a reason in its author's words.
    """

    title: str
    detail: str
    action: str
    path: str
    quote: str = ""
    sends: bool = False


@dataclass(frozen=True, slots=True)
class ListedLine:
    """A negotiation as a list shows it, in words."""

    id: str
    title: str
    counterparty: str
    state: str
    urgent: bool
    left: str
    last_offer: str
    total: str
    gap: str
    example: bool


def listed_line(view: Mapping[str, Any], now: datetime) -> ListedLine:
    """A negotiation of `list_negotiations` with `latest`."""
    words = NegotiationWords.of(dict(view))
    target: Members = view["target"] or {}
    outcome: Members = view["outcome"] or {}
    mine: Members | None = view["latest"]["mine"]
    theirs: Members | None = view["latest"]["theirs"]
    last, who = theirs, "They offered"
    if mine is not None and (theirs is None or mine["seq"] > theirs["seq"]):
        last, who = mine, "You offered"
    gap = words.gap(theirs["package"] if theirs else None, target.get("package"))
    if outcome.get("package"):
        last, who, gap = outcome, "Agreed:", ""
    elif gap:
        gap = f"Their offer is {gap} your target" if view["state"] in RUNNING else ""
    return ListedLine(
        view["id"],
        view["title"],
        words.them,
        STATES[view["state"]],
        view["state"] in {"awaiting_approval", "agreed"},
        days_left(view["deadline"], now) if view["deadline"] and view["state"] in RUNNING else "",
        f"{who} {words.package(last['package'], with_total=False)}" if last else "No offers yet",
        words.total(last["package"]) if last else "",
        gap,
        bool(view.get("example")),
    )


def waiting_in(views: Sequence[Members], agents: Mapping[str, str]) -> list[Waiting]:
    """What waits in running negotiations, the most urgent first; `agents` are the names of agents by id."""
    held = [_approval(view, agents) for view in views if view["pending_approval"]]
    heard = [_unconfirmed(view) for view in views if view["latest"]["unconfirmed"]]
    signed = [_agreed(view) for view in views if view["state"] == "agreed" and not view.get("example")]
    stale = [
        _stale(view)
        for view in views
        if view["latest"]["plan"] and view["latest"]["plan"]["stale"] and view["state"] in {"planned", "active"}
    ]
    return [*held, *heard, *signed, *stale]


def _approval(view: Members, agents: Mapping[str, str]) -> Waiting:
    words, held = NegotiationWords.of(view), view["pending_approval"]
    who = agents.get(held["asked_by"]["id"], "An agent") if held.get("asked_by") else "An agent"
    return Waiting(
        view["title"],
        f"{who} wants to {asked_verb(held)} {words.package(held['package'])}. {beyond_text(held)}".strip(),
        "Decide",
        f"/negotiations/{view['id']}",
        held.get("reason") or "",
    )


def asked_verb(held: Mapping[str, Any]) -> str:
    """What the user is asked to allow with the package that waits."""
    if held["kind"] != "acceptance":
        return "offer"
    return "note their yes to" if held.get("by") == "them" else "accept"


def beyond_text(held: Mapping[str, Any]) -> str:
    """How far a held package passes the user's limits, as sentences; empty where that has no amount."""
    said: list[str] = []
    for one in held.get("beyond") or ():
        if one["limit"].startswith("issues/"):
            said.append(sentence(one["words"]))
            continue
        limit = "your limit" if one["limit"] == "walk_away" else "what may be agreed without you"
        if one["amount"] is None:
            said.append(f"That is beyond {limit}.")
        else:
            said.append(f"That is {one['words']} {one['side']} {limit}.")
    return " ".join(said)


def _unconfirmed(view: Members) -> Waiting:
    count = view["latest"]["unconfirmed"]
    was = "was" if count == 1 else "were"
    return Waiting(
        view["title"],
        f"{counted_text(count, 'figure')} {was} heard on a call and {was} not confirmed yet.",
        "Confirm",
        f"/negotiations/{view['id']}#offers",
    )


def _agreed(view: Members) -> Waiting:
    outcome: Members = view["outcome"] or {}
    passed = NegotiationWords.of(view).past_limits(outcome.get("past_limits") or ())
    agreed = f"You agreed beyond your limit. {passed}" if passed else "You agreed."
    return Waiting(
        view["title"], f"{agreed} Once it is signed, record the result.", "Record it", f"/negotiations/{view['id']}#end"
    )


def _stale(view: Members) -> Waiting:
    return Waiting(
        view["title"],
        "The negotiation has changed since its plan was made.",
        "Make a new plan",
        f"/negotiations/{view['id']}/plan",
        sends=True,
    )


def memories_waiting(count: int, *, more: bool) -> list[Waiting]:
    """The memories that the user has not looked over; empty without any."""
    if not count:
        return []
    said = f"More than {count} memories" if more else counted_text(count, "memory", "memories")
    return [
        Waiting(
            f"{said} to check",
            "They come from agents, calls or imports. Advice uses them only after you keep them.",
            "Check them",
            "/memories",
        )
    ]


def yearly_charts(main: Members, year: int, month: int) -> list[str]:
    """The savings in one currency by month of the year up to `month`, for a wide and a narrow page."""
    by_month = {one["month"]: one for one in main["months"]}
    bars: list[Bar] = []
    for number in range(1, month + 1):
        one = by_month.get(f"{year}-{number:02}")
        saved = one["savings"] if one else "0"
        bars.append(Bar(month_name(number), float(saved), short_amount(saved) if one else ""))
    title = f"Savings by month of {year} in {main['currency']}"
    return [drawing.column_chart(title, bars, width=width, height=150) for width in (400, 340)]
