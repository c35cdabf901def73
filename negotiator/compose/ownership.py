"""What belongs to a principal: claiming moves it, erasing removes it, the sweep forgets what is over."""

from collections.abc import Callable
from typing import Any, Final

from negotiator.agents import registration
from negotiator.directory import accounts_queries as directory_agents
from negotiator.directory import challenge_queries, collections_queries, submissions_transitions
from negotiator.directory import collections_queries as bookmarks
from negotiator.directory import reports_queries as reports
from negotiator.directory import submissions_queries as submissions
from negotiator.http import idempotency
from negotiator.memory import memories_lifecycle as memories
from negotiator.memory import memories_queries
from negotiator.memory import wins_queries as wins
from negotiator.negotiations import plan_queries as plans
from negotiator.negotiations import queries
from negotiator.negotiations import tactic_queries as own_tactics
from negotiator.store import atomic_updates
from negotiator.store.statement import Transaction
from negotiator.teleprompter import example_queries, tickets
from negotiator.teleprompter import session_queries as calls
from negotiator.teleprompter import session_transitions as teleprompter
from negotiator.tokens import (
    access_tokens,
    authorization_codes,
    clients,
    consent_queries,
    refresh_tokens,
)
from negotiator.tokens import api_key_queries as api_keys
from negotiator.users import approval_queries
from negotiator.users import session_queries as browsers

MOVES: Final[tuple[Callable[..., Any], ...]] = (
    queries.move,
    plans.move,
    own_tactics.move,
    memories.claim_memories,
    wins.change_owner,
    calls.move,
    example_queries.move,
    idempotency.erase_on_claim,
    bookmarks.move,
    submissions.move,
    reports.move,
)
ERASURES: Final[tuple[Callable[[Transaction, str], Any], ...]] = (
    plans.erase,
    own_tactics.erase,
    queries.erase,
    memories_queries.delete_all_memories,
    wins.delete_all_wins,
    calls.erase,
    example_queries.erase,
    tickets.erase,
    idempotency.erase,
    consent_queries.erase,
    bookmarks.erase,
    submissions.erase,
    reports.erase,
)
SWEEPS: Final[tuple[Callable[[Transaction, int], Any], ...]] = (
    atomic_updates.sweep,
    access_tokens.sweep,
    authorization_codes.sweep,
    refresh_tokens.sweep,
    clients.sweep,
    idempotency.sweep,
    api_keys.sweep,
    challenge_queries.sweep,
    approval_queries.sweep,
    browsers.sweep,
    queries.sweep,
    collections_queries.recount_due_saves,
    submissions_transitions.expire_overdue,
    teleprompter.sweep,
    tickets.sweep,
)


def sweep(tx: Transaction, now: int) -> bool:
    """Forget what is over: spent values, dead tokens, agents unclaimed or long ended with all they owned.

    Answers whether anybody's belongings were erased, so that no byte of them is left in the files either: a sweep that
    erases such says so itself.
    """
    erased = [forget(tx, now) for forget in SWEEPS]
    gone = (*registration.delete_expired(tx, now), *directory_agents.delete_revoked(tx, now))
    for agent_id in gone:
        for erase in ERASURES:
            erase(tx, agent_id)
    return bool(gone) or any(erased)
