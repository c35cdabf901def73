"""The table of states, exhaustively."""

from typing import get_args

import pytest

from negotiator.base.errors import Conflict, ValidationFailed
from negotiator.negotiations.schemas_negotiations import NegotiationState
from negotiator.negotiations.states import (
    ALLOWED_MOVES,
    CLOSED_STATES,
    LIVE_STATES,
    allowed_moves,
    check_move,
    check_offer_allowed,
)

STATES: tuple[str, ...] = get_args(NegotiationState)
LEGAL = {
    ("draft", "planned"),
    ("planned", "active"),
    ("active", "paused"),
    ("paused", "active"),
    ("active", "agreed"),
    ("awaiting_approval", "active"),
    ("agreed", "won"),
    ("agreed", "active"),
    ("agreed", "cancelled"),
    ("lost", "active"),
    ("walked_away", "active"),
    ("expired", "active"),
    *((state, to) for state in LIVE_STATES for to in ("lost", "walked_away", "cancelled")),
}


def test_every_state_has_its_row() -> None:
    assert set(ALLOWED_MOVES) == set(STATES)
    assert LIVE_STATES | CLOSED_STATES | {"agreed"} == set(STATES)
    assert not LIVE_STATES & CLOSED_STATES


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("to", STATES)
def test_only_the_legal_moves_are_let_through(state: str, to: str) -> None:
    if (state, to) in LEGAL:
        check_move(state, to, "a reason")
        assert to in allowed_moves(state)
        return
    with pytest.raises(Conflict) as refused:
        check_move(state, to, "a reason")
    assert refused.value.error == "illegal_transition"
    assert refused.value.members == {"state": state, "allowed": allowed_moves(state)}


@pytest.mark.parametrize("state", ["agreed", "lost", "walked_away", "expired"])
def test_opening_again_needs_a_reason(state: str) -> None:
    with pytest.raises(ValidationFailed):
        check_move(state, "active", None)


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("by", ["me", "them"])
def test_offers_are_taken_only_while_there_is_talk(state: str, by: str) -> None:
    if state in {"draft", "planned", "active"} or (state, by) == ("awaiting_approval", "them"):
        check_offer_allowed(state, by)
        return
    with pytest.raises(Conflict):
        check_offer_allowed(state, by)
