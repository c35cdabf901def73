"""Authorization grants of users to clients, and their codes, which live a minute and work once (RFC 6749 §4.1)."""

import hashlib
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from typing import Final

from sqlalchemy import BigInteger, bindparam, exists, update
from sqlmodel import col, select

from negotiator.base import values
from negotiator.base.errors import InvalidRequest
from negotiator.store import audit
from negotiator.store.statement import Query, RowInsertion, Statement, Transaction, entity
from negotiator.tokens.access_tokens import TokenSubject
from negotiator.tokens.tables import AuthorizationGrant
from negotiator.trust import revocations
from negotiator.trust.revocations import register_backdating
from negotiator.trust.tables import Revocation

CODE_LIFE: Final = 60
_row = AuthorizationGrant
_WITHDRAWN = exists().where(
    col(Revocation.subject).in_(
        [col(_row.client_id), col(_row.user_id), col(_row.issuer), col(_row.identity), col(_row.id)]
    ),
    col(Revocation.before) >= col(_row.created_at),
)
register_backdating("aut", _row, key="id", moment="created_at")
_ADD = RowInsertion(AuthorizationGrant)
_BY_CODE = Query(select(_row).where(col(_row.code_digest) == bindparam("code")), entity(AuthorizationGrant))
_BY_ID = Query(select(_row).where(col(_row.id) == bindparam("grant")), entity(AuthorizationGrant))
_LIVE = Query(select(_row.id).where(col(_row.id) == bindparam("grant"), ~_WITHDRAWN), lambda row: str(row[0]))
_USE = Statement(
    update(_row)
    .where(col(_row.id) == bindparam("grant"), col(_row.code_used_at).is_(None))
    .values(code_used_at=bindparam("now", type_=BigInteger))
)
_PROLONG = Statement(
    update(_row).where(col(_row.id) == bindparam("grant")).values(expires_at=bindparam("until", type_=BigInteger))
)
_RENEW = Statement(
    update(_row).where(col(_row.id) == bindparam("grant")).values(renewed_at=bindparam("now", type_=BigInteger))
)
_OF = Query(
    select(_row.id).where(col(_row.user_id) == bindparam("user"), col(_row.client_id) == bindparam("client")),
    lambda row: str(row[0]),
)
_OF_AGENTS = Query(
    select(_row.id).where(col(_row.user_id) == bindparam("user"), col(_row.client_id).like("agt\\_%", escape="\\")),
    lambda row: str(row[0]),
)
_OF_LIVE_AGENTS = Query(
    select(_row).where(
        col(_row.user_id) == bindparam("user"),
        col(_row.client_id).like("agt\\_%", escape="\\"),
        col(_row.expires_at) > bindparam("now", type_=BigInteger),
        ~_WITHDRAWN,
    ),
    entity(AuthorizationGrant),
)


@dataclass(frozen=True, slots=True)
class NewGrant:
    """A grant that a user just made, with the sign-in that they made it in; `auth_time` in milliseconds."""

    client_id: str
    user_id: str
    scopes: list[str]
    resource: str
    redirect_uri: str
    nonce: str
    challenge: str
    auth_time: int
    issuer: str | None = None
    identity: str | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True)
class PresentedCode:
    """A code that an authenticated client presents at the token endpoint (RFC 6749 §4.1.3, RFC 7636 §4.5).

    `key` is the thumbprint of the key that the client has proven to hold, if it did.
    """

    code: str
    client_id: str
    redirect_uri: str
    verifier: str
    key: str | None = None


def issue_code(tx: Transaction, granted: NewGrant, *, pepper: bytes) -> str:
    """Store a grant and return its code."""
    code = values.new_secret()
    _keep(tx, granted, code_digest=values.keyed_digest(pepper, code))
    return code


def open_grant(tx: Transaction, granted: NewGrant) -> str:
    """Store a grant whose code can never be redeemed, for an agent that gets its tokens directly; returns its id."""
    return _keep(tx, granted, code_digest=values.new_secret(), used_at=values.now())


def _keep(tx: Transaction, granted: NewGrant, *, code_digest: str, used_at: int | None = None) -> str:
    now = values.now()
    grant_id = values.new_id("aut")
    tx.run(
        _ADD,
        id=grant_id,
        client_id=granted.client_id,
        user_id=granted.user_id,
        issuer=granted.issuer,
        identity=granted.identity,
        scope=" ".join(granted.scopes),
        resource=granted.resource,
        redirect_uri=granted.redirect_uri,
        nonce=granted.nonce,
        challenge=granted.challenge,
        key=granted.key,
        code_digest=code_digest,
        code_expires_at=now + CODE_LIFE * 1000,
        code_used_at=used_at,
        auth_time=granted.auth_time,
        created_at=now,
        renewed_at=None,
        expires_at=now + CODE_LIFE * 1000,
    )
    audit.record(
        tx,
        "authorization.granted",
        granted.client_id,
        actor=granted.user_id,
        authorization=grant_id,
        scope=" ".join(granted.scopes),
    )
    return grant_id


