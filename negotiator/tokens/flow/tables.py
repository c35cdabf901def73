"""What users granted to clients by the code flow, what renews it, and what need not be asked again."""
# pyright: reportAssignmentType=false
# SQLModel types __tablename__ as a declared attribute; a plain string is what it reads.

from sqlalchemy import BigInteger, Index
from sqlmodel import Field, SQLModel


class Authorization(SQLModel, table=True):
    """One grant of a user to a client, with its one code; every token from it stands on its `id`.

    `issuer` and `identity` are what the user's sign-in stood on, `resource` what the request named, space-delimited,
    empty for anything of ours. The code is kept as its keyed digest; `key` is the thumbprint of the key it wants to see
    proven, if the request named one. `expires_at` is when all of it is over.
    """

    __tablename__ = "authorizations"
    __table_args__ = (Index("ix_authorizations_user_id_client_id", "user_id", "client_id"),)

    id: str = Field(primary_key=True)
    client_id: str
    user_id: str
    issuer: str | None
    identity: str | None
    scope: str
    resource: str
    redirect_uri: str
    nonce: str
    challenge: str
    key: str | None
    code_digest: str = Field(unique=True)
    code_expires_at: int = Field(sa_type=BigInteger)
    code_used_at: int | None = Field(sa_type=BigInteger)
    auth_time: int = Field(sa_type=BigInteger)
    created_at: int = Field(sa_type=BigInteger)
    expires_at: int = Field(sa_type=BigInteger, index=True)


class RefreshToken(SQLModel, table=True):
    """One link of a chain: good for one use, and kept after it, so that a second use is recognised.

    `key` is the thumbprint of the key that a client without a secret has to prove (RFC 9449 §5).
    """

    __tablename__ = "refresh_tokens"
    __table_args__ = {"sqlite_with_rowid": False}

    digest: str = Field(primary_key=True)
    authorization: str = Field(index=True)
    key: str | None
    issued_at: int = Field(sa_type=BigInteger)
    expires_at: int = Field(sa_type=BigInteger, index=True)
    used_at: int | None = Field(sa_type=BigInteger)


class Consent(SQLModel, table=True):
    """What a user lets a client do, for him to see and to withdraw; `remembered` scopes are not asked for again."""

    __tablename__ = "consents"
    __table_args__ = {"sqlite_with_rowid": False}

    user_id: str = Field(primary_key=True)
    client_id: str = Field(primary_key=True)
    client_name: str
    place: str
    scope: str
    remembered: str
    granted_at: int = Field(sa_type=BigInteger)
