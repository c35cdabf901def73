"""What belongs to a principal: claiming moves it, erasing removes it, the sweep forgets what is over."""

from collections.abc import Callable
from typing import Any, Final

from negotiator.agents import registration
from negotiator.directory.accounts import registered as directory_agents
from negotiator.directory.accounts.proving import challenges
from negotiator.edge import idempotency
from negotiator.memory.memories import keeping, rows
from negotiator.memory.wins import rows as wins
from negotiator.negotiations import sessions
from negotiator.negotiations.plans import kept as plans
from negotiator.negotiations.suggestions import own as own_tactics
from negotiator.store import moves
from negotiator.store.statement import Transaction
from negotiator.tokens import credentials
from negotiator.tokens.api_keys import rows as api_keys
from negotiator.users import approvals
from negotiator.users import sessions as browsers

MOVES: Final[tuple[Callable[..., Any], ...]] = (
    sessions.move,
    plans.move,
    own_tactics.move,
    keeping.move,
    wins.move,
)
ERASURES: Final[tuple[Callable[[Transaction, str], Any], ...]] = (
    plans.erase,
    own_tactics.erase,
    sessions.erase,
    rows.erase,
    wins.erase,
)
SWEEPS: Final[tuple[Callable[[Transaction, int], Any], ...]] = (
    moves.sweep,
    credentials.sweep,
    idempotency.sweep,
    api_keys.sweep,
    directory_agents.sweep,
    challenges.sweep,
    approvals.sweep,
    browsers.sweep,
    sessions.sweep,
)


def sweep(tx: Transaction, now: int) -> None:
    """Forget what is over: spent values, dead tokens, unclaimed agents with all they owned."""
    for forget in SWEEPS:
        forget(tx, now)
    for agent_id in registration.forget_expired(tx, now):
        for erase in ERASURES:
            erase(tx, agent_id)
