"""Access tokens: issued as RFC 9068 JWTs, believed only while their row and all they stand on are live."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import jwt
from sqlalchemy import bindparam, delete, exists, update
from sqlmodel import col, select

from negotiator import audit, values
from negotiator.caller import Caller
from negotiator.errors import Refusal
from negotiator.keys import ALGORITHM, Keyring
from negotiator.scopes import ASSISTANT, DIRECTORY
from negotiator.store.statement import Query, Statement, Transaction, entity, insertion
from negotiator.store.store import Store
from negotiator.tokens.tables import AccessToken
from negotiator.trust.tables import Revocation

TYPE: Final = "at+jwt"
_LONGEST: Final = 4096
_REMEMBERED: Final = 8192

_token = AccessToken
_RECORD = Statement(insertion(AccessToken))
_WITHDRAWN = exists().where(
    col(Revocation.subject).in_(
        [
            col(_token.client_id),
            col(_token.user_id),
            col(_token.issuer),
            col(_token.identity),
        ]
    ),
    col(Revocation.before) >= col(_token.issued_at),
)
_LIVE = Query(
    select(_token.jti).where(
        col(_token.jti) == bindparam("jti"),
        col(_token.revoked_at).is_(None),
        ~_WITHDRAWN,
    ),
    lambda row: str(row[0]),
)
_FIND = Query(select(_token).where(col(_token.jti) == bindparam("jti")), entity(AccessToken))
_REVOKE = Statement(
    update(_token)
    .where(col(_token.jti) == bindparam("token"), col(_token.revoked_at).is_(None))
    .values(revoked_at=bindparam("at"))
)
_FORGET = Statement(delete(_token).where(col(_token.expires_at) < bindparam("at")))


@dataclass(frozen=True, slots=True)
class Subject:
    """Whom a token is for and what it stands on."""

    client_id: str
    user_id: str | None = None
    issuer: str | None = None
    identity: str | None = None

    @property
    def principal(self) -> str:
        """Who owns what is made with the token."""
        return self.user_id or self.client_id


@dataclass(frozen=True, slots=True)
class Issued:
    """A token that was made and not yet recorded; `life` in seconds."""

    subject: Subject
    scopes: list[str]
    jti: str
    text: str
    life: int
    issued_at: int

    def members(self) -> dict[str, Any]:
        """The seed's five members (assistant §2)."""
        return {
            "client_id": self.subject.client_id,
            "access_token": self.text,
            "token_type": "Bearer",
            "expires_in": self.life,
            "scopes": self.scopes,
        }


