"""Access tokens by their id, OAuth clients."""
# pyright: reportAssignmentType=false
# SQLModel types __tablename__ as a declared attribute; a plain string is what it reads.

from sqlalchemy import BigInteger
from sqlmodel import Field, SQLModel


class AccessToken(SQLModel, table=True):
    """One issued token, without its secret: the signature lives with the bearer only.

    `client_id`, `user_id`, `issuer`, `identity` and `authorization` (a user's consent to a client, by the code flow)
    are what the token stands on; see `trust.tables.Revocation`.
    """

    __tablename__ = "access_tokens"
    __table_args__ = {"sqlite_with_rowid": False}

    jti: str = Field(primary_key=True)
    client_id: str
    user_id: str | None
    issuer: str | None
    identity: str | None
    authorization: str | None
    scope: str
    issued_at: int = Field(sa_type=BigInteger)
    expires_at: int = Field(sa_type=BigInteger)
    revoked_at: int | None = Field(sa_type=BigInteger)


class Client(SQLModel, table=True):
    """An OAuth client: added by an operator, or by itself (RFC 7591). Lists are space-delimited, as OAuth writes them.

    A public client has no secret. `used_at` is when a user first let it in; one that registered itself and never was
    is forgotten. `uri` is its home page, by its own word.
    """

    __tablename__ = "clients"

    id: str = Field(primary_key=True)
    name: str
    secret_digest: str
    auth_method: str
    grants: str
    scope: str
    redirect_uris: str
    origin: str
    uri: str
    id_token_alg: str
    created_at: int = Field(sa_type=BigInteger)
    used_at: int | None = Field(sa_type=BigInteger)
    removed_at: int | None = Field(sa_type=BigInteger)
