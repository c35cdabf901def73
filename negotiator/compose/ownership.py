"""Claiming and erasing over all tables, and what time brings: what the tables declare, and the exceptions."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ClauseElement, Executable
from sqlalchemy.ext.compiler import compiles
from sqlmodel import SQLModel

from negotiator.agents import mail, mail_queue, registration
from negotiator.agents import tables as agents
from negotiator.agents.tables import Agent
from negotiator.base import values
from negotiator.base.errors import NotFound, Unavailable
from negotiator.directory import collections_queries, submissions_queries, submissions_transitions
from negotiator.directory import tables as directory
from negotiator.http import idempotency
from negotiator.keys import database_keys
from negotiator.memory import memories_lifecycle, memories_queries
from negotiator.memory import tables as memory
from negotiator.negotiations import queries as negotiation_queries
from negotiator.negotiations import tables as negotiations
from negotiator.rehearsals import tables as rehearsals
from negotiator.store import atomic_updates, audit, fingerprints, migrate, ownership
from negotiator.store.ownership import Chore
from negotiator.store.statement import Query, Transaction
from negotiator.teleprompter import queries as teleprompter_queries
from negotiator.teleprompter import session_transitions
from negotiator.teleprompter import tables as teleprompter
from negotiator.tokens import clients
from negotiator.tokens import tables as tokens
from negotiator.trust import revocations
from negotiator.trust import tables as trust
from negotiator.users import identity_matching, user_queries
from negotiator.users import tables as users
from negotiator.users.tables import User

BEFORE_CLAIM: Final[tuple[Callable[[Transaction, str, str], Any], ...]] = (
    negotiation_queries.record_claim,
    memories_lifecycle.claim_memories,
)
"""Called with the agent and its user before the agent's rows get their new owner."""
AFTER_CLAIM: Final[tuple[Callable[[Transaction, str], Any], ...]] = (teleprompter_queries.trim_examples,)
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


@dataclass(frozen=True, slots=True)
class ErasedPrincipal:
    """Who was erased: a user with their agents, or an agent. Mails to `emails` may still wait in the outbox folder.

    `rows` counts what they owned, by table.
    """

    id: str
    agents: tuple[str, ...]
    emails: tuple[str, ...]
    rows: dict[str, int]


def describe_user(tx: Transaction, user: User) -> ErasedPrincipal:
    """What `erase_user` would erase."""
    agents = registration.ids_of_user(tx, user.id)
    described = [describe_agent(tx, agent) for agent in agents]
    emails = {user.email or "", *(email for each in described for email in each.emails)} - {""}
    return ErasedPrincipal(user.id, tuple(agents), tuple(sorted(emails)), _count(tx, [user.id, *agents]))


def describe_agent(tx: Transaction, agent_id: str) -> ErasedPrincipal:
    """What `erase_agent` would erase; 404 when there is no such agent."""
    agent = registration.find_of_any_service(tx, agent_id)
    if agent is None:
        raise NotFound(f"There is no agent {agent_id}.")
    named = {agent.contact_email or "", agent.identity_value}
    emails = tuple(sorted(name for name in named if "@" in name))
    return ErasedPrincipal(agent_id, (agent_id,), emails, _count(tx, [agent_id]))


def erase_user(tx: Transaction, user: User) -> ErasedPrincipal:
    """Delete a user's account with everything they and their agents own, hold and left; their tokens end at once.

    The audit trail keeps what happened when, without addresses and details, and that the user was erased. What the
    catalogue published stays: it is public, and a moderator deletes it.
    """
    require_known_tables(tx)
    erased = describe_user(tx, user)
    for agent_id in erased.agents:
        erase_agent(tx, agent_id)
    for identity in identity_matching.of_user(tx, user.id):
        revocations.forget_identity(tx, identity.key)
    _erase_addresses(tx, erased)
    _erase_principal(tx, user.id)
    ownership.delete_row(tx, User, user.id)
    audit.record(tx, audit.USER_ERASED, user.id, actor="operator")
    return erased


def erase_agent(tx: Transaction, agent_id: str) -> ErasedPrincipal:
    """Delete an agent with everything it owns, holds and left; 404 when there is no such agent.

    What a claim gave to its user stays with the user.
    """
    require_known_tables(tx)
    erased = describe_agent(tx, agent_id)
    _erase_addresses(tx, erased)
    _erase_principal(tx, agent_id)
    ownership.delete_row(tx, Agent, agent_id)
    audit.record(tx, audit.AGENT_ERASED, agent_id, actor="operator")
    return erased


