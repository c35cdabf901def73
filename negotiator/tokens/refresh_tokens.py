"""Refresh tokens: each is replaced by a next one when it is used; reuse ends the whole grant (RFC 9700 §4.14).

A client that lost the answer, or asked twice at once, sends the same token again. It gets the same next token while
that is unused: at any time if it authenticates or proves the key, else within a minute from the same address and
program. The next token is derived from the last one and from who sent it, under the server's secret: no text is stored,
and the retry of another sender finds nothing.
"""

from collections.abc import Mapping
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
_RETRY: Final = 60_000
"""Milliseconds for which a client that proves nothing may repeat a request whose answer it lost."""
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


def sender_of(address: str, headers: Mapping[str, str]) -> str:
    """The address and the program of a request; never empty."""
    return f"{address} {headers.get('user-agent', '')}"


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

    def issue(
        self, tx: Transaction, grant_id: str, *, granted_at: int, key: str | None = None, token: str = ""
    ) -> NewRefreshToken:
        """A new refresh token of a grant (made at `granted_at`, ms), bound to the key of this thumbprint if given.

        `token` is its text if it is no random one.
        """
        token, now = token or values.new_secret(), values.now()
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
        self, tx: Transaction, token: str, *, client_id: str, key: str | None = None, sender: str = ""
    ) -> tuple[AuthorizationGrant, NewRefreshToken]:
        """Mark the token as used and return its grant and the next token; `invalid_grant` when it is not valid.

        `key` is the thumbprint of the key that the client has proven to hold, if it did. It must match the key of a
        bound token. The next token is bound to `key`. `sender` is the address and program of a client without a secret;
        it tells a retry from a theft where there is no key.
        """
        found = self.find(tx, token)
        if found is None or found[1].client_id != client_id:
            raise invalid_grant_refusal("The refresh token is not valid.")
        row, grant = found
        if row.key not in (None, key):
            raise invalid_grant_refusal("The refresh token is bound to another key.")
        if row.used_at is None and not self.is_live(tx, row):
            raise invalid_grant_refusal("The refresh token is not valid.")
        now, following = values.now(), values.keyed_digest(self.pepper, f"refresh:{token}:{key or sender}")
        if tx.run(_USE, token=row.digest, now=now):
            granted_at = grant.renewed_at or grant.created_at
            return grant, self.issue(tx, grant.id, granted_at=granted_at, key=key, token=following)
        may_repeat = key or not sender or now - (row.used_at or now) < _RETRY
        again = self.find(tx, following) if may_repeat else None
        if again is None or not self.is_live(tx, again[0]):
            raise replay_refusal(grant)
        return grant, NewRefreshToken(following, again[0].expires_at)

    def renew(self, tx: Transaction, grant_id: str) -> bool:
        """Give a live grant and its refresh token the time that they had when they were new; False when it has none."""
        until = values.now() + self.life * 1000
        if not tx.run(_PROLONG, grant=grant_id, until=until, now=values.now()):
            return False
        authorization_codes.mark_renewed(tx, grant_id)
        authorization_codes.extend(tx, grant_id, until=until)
        return True
