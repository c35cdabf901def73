"""Access tokens by their id, OAuth clients, API keys."""
# pyright: reportAssignmentType=false
# SQLModel types __tablename__ as a declared attribute; a plain string is what it reads.

from sqlalchemy import BigInteger, Index, text
from sqlmodel import Field, SQLModel


class AccessToken(SQLModel, table=True):
    """One issued token or identity assertion, without its secret: the signature lives with the bearer only.

    `client_id`, `user_id`, `issuer`, `identity` and `authorization` (a user's consent to a client, by the code flow)
    are what the token stands on; see `trust.tables.Revocation`. `key` is the thumbprint of the key it is bound to,
    `resource` what it is limited to, space-delimited, empty for the whole service (RFC 8707).
    """

    __tablename__ = "access_tokens"
    __table_args__ = (
        # For the user who looks at what his agents hold; tokens of nobody stay out of it and cost nothing.
        Index(
            "ix_access_tokens_user_id",
            "user_id",
            "issued_at",
            sqlite_where=text("user_id IS NOT NULL"),
            postgresql_where=text("user_id IS NOT NULL"),
        ),
        {"sqlite_with_rowid": False},
    )

    jti: str = Field(primary_key=True)
    client_id: str
    user_id: str | None
    issuer: str | None
    identity: str | None
    authorization: str | None
    key: str | None
    scope: str
    resource: str
    issued_at: int = Field(sa_type=BigInteger)
    expires_at: int = Field(sa_type=BigInteger)
    revoked_at: int | None = Field(sa_type=BigInteger)


class Client(SQLModel, table=True):
    """An OAuth client: added by an operator, or by itself (RFC 7591). Lists are space-delimited, as OAuth writes them.

    A public client has neither a secret nor `jwks`, the public keys that it proves itself by. `used_at` is when a user
    first let it in; one that registered itself and never was is forgotten. `uri` is its home page, by its own word.
    """

    __tablename__ = "clients"

    id: str = Field(primary_key=True)
    name: str
    secret_digest: str
    auth_method: str
    jwks: str | None
    grants: str
    scope: str
    redirect_uris: str
    origin: str
    uri: str
    id_token_alg: str
    created_at: int = Field(sa_type=BigInteger)
    used_at: int | None = Field(sa_type=BigInteger)
    removed_at: int | None = Field(sa_type=BigInteger)


class ApiKey(SQLModel, table=True):
    """A key of a directory agent, its secret only as a keyed digest.

    `retired_at` is when it got a successor, `expires_at` when it stops to work for that. `last_used_from` is a
    network, never an address.
    """

    __tablename__ = "api_keys"

    id: str = Field(primary_key=True)
    client_id: str = Field(index=True)
    digest: str
    created_at: int = Field(sa_type=BigInteger)
    retired_at: int | None = Field(sa_type=BigInteger)
    expires_at: int | None = Field(sa_type=BigInteger)
    revoked_at: int | None = Field(sa_type=BigInteger)
    last_used_at: int | None = Field(sa_type=BigInteger)
    last_used_from: str | None