def erase_again(tx: Transaction, principal: str) -> bool:
    """Erase the user or agent with this id; False when there is none.

    The audit trail says afterwards that they were erased in either case, for the next restore.
    """
    user = user_queries.by_id(tx, principal)
    if user is not None:
        erase_user(tx, user)
        return True
    if registration.find_of_any_service(tx, principal) is not None:
        erase_agent(tx, principal)
        return True
    event = audit.USER_ERASED if principal.startswith("usr_") else audit.AGENT_ERASED
    if not audit.search(tx, audit.AuditFilter(principal, event), before="", limit=1):
        audit.record(tx, event, principal, actor="restore")
    return False


def _erase_addresses(tx: Transaction, erased: ErasedPrincipal) -> None:
    for email in erased.emails:
        ownership.current_walk().erase_mentions(tx, "email", email)
        mail.forget_address(tx, email)


def _erase_principal(tx: Transaction, principal: str) -> None:
    revocations.revoke(tx, principal)
    erase(tx, principal)
    ownership.current_walk().erase_mentions(tx, "principal", principal)
    audit.redact(tx, principal)


def _count(tx: Transaction, principals: list[str]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for principal in principals:
        counts.update(ownership.current_walk().count_owned(tx, principal))
    return dict(sorted(counts.items()))


def delete_expired_agents(tx: Transaction, now: int, limit: int) -> int:
    """Delete up to `limit` agents whose time is over, with everything they own; returns their number."""
    gone = registration.delete_expired(tx, now, limit)
    for agent_id in gone:
        erase(tx, agent_id)
    return len(gone)


def chores(audit_days: int = 0) -> tuple[Chore, ...]:
    """Everything that time brings: ends by another rule than an expiry first, then the tables' expiries.

    Events of the audit trail are deleted after `audit_days` days, with 0 never.
    """

    def forget_events(tx: Transaction, now: int, limit: int) -> int:
        return audit.delete_old(tx, now - audit_days * values.DAY, limit)

    return (
        *((Chore("audit_events", forget_events, scrub=True),) if audit_days else ()),
        Chore("negotiations.deadline", negotiation_queries.expire_overdue),
        Chore("submissions.open", submissions_transitions.expire_overdue),
        Chore("submissions.withdrawn", submissions_queries.delete_withdrawn, scrub=True),
        Chore("teleprompter_sessions.ends_at", session_transitions.end_overdue),
        Chore("tools.saves", collections_queries.recount_due_saves),
        Chore("budgets.arrival", atomic_updates.delete_full_budgets),
        Chore("clients.unused", clients.delete_unused),
        Chore("agents.expires_at", delete_expired_agents, scrub=True),
        *ownership.current_walk().expiries,
    )


MODULES: Final = (
    *(agents, audit, atomic_updates, database_keys, directory, fingerprints, idempotency, mail_queue),
    *(memory, migrate, negotiations, rehearsals, teleprompter, tokens, trust, users),
)
_OF_MIGRATIONS: Final = {"alembic_version"}


class _TableNames(Executable, ClauseElement):
    """Each engine has a list of its tables of its own."""

    inherit_cache = True


@compiles(_TableNames, "sqlite")
def _of_sqlite(_names: _TableNames, _compiler: Any, **_options: Any) -> str:
    return "select name from sqlite_master where type = 'table' and name not like 'sqlite%'"


@compiles(_TableNames, "postgresql")
def _of_postgresql(_names: _TableNames, _compiler: Any, **_options: Any) -> str:
    return "select tablename from pg_tables where schemaname = current_schema()"


_NAMES: Final = Query(_TableNames(), lambda row: str(row[0]))


def require_known_tables(tx: Transaction) -> None:
    """Raise `Unavailable` when the database has a table that this release does not know: its rows would be left."""
    if unknown := {*tx.all(_NAMES)} - _OF_MIGRATIONS - SQLModel.metadata.tables.keys():
        raise Unavailable(
            f"Nothing is erased: this version of Negotiator does not know the tables {', '.join(sorted(unknown))} of "
            "the database, and would leave what they hold. Erase with the version that made them."
        )
