"""Access tokens by their id, OAuth clients, API keys.

What users granted to clients by the code flow, what renews it, and what need not be asked again.
"""

from sqlalchemy import BigInteger, Index, text
from sqlmodel import Field

from negotiator.store.model import TableModel, table_options
from negotiator.values import DAY


class AccessToken(TableModel, table=True):
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
        table_options(sqlite_with_rowid=False, expires={"expires_at": DAY}),
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


class Client(TableModel, table=True):
    """An OAuth client: added by an operator, or by itself (RFC 7591). Lists are space-delimited, as OAuth writes them.

    A public client has neither a secret nor `jwks`, the public keys that it proves itself by. `used_at` is when a user
    first let it in; one that registered itself and never was is forgotten. `uri` is its home page, by its own word.
    """

    __tablename__ = "clients"
    __table_args__ = table_options(
        kept="clients.delete_unused deletes a client that registered itself and that no user let in"
    )

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


class ApiKey(TableModel, table=True):
    """A key of a directory agent, its secret only as a keyed digest.

    `retired_at` is when it got a successor, `expires_at` when it stops to work for that. `last_used_from` is a
    network, never an address.
    """

    __tablename__ = "api_keys"
    __table_args__ = table_options(expires={"expires_at": 30 * DAY, "revoked_at": 30 * DAY})

    id: str = Field(primary_key=True)
    client_id: str = Field(index=True)
    digest: str
    created_at: int = Field(sa_type=BigInteger)
    retired_at: int | None = Field(sa_type=BigInteger)
    expires_at: int | None = Field(sa_type=BigInteger)
    revoked_at: int | None = Field(sa_type=BigInteger)
    last_used_at: int | None = Field(sa_type=BigInteger)
    last_used_from: str | None


class AuthorizationGrant(TableModel, table=True):
    """One grant of a user to a client, with its one code; every token from it stands on its `id`.

    `issuer` and `identity` are what the user's sign-in stood on, `resource` what the request named, space-delimited,
    empty for anything of ours. The code is kept as its keyed digest; `key` is the thumbprint of the key it wants to see
    proven, if the request named one. `expires_at` is when all of it is over.
    """

    __tablename__ = "authorizations"
    __table_args__ = (
        Index("ix_authorizations_user_id_client_id", "user_id", "client_id"),
        table_options(owner="user_id", on_claim="leave", expires={"expires_at": DAY}),
    )

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


class RefreshToken(TableModel, table=True):
    """One link of a chain: good for one use, and kept after it, so that a second use is recognised.

    `key` is the thumbprint of the key that a client without a secret has to prove (RFC 9449 §5).
    """

    __tablename__ = "refresh_tokens"
    __table_args__ = table_options(sqlite_with_rowid=False, expires={"expires_at": 0})

    digest: str = Field(primary_key=True)
    authorization: str = Field(index=True)
    key: str | None
    issued_at: int = Field(sa_type=BigInteger)
    expires_at: int = Field(sa_type=BigInteger, index=True)
    used_at: int | None = Field(sa_type=BigInteger)


class ClientConsent(TableModel, table=True):
    """What a user lets a client do, for him to see and to withdraw; `remembered` scopes are not asked for again."""

    __tablename__ = "consents"
    __table_args__ = table_options(sqlite_with_rowid=False, owner="user_id", on_claim="leave")

    user_id: str = Field(primary_key=True)
    client_id: str = Field(primary_key=True)
    client_name: str
    place: str
    scope: str
    remembered: str
    granted_at: int = Field(sa_type=BigInteger)
