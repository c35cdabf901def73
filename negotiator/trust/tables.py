"""Trusted issuers as an operator configured them, and the watermarks that withdraw trust."""

from sqlalchemy import BigInteger
from sqlmodel import Field

from negotiator.base.values import DAY
from negotiator.store.model import TableModel, table_options


class TrustedIssuer(TableModel, table=True):
    """An identity provider whose assertions are trusted. Lists are stored space-delimited.

    Keys come from `jwks` (a document) when it is not empty, else from `jwks_uri`, else by discovery.
    """

    __tablename__ = "trusted_issuers"
    __table_args__ = table_options(kept="an operator adds and removes issuers")

    issuer: str = Field(primary_key=True)
    algorithms: str
    jwks: str
    jwks_uri: str
    clients: str
    scope: str
    email_domains: str
    email_verifier: int
    max_auth_age: int | None
    tenanted: int
    added_at: int = Field(sa_type=BigInteger)
    removed_at: int | None = Field(sa_type=BigInteger)


class Revocation(TableModel, table=True):
    """A watermark: everything issued to `subject` up to `before` is void.

    The subject is an agent, a client, a user, an issuer, a grant, an identity at an issuer, or an identity's logins.
    `forget_at` is set once nothing of the subject exists any more but tokens that end before; else the row stays.
    """

    __tablename__ = "revocations"
    __table_args__ = table_options(expires={"forget_at": DAY})

    subject: str = Field(primary_key=True)
    before: int = Field(sa_type=BigInteger)
    forget_at: int | None = Field(default=None, sa_type=BigInteger, index=True)
