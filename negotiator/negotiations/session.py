"""A stored negotiation in memory, its JSON view and its search text."""

from dataclasses import dataclass, replace
from typing import Any

from negotiator.base import values
from negotiator.negotiations import states
from negotiator.terms.terms import Terms
from negotiator.terms.terms_view import terms_view


@dataclass(frozen=True, slots=True)
class NegotiationSession:
    """A stored negotiation: the request as JSON with all edits applied, the terms parsed from it, and the state.

    `pending` is the offer that awaits approval, `outcome` the result. `offers` and `events` are the highest `seq` of
    each. `origin` is the agent that opened the negotiation before a user claimed it. Times are in milliseconds.
    """

    id: str
    owner: str
    request: bytes
    terms: Terms
    created_at: int
    state: str = states.DRAFT
    state_reason: str | None = None
    outcome: dict[str, Any] | None = None
    pending: dict[str, Any] | None = None
    baselines: tuple[dict[str, Any], ...] = ()
    offers: int = 0
    events: int = 0
    revision: int = 0
    origin: str | None = None

    def moved(self, to: str, *, reason: str | None = None) -> "NegotiationSession":
        return replace(self, state=to, state_reason=reason)


def negotiation_view(session: NegotiationSession, updated_at: int) -> dict[str, Any]:
    """The JSON members of a negotiation (docs/contract 6.2); `updated_at` is in milliseconds since the epoch."""
    return {
        "id": session.id,
        **terms_view(session.terms),
        "baseline_history": list(session.baselines),
        "state": session.state,
        "state_reason": session.state_reason,
        "pending_approval": session.pending,
        "outcome": session.outcome,
        "missing": list(session.terms.missing),
        "origin": session.origin,
        "revision": session.revision,
        "created_at": values.timestamp(session.created_at),
        "updated_at": values.timestamp(updated_at),
    }


def search_text(session: NegotiationSession) -> str:
    """The text that a list's `query` searches, in lower case: the title and the other side's names."""
    other = session.terms.other_party
    names = (other.name, other.organisation) if other else ()
    return "\n".join(filter(None, (session.terms.title, *names))).lower()
