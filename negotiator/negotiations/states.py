"""The states of a negotiation and the moves between them (docs/contract 6.4)."""

from collections.abc import Mapping
from typing import Final

from negotiator.errors import Conflict, FieldError, ValidationFailed

DRAFT, PLANNED, ACTIVE, PAUSED = "draft", "planned", "active", "paused"
AWAITING, AGREED, WON = "awaiting_approval", "agreed", "won"
LOST, WALKED_AWAY, CANCELLED, EXPIRED = "lost", "walked_away", "cancelled", "expired"

LIVE_STATES: Final = frozenset({DRAFT, PLANNED, ACTIVE, PAUSED, AWAITING})
"""Still being talked about: what the clock can expire and what can be left."""
CLOSED_STATES: Final = frozenset({WON, LOST, WALKED_AWAY, CANCELLED, EXPIRED})

_EXITS: Final = frozenset({LOST, WALKED_AWAY, CANCELLED})
ALLOWED_MOVES: Final[Mapping[str, frozenset[str]]] = {
    DRAFT: _EXITS | {PLANNED},
    PLANNED: _EXITS | {ACTIVE},
    ACTIVE: _EXITS | {PAUSED, AGREED},
    PAUSED: _EXITS | {ACTIVE},
    AWAITING: _EXITS | {ACTIVE},
    AGREED: frozenset({WON, ACTIVE, CANCELLED}),
    WON: frozenset(),
    LOST: frozenset({ACTIVE}),
    WALKED_AWAY: frozenset({ACTIVE}),
    CANCELLED: frozenset(),
    EXPIRED: frozenset({ACTIVE}),
}
"""Moves that can be asked for. `expired` is the clock's alone, `awaiting_approval` the ledger's."""
_REASONED: Final = frozenset({AGREED, LOST, WALKED_AWAY, EXPIRED})
"""States that are left for `active` only with a reason: what was over is opened again."""


def allowed_moves(state: str) -> list[str]:
    """Where a caller may move from here, in alphabetical order."""
    return sorted(ALLOWED_MOVES[state])


def check_move(state: str, to: str, reason: str | None) -> None:
    """Refuse an illegal move (409 with `allowed`) and a reopening without a reason (422)."""
    if to not in ALLOWED_MOVES[state]:
        raise Conflict(
            f"From {state} there is no way to {to}.",
            error="illegal_transition",
            members={"state": state, "allowed": allowed_moves(state)},
        )
    if to == ACTIVE and state in _REASONED and reason is None:
        raise ValidationFailed([FieldError("/reason", f"Say why the {state} talk is reopened.")])


def check_offer_allowed(state: str, by: str) -> None:
    """Refuse a row of the ledger where the state takes none; while approval is pending, only theirs are taken."""
    if state in {DRAFT, PLANNED, ACTIVE} or (state == AWAITING and by == "them"):
        return
    waiting = state == AWAITING
    raise Conflict(
        "A package of yours waits for approval." if waiting else f"The negotiation is {state}.",
        error="approval_pending" if waiting else "not_active",
        members={"state": state, "allowed": allowed_moves(state)},
    )
