"""Queries of the directory's agents: their identities, proofs and trust levels."""

from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import BigInteger, bindparam, delete, update
from sqlmodel import col, select

from negotiator.agents import registration
from negotiator.agents.tables import Agent
from negotiator.base import values
from negotiator.base.caller import CallerRate
from negotiator.base.errors import Conflict, NotFound
from negotiator.directory.identity_proof import ClaimedIdentity
from negotiator.directory.tables import IdentityChallenge, IdentityProof
from negotiator.store import audit
from negotiator.store.statement import Query, Statement, Transaction, entity, insertion
from negotiator.tokens.api_keys import ClientEntitlement

UNPROVEN, PROVEN, VETTED = 1, 2, 3
RECHECK_INTERVAL: Final = 30 * values.DAY
RETRY_INTERVAL: Final = values.DAY
_TOLERATED_FAILURES: Final = 1
_RECHECK_BATCH: Final = 10

_KEPT = 30 * values.DAY
_live = (col(Agent.id) == bindparam("agent"), col(Agent.service) == "directory", col(Agent.revoked_at).is_(None))
_LIST = Query(
    select(Agent, IdentityProof.proven_at)
    .outerjoin(IdentityProof, col(IdentityProof.agent_id) == col(Agent.id))
    .where(col(Agent.service) == "directory")
    .order_by(col(Agent.id).desc())
    .limit(bindparam("limit")),
    lambda row: (_row(row[:-1]), row[-1]),
)
_row = entity(Agent)
_STANDING = Query(
    select(Agent.scope, Agent.vetted_at, IdentityProof.agent_id)
    .outerjoin(IdentityProof, col(IdentityProof.agent_id) == col(Agent.id))
    .where(*_live),
    tuple,
)
_PROVEN = Query(
    select(IdentityProof.type, IdentityProof.value)
    .join(Agent, col(Agent.id) == col(IdentityProof.agent_id))
    .where(col(IdentityProof.agent_id) == bindparam("agent"), col(Agent.revoked_at).is_(None)),
    lambda row: ClaimedIdentity(*row),
)
_VET = Statement(update(Agent).where(*_live).values(vetted_at=bindparam("at", type_=BigInteger)))
_PROVE = Statement(insertion(IdentityProof).on_conflict_do_nothing())
_HOLDER = Query(
    select(IdentityProof.agent_id).where(
        col(IdentityProof.type) == bindparam("type"), col(IdentityProof.value) == bindparam("value")
    ),
    lambda row: str(row[0]),
)
_SEEN = Statement(
    update(IdentityProof)
    .where(col(IdentityProof.agent_id) == bindparam("agent"))
    .values(checked_at=bindparam("at", type_=BigInteger), thumbprint=bindparam("print"), failures=0)
)
_DUE = Query(
    select(IdentityProof)
    .where(
        col(IdentityProof.checked_at) < bindparam("before", type_=BigInteger),
        col(IdentityProof.thumbprint) != "",
        col(IdentityProof.value).not_like("did:key:%"),
    )
    .order_by(col(IdentityProof.checked_at))
    .limit(bindparam("limit")),
    entity(IdentityProof),
)
_MISSED = Statement(
    update(IdentityProof)
    .where(
        col(IdentityProof.agent_id) == bindparam("agent"),
        col(IdentityProof.checked_at) == bindparam("seen", type_=BigInteger),
    )
    .values(failures=col(IdentityProof.failures) + 1, checked_at=bindparam("at", type_=BigInteger))
)
_UNPROVE = Statement(delete(IdentityProof).where(col(IdentityProof.agent_id) == bindparam("agent")))
_UNASK = Statement(delete(IdentityChallenge).where(col(IdentityChallenge.agent_id) == bindparam("agent")))


@dataclass(frozen=True, slots=True)
class RateLevels:
    """Requests per minute for each trust level (docs/contract 9.2)."""

    unproven: CallerRate
    proven: CallerRate
    vetted: CallerRate

    def rate(self, level: int) -> CallerRate:
        """The rate of a registered agent of this level, 1 to 3."""
        return {PROVEN: self.proven, VETTED: self.vetted}.get(level, self.unproven)

    def standing(self, tx: Transaction, agent_id: str) -> ClientEntitlement | None:
        """Level, scopes and rate of a live agent; None when there is none with this id."""
        found = tx.one(_STANDING, agent=agent_id)
        if found is None:
            return None
        scope, vetted_at, proven_by = found
        level = VETTED if vetted_at else PROVEN if proven_by else UNPROVEN
        return ClientEntitlement(level, frozenset(scope.split()), self.rate(level))


