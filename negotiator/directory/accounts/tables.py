"""Agents of the directory, what they have proven, and the challenges they were given."""
# pyright: reportAssignmentType=false
# SQLModel types __tablename__ as a declared attribute; a plain string is what it reads.

from sqlalchemy import BigInteger
from sqlmodel import Field, SQLModel


class DirectoryAgent(SQLModel, table=True):
    """A registered agent. Its identity is a claim until a row of `Proof` says otherwise; many may claim the same."""

    __tablename__ = "directory_agents"

    id: str = Field(primary_key=True)
    name: str
    identity_type: str
    identity_value: str
    contact_email: str | None
    scope: str
    created_at: int = Field(sa_type=BigInteger)
    vetted_at: int | None = Field(sa_type=BigInteger)
    revoked_at: int | None = Field(sa_type=BigInteger)


class Proof(SQLModel, table=True):
    """An identity that one agent has proven: the primary key makes it nobody else's.

    `thumbprint` is of the key that signed (RFC 7638), empty for a mailbox. `checked_at` is when what proves it was
    last seen, `failures` how often it was not since.
    """

    __tablename__ = "directory_proofs"

    type: str = Field(primary_key=True)
    value: str = Field(primary_key=True)
    agent_id: str = Field(unique=True, foreign_key="directory_agents.id")
    thumbprint: str
    proven_at: int = Field(sa_type=BigInteger)
    checked_at: int = Field(sa_type=BigInteger, index=True)
    failures: int


class Challenge(SQLModel, table=True):
    """What an agent was asked, the newest only. `code_digest` is keyed, and None when no mail went out."""

    __tablename__ = "directory_challenges"

    id: str = Field(primary_key=True)
    agent_id: str = Field(unique=True, foreign_key="directory_agents.id")
    method: str
    nonce: str
    code_digest: str | None
    attempts: int
    created_at: int = Field(sa_type=BigInteger)
    expires_at: int = Field(sa_type=BigInteger, index=True)
    used_at: int | None = Field(sa_type=BigInteger)
