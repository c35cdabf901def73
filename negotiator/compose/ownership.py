"""Claiming and erasing over all tables, and what time brings: what the tables declare, and the exceptions."""

from collections.abc import Callable
from typing import Any, Final

from negotiator.agents import registration
from negotiator.directory import collections_queries, submissions_transitions
from negotiator.memory import memories_lifecycle, memories_queries
from negotiator.negotiations import queries as negotiation_queries
from negotiator.store import atomic_updates, ownership
from negotiator.store.ownership import Chore
from negotiator.store.statement import Transaction
from negotiator.teleprompter import example_queries, session_transitions
from negotiator.tokens import clients

BEFORE_CLAIM: Final[tuple[Callable[[Transaction, str, str], Any], ...]] = (
    negotiation_queries.record_claim,
    memories_lifecycle.claim_memories,
)
"""Called with the agent and its user before the agent's rows get their new owner."""
AFTER_CLAIM: Final[tuple[Callable[[Transaction, str], Any], ...]] = (example_queries.trim,)
"""Called with the user once the rows are theirs."""
BEFORE_ERASURE: Final[tuple[Callable[[Transaction, str], Any], ...]] = (
    collections_queries.mark_all_saves_due,
    memories_queries.mark_removed,
)
"""Called with the principal before their rows are deleted."""


def claim(tx: Transaction, agent_id: str, user_id: str) -> None:
    """Give everything that an agent owns to the user who claims it."""
    for prepare in BEFORE_CLAIM:
        prepare(tx, agent_id, user_id)
    ownership.current_walk().claim(tx, agent_id, user_id)
    for finish in AFTER_CLAIM:
        finish(tx, user_id)


def erase(tx: Transaction, principal: str) -> None:
    """Delete everything that a principal owns."""
    for prepare in BEFORE_ERASURE:
        prepare(tx, principal)
    ownership.current_walk().erase(tx, principal)


def delete_expired_agents(tx: Transaction, now: int, limit: int) -> int:
    """Delete up to `limit` agents whose time is over, with everything they own; returns their number."""
    gone = registration.delete_expired(tx, now, limit)
    for agent_id in gone:
        erase(tx, agent_id)
    return len(gone)


def chores() -> tuple[Chore, ...]:
    """Everything that time brings: ends by another rule than an expiry first, then the tables' expiries."""
    return (
        Chore("negotiations.deadline", negotiation_queries.expire_overdue),
        Chore("submissions.open", submissions_transitions.expire_overdue),
        Chore("teleprompter_sessions.ends_at", session_transitions.end_overdue),
        Chore("tools.saves", collections_queries.recount_due_saves),
        Chore("budgets.arrival", atomic_updates.delete_full_budgets),
        Chore("clients.unused", clients.delete_unused),
        Chore("agents.expires_at", delete_expired_agents, scrub=True),
        *ownership.current_walk().expiries,
    )
