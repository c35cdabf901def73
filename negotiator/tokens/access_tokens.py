"""Access tokens: RFC 9068 JWTs or opaque texts, each with a row that is checked at every request.

A token is live until it expires, it is revoked, or its client, user, issuer, identity or grant is revoked. A token
may be limited to resources (RFC 8707), which become its `aud`. A resource is the base URL of the service, which
allows every path, or a part such as `{base}/mcp`. Several are space-delimited; none means the whole service.
When tokens were last used is collected in memory, because a write at every request is too expensive.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import BigInteger, and_, bindparam, exists, func, or_, update
from sqlmodel import col, select

from negotiator.base import values
from negotiator.base.caller import Caller
from negotiator.base.errors import InvalidRequest, Refusal
from negotiator.base.scopes import ASSISTANT, DIRECTORY
from negotiator.base.strict_json import is_array
from negotiator.keys.keyring import ALGORITHM, Keyring, SigningKey
from negotiator.store import audit
from negotiator.store.statement import Query, RowInsertion, Statement, Transaction, entity, table
from negotiator.store.store import Store
from negotiator.tokens import api_keys
from negotiator.tokens.api_keys import ApiKeyAuthenticator, FindEntitlement
from negotiator.tokens.tables import AccessToken
from negotiator.trust.revocations import register_backdating
from negotiator.trust.tables import Revocation


def narrow_resources(granted: str, asked: str | None, *, base: str) -> str:
    """The resources of a new token: the requested ones, else the granted ones; empty for the whole service.

    400 `invalid_target` for a resource that was not granted (RFC 8707 §2.2).
    """
    if not granted and not asked:
        return ""
    limit, wanted = set(granted.split()), set((asked or "").split())
    if limit and base not in limit and not wanted <= limit:
        raise InvalidRequest("The grant is for another resource.", error="invalid_target")
    found = wanted or limit
    return "" if base in found else " ".join(sorted(found))


def audience_claim(resource: str, *, base: str) -> str | list[str]:
    """The `aud` claim of a token for these resources (RFC 9068 §2.2)."""
    named = resource.split() or [base]
    return named[0] if len(named) == 1 else named


def audience_paths(claim: object, *, base: str) -> tuple[str, ...] | None:
    """The path prefixes that a token with this `aud` allows; () for all paths; None when it is for another service."""
    named = claim if is_array(claim) else [claim]
    if not named or not all(isinstance(each, str) and (each == base or each.startswith(f"{base}/")) for each in named):
        return None
    found = {str(each).removeprefix(base) for each in named}
    return () if "" in found else tuple(sorted(found))


@dataclass(frozen=True, slots=True)
class TokenSubject:
    """The client and user of a token, and the other subjects whose revocation ends it.

    `key` is the thumbprint of the key that it is bound to (RFC 9449 §6). `resource` lists the resources that it is
    limited to, space-delimited (see `audience_claim`).
    """

    client_id: str
    user_id: str | None = None
    issuer: str | None = None
    identity: str | None = None
    authorization: str | None = None
    key: str | None = None
    resource: str = ""

    @property
    def principal(self) -> str:
        """The id of the owner of everything that is created with the token."""
        return self.user_id or self.client_id

    @property
    def token_type(self) -> str:
        """The `token_type` of the token response: `DPoP` for a bound token, else `Bearer`."""
        return "DPoP" if self.key else "Bearer"


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token without its text, as its row holds it; `life` in seconds, `issued_at` in milliseconds.

    `typ` is the type of its JWT, empty for an opaque token.
    """

    subject: TokenSubject
    scopes: list[str]
    jti: str
    life: int
    issued_at: int
    typ: str


@dataclass(frozen=True, slots=True)
class IssuedToken(NewToken):
    """A token with its text, which is secret."""

    text: str

    def members(self) -> dict[str, Any]:
        """The members of a registration response that describe the token (docs/contract 2.1)."""
        return {
            "client_id": self.subject.client_id,
            "access_token": self.text,
            "token_type": self.subject.token_type,
            "expires_in": self.life,
            "scopes": self.scopes,
        }


ACCESS_TOKEN_TYPE: Final = "at+jwt"  # noqa: S105
IDENTITY_ASSERTION_TYPE: Final = "agent-identity+jwt"
"""The `typ` of an agent's identity assertion, which is exchanged for access tokens and differs from an ID-JAG's."""
OPAQUE: Final = ""
"""In place of the `typ` of a JWT: the token's text carries no claims."""
_LONGEST: Final = 4096
_REMEMBERED: Final = 8192
_REQUIRED: Final = {"iss", "aud", "sub", "client_id", "jti", "iat", "exp", "scope"}
"""The claims that every token of this service has (RFC 9068 §2.2)."""

