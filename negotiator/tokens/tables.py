"""Tables of access tokens, OAuth clients, API keys, authorization grants, refresh tokens and consents."""

from sqlalchemy import BigInteger, Index, text
from sqlmodel import Field

from negotiator.base.values import DAY
from negotiator.store.model import TableModel, table_options


class AccessToken(TableModel, table=True):
    """One issued access token or identity assertion. The row does not hold its text or signature.

    Revoking the `client_id`, `user_id`, `issuer`, `identity` or `authorization` (the id of an `AuthorizationGrant`)
    ends the token; see `trust.tables.Revocation`. `key` is the thumbprint of the key that the token is bound to.
    `resource` lists the resources that it is limited to, space-delimited; empty means the whole service (RFC 8707).
    """

    __tablename__ = "access_tokens"
    __table_args__ = (
        # For the list of the tokens that act for a user; tokens without a user are left out of the index.
        Index("ix_access_tokens_user_id", "user_id", "issued_at", sqlite_where=text("user_id IS NOT NULL")),
        table_options(
            sqlite_with_rowid=False,
            expires={"expires_at": DAY},
            erased_by={"client_id": "principal", "user_id": "principal"},
        ),
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
    expires_at: int = Field(sa_type=BigInteger, index=True)
    revoked_at: int | None = Field(sa_type=BigInteger)


class Client(TableModel, table=True):
    """An OAuth client, added by an operator or by its own registration (RFC 7591). Lists are space-delimited.

    `jwks` holds the public keys of a client that authenticates by a signed assertion, unless they are at `jwks_uri`; a
    public client has neither keys nor a secret. `used_at` is when a user first granted the client access; a client that
    registered itself and has none is deleted after a week. `uri` is the home page that the client states.
    """

    __tablename__ = "clients"
    __table_args__ = (
        Index("ix_clients_unused", "origin", "used_at", "created_at"),
        table_options(kept="clients.delete_unused deletes a client that registered itself and that no user let in"),
    )

    id: str = Field(primary_key=True)
    name: str
    secret_digest: str
    auth_method: str
    jwks: str | None
    jwks_uri: str | None
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
    """An API key of a directory agent; only a keyed digest of the key is stored.

    `retired_at` is when a successor was issued, and `expires_at` is when the retired key stops working.
    `last_used_from` is a network and never a full address.
    """

    __tablename__ = "api_keys"
    __table_args__ = table_options(
        expires={"expires_at": 30 * DAY, "revoked_at": 30 * DAY}, erased_by={"client_id": "principal"}
    )

    id: str = Field(primary_key=True)
    client_id: str = Field(index=True)
    digest: str
    created_at: int = Field(sa_type=BigInteger)
    retired_at: int | None = Field(sa_type=BigInteger)
    expires_at: int | None = Field(sa_type=BigInteger, index=True)
    revoked_at: int | None = Field(sa_type=BigInteger, index=True)
    last_used_at: int | None = Field(sa_type=BigInteger)
    last_used_from: str | None


class AuthorizationGrant(TableModel, table=True):
    """One grant of a user to a client, with its one authorization code; revoking its `id` ends every token from it.

    `issuer` and `identity` name the OpenID provider that signed the user in, if one did. `resource` lists the
    resources of the request, space-delimited; empty means the whole service. Only the keyed digest of the code is
    stored. `key` is the thumbprint of the key that the client must prove to redeem the code, if the request named one.
    `renewed_at` is when the user last renewed it; its longest life counts from then. `expires_at` is when the code and
    all tokens from it have expired.
    """

    __tablename__ = "authorizations"
    __table_args__ = (
        Index("ix_authorizations_user_id_client_id", "user_id", "client_id"),
        table_options(
            owner="user_id", on_claim="leave", expires={"expires_at": DAY}, erased_by={"client_id": "principal"}
        ),
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
    renewed_at: int | None = Field(default=None, sa_type=BigInteger)
    expires_at: int = Field(sa_type=BigInteger, index=True)


class RefreshToken(TableModel, table=True):
    """A refresh token. It works once; its row stays until it expires, so that a second use is detected.

    `key` is the thumbprint of the key that a public client must prove (RFC 9449 §5).
    """

    __tablename__ = "refresh_tokens"
    __table_args__ = table_options(
        sqlite_with_rowid=False, part_of={"authorization": "authorizations"}, expires={"expires_at": DAY}
    )

    digest: str = Field(primary_key=True)
    authorization: str = Field(index=True)
    key: str | None
    issued_at: int = Field(sa_type=BigInteger)
    expires_at: int = Field(sa_type=BigInteger, index=True)
    used_at: int | None = Field(sa_type=BigInteger)


class ClientConsent(TableModel, table=True):
    """The scopes that a user granted to a client; for the `remembered` ones, no consent page is shown again.

    `auth_method` is how the client authenticated then; None for a consent from before it was stored.
    """

    __tablename__ = "consents"
    __table_args__ = table_options(sqlite_with_rowid=False, owner="user_id", on_claim="leave")

    user_id: str = Field(primary_key=True)
    client_id: str = Field(primary_key=True)
    client_name: str
    place: str
    scope: str
    remembered: str
    auth_method: str | None
    granted_at: int = Field(sa_type=BigInteger)
