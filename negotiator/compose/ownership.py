"""Claiming, erasing and sweeping over all tables: what the tables declare, and the exceptions that they cannot."""

from collections.abc import Callable
from typing import Any, Final

from negotiator.agents import registration
from negotiator.directory import collections_queries, submissions_transitions
from negotiator.memory import memories_lifecycle, memories_queries
from negotiator.negotiations import queries as negotiation_queries
from negotiator.store import atomic_updates, ownership
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
BEFORE_SWEEP: Final[tuple[Callable[[Transaction, int], Any], ...]] = (
    atomic_updates.sweep_budgets,
    clients.delete_unused,
    negotiation_queries.expire_overdue,
    submissions_transitions.expire_overdue,
    session_transitions.end_overdue,
    collections_queries.recount_due_saves,
)
"""Called with the moment: deletions by another rule than an expiry, and rows that change when their time is over."""


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


def sweep(tx: Transaction, now: int) -> bool:
    """Delete expired rows, and expired agents with everything they own; `now` in milliseconds.

    True when private content was deleted, so that no byte of it may stay in the database's files.
    """
    for prepare in BEFORE_SWEEP:
        prepare(tx, now)
    scrubs = ownership.current_walk().sweep(tx, now)
    gone = registration.delete_expired(tx, now)
    for agent_id in gone:
        erase(tx, agent_id)
    return scrubs or bool(gone)