def proven_identities(tx: Transaction, client_id: str) -> list[ClaimedIdentity]:
    """The identities that this live agent has proven; empty for other clients."""
    return tx.all(_PROVEN, agent=client_id)


def record_proof(tx: Transaction, agent: Agent, *, thumbprint: str) -> None:
    """Store that an agent has proven its identity; 409 `identity_taken` when another agent has."""
    now = values.now()
    inserted = tx.run(
        _PROVE,
        type=agent.identity_type,
        value=agent.identity_value,
        agent_id=agent.id,
        thumbprint=thumbprint,
        proven_at=now,
        checked_at=now,
        failures=0,
    )
    if not inserted:
        owner = tx.one(_HOLDER, type=agent.identity_type, value=agent.identity_value)
        if owner != agent.id:
            raise Conflict("Another agent has proven this identity.", error="identity_taken")
        tx.run(_SEEN, agent=agent.id, at=now, print=thumbprint)
    audit.record(tx, "identity.proven", agent.id, actor=agent.id, type=agent.identity_type, value=agent.identity_value)


def due_rechecks(tx: Transaction) -> list[IdentityProof]:
    """Some proofs by a published document that is to be fetched again, the longest unchecked first."""
    return tx.all(_DUE, before=values.now() - RECHECK_INTERVAL, limit=_RECHECK_BATCH)


def mark_rechecked(tx: Transaction, proof: IdentityProof, *, is_published: bool) -> None:
    """Record a check. A proof is dropped after two failures a day apart; others can prove the identity then.

    Of two parallel checks that fail one counts.
    """
    if is_published:
        tx.run(_SEEN, agent=proof.agent_id, at=values.now(), print=proof.thumbprint)
        return
    again = values.now() - RECHECK_INTERVAL + RETRY_INTERVAL
    counts = tx.run(_MISSED, agent=proof.agent_id, seen=proof.checked_at, at=again)
    if counts and proof.failures >= _TOLERATED_FAILURES and tx.run(_UNPROVE, agent=proof.agent_id):
        audit.record(tx, "identity.dropped", proof.agent_id, actor="clock", reason="document")


def find(tx: Transaction, agent_id: str) -> Agent | None:
    """The directory's agent of this id, revoked or not."""
    return registration.find(tx, agent_id, service="directory")


def newest(tx: Transaction, limit: int) -> list[dict[str, Any]]:
    """The newest agents, as the operator sees them."""
    return [
        {
            "client_id": agent.id,
            "name": agent.name,
            "identity_type": agent.identity_type,
            "identity_value": agent.identity_value,
            "verified": proven_at is not None,
            "trust_level": VETTED if agent.vetted_at else PROVEN if proven_at else UNPROVEN,
            "scopes": agent.scope.split(),
            "created_at": values.timestamp(agent.created_at),
            "revoked_at": values.timestamp_or_none(agent.revoked_at),
        }
        for agent, proven_at in tx.all(_LIST, limit=limit)
    ]


def vet(tx: Transaction, agent_id: str, *, vetted: bool) -> None:
    """Mark an agent as vetted by the operator, or withdraw that; 404 when there is none."""
    if not tx.run(_VET, agent=agent_id, at=values.now() if vetted else None):
        raise NotFound(f"There is no agent {agent_id}.")
    audit.record(tx, "agent.vetted" if vetted else "agent.unvetted", agent_id, actor="operator")


def revoke(tx: Transaction, agent_id: str, *, actor: str, event: str = "agent.revoked") -> None:
    """Revoke an agent with its keys and tokens; its proven identities become free. 404 when there is none."""
    if not registration.end(tx, agent_id, service="directory", actor=actor, event=event, kept_for=_KEPT):
        raise NotFound(f"There is no agent {agent_id}.")
    tx.run(_UNPROVE, agent=agent_id)
    tx.run(_UNASK, agent=agent_id)
