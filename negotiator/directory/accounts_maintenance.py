"""Periodic checks of agents: ending unusable accounts, and fetching the documents that prove identities again.

An agent ends when it has no key left, or only unused keys and no proven identity. A published document proves control
of its host for 30 days and is then fetched again. Workers may do this at the same time: conditional statements keep a
failure from being counted twice. Documents are fetched outside transactions.
"""

from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import BigInteger, bindparam, exists, func, or_
from sqlmodel import col, select

from negotiator.agents.tables import Agent
from negotiator.base import values
from negotiator.directory import accounts_queries
from negotiator.directory.claimed_identity import ClaimedIdentity
from negotiator.directory.identity_proof import PublishedKeys, UnreadableDocument, thumbprint
from negotiator.directory.tables import IdentityProof
from negotiator.store.statement import Query, Transaction, table
from negotiator.store.store import Store
from negotiator.tokens.api_keys import KEY_UNUSED
from negotiator.tokens.tables import ApiKey

_EVERY: Final = values.HOUR
_AT_ONCE: Final = 100

_agent, _key = Agent, ApiKey
_proven = exists().where(col(IdentityProof.agent_id) == col(_agent.id)).correlate(table(_agent))
_usable = exists().where(
    col(_key.client_id) == col(_agent.id),
    col(_key.revoked_at).is_(None),
    or_(col(_key.expires_at).is_(None), col(_key.expires_at) > bindparam("now", type_=BigInteger)),
    or_(
        col(_agent.vetted_at).is_not(None),
        _proven,
        func.coalesce(col(_key.last_used_at), col(_key.created_at)) > bindparam("used_since", type_=BigInteger),
    ),
)
_gone = select(_agent.id).where(col(_agent.service) == "directory", col(_agent.revoked_at).is_(None), ~_usable)
_GONE = Query(_gone.limit(_AT_ONCE), lambda row: str(row[0]))
_IS_GONE = Query(_gone.where(col(_agent.id) == bindparam("agent")), lambda row: str(row[0]))


@dataclass(slots=True)
class IdleAgentSweep:
    """Ends unusable agents once an hour."""

    store: Store
    _due: int = field(default=0, init=False)

    async def __call__(self) -> None:
        """Find candidates, then end each that is still unusable, with everything that depends on it."""
        now = values.now()
        if now < self._due:
            return
        self._due = now + _EVERY
        since = now - KEY_UNUSED
        for agent_id in await self.store.scan(lambda tx: tx.all(_GONE, now=now, used_since=since)):
            await self.store.write(lambda tx, agent_id=agent_id: _end(tx, agent_id, now, since))


def _end(tx: Transaction, agent_id: str, now: int, since: int) -> None:
    if tx.one(_IS_GONE, agent=agent_id, now=now, used_since=since):
        accounts_queries.revoke(tx, agent_id, actor="clock", event="agent.expired")


@dataclass(frozen=True, slots=True)
class PublishedKeyRechecks:
    """Fetches published documents again, a few at a time."""

    store: Store
    keys: PublishedKeys

    async def __call__(self) -> None:
        """Check the proofs that are due."""
        for proof in await self.store.read(accounts_queries.due_rechecks):
            found = await self._is_published(proof)
            await self.store.write(
                lambda tx, proof=proof, found=found: accounts_queries.mark_rechecked(tx, proof, is_published=found)
            )

    async def _is_published(self, proof: IdentityProof) -> bool:
        try:
            published = await self.keys.all(ClaimedIdentity(proof.type, proof.value), address=None)
        except UnreadableDocument:
            return False
        return any(thumbprint(key) == proof.thumbprint for _, _, key in published.keys)
