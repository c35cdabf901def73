"""Agents nobody can act as any more: no key is left, or an unproven one was not used for too long.

A document proves control of its host now and no longer: it is looked at again every 30 days.

Each worker may look; what it saw is written by one conditional statement, so that two of them do not count one miss
twice. The network is asked outside any unit.
"""

from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import BigInteger, bindparam, exists, func, or_
from sqlmodel import col, select

from negotiator import values
from negotiator.directory import accounts_queries
from negotiator.directory.claimed_identity import ClaimedIdentity
from negotiator.directory.identity_keys import PublishedKeys, UnreadableDocument, thumbprint
from negotiator.directory.tables import DirectoryAgent, IdentityProof
from negotiator.store.statement import Query, Transaction, table
from negotiator.store.store import Store
from negotiator.tokens.api_key_queries import DAY
from negotiator.tokens.tables import ApiKey

_EVERY: Final = 3_600_000
_AT_ONCE: Final = 100

_agent, _key = DirectoryAgent, ApiKey
_proven = exists().where(col(IdentityProof.agent_id) == col(_agent.id)).correlate(table(_agent))
_usable = exists().where(
    col(_key.client_id) == col(_agent.id),
    col(_key.revoked_at).is_(None),
    or_(
        col(_key.expires_at).is_(None),
        col(_key.expires_at) > bindparam("now", type_=BigInteger),
    ),
    or_(
        col(_agent.vetted_at).is_not(None),
        _proven,
        func.coalesce(col(_key.last_used_at), col(_key.created_at))
        > bindparam("used_since", type_=BigInteger),
    ),
)
_gone = select(_agent.id).where(col(_agent.revoked_at).is_(None), ~_usable)
_GONE = Query(_gone.limit(_AT_ONCE), lambda row: str(row[0]))
_IS_GONE = Query(_gone.where(col(_agent.id) == bindparam("agent")), lambda row: str(row[0]))


@dataclass(slots=True)
class IdleAgentSweep:
    """Ends them, once an hour; `unused_days` is how long a key of an unproven agent may lie about."""

    store: Store
    unused_days: int
    _due: int = field(default=0, init=False)

    async def __call__(self) -> None:
        """Look, off the loop; then end each that is still gone, with all that stood on it."""
        now = values.now()
        if now < self._due:
            return
        self._due = now + _EVERY
        since = now - self.unused_days * DAY
        for agent_id in await self.store.scan(lambda tx: tx.all(_GONE, now=now, used_since=since)):
            await self.store.write(lambda tx, agent_id=agent_id: _end(tx, agent_id, now, since))


def _end(tx: Transaction, agent_id: str, now: int, since: int) -> None:
    if tx.one(_IS_GONE, agent=agent_id, now=now, used_since=since):
        accounts_queries.revoke(tx, agent_id, actor="clock", event="agent.expired")


DAY_MILLISECONDS: Final = 86_400_000
RECHECK_INTERVAL: Final = 30 * DAY_MILLISECONDS
RETRY_INTERVAL: Final = DAY_MILLISECONDS
_TOLERATED: Final = 1
_RECHECK_BATCH: Final = 10


@dataclass(frozen=True, slots=True)
class PublishedKeyRechecks:
    """Looks again at what agents publish, a few documents at a time."""

    store: Store
    keys: PublishedKeys

    async def __call__(self) -> None:
        """Look at what is due. A proof is dropped after two failures, a day apart."""
        before = values.now() - RECHECK_INTERVAL
        for proof in await self.store.read(
            lambda tx: accounts_queries.due_rechecks(tx, before, limit=_RECHECK_BATCH)
        ):
            await self._look(proof)

    async def _look(self, proof: IdentityProof) -> None:
        if await self._is_there(proof):
            await self.store.write(lambda tx: accounts_queries.mark_rechecked(tx, proof))
        else:
            again_in = RECHECK_INTERVAL - RETRY_INTERVAL
            await self.store.write(
                lambda tx: accounts_queries.mark_recheck_failed(
                    tx, proof, again_in=again_in, tolerated=_TOLERATED
                )
            )

    async def _is_there(self, proof: IdentityProof) -> bool:
        try:
            published = await self.keys.all(ClaimedIdentity(proof.type, proof.value), address=None)
        except UnreadableDocument:
            return False
        return any(thumbprint(key) == proof.thumbprint for _, _, key in published.keys)
