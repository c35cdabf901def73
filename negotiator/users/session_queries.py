"""Browser sessions: a sign-in begins one.

A session ends when it is idle for 12 hours, is 7 days old or is ended by the user, when the account is disabled, or
when the user, the issuer or the identity behind the sign-in is revoked. The cookie holds 256 random bits and the row
holds their digest. Reading a session costs one indexed query; its use is recorded at most once in five minutes.
"""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import BigInteger, bindparam, delete, exists, select, update
from sqlmodel import col

from negotiator.base import values
from negotiator.store import audit
from negotiator.store.statement import Query, RowInsertion, Statement, Transaction, entity
from negotiator.trust.tables import Revocation
from negotiator.users.tables import SESSION_IDLE, BrowserSession, User

LIFE: Final = 7 * values.DAY
_TOUCH: Final = 300_000

_session = BrowserSession
_WITHDRAWN = exists().where(
    col(Revocation.subject).in_([col(_session.user_id), col(_session.issuer), col(_session.identity)]),
    col(Revocation.before) >= col(_session.signed_in_at),
)
_live = (
    col(_session.expires_at) > bindparam("now", type_=BigInteger),
    col(_session.seen_at) > bindparam("idle", type_=BigInteger),
    col(User.disabled_at).is_(None),
    ~_WITHDRAWN,
)
_ADD = RowInsertion(BrowserSession)
_FIND = Query(
    select(
        col(_session.id),
        col(_session.user_id),
        col(User.email),
        col(User.name),
        col(User.is_admin),
        col(_session.signed_in_at),
        col(_session.seen_at),
    )
    .join(User, col(User.id) == col(_session.user_id))
    .where(col(_session.digest) == bindparam("digest"), *_live),
    lambda row: ActiveSession(*row),
)
_IS_LIVE = Query(
    select(col(_session.id))
    .join(User, col(User.id) == col(_session.user_id))
    .where(col(_session.id) == bindparam("session"), *_live),
    tuple,
)
_OF_USER = Query(
    select(_session)
    .join(User, col(User.id) == col(_session.user_id))
    .where(col(_session.user_id) == bindparam("user"), *_live)
    .order_by(col(_session.seen_at).desc()),
    entity(BrowserSession),
)
_STANDING = Query(
    select(col(_session.issuer), col(_session.identity)).where(col(_session.id) == bindparam("session")),
    lambda row: (row[0], row[1]),
)
_SEEN = Statement(
    update(_session).where(col(_session.id) == bindparam("session")).values(seen_at=bindparam("now", type_=BigInteger))
)
_END = Statement(
    delete(_session).where(col(_session.id) == bindparam("session"), col(_session.user_id) == bindparam("user"))
)
_END_OTHERS = Statement(
    delete(_session).where(col(_session.user_id) == bindparam("user"), col(_session.id) != bindparam("kept"))
)
_END_BY_SECRET = Statement(delete(_session).where(col(_session.digest) == bindparam("digest")))


@dataclass(frozen=True, slots=True)
class ActiveSession:
    """A session that has not ended, with its user; times in milliseconds."""

    session_id: str
    user_id: str
    email: str | None
    name: str
    is_admin: int
    signed_in_at: int
    seen_at: int

    @property
    def is_stale(self) -> bool:
        """Whether `seen_at` is more than five minutes old and should be updated."""
        return values.now() - self.seen_at > _TOUCH


@dataclass(frozen=True, slots=True)
class SignInDetails:
    """How and where a user signed in; `issuer` and `identity` are set when an OpenID provider signed them in."""

    browser: str = ""
    address: str = ""
    issuer: str | None = None
    identity: str | None = None


def begin(tx: Transaction, secret: str, user_id: str, *, means: SignInDetails) -> str:
    """Store a new session under the digest of this secret and return its id."""
    now, session_id = values.now(), values.new_id("ses")
    tx.run(
        _ADD,
        id=session_id,
        digest=values.digest(secret),
        user_id=user_id,
        issuer=means.issuer,
        identity=means.identity,
        browser=means.browser,
        address=means.address,
        signed_in_at=now,
        seen_at=now,
        expires_at=now + LIFE,
    )
    audit.record(tx, "user.signed_in", user_id, actor=means.address, issuer=means.issuer or "")
    return session_id


def find(tx: Transaction, secret: str) -> ActiveSession | None:
    """The session with this secret, unless it has ended."""
    now = values.now()
    return tx.one(_FIND, digest=values.digest(secret), now=now, idle=now - SESSION_IDLE)


def is_live(tx: Transaction, session_id: str) -> bool:
    """Whether the session with this id has not ended."""
    now = values.now()
    return tx.one(_IS_LIVE, session=session_id, now=now, idle=now - SESSION_IDLE) is not None


def provider_identity(tx: Transaction, session_id: str) -> tuple[str | None, str | None]:
    """The issuer and the identity of the provider that signed the session's user in; (None, None) without one."""
    found: tuple[str | None, str | None] | None = tx.one(_STANDING, session=session_id)
    return found or (None, None)


def mark_seen(tx: Transaction, session_id: str) -> None:
    """Set the session's `seen_at` to now."""
    tx.run(_SEEN, session=session_id, now=values.now())


def of_user(tx: Transaction, user_id: str) -> list[BrowserSession]:
    """The user's sessions that have not ended, most recently used first."""
    now = values.now()
    return tx.all(_OF_USER, user=user_id, now=now, idle=now - SESSION_IDLE)


def end(tx: Transaction, session_id: str, *, user_id: str) -> bool:
    """End one session of this user; False when they have no session with this id."""
    return tx.run(_END, session=session_id, user=user_id) == 1


def end_by_secret(tx: Transaction, secret: str) -> None:
    """End the session with this secret, if there is one."""
    tx.run(_END_BY_SECRET, digest=values.digest(secret))


def end_all(tx: Transaction, user_id: str, *, but: str = "") -> int:
    """End every session of this user except the one with the id `but`; returns how many ended."""
    return tx.run(_END_OTHERS, user=user_id, kept=but)
