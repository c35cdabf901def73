"""The states of a negotiation and the moves between them (docs/contract 6.4)."""

from collections.abc import Mapping
from typing import Final

from negotiator.base.errors import Conflict, FieldError, ValidationFailed

DRAFT, PLANNED, ACTIVE, PAUSED = "draft", "planned", "active", "paused"
AWAITING, AGREED, WON = "awaiting_approval", "agreed", "won"
LOST, WALKED_AWAY, CANCELLED, EXPIRED = "lost", "walked_away", "cancelled", "expired"

LIVE_STATES: Final = frozenset({DRAFT, PLANNED, ACTIVE, PAUSED, AWAITING})
"""States of a negotiation that is not over: a passed deadline expires it."""
CLOSED_STATES: Final = frozenset({WON, LOST, WALKED_AWAY, CANCELLED, EXPIRED})
"""States of a negotiation that has ended; all others are running."""

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
"""Moves that a caller may request. Only a passed deadline leads to `expired`, only an offer to `awaiting_approval`."""
_REASONED: Final = frozenset({AGREED, LOST, WALKED_AWAY, EXPIRED})
"""States from which reopening (a move to `active`) needs a reason."""


def allowed_moves(state: str) -> list[str]:
    """The states that a caller may move to from `state`, in alphabetical order."""
    return sorted(ALLOWED_MOVES[state])


def check_move(state: str, to: str, reason: str | None) -> None:
    """Raise 409 `illegal_transition` for a move that is not allowed, and 422 for a reopening without a reason."""
    if to not in ALLOWED_MOVES[state]:
        raise Conflict(
            f"A negotiation cannot move from {state} to {to}.",
            error="illegal_transition",
            members={"state": state, "allowed": allowed_moves(state)},
        )
    if to == ACTIVE and state in _REASONED and reason is None:
        raise ValidationFailed([FieldError("/reason", f"Give a reason for reopening the {state} negotiation.")])


def check_live(state: str) -> None:
    """Raise 409 `not_active` for a negotiation that is over."""
    if state not in LIVE_STATES:
        raise _not_active(state)


def _not_active(state: str) -> Conflict:
    members = {"state": state, "allowed": allowed_moves(state)}
    return Conflict(f"The negotiation is {state}.", error="not_active", members=members)


def check_offer_allowed(state: str, by: str) -> None:
    """Raise 409 where the state takes no offer of this side.

    While an approval is pending (`approval_pending`), only offers of the other side are taken.
    """
    if state in {DRAFT, PLANNED, ACTIVE} or (state == AWAITING and by == "them"):
        return
    if state == AWAITING:
        members = {"state": state, "allowed": allowed_moves(state)}
        raise Conflict("One of your packages awaits approval.", error="approval_pending", members=members)
    raise _not_active(state)