def redeem(tx: Transaction, presented: PresentedCode, *, pepper: bytes) -> AuthorizationGrant:
    """Mark the code as used and return its grant; of several concurrent calls one succeeds.

    `invalid_grant` when the code is not valid. A second use by any client ends the grant (RFC 6749 §4.1.2). A request
    with a wrong parameter, or without proof of the key that the code is bound to (RFC 9449 §10), leaves it unused.
    """
    found = tx.one(_BY_CODE, code=values.keyed_digest(pepper, presented.code))
    if found is None:
        raise invalid_grant_refusal("The code is not valid.")
    if found.code_used_at is not None:
        raise replay_refusal(found)
    now = values.now()
    if (
        found.client_id != presented.client_id
        or found.redirect_uri != presented.redirect_uri
        or found.key not in (None, presented.key)
        or found.code_expires_at <= now
        or not values.equal_in_constant_time(s256_challenge(presented.verifier), found.challenge)
        or not is_live(tx, found.id)
    ):
        raise invalid_grant_refusal("The code is not valid.")
    if not tx.run(_USE, grant=found.id, now=now):
        raise replay_refusal(found)
    return found


def s256_challenge(verifier: str) -> str:
    """The S256 challenge of a verifier (RFC 7636 §4.2)."""
    digest = hashlib.sha256(verifier.encode()).digest()
    return urlsafe_b64encode(digest).rstrip(b"=").decode()


def find(tx: Transaction, grant_id: str) -> AuthorizationGrant | None:
    """The grant with this id, live or not."""
    return tx.one(_BY_ID, grant=grant_id)


def is_live(tx: Transaction, grant_id: str) -> bool:
    """Whether none of the grant, its client, its user, its issuer and its identity was revoked since."""
    return tx.one(_LIVE, grant=grant_id) is not None


def extend(tx: Transaction, grant_id: str, *, until: int) -> None:
    """Set the time until which the grant's row is needed (milliseconds)."""
    tx.run(_PROLONG, grant=grant_id, until=until)


def mark_renewed(tx: Transaction, grant_id: str) -> None:
    """Let the grant's longest life count from now."""
    tx.run(_RENEW, grant=grant_id, now=values.now())


def end(tx: Transaction, grant_id: str, *, client_id: str, actor: str, reason: str) -> None:
    """End the grant with its code and all its tokens, and record the reason in the audit log."""
    revocations.revoke(tx, grant_id)
    audit.record(tx, "authorization.ended", client_id, actor=actor, authorization=grant_id, reason=reason)


def end_all(tx: Transaction, user_id: str, client_id: str) -> None:
    """End every grant of this user to this client, including codes that were not redeemed yet."""
    for grant_id in tx.all(_OF, user=user_id, client=client_id):
        revocations.revoke(tx, grant_id)


def end_agents(tx: Transaction, user_id: str) -> None:
    """End every grant to an agent of this user."""
    for grant_id in tx.all(_OF_AGENTS, user=user_id):
        revocations.revoke(tx, grant_id)


def of_agents(tx: Transaction, user_id: str) -> list[AuthorizationGrant]:
    """The live grants to agents of this user; each ends at its `expires_at` unless it is used before."""
    return tx.all(_OF_LIVE_AGENTS, user=user_id, now=values.now())


def subject(found: AuthorizationGrant) -> TokenSubject:
    """The subject of a token of this grant."""
    return TokenSubject(found.client_id, found.user_id, found.issuer, found.identity, found.id, resource=found.resource)


def replay_refusal(found: AuthorizationGrant) -> InvalidRequest:
    """The refusal of a code or refresh token that was used before.

    It ends the grant in a transaction of its own after the rollback, so that tokens from a stolen copy stop working.
    """

    def remember(tx: Transaction) -> None:
        end(tx, found.id, client_id=found.client_id, actor=found.client_id, reason="replay")

    return InvalidRequest(
        "It was used before; everything that came of it has ended.", error="invalid_grant", remember=remember
    )


def invalid_grant_refusal(description: str) -> InvalidRequest:
    """The token endpoint's refusal of a code or refresh token that is not valid (RFC 6749 §5.2)."""
    return InvalidRequest(description, error="invalid_grant")
