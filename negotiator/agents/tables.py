"""Agents and the delegation codes that bind them."""

from sqlalchemy import BigInteger
from sqlmodel import Field

from negotiator.store.model import TableModel, table_options


class Agent(TableModel, table=True):
    """A registered program. Unclaimed while it has no `user_id`; then `expires_at` says when it is forgotten.

    `seen_at` is when a bound agent last showed its token, to the minute.
    """

    __tablename__ = "agents"
    __table_args__ = table_options(
        sqlite_with_rowid=False,
        kept="agents.registration deletes an unclaimed agent at `expires_at` and reports it in the audit trail",
    )

    id: str = Field(primary_key=True)
    name: str
    identity_type: str
    user_id: str | None = Field(index=True)
    issuer: str | None
    claim_attempts: int
    created_at: int = Field(sa_type=BigInteger)
    claimed_at: int | None = Field(sa_type=BigInteger)
    expires_at: int | None = Field(sa_type=BigInteger, index=True)
    revoked_at: int | None = Field(sa_type=BigInteger)
    seen_at: int | None = Field(sa_type=BigInteger)


class Delegation(TableModel, table=True):
    """A delegation code, at rest only as a keyed digest. `agent_id` restricts it to one agent."""

    __tablename__ = "delegations"
    __table_args__ = table_options(
        kept="the user sees every code they made and the agent that it bound"
    )

    id: str = Field(primary_key=True)
    digest: str = Field(unique=True)
    user_id: str = Field(index=True, foreign_key="users.id")
    agent_id: str | None = Field(index=True)
    label: str
    scope: str
    created_at: int = Field(sa_type=BigInteger)
    expires_at: int = Field(sa_type=BigInteger)
    used_at: int | None = Field(sa_type=BigInteger)
    used_by: str | None
    revoked_at: int | None = Field(sa_type=BigInteger)
