"""Tables of users, their identities at issuers and passkeys, of approvals and of browser sessions."""

from typing import Final

from sqlalchemy import BigInteger
from sqlmodel import Field

from negotiator.base.values import DAY, HOUR
from negotiator.store.model import TableModel, table_options

SESSION_IDLE: Final = 12 * HOUR
"""A browser session ends after this time without use; milliseconds."""


class User(TableModel, table=True):
    """A user account. `email` is in lower case and unique; an account made from an assertion may have none."""

    __tablename__ = "users"
    __table_args__ = table_options(kept="an operator disables or erases an account")

    id: str = Field(primary_key=True)
    email: str | None = Field(unique=True)
    name: str
    password_hash: str
    is_admin: int
    created_at: int = Field(sa_type=BigInteger)
    disabled_at: int | None = Field(sa_type=BigInteger)


class LinkedIdentity(TableModel, table=True):
    """A user's identity at an issuer; `key` is `revocations.identity_key` of issuer, tenant and subject."""

    __tablename__ = "identities"
    __table_args__ = table_options(part_of={"user_id": "users"})

    key: str = Field(primary_key=True)
    issuer: str
    user_id: str = Field(index=True, foreign_key="users.id")
    linked_at: int = Field(sa_type=BigInteger)


class Passkey(TableModel, table=True):
    """A passkey of a user. `credential_id` and `public_key` (COSE) are base64url.

    `sign_count` is the counter that the authenticator last reported, 0 from those that count nothing. `is_synced` is
    whether it is kept in the user's account at its maker and not in one device only.
    """

    __tablename__ = "passkeys"
    __table_args__ = table_options(part_of={"user_id": "users"})

    id: str = Field(primary_key=True)
    user_id: str = Field(index=True, foreign_key="users.id")
    credential_id: str = Field(unique=True)
    public_key: str
    sign_count: int = Field(sa_type=BigInteger)
    is_synced: int
    name: str
    created_at: int = Field(sa_type=BigInteger)
    used_at: int | None = Field(sa_type=BigInteger)


class Approval(TableModel, table=True):
    """A request that only the owner of `email` may grant: to link an identity to their account, or to bind an agent."""

    __tablename__ = "approvals"
    __table_args__ = table_options(expires={"expires_at": DAY}, erased_by={"email": "email", "agent_id": "principal"})

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
    """A user's session in a browser; only the digest of the cookie's secret is stored.

    `issuer` and `identity` are set when an OpenID provider signed the user in. Revoking either of them, or the user,
    ends the session: see `trust.tables.Revocation`.
    """

    __tablename__ = "browser_sessions"
    __table_args__ = table_options(
        part_of={"user_id": "users"}, expires={"expires_at": DAY, "seen_at": SESSION_IDLE + DAY}
    )

    id: str = Field(primary_key=True)
    digest: str = Field(unique=True)
    user_id: str = Field(index=True, foreign_key="users.id")
    issuer: str | None
    identity: str | None
    browser: str
    address: str
    signed_in_at: int = Field(sa_type=BigInteger)
    seen_at: int = Field(sa_type=BigInteger, index=True)
    expires_at: int = Field(sa_type=BigInteger, index=True)
