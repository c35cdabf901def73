"""Agents come to be: anonymous with an ephemeral token, or at once a user's by a verified assertion."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import BigInteger, bindparam, delete, or_, update
from sqlmodel import col, select

from negotiator import audit, values
from negotiator.agents.tables import Agent
from negotiator.scopes import ANONYMOUS
from negotiator.store.statement import Query, Statement, Transaction, entity, insertion
from negotiator.tokens.access_tokens import (
    ACCESS_TOKEN_TYPE,
    AccessTokens,
    IssuedToken,
    TokenSubject,
)
from negotiator.tokens.assertion_grants import allowed_scopes
from negotiator.trust import revocations
from negotiator.trust.assertions import Assertion
from negotiator.users.identity_matching import MatchedUser, match_assertion

_DAY: Final = 86_400_000

_ADD = Statement(insertion(Agent))
_FIND = Query(select(Agent).where(col(Agent.id) == bindparam("agent")), entity(Agent))
_OF_USER = Query(
    select(Agent)
    .where(
        col(Agent.user_id) == bindparam("user"),
        col(Agent.revoked_at).is_(None),
        col(Agent.id) < bindparam("before"),
    )
    .order_by(col(Agent.id).desc())
    .limit(bindparam("limit")),
    entity(Agent),
)
_SEEN = Statement(
    update(Agent)
    .where(
        col(Agent.id) == bindparam("agent"),
        or_(col(Agent.seen_at).is_(None), col(Agent.seen_at) < bindparam("at", type_=BigInteger)),
    )
    .values(seen_at=bindparam("at", type_=BigInteger))
)
_REVOKE = Statement(
    update(Agent)
    .where(
        col(Agent.id) == bindparam("agent"),
        col(Agent.user_id) == bindparam("user"),
        col(Agent.revoked_at).is_(None),
    )
    .values(revoked_at=bindparam("at", type_=BigInteger))
)
_EXPIRED = Query(
    select(Agent.id).where(col(Agent.expires_at) < bindparam("now", type_=BigInteger)).limit(100),
    lambda row: str(row[0]),
)
_FORGET = Statement(delete(Agent).where(col(Agent.id) == bindparam("agent")))


@dataclass(frozen=True, slots=True)
class AgentRegistration:
    """Makes agents and their first token. Lives are in seconds, the retention in days."""

    credentials: AccessTokens
    ephemeral_life: int
    life: int
    retention_days: int

    def prepare_anonymous(
        self, key: str | None = None, *, typ: str = ACCESS_TOKEN_TYPE
    ) -> IssuedToken:
        """A new agent's id and ephemeral token, bound to the key it has proven to hold, if it did.

        Signing happens before the transaction, not in it.
        """
        subject = TokenSubject(values.new_id("agt"), key=key)
        return self.credentials.make(subject, list(ANONYMOUS), life=self.ephemeral_life, typ=typ)

    def register_anonymous(
        self,
        tx: Transaction,
        token: IssuedToken,
        *,
        name: str,
        address: str,
        holds_token: bool = True,
    ) -> None:
        """Keep an anonymous agent with its token, or without one until a user has bound it.

        Unclaimed, it is forgotten after the retention time.
        """
        expires_at = token.issued_at + self.retention_days * _DAY
        self._add(tx, token, name, "anonymous", expires_at=expires_at)
        if holds_token:
            self.credentials.record(tx, token)
        audit.record(
            tx,
            "agent.registered",
            token.subject.client_id,
            actor=address,
            identity_type="anonymous",
        )

    def register_asserted(
        self,
        tx: Transaction,
        assertion: Assertion,
        *,
        name: str,
        address: str,
        key: str | None = None,
        typ: str = ACCESS_TOKEN_TYPE,
    ) -> tuple[IssuedToken, MatchedUser]:
        """Spend the assertion and keep an agent that is bound to its user; raises `AssertionRefused`.

        Its token is bound to `key`, which the agent has proven to hold.
        """
        found = match_assertion(tx, assertion, actor=address)
        agent_id = values.new_id("agt")
        subject = TokenSubject(
            agent_id,
            found.user_id,
            found.issuer,
            found.identity,
            key=key,
            resource=" ".join(assertion.resources),
        )
        scopes = allowed_scopes(assertion)
        token = self.credentials.make(subject, scopes, life=self.life, typ=typ)
        self._add(tx, token, name, "identity_assertion", claimed_at=token.issued_at)
        self.credentials.record(tx, token)
        audit.record(
            tx,
            "agent.registered",
            subject.client_id,
            actor=address,
            identity_type=assertion.kind,
            issuer=found.issuer,
        )
        return token, found

    def _add(
        self,
        tx: Transaction,
        token: IssuedToken,
        name: str,
        identity_type: str,
        *,
        claimed_at: int | None = None,
        expires_at: int | None = None,
    ) -> None:
        subject = token.subject
        tx.run(
            _ADD,
            id=subject.client_id,
            name=name,
            identity_type=identity_type,
            user_id=subject.user_id,
            issuer=subject.issuer,
            claim_attempts=0,
            created_at=token.issued_at,
            claimed_at=claimed_at,
            expires_at=expires_at,
            revoked_at=None,
            seen_at=None,
        )


def find(tx: Transaction, agent_id: str) -> Agent | None:
    """The agent of this id."""
    return tx.one(_FIND, agent=agent_id)


def of_user(tx: Transaction, user_id: str, *, before: str, limit: int) -> list[Agent]:
    """The agents bound to a user whose ids come before this one, newest first."""
    return tx.all(_OF_USER, user=user_id, before=before, limit=limit)


def mark_seen(tx: Transaction, when: Mapping[str, int]) -> None:
    """Remember when these agents last showed their tokens (milliseconds)."""
    for agent_id, at in when.items():
        tx.run(_SEEN, agent=agent_id, at=at)


def revoke(tx: Transaction, agent_id: str, *, user_id: str) -> bool:
    """Cut an agent of this user off, at once and for all its tokens; False when it is not his."""
    if not tx.run(_REVOKE, agent=agent_id, user=user_id, at=values.now()):
        return False
    revocations.revoke(tx, agent_id)
    audit.record(tx, "agent.revoked", agent_id, actor=user_id)
    return True


def delete_expired(tx: Transaction, now: int) -> list[str]:
    """Forget unclaimed agents past their retention; answers their ids, so that what they owned can go too."""
    expired = tx.all(_EXPIRED, now=now)
    for agent_id in expired:
        tx.run(_FORGET, agent=agent_id)
        revocations.revoke(tx, agent_id)
        audit.record(tx, "agent.expired", agent_id, actor="clock")
    return expired


def summary(agent: Agent) -> dict[str, Any]:
    """What its user sees of an agent."""
    return {
        "client_id": agent.id,
        "name": agent.name,
        "identity_type": agent.identity_type,
        "created_at": values.timestamp(agent.created_at),
        "claimed_at": values.timestamp_or_none(agent.claimed_at),
    }
