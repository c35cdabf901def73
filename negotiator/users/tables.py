"""Users, the identities that are theirs, approvals that wait for them, the browsers they are signed in with."""

from typing import Final

from sqlalchemy import BigInteger
from sqlmodel import Field

from negotiator.store.model import TableModel, table_options
from negotiator.values import DAY, HOUR

SESSION_IDLE: Final = 12 * HOUR
"""A browser session that is not used for so long is over; milliseconds."""


class User(TableModel, table=True):
    """A person. `email` is kept in lower case and is unique; a just-in-time user may have none."""

    __tablename__ = "users"
    __table_args__ = table_options(kept="accounts are disabled, never deleted")

    id: str = Field(primary_key=True)
    email: str | None = Field(unique=True)
    name: str
    password_hash: str
    is_admin: int
    created_at: int = Field(sa_type=BigInteger)
    disabled_at: int | None = Field(sa_type=BigInteger)


class LinkedIdentity(TableModel, table=True):
    """Somebody's identity at an issuer, by `revocations.identity_key`."""

    __tablename__ = "identities"
    __table_args__ = table_options(part_of={"user_id": "users"})

    key: str = Field(primary_key=True)
    issuer: str
    user_id: str = Field(index=True, foreign_key="users.id")
    linked_at: int = Field(sa_type=BigInteger)


class Approval(TableModel, table=True):
    """Something only the owner of `email` may grant: linking an identity to his account, or binding an agent."""

    __tablename__ = "approvals"
    __table_args__ = table_options(expires={"expires_at": DAY})

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


class BrowserSession(TableModel, table=True):
    """Somebody signed in with a browser; the cookie's secret is kept as its digest only.

    `issuer` and `identity` are what the session stands on beside the user, when a provider vouched for him:
    see `trust.tables.Revocation`.
    """

    __tablename__ = "browser_sessions"
    __table_args__ = table_options(expires={"expires_at": 0, "seen_at": SESSION_IDLE})

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
