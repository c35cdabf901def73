"""Refresh tokens: each works once and is replaced by a new one; a second use ends the whole grant (RFC 9700 §4.14).

A second use has no grace period. A client that lost a response sends its user through the code flow again. A grace
period would let a stolen copy work beside the client's own token.
"""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import BigInteger, bindparam, update
from sqlmodel import col, select

from negotiator.base import values
from negotiator.store.statement import Query, RowInsertion, Statement, Transaction, entity
from negotiator.tokens import authorization_codes
from negotiator.tokens.authorization_codes import invalid_grant_refusal, replay_refusal
from negotiator.tokens.tables import AuthorizationGrant, RefreshToken

_row = RefreshToken
_LONGEST: Final = 64
_ADD = RowInsertion(RefreshToken)
_FIND = Query(select(_row).where(col(_row.digest) == bindparam("fingerprint")), entity(RefreshToken))
_USE = Statement(
    update(_row)
    .where(col(_row.digest) == bindparam("token"), col(_row.used_at).is_(None))
    .values(used_at=bindparam("now", type_=BigInteger))
)
_PROLONG = Statement(
    update(_row)
    .where(
        col(_row.authorization) == bindparam("grant"),
        col(_row.used_at).is_(None),
        col(_row.expires_at) > bindparam("now", type_=BigInteger),
    )
    .values(expires_at=bindparam("until", type_=BigInteger))
)


@dataclass(frozen=True, slots=True)
class NewRefreshToken:
    """A new refresh token with its text, of which only a digest is stored; `expires_at` in milliseconds."""

    text: str
    expires_at: int


@dataclass(frozen=True, slots=True)
class RefreshTokens:
    """Issues, rotates and finds refresh tokens.

    A token expires `life` seconds after it was issued and at most `longest` seconds after its grant or the user's last
    renewal of it, however often tokens of the grant were used.
    """

    pepper: bytes
    life: int

    @property
    def longest(self) -> int:
        """Seconds that a grant lives unless its user renews it."""
        return 6 * self.life

    def issue(self, tx: Transaction, grant_id: str, *, granted_at: int, key: str | None = None) -> NewRefreshToken:
        """A new refresh token of a grant (made at `granted_at`, ms), bound to the key of this thumbprint if given."""
        token, now = values.new_secret(), values.now()
        until = min(now + self.life * 1000, granted_at + self.longest * 1000)
        tx.run(
            _ADD,
            digest=values.keyed_digest(self.pepper, token),
            authorization=grant_id,
            key=key,
            issued_at=now,
            expires_at=until,
            used_at=None,
        )
        authorization_codes.extend(tx, grant_id, until=until)
        return NewRefreshToken(token, until)

    def find(self, tx: Transaction, token: str) -> tuple[RefreshToken, AuthorizationGrant] | None:
        """The row of this refresh token and its grant, live or not; None for any other text."""
        if len(token) > _LONGEST:
            return None
        found = tx.one(_FIND, fingerprint=values.keyed_digest(self.pepper, token))
        grant = authorization_codes.find(tx, found.authorization) if found else None
        return (found, grant) if found and grant else None

    def is_live(self, tx: Transaction, token: RefreshToken) -> bool:
        """Whether the token is unused and unexpired and its grant is live."""
        return (
            token.used_at is None
            and token.expires_at > values.now()
            and authorization_codes.is_live(tx, token.authorization)
        )

    def rotate(
        self, tx: Transaction, token: str, *, client_id: str, key: str | None = None
    ) -> tuple[AuthorizationGrant, NewRefreshToken]:
        """Mark the token as used and return its grant and the next token; `invalid_grant` when it is not valid.

        `key` is the thumbprint of the key that the client has proven to hold, if it did. It must match the key of a
        bound token. The next token is bound to `key`.
        """
        found = self.find(tx, token)
        if found is None or found[1].client_id != client_id:
            raise invalid_grant_refusal("The refresh token is not valid.")
        row, grant = found
        if row.key not in (None, key):
            raise invalid_grant_refusal("The refresh token is bound to another key.")
        if row.used_at is not None:
            raise replay_refusal(grant)
        if not self.is_live(tx, row):
            raise invalid_grant_refusal("The refresh token is not valid.")
        if not tx.run(_USE, token=row.digest, now=values.now()):
            raise replay_refusal(grant)
        granted_at = grant.renewed_at or grant.created_at
        return grant, self.issue(tx, grant.id, granted_at=granted_at, key=key)

    def renew(self, tx: Transaction, grant_id: str) -> bool:
        """Give a live grant and its refresh token the time that they had when they were new; False when it has none."""
        until = values.now() + self.life * 1000
        if not tx.run(_PROLONG, grant=grant_id, until=until, now=values.now()):
            return False
        authorization_codes.mark_renewed(tx, grant_id)
        authorization_codes.extend(tx, grant_id, until=until)
        return True
