"""Users, the identities that are theirs, approvals that wait for them, the browsers they are signed in with."""
# pyright: reportAssignmentType=false
# SQLModel types __tablename__ as a declared attribute; a plain string is what it reads.

from sqlalchemy import BigInteger
from sqlmodel import Field, SQLModel


class User(SQLModel, table=True):
    """A person. `email` is kept in lower case and is unique; a just-in-time user may have none."""

    __tablename__ = "users"

    id: str = Field(primary_key=True)
    email: str | None = Field(unique=True)
    name: str
    password_hash: str
    is_admin: int
    created_at: int = Field(sa_type=BigInteger)
    disabled_at: int | None = Field(sa_type=BigInteger)


class LinkedIdentity(SQLModel, table=True):
    """Somebody's identity at an issuer, by `revocations.identity_key`."""

    __tablename__ = "identities"

    key: str = Field(primary_key=True)
    issuer: str
    user_id: str = Field(index=True, foreign_key="users.id")
    linked_at: int = Field(sa_type=BigInteger)


class Approval(SQLModel, table=True):
    """Something only the owner of `email` may grant: linking an identity to his account, or binding an agent."""

    __tablename__ = "approvals"

    id: str = Field(primary_key=True)
    digest: str = Field(unique=True)
    kind: str
    email: str
    identity: str
    issuer: str
    agent_id: str
    agent_name: str
    attempts: int
    created_at: int = Field(sa_type=BigInteger)
    expires_at: int = Field(sa_type=BigInteger, index=True)
    decided_at: int | None = Field(sa_type=BigInteger)


class BrowserSession(SQLModel, table=True):
    """Somebody signed in with a browser; the cookie's secret is kept as its digest only.

    `issuer` and `identity` are what the session stands on beside the user, when a provider vouched for him:
    see `trust.tables.Revocation`.
    """

    __tablename__ = "browser_sessions"

    id: str = Field(primary_key=True)
    digest: str = Field(unique=True)
    user_id: str = Field(index=True, foreign_key="users.id")
    issuer: str | None
    identity: str | None
    browser: str
    address: str
    signed_in_at: int = Field(sa_type=BigInteger)
    seen_at: int = Field(sa_type=BigInteger)
    expires_at: int = Field(sa_type=BigInteger, index=True)
