"""Agents nobody can act as any more: no key is left, or an unproven one was not used for too long."""

from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import BigInteger, bindparam, exists, func, or_
from sqlmodel import col, select

from negotiator import values
from negotiator.directory.accounts import registered
from negotiator.directory.accounts.tables import DirectoryAgent, Proof
from negotiator.store.statement import Query, Transaction, table
from negotiator.store.store import Store
from negotiator.tokens.api_keys.rows import DAY
from negotiator.tokens.tables import ApiKey

_EVERY: Final = 3_600_000
_AT_ONCE: Final = 100

_agent, _key = DirectoryAgent, ApiKey
_proven = exists().where(col(Proof.agent_id) == col(_agent.id)).correlate(table(_agent))
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
class Idle:
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
        registered.revoke(tx, agent_id, actor="clock", event="agent.expired")