class Credentials:
    """Makes, records, believes and revokes access tokens."""

    def __init__(
        self,
        store: Store,
        keyring: Keyring,
        *,
        issuer: str,
        offered: Iterable[str] = (*ASSISTANT, *DIRECTORY),
    ) -> None:
        self._offered = frozenset(offered)
        self._store = store
        self._keyring = keyring
        self._issuer = issuer
        self._believed: dict[bytes, tuple[int, Caller]] = {}

    def make(self, subject: Subject, scopes: list[str], *, life: int) -> Issued:
        """A signed token for `life` seconds; it counts once `record` has kept its row.

        400 `invalid_scope` for a scope of a service that does not run here.
        """
        if not self._offered.issuperset(scopes):
            raise Refusal("A scope was asked for that is not offered here.", error="invalid_scope")
        at = values.now()
        jti = values.new_ulid()
        claims = {
            "iss": self._issuer,
            "aud": self._issuer,
            "sub": subject.principal,
            "client_id": subject.client_id,
            "jti": jti,
            "iat": at // 1000,
            "exp": at // 1000 + life,
            "scope": " ".join(scopes),
        }
        return Issued(subject, scopes, jti, self._keyring.sign(claims, TYPE), life, at)

    def record(self, tx: Transaction, token: Issued) -> None:
        """Keep the token's row, in the unit that gives it a reason to be."""
        subject = token.subject
        tx.run(
            _RECORD,
            jti=token.jti,
            client_id=subject.client_id,
            user_id=subject.user_id,
            issuer=subject.issuer,
            identity=subject.identity,
            scope=" ".join(token.scopes),
            issued_at=token.issued_at,
            expires_at=(token.issued_at // 1000 + token.life) * 1000,
            revoked_at=None,
        )

    async def authenticate(self, credential: str) -> Caller | None:
        """The caller behind a live token of ours (RFC 9068 §4, RFC 6750); None for anything else."""
        key = hashlib.sha256(credential.encode()).digest()
        found = self._believed.get(key)
        if found is None:
            found = self._believe(credential)
            if found is None:
                return None
            if len(self._believed) >= _REMEMBERED:
                del self._believed[next(iter(self._believed))]
            self._believed[key] = found
        expires_at, caller = found
        if expires_at <= values.now():
            return None
        live = await self._store.read(lambda tx: tx.one(_LIVE, jti=caller.credential))
        return caller if live else None

    def find(self, tx: Transaction, credential: str) -> AccessToken | None:
        """The row of a token with a valid signature, dead or alive."""
        claims = self._claims(credential)
        return tx.one(_FIND, jti=claims["jti"]) if claims else None

    def is_live(self, tx: Transaction, token: AccessToken) -> bool:
        """Whether the token would be believed now."""
        return token.expires_at > values.now() and tx.one(_LIVE, jti=token.jti) is not None

    def describe(self, token: AccessToken) -> dict[str, Any]:
        """A live token in RFC 7662's words."""
        return {
            "active": True,
            "scope": token.scope,
            "client_id": token.client_id,
            "token_type": "Bearer",
            "exp": token.expires_at // 1000,
            "iat": token.issued_at // 1000,
            "sub": token.user_id or token.client_id,
            "aud": self._issuer,
            "iss": self._issuer,
            "jti": token.jti,
        }

    def revoke(self, tx: Transaction, token: AccessToken, *, actor: str) -> None:
        """Kill one token; nothing happens to a dead one."""
        if tx.run(_REVOKE, token=token.jti, at=values.now()):
            audit.record(tx, "token.revoked", token.client_id, actor=actor, jti=token.jti)

    def revoke_id(self, tx: Transaction, jti: str) -> None:
        """Kill the token of this id, as part of something larger that leaves its own trail."""
        tx.run(_REVOKE, token=jti, at=values.now())

    def _believe(self, credential: str) -> tuple[int, Caller] | None:
        claims = self._claims(credential)
        if claims is None or claims["exp"] * 1000 <= values.now():
            return None
        client_id, subject = claims["client_id"], claims["sub"]
        caller = Caller(
            kind="agent" if client_id.startswith("agt_") else "client",
            principal=subject,
            credential=claims["jti"],
            scopes=frozenset(claims["scope"].split()),
            client_id=client_id,
            user_id=subject if subject != client_id else None,
        )
        return claims["exp"] * 1000, caller

    def _claims(self, credential: str) -> dict[str, Any] | None:
        """The claims of a token, live or not, that we signed for this service; None for any other text."""
        if len(credential) > _LONGEST:
            return None
        try:
            header = jwt.get_unverified_header(credential)
            key = self._keyring.find(str(header.get("kid")))
            if key is None or header.get("typ") != TYPE:
                return None
            claims: dict[str, Any] = jwt.decode(
                credential,
                key.verifying,
                algorithms=[ALGORITHM],
                audience=self._issuer,
                issuer=self._issuer,
                options={
                    "require": ["exp", "iat", "jti", "sub", "client_id"],
                    # Our own clock decides, here as in the row; see `authenticate` and `is_live`.
                    "verify_exp": False,
                    "verify_iat": False,
                },
            )
        except (jwt.InvalidTokenError, ValueError):
            return None
        return claims


def sweep(tx: Transaction, now: int) -> None:
    """Forget tokens a day after they expired."""
    tx.run(_FORGET, at=now - 86_400_000)