_token = AccessToken
_RECORD = RowInsertion(AccessToken)
_REVOCABLE: Final = ("client_id", "user_id", "issuer", "identity", "authorization")
_WITHDRAWN: Final = or_(
    # A look-up for each subject that the token has; `IN` costs a read more than all of them.
    *(
        and_(
            subject.is_not(None),
            exists().where(col(Revocation.subject) == subject, col(Revocation.before) >= col(_token.issued_at)),
        )
        for subject in (table(AccessToken).c[name] for name in _REVOCABLE)
    )
)
_LIVE = Query(
    select(_token.jti, _token.identity, _token.authorization).where(
        col(_token.jti) == bindparam("jti"),
        col(_token.expires_at) > bindparam("now"),
        col(_token.revoked_at).is_(None),
        ~_WITHDRAWN,
    ),
    tuple,
)
_IS_WITHDRAWN = Query(select(_token.jti).where(col(_token.jti) == bindparam("jti"), _WITHDRAWN), tuple)
_FIND = Query(select(_token).where(col(_token.jti) == bindparam("jti")), entity(AccessToken))
_REVOKE = Statement(
    update(_token)
    .where(col(_token.jti) == bindparam("token"), col(_token.revoked_at).is_(None))
    .values(revoked_at=bindparam("at"))
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
_LAST_ISSUED = Query(
    select(_token.client_id, func.max(_token.issued_at))
    .where(col(_token.user_id) == bindparam("user"))
    .group_by(col(_token.client_id)),
    lambda row: (str(row[0]), int(row[1])),
)
_END_AGENTS = Statement(
    update(_token)
    .where(
        col(_token.user_id) == bindparam("user"),
        col(_token.client_id).like("agt\\_%", escape="\\"),
        col(_token.revoked_at).is_(None),
        col(_token.expires_at) > bindparam("now", type_=BigInteger),
    )
    .values(revoked_at=bindparam("now", type_=BigInteger))
)

register_backdating("", AccessToken, key="jti", moment="issued_at")


class AccessTokens:
    """Issues, stores, authenticates and revokes access tokens.

    `find_standing` finds the entitlement of a client for tokens that were issued for an API key. `offered` lists the
    scopes that this service grants.
    """

    def __init__(
        self,
        store: Store,
        keyring: Keyring,
        *,
        issuer: str,
        pepper: bytes,
        find_standing: FindEntitlement,
        offered: Iterable[str] = (*ASSISTANT, *DIRECTORY),
    ) -> None:
        self.offered = frozenset(offered)
        self._store = store
        self._keyring = keyring
        self.issuer = issuer
        self._pepper = pepper
        self._find_standing = find_standing
        self._believed: dict[bytes, tuple[int, Caller]] = {}
        self._believed_by: list[SigningKey] = []
        self._seen: dict[str, int] = {}

    def make(self, subject: TokenSubject, scopes: list[str], *, life: int, typ: str = ACCESS_TOKEN_TYPE) -> NewToken:
        """A token that lives `life` seconds: `record` stores its row, then `issue` writes its text.

        400 `invalid_scope` for a scope that is not in `offered`.
        """
        if not self.offered.issuperset(scopes):
            raise Refusal("A scope was asked for that is not offered here.", error="invalid_scope")
        resource = narrow_resources(subject.resource, None, base=self.issuer)
        if resource != subject.resource:
            subject = replace(subject, resource=resource)
        return NewToken(subject, scopes, values.new_ulid(), life, values.now(), typ)

    def issue(self, token: NewToken) -> IssuedToken:
        """The token with its text.

        Signing takes longer than everything that a unit does, so it follows the unit that stores the row: nothing else
        waits for it then, and no text exists of a token that was not stored.
        """
        text = (
            api_keys.write_bearer(token.jti, self._pepper)
            if token.typ == OPAQUE
            else self._keyring.sign(self._new_claims(token), token.typ)
        )
        return IssuedToken(token.subject, token.scopes, token.jti, token.life, token.issued_at, token.typ, text)

    def _new_claims(self, token: NewToken) -> dict[str, Any]:
        subject, issued_at = token.subject, token.issued_at // 1000
        claims: dict[str, Any] = {
            "iss": self.issuer,
            # An identity assertion is for this service alone; its resources limit the tokens that it is exchanged for.
            "aud": self.issuer
            if token.typ == IDENTITY_ASSERTION_TYPE
            else audience_claim(subject.resource, base=self.issuer),
            "sub": subject.principal,
            "client_id": subject.client_id,
            "jti": token.jti,
            "iat": issued_at,
            "exp": issued_at + token.life,
            "scope": " ".join(token.scopes),
        }
        if subject.key:
            claims["cnf"] = {"jkt": subject.key}
        return claims

    def record(self, tx: Transaction, token: NewToken) -> None:
        """Store the token's row."""
        subject = token.subject
        tx.run(
            _RECORD,
            jti=token.jti,
            client_id=subject.client_id,
            user_id=subject.user_id,
            issuer=subject.issuer,
            identity=subject.identity,
            authorization=subject.authorization,
            key=subject.key,
            scope=" ".join(token.scopes),
            resource=subject.resource,
            issued_at=token.issued_at,
            # In milliseconds, because `exp` of a JWT is rounded down to a second: a client that counts `expires_in`
            # from the response would otherwise send an expired token at the end, and many then ask the user again.
            expires_at=token.issued_at + token.life * 1000,
            revoked_at=None,
        )

    async def authenticate(self, credential: str) -> Caller | None:
        """The caller of a live token of this service (RFC 9068 §4, RFC 6750); None for any other text."""
        if credential.startswith(api_keys.BEARER_PREFIX):
            return await self._authenticate_opaque(credential)
        key = hashlib.sha256(credential.encode()).digest()
        if self._keyring.loaded is not self._believed_by:  # a key may have been deleted
            self._believed_by = self._keyring.loaded
            self._believed.clear()
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
        standing = await self._store.read(lambda tx: self._stands(tx, caller))
        if standing is not None and standing.user_id is not None:
            self._seen[standing.client_id] = values.now()
        return standing

    def take_seen(self) -> dict[str, int]:
        """When clients last used tokens that act for a user (milliseconds), in this process and since the last call.

        A crash loses the times that were not taken yet.
        """
        taken, self._seen = self._seen, {}
        return taken

    def stands(self, tx: Transaction, caller: Caller) -> bool:
        """Whether the caller's token is live."""
        return self._stands(tx, caller) is not None

    def subjects(self, tx: Transaction, caller: Caller) -> frozenset[str]:
        """The subjects whose revocation ends the caller's token: its id, client, user, issuer, identity and grant."""
        row = tx.one(_FIND, jti=caller.credential)
        if row is None:
            return frozenset({caller.credential})
        named = (row.client_id, row.user_id, row.issuer, row.identity, row.authorization)
        return frozenset({row.jti, *(name for name in named if name is not None)})

    def is_withdrawn(self, tx: Transaction, caller: Caller) -> bool:
        """Whether a subject of the token (client, user, issuer, identity, grant) was revoked, not the token alone.

        True also when the token has no row.
        """
        row = tx.one(_FIND, jti=caller.credential)
        return row is None or tx.one(_IS_WITHDRAWN, jti=caller.credential) is not None

    async def _authenticate_opaque(self, credential: str) -> Caller | None:
        jti = api_keys.read_bearer(credential, self._pepper)
        if jti is None:
            return None

        def unit(tx: Transaction) -> Caller | None:
            row = tx.one(_FIND, jti=jti)
            limit = row and audience_paths(audience_claim(row.resource, base=self.issuer), base=self.issuer)
            if row is None or limit is None:
                return None
            subject, scopes = row.user_id or row.client_id, frozenset(row.scope.split())
            caller = _caller(jti, row.client_id, subject, scopes, key=row.key, limit=limit)
            return self._stands(tx, caller)

        return await self._store.read(unit)

    def _stands(self, tx: Transaction, caller: Caller) -> Caller | None:
        """The caller if its token is live, with the current level and rate of a client that holds API keys."""
        live = tx.one(_LIVE, jti=caller.credential, now=values.now())
        if live is None:
            return None
        if not (live[1] or "").startswith(api_keys.KEY_IDENTITY):
            by_assertion = caller.kind == "client" and caller.user_id is not None and live[2] is None
            return replace(caller, by_assertion=True) if by_assertion else caller
        standing = self._find_standing(tx, caller.client_id)
        return standing and replace(caller, level=standing.level, rate=standing.rate)

    def find(self, tx: Transaction, credential: str) -> AccessToken | None:
        """The row of an access token of this service, live or not; None for any other text."""
        if credential.startswith(api_keys.BEARER_PREFIX):
            jti = api_keys.read_bearer(credential, self._pepper)
        else:
            claims = self._claims(credential)
            jti = claims["jti"] if claims else None
        return tx.one(_FIND, jti=jti) if jti else None

    def identity(self, tx: Transaction, text: str) -> AccessToken | None:
        """The row of a live identity assertion of this service; None for any other text."""
        claims = self._claims(text, IDENTITY_ASSERTION_TYPE)
        row = tx.one(_FIND, jti=claims["jti"]) if claims else None
        return row if row and self.is_live(tx, row) else None

    def is_live(self, tx: Transaction, token: AccessToken) -> bool:
        """Whether the token is neither expired nor revoked."""
        return tx.one(_LIVE, jti=token.jti, now=values.now()) is not None

    def revoke(self, tx: Transaction, token: AccessToken, *, actor: str) -> None:
        """Revoke one token and record it in the audit log; a revoked token stays as it is."""
        if tx.run(_REVOKE, token=token.jti, at=values.now()):
            tx.announce(token.jti)
            audit.record(tx, "token.revoked", token.client_id, actor=actor, jti=token.jti)

    def revoke_id(self, tx: Transaction, jti: str) -> None:
        """Revoke the token with this id; the caller records the action in the audit log."""
        tx.run(_REVOKE, token=jti, at=values.now())
        tx.announce(jti)

    def _believe(self, credential: str) -> tuple[int, Caller] | None:
        """The latest expiry (milliseconds) and the caller of a JWT of this service; its row has the exact expiry."""
        claims = self._claims(credential)
        limit = None if claims is None else audience_paths(claims["aud"], base=self.issuer)
        if claims is None or limit is None:
            return None
        scopes = frozenset(claims["scope"].split())
        key = claims.get("cnf", {}).get("jkt")
        caller = _caller(claims["jti"], claims["client_id"], claims["sub"], scopes, key=key, limit=limit)
        return (claims["exp"] + 1) * 1000, caller

    def _claims(self, credential: str, typ: str = ACCESS_TOKEN_TYPE) -> dict[str, Any] | None:
        """The claims of a JWT that this service signed for itself, live or not; None for any other text."""
        claims = self._keyring.verify(credential, typ, longest=_LONGEST, algorithms=(ALGORITHM,))
        if claims is None or not claims.keys() >= _REQUIRED:
            return None
        # Expiry is not checked here: `authenticate` and `is_live` compare it with the service's own clock.
        ours = claims["iss"] == self.issuer and audience_paths(claims["aud"], base=self.issuer) is not None
        return claims if ours else None


def _caller(
    jti: str, client_id: str, subject: str, scopes: frozenset[str], *, key: str | None, limit: tuple[str, ...]
) -> Caller:
    """The caller of a token: an agent has level 0, an OAuth client level 1."""
    is_agent = client_id.startswith("agt_")
    return Caller(
        kind="agent" if is_agent else "client",
        principal=subject,
        credential=jti,
        scopes=scopes,
        client_id=client_id,
        user_id=subject if subject != client_id else None,
        level=0 if is_agent else 1,
        key=key,
        paths=limit,
    )


def live_tokens(tx: Transaction, user_id: str) -> list[AccessToken]:
    """The newest thousand live tokens that act for a user, newest first."""
    return tx.all(_HELD, user=user_id, now=values.now())


def last_issued(tx: Transaction, user_id: str) -> dict[str, int]:
    """When each client last got a token that acts for the user (milliseconds); deleted tokens do not count."""
    return dict(tx.all(_LAST_ISSUED, user=user_id))


def end_agents(tx: Transaction, user_id: str) -> int:
    """Revoke every live token that an agent holds for this user; returns how many there were."""
    tx.announce(user_id)
    return tx.run(_END_AGENTS, user=user_id, now=values.now())


@dataclass(frozen=True, slots=True)
class BearerAuthenticator:
    """Authenticates the text after `Bearer`: an API key, an opaque access token or a JWT access token."""

    keys: ApiKeyAuthenticator
    credentials: AccessTokens

    async def authenticate(self, credential: str, address: str = "") -> Caller | None:
        """The caller of a live credential; None for any other text."""
        if credential.startswith(api_keys.KEY_PREFIX):
            return await self.keys.authenticate(credential, address)
        return await self.credentials.authenticate(credential)

    def stands(self, tx: Transaction, caller: Caller) -> bool:
        """Whether the caller's credential is live: neither it nor anything that it depends on has ended."""
        if _is_key(caller):
            return self.keys.stands(tx, caller)
        return self.credentials.stands(tx, caller)

    def subjects(self, tx: Transaction, caller: Caller) -> frozenset[str]:
        """The subjects whose revocation ends the caller's credential (see `trust.tables.Revocation`)."""
        if _is_key(caller):
            return frozenset({api_keys.key_identity(caller.credential), caller.client_id})
        return self.credentials.subjects(tx, caller)

    def is_withdrawn(self, tx: Transaction, caller: Caller) -> bool:
        """Whether the holder was revoked rather than this one credential."""
        return _is_key(caller) or self.credentials.is_withdrawn(tx, caller)


def _is_key(caller: Caller) -> bool:
    return len(caller.credential) == api_keys.KEY_ID_LENGTH
