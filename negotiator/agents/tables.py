"""Agents and the delegation codes that bind them."""
# pyright: reportAssignmentType=false
# SQLModel types __tablename__ as a declared attribute; a plain string is what it reads.

from sqlalchemy import BigInteger
from sqlmodel import Field, SQLModel


class Agent(SQLModel, table=True):
    """A registered program. Unclaimed while it has no `user_id`; then `expires_at` says when it is forgotten.

    `seen_at` is when a bound agent last showed its token, to the minute.
    """

    __tablename__ = "agents"
    __table_args__ = {"sqlite_with_rowid": False}

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


class Delegation(SQLModel, table=True):
    """A delegation code, at rest only as a keyed digest. `agent_id` restricts it to one agent."""

    __tablename__ = "delegations"

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
