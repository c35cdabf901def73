"""Access tokens: issued as RFC 9068 JWTs, believed only while their row and all they stand on are live."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
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
from negotiator.tokens.api_keys import form, rows
from negotiator.tokens.api_keys.standing import FindStanding
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
    select(_token.jti, _token.identity).where(
        col(_token.jti) == bindparam("jti"),
        col(_token.revoked_at).is_(None),
        ~_WITHDRAWN,
    ),
    tuple,
)
_HELD = Query(
    select(_token)
    .where(
        col(_token.user_id) == bindparam("user"),
        col(_token.expires_at) > bindparam("now"),
        col(_token.revoked_at).is_(None),
        ~_WITHDRAWN,
    )
    .order_by(col(_token.issued_at).desc())
    .limit(1000),
    entity(AccessToken),
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
    """Makes, records, believes and revokes access tokens.

    `find_standing` tells what the holder of a key may do, for the tokens that were got with one.
    """

    def __init__(
        self,
        store: Store,
        keyring: Keyring,
        *,
        issuer: str,
        pepper: bytes,
        find_standing: FindStanding,
        offered: Iterable[str] = (*ASSISTANT, *DIRECTORY),
    ) -> None:
        self._offered = frozenset(offered)
        self._store = store
        self._keyring = keyring
        self._issuer = issuer
        self._pepper = pepper
        self._find_standing = find_standing
        self._believed: dict[bytes, tuple[int, Caller]] = {}
        self._seen: dict[str, int] = {}

    def make(self, subject: Subject, scopes: list[str], *, life: int) -> Issued:
        """A signed token for `life` seconds; it counts once `record` has kept its row.

        400 `invalid_scope` for a scope of a service that does not run here.
        """
        self._check_offered(scopes)
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

    def make_opaque(self, subject: Subject, scopes: list[str], *, life: int) -> Issued:
        """The same without a word of content: a text that means something only here."""
        self._check_offered(scopes)
        jti = values.new_ulid()
        text = form.write_bearer(jti, self._pepper)
        return Issued(subject, scopes, jti, text, life, values.now())

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
        if credential.startswith(form.BEARER):
            return await self._authenticate_opaque(credential)
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
        stands = await self._store.read(lambda tx: self._stands(tx, caller))
        if stands is not None and caller.user_id is not None:
            self._seen[caller.client_id] = values.now()
        return stands

    def seen(self) -> dict[str, int]:
        """Whose tokens that act for a user came by since this was last asked, and when (milliseconds).

        Kept in memory and written down once in a while: a write for every request would cost more than it tells.
        """
        seen, self._seen = self._seen, {}
        return seen

    async def _authenticate_opaque(self, credential: str) -> Caller | None:
        jti = form.read_bearer(credential, self._pepper)
        if jti is None:
            return None

        def unit(tx: Transaction) -> Caller | None:
            row = tx.one(_FIND, jti=jti)
            if row is None or row.expires_at <= values.now():
                return None
            subject = row.user_id or row.client_id
            scopes = frozenset(row.scope.split())
            return self._stands(tx, _caller(row.jti, row.client_id, subject, scopes))

        return await self._store.read(unit)

    def _stands(self, tx: Transaction, caller: Caller) -> Caller | None:
        """The caller, if all that its token stands on stands; with what its client may do now."""
        live = tx.one(_LIVE, jti=caller.credential)
        if live is None:
            return None
        if not rows.is_from_key(live[1]):
            return caller
        standing = self._find_standing(tx, caller.client_id)
        return standing and replace(caller, level=standing.level, rate=standing.rate)

    def find(self, tx: Transaction, credential: str) -> AccessToken | None:
        """The row of a token that we made, dead or alive."""
        if credential.startswith(form.BEARER):
            jti = form.read_bearer(credential, self._pepper)
        else:
            claims = self._claims(credential)
            jti = claims["jti"] if claims else None
        return tx.one(_FIND, jti=jti) if jti else None

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

    def _check_offered(self, scopes: list[str]) -> None:
        if not self._offered.issuperset(scopes):
            raise Refusal("A scope was asked for that is not offered here.", error="invalid_scope")

    def _believe(self, credential: str) -> tuple[int, Caller] | None:
        claims = self._claims(credential)
        if claims is None or claims["exp"] * 1000 <= values.now():
            return None
        scopes = frozenset(claims["scope"].split())
        caller = _caller(claims["jti"], claims["client_id"], claims["sub"], scopes)
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


def _caller(jti: str, client_id: str, subject: str, scopes: frozenset[str]) -> Caller:
    """Whom a token speaks for; a client that the operator added by hand is one that he knows."""
    is_agent = client_id.startswith("agt_")
    return Caller(
        kind="agent" if is_agent else "client",
        principal=subject,
        credential=jti,
        scopes=scopes,
        client_id=client_id,
        user_id=subject if subject != client_id else None,
        level=0 if is_agent else 3,
    )


def held(tx: Transaction, user_id: str) -> list[AccessToken]:
    """The newest thousand live tokens that act for a user, newest first."""
    return tx.all(_HELD, user=user_id, now=values.now())


def sweep(tx: Transaction, now: int) -> None:
    """Forget tokens a day after they expired."""
    tx.run(_FORGET, at=now - 86_400_000)
