"""The part "History" of a negotiation's page: who did what, and the moves that a person may make."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.negotiation_words import STATES, time_text
from negotiator.console.page_calls import PageCalls
from negotiator.negotiations.states import allowed_moves

MAX_EVENTS: Final = 50
STEPS: Final = {
    "paused": "Pause",
    "active": "Go on",
    "agreed": "Agreed",
    "won": "Signed: it is won",
    "lost": "No deal",
    "walked_away": "I walk away",
    "cancelled": "Cancel",
}
"""The moves between states that a person makes, as they are named on buttons."""
EVENTS: Final[dict[str, str]] = {
    "opened": "Prepared",
    "edited": "Changed",
    "baseline_changed": "Baseline changed",
    "offer": "Offer recorded",
    "override": "Limit passed on purpose",
    "approval_requested": "Approval asked for",
    "approval": "Approval decided",
    "claimed": "Taken over from an agent",
}


async def history_part(
    calls: PageCalls, session: SignedInSession, view: dict[str, Any]
) -> dict[str, Any]:
    """What the template of the part reads."""
    members = {"id": view["id"], "limit": MAX_EVENTS}
    events = await calls.run(session, "list_negotiation_events", members)
    return {
        "history": history(events["items"], session.user_id),
        "steps": [(to, STEPS[to]) for to in allowed_moves(view["state"]) if to in STEPS],
    }


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """One thing that happened."""

    at: str
    who: str
    what: str
    why: str


def history(events: Sequence[dict[str, Any]], user_id: str) -> list[HistoryRow]:
    """What happened, newest first."""
    return [
        HistoryRow(
            time_text(event["at"]),
            _who(event["actor"], user_id),
            f"Now: {STATES[event['to_state']]}"
            if event["kind"] == "state"
            else EVENTS[event["kind"]],
            event["reason"] or "",
        )
        for event in events
    ]


def _who(actor: Mapping[str, str], user_id: str) -> str:
    if actor["kind"] == "user":
        return "You" if actor["id"] == user_id else "Another user"
    return {"clock": "The clock", "agent": "An agent", "client": "An application"}[actor["kind"]]
