"""What agents that act for a user called last, and how that ended: for the user's page, not for audit.

Calls that differ only in time are one row with a count. They are collected in memory; a refusal is stored within
seconds, everything else with the next sweep. An agent keeps its newest `KEPT` rows. A crash loses what was not stored.
"""

import asyncio
import contextlib
from dataclasses import dataclass
from typing import Final, NamedTuple

from sqlalchemy import bindparam, delete
from sqlmodel import col, select

from negotiator.agents.tables import AgentCall
from negotiator.base import values
from negotiator.base.caller import Caller
from negotiator.base.errors import InsufficientScope, Refusal
from negotiator.store.statement import Query, Statement, Transaction, entity, insertion
from negotiator.store.store import Store

KEPT: Final = 100
STORE_AFTER: Final = 2.0
"""Seconds from a refusal to its row."""
_FULL: Final = 500
_LONGEST: Final = 300

_upsert = insertion(AgentCall)
_ADD = Statement(
    _upsert.on_conflict_do_update(
        index_elements=["agent", "operation", "subject", "error"],
        set_={
            "at": _upsert.excluded.at,
            "count": col(AgentCall.count) + _upsert.excluded.count,
            "description": _upsert.excluded.description,
            "needs": _upsert.excluded.needs,
        },
    )
)
_LATEST = Query(
    select(AgentCall)
    .where(col(AgentCall.agent) == bindparam("of"))
    .order_by(col(AgentCall.at).desc())
    .limit(bindparam("limit")),
    entity(AgentCall),
)
_OLDEST_KEPT = Query(
    select(col(AgentCall.at))
    .where(col(AgentCall.agent) == bindparam("of"))
    .order_by(col(AgentCall.at).desc())
    .offset(KEPT - 1)
    .limit(1),
    lambda row: int(row[0]),
)
_TRIM = Statement(
    delete(AgentCall).where(col(AgentCall.agent) == bindparam("of"), col(AgentCall.at) < bindparam("before"))
)


class _CallKey(NamedTuple):
    agent: str
    operation: str
    subject: str
    error: str


@dataclass(slots=True)
class _CallTally:
    at: int
    count: int
    refusal: Refusal | None


class AgentCallRecord:
    """Collects the calls of agents that act for a user, and stores them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._tallies: dict[_CallKey, _CallTally] = {}
        self._storing: asyncio.Task[None] | None = None

    def note(self, caller: Caller, operation: str, subject: str, refusal: Refusal | None) -> None:
        """Record one call. `subject` is the id that it was about, empty for none."""
        if caller.user_id is None or caller.kind != "agent":
            return
        key = _CallKey(caller.client_id, operation, subject, refusal.error if refusal else "")
        found = self._tallies.get(key)
        self._tallies[key] = _CallTally(values.now(), found.count + 1 if found else 1, refusal)
        if (refusal or len(self._tallies) >= _FULL) and (self._storing is None or self._storing.done()):
            self._storing = asyncio.create_task(self._store_soon())

    async def flush(self) -> None:
        """Store what was collected."""
        taken, self._tallies = self._tallies, {}
        if taken:
            await self._store.write(lambda tx: _keep(tx, taken))

    async def close(self) -> None:
        if self._storing is not None:
            self._storing.cancel()
        await self.flush()

    async def _store_soon(self) -> None:
        await asyncio.sleep(STORE_AFTER)
        with contextlib.suppress(Refusal):  # the database is away
            await self.flush()


def _keep(tx: Transaction, tallies: dict[_CallKey, _CallTally]) -> None:
    for key, tally in tallies.items():
        refusal = tally.refusal
        tx.run(
            _ADD,
            **key._asdict(),
            at=tally.at,
            count=tally.count,
            description=refusal.description[:_LONGEST] if refusal else "",
            needs=" ".join(refusal.scopes) if isinstance(refusal, InsufficientScope) else "",
        )
    for agent in {key.agent for key in tallies}:
        oldest = tx.one(_OLDEST_KEPT, of=agent)
        if oldest is not None:
            tx.run(_TRIM, of=agent, before=oldest)


def latest_calls(tx: Transaction, agent_id: str, limit: int = KEPT) -> list[AgentCall]:
    """The agent's calls, the last one first."""
    return tx.all(_LATEST, of=agent_id, limit=limit)
