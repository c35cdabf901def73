"""Agents of both services, and the assistant's registration: anonymous, or with a verified assertion.

The directory registers its agents in `directory.accounts_registration`. Only this module adds, ends and deletes rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from sqlalchemy import BigInteger, and_, bindparam, func, or_, update
from sqlmodel import col, select

from negotiator.agents.tables import Agent, AgentService
from negotiator.base import values
from negotiator.base.scopes import ANONYMOUS
from negotiator.store import audit, ownership
from negotiator.store.statement import Query, RowInsertion, Statement, Transaction, column_values, entity, read_only
from negotiator.tokens.access_tokens import ACCESS_TOKEN_TYPE, AccessTokens, NewToken, TokenSubject
from negotiator.tokens.assertion_grants import allowed_scopes
from negotiator.trust import revocations
from negotiator.trust.assertions import Assertion
from negotiator.users.identity_matching import MatchedUser, match_assertion

_ADD = RowInsertion(Agent)
_DEFAULTS: Final = {name: field.default for name, field in Agent.model_fields.items()}
_OF_USER = Query(
    select(Agent)
    .where(
        col(Agent.user_id) == bindparam("user"), col(Agent.revoked_at).is_(None), col(Agent.id) < bindparam("before")
    )
    .order_by(col(Agent.id).desc())
    .limit(bindparam("limit")),
    entity(Agent),
)
_NEWEST = Query(
    select(Agent).where(col(Agent.id) < bindparam("before")).order_by(col(Agent.id).desc()).limit(bindparam("limit")),
    entity(Agent),
)
_BY_ID = Query(select(Agent).where(col(Agent.id) == bindparam("agent")), entity(Agent))
_ALL_OF_USER = Query(select(Agent.id).where(col(Agent.user_id) == bindparam("user")), lambda row: str(row[0]))
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
        col(Agent.service) == bindparam("service"),
        func.coalesce(col(Agent.user_id), "") == bindparam("user"),
        col(Agent.revoked_at).is_(None),
    )
    .values(revoked_at=bindparam("at", type_=BigInteger), expires_at=bindparam("delete_at", type_=BigInteger))
)
_ALL_TOKENS_ENDED: Final = 3 * values.DAY
"""Milliseconds after its registration: a token lives a day at most, and one that was exchanged for it a day more."""
_EXPIRED = Query(
    select(
        Agent.id,
        and_(
            col(Agent.service) == "assistant",
            col(Agent.user_id).is_(None),
            col(Agent.revoked_at).is_(None),
            col(Agent.created_at) < bindparam("long_ago", type_=BigInteger),
        ),
    )
    .where(col(Agent.expires_at) < bindparam("now", type_=BigInteger))
    .order_by(col(Agent.expires_at))
    .limit(bindparam("limit")),
    lambda row: (str(row[0]), bool(row[1])),
)


@dataclass(frozen=True, slots=True)
class AgentRegistration:
    """Creates agents and their first token. Lifetimes are in seconds, `retention_days` in days."""

    credentials: AccessTokens
    ephemeral_life: int
    life: int
    retention_days: int

    def prepare_anonymous(self, key: str | None = None, *, typ: str = ACCESS_TOKEN_TYPE) -> NewToken:
        """Return the token of a new anonymous agent; its subject has the agent's id.

        `key` is the thumbprint of the DPoP key that the agent has proven to hold; the token is bound to it.
        """
        subject = TokenSubject(values.new_id("agt"), key=key)
        return self.credentials.make(subject, list(ANONYMOUS), life=self.ephemeral_life, typ=typ)

    def register_anonymous(
        self, tx: Transaction, token: NewToken, *, name: str, address: str, holds_token: bool = True
    ) -> None:
        """Store an anonymous agent; with `holds_token`, store its token as well.

        An agent that no user binds is deleted after the retention time.
        """
        expires_at = token.issued_at + self.retention_days * values.DAY
        agent = self._agent(token, name, "anonymous", expires_at=expires_at)
        add(tx, agent, actor=address, identity_type="anonymous")
        if holds_token:
            self.credentials.record(tx, token)

    def register_asserted(
        self,
        tx: Transaction,
        assertion: Assertion,
        *,
        name: str,
        address: str,
        key: str | None = None,
        typ: str = ACCESS_TOKEN_TYPE,
    ) -> tuple[NewToken, MatchedUser]:
        """Mark the assertion as used and store an agent bound to its user; raises `AssertionRefused`.

        Returns the agent's token and its user. The token is bound to `key`, which the agent has proven to hold.
        """
        found = match_assertion(tx, assertion, actor=address)
        agent_id = values.new_id("agt")
        subject = TokenSubject(
            agent_id, found.user_id, found.issuer, found.identity, key=key, resource=" ".join(assertion.resources)
        )
        scopes = allowed_scopes(assertion)
        token = self.credentials.make(subject, scopes, life=self.life, typ=typ)
        agent = self._agent(token, name, "identity_assertion", claimed_at=token.issued_at)
        add(tx, agent, actor=address, identity_type=assertion.kind, issuer=found.issuer)
        self.credentials.record(tx, token)
        return token, found

    def _agent(
        self,
        token: NewToken,
        name: str,
        identity_type: str,
        *,
        claimed_at: int | None = None,
        expires_at: int | None = None,
    ) -> Agent:
        columns = {
            **_DEFAULTS,
            "id": token.subject.client_id,
            "service": "assistant",
            "name": name,
            "identity_type": identity_type,
            "user_id": token.subject.user_id,
            "issuer": token.subject.issuer,
            "created_at": token.issued_at,
            "claimed_at": claimed_at,
            "expires_at": expires_at,
        }
        return read_only(Agent, columns)


def add(tx: Transaction, agent: Agent, *, actor: str, **detail: str | None) -> None:
    """Store a new agent. `actor` and `detail` are written to the audit trail."""
    tx.run(_ADD, **column_values(agent))
    audit.record(tx, "agent.registered", agent.id, actor=actor, **detail)


def find(tx: Transaction, agent_id: str, *, service: AgentService = "assistant") -> Agent | None:
    """Return the agent of this service with this id, also when it is revoked; None if there is none."""
    agent = find_of_any_service(tx, agent_id)
    return agent if agent is not None and agent.service == service else None


def of_user(tx: Transaction, user_id: str, *, before: str, limit: int) -> list[Agent]:
    """Return up to `limit` agents that are bound to the user and whose ids precede `before`, newest first."""
    return tx.all(_OF_USER, user=user_id, before=before, limit=limit)


def find_of_any_service(tx: Transaction, agent_id: str) -> Agent | None:
    """Return the agent with this id, also when it is revoked; None if there is none."""
    return tx.one(_BY_ID, agent=agent_id)


def ids_of_user(tx: Transaction, user_id: str) -> list[str]:
    """Return the ids of all agents that are or were bound to the user."""
    return tx.all(_ALL_OF_USER, user=user_id)


def newest(tx: Transaction, *, before: str, limit: int) -> list[Agent]:
    """Return up to `limit` agents of both services whose ids precede `before`, newest first."""
    return tx.all(_NEWEST, before=before, limit=limit)


def end_any(tx: Transaction, agent_id: str, *, actor: str) -> bool:
    """Revoke an agent of either service, whoever it works for; False when no active agent has this id."""
    agent = find_of_any_service(tx, agent_id)
    return agent is not None and end(
        tx, agent_id, service=cast("AgentService", agent.service), actor=actor, user_id=agent.user_id or ""
    )


def mark_seen(tx: Transaction, when: Mapping[str, int]) -> None:
    """Store when each agent last used its token; `when` maps agent ids to milliseconds."""
    for agent_id, at in when.items():
        tx.run(_SEEN, agent=agent_id, at=at)


def revoke(tx: Transaction, agent_id: str, *, user_id: str) -> bool:
    """Revoke an agent of this user and all its tokens; False when the user has no such agent."""
    return end(tx, agent_id, service="assistant", actor=user_id, user_id=user_id)


def end(
    tx: Transaction,
    agent_id: str,
    *,
    service: AgentService,
    actor: str,
    user_id: str = "",
    event: str = "agent.revoked",
    kept_for: int | None = None,
) -> bool:
    """Revoke an agent and all its tokens; False when no active agent has this id, service and user.

    `user_id` is the user that the agent is bound to, empty for an unbound agent. The row is deleted `kept_for`
    milliseconds later; None keeps it.
    """
    now = values.now()
    delete_at = now + kept_for if kept_for is not None else None
    if not tx.run(_REVOKE, agent=agent_id, service=service, user=user_id, at=now, delete_at=delete_at):
        return False
    revocations.revoke(tx, agent_id)
    audit.record(tx, event, agent_id, actor=actor)
    return True


def delete_expired(tx: Transaction, now: int, limit: int) -> list[str]:
    """Delete up to `limit` agents past their `expires_at`. Returns their ids; the caller deletes what they own.

    An agent that nobody claimed leaves no revocation once all its tokens have ended.
    """
    expired = tx.all(_EXPIRED, now=now, limit=limit, long_ago=now - _ALL_TOKENS_ENDED)
    for agent_id, holds_nothing in expired:
        ownership.delete_row(tx, Agent, agent_id)
        if not holds_nothing:
            revocations.revoke_deleted(tx, agent_id, now=now)
        audit.record(tx, "agent.expired", agent_id, actor="clock")
    return [agent_id for agent_id, _ in expired]


def summary(agent: Agent) -> dict[str, Any]:
    """Return the members of an agent that its user sees."""
    return {
        "client_id": agent.id,
        "name": agent.name,
        "identity_type": agent.identity_type,
        "created_at": values.timestamp(agent.created_at),
        "claimed_at": values.timestamp_or_none(agent.claimed_at),
    }
