"""What belongs to a principal: claiming moves it, erasing removes it, the sweep forgets what is over."""

from collections.abc import Callable
from typing import Any, Final

from negotiator import idempotency
from negotiator.agents import registration
from negotiator.directory.accounts import registered as directory_agents
from negotiator.directory.accounts.proving import challenges
from negotiator.directory.bookmarks import kept as bookmarks
from negotiator.directory.bookmarks import saves
from negotiator.directory.reports import kept as reports
from negotiator.directory.submissions import deciding
from negotiator.directory.submissions import kept as submissions
from negotiator.memory.memories import review as memories
from negotiator.memory.memories import rows
from negotiator.memory.wins import rows as wins
from negotiator.negotiations import sessions
from negotiator.negotiations.plans import kept as plans
from negotiator.negotiations.suggestions import own as own_tactics
from negotiator.store import moves
from negotiator.store.statement import Transaction
from negotiator.teleprompter.sessions import moving as teleprompter
from negotiator.teleprompter.sessions import rows as calls
from negotiator.teleprompter.streams.entry import tickets
from negotiator.teleprompter.taught import examples
from negotiator.tokens import clients, credentials
from negotiator.tokens.api_keys import rows as api_keys
from negotiator.tokens.flow import authorizations, consents, refreshing
from negotiator.users import approvals
from negotiator.users import sessions as browsers

MOVES: Final[tuple[Callable[..., Any], ...]] = (
    sessions.move,
    plans.move,
    own_tactics.move,
    memories.move,
    wins.move,
    calls.move,
    examples.move,
    idempotency.abandon,
    bookmarks.move,
    submissions.move,
    reports.move,
)
ERASURES: Final[tuple[Callable[[Transaction, str], Any], ...]] = (
    plans.erase,
    own_tactics.erase,
    sessions.erase,
    rows.erase,
    wins.erase,
    calls.erase,
    examples.erase,
    tickets.erase,
    idempotency.erase,
    consents.erase,
    bookmarks.erase,
    submissions.erase,
    reports.erase,
)
SWEEPS: Final[tuple[Callable[[Transaction, int], Any], ...]] = (
    moves.sweep,
    credentials.sweep,
    authorizations.sweep,
    refreshing.sweep,
    clients.sweep,
    idempotency.sweep,
    api_keys.sweep,
    challenges.sweep,
    approvals.sweep,
    browsers.sweep,
    sessions.sweep,
    saves.sweep,
    deciding.sweep,
    teleprompter.sweep,
    tickets.sweep,
)


def sweep(tx: Transaction, now: int) -> bool:
    """Forget what is over: spent values, dead tokens, agents unclaimed or long ended with all they owned.

    Answers whether anybody's belongings were erased, so that no byte of them is left in the files either: a sweep that
    erases such says so itself.
    """
    erased = [forget(tx, now) for forget in SWEEPS]
    gone = (*registration.forget_expired(tx, now), *directory_agents.forget_revoked(tx, now))
    for agent_id in gone:
        for erase in ERASURES:
            erase(tx, agent_id)
    return bool(gone) or any(erased)
