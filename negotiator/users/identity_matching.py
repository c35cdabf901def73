"""Finds or creates the user that a verified assertion or an OpenID sign-in names, and links identities to users."""

from dataclasses import dataclass

from sqlalchemy import bindparam, delete, func
from sqlmodel import col, select

from negotiator.base import values
from negotiator.store import atomic_updates, audit
from negotiator.store.statement import Query, Statement, Transaction, entity, insertion
from negotiator.trust import revocations
from negotiator.trust.assertions import Assertion
from negotiator.trust.claims import AssertionRefused, Reason
from negotiator.trust.openid import OpenIdUser
from negotiator.trust.revocations import identity_key, login_key
from negotiator.trust.tables import Revocation
from negotiator.users import user_queries
from negotiator.users.tables import LinkedIdentity, User

_SKEW = 60_000

_FIND = Query(
    select(LinkedIdentity.user_id, User.email, User.disabled_at)
    .join(User, col(User.id) == col(LinkedIdentity.user_id))
    .where(col(LinkedIdentity.key) == bindparam("key")),
    tuple,
)
_WATERMARK = Query(
    select(func.max(Revocation.before)).where(col(Revocation.subject).in_([bindparam("key"), bindparam("issuer")])),
    lambda row: int(row[0] or 0),
)
_BY_EMAIL = Query(
    select(LinkedIdentity.key)
    .join(User, col(User.id) == col(LinkedIdentity.user_id))
    .where(col(User.email) == bindparam("email"), col(LinkedIdentity.issuer) == bindparam("issuer")),
    lambda row: str(row[0]),
)
_OWNER = Query(
    select(LinkedIdentity.user_id).where(col(LinkedIdentity.key) == bindparam("key")), lambda row: str(row[0])
)
_UNLINK = Statement(delete(LinkedIdentity).where(col(LinkedIdentity.key) == bindparam("identity")))
_OF_USER = Query(
    select(LinkedIdentity)
    .where(col(LinkedIdentity.user_id) == bindparam("user"))
    .order_by(col(LinkedIdentity.linked_at).desc())
    .limit(100),
    entity(LinkedIdentity),
)
_LINK = Statement(insertion(LinkedIdentity).on_conflict_do_nothing())


@dataclass(frozen=True, slots=True)
class MatchedUser:
    """The user that an assertion names, with the issuer and the identity whose revocation ends their tokens."""

    user_id: str
    email: str | None
    issuer: str
    identity: str


class LinkApprovalRequired(AssertionRefused):
    """The assertion's e-mail address belongs to an account without this identity; only its owner may link it."""

    def __init__(self, email: str, issuer: str, identity: str) -> None:
        super().__init__(Reason.INTERACTION, "The owner of this account has to approve the link first.")
        self.email = email
        self.issuer = issuer
        self.identity = identity


def match_assertion(tx: Transaction, assertion: Assertion, *, actor: str) -> MatchedUser:
    """Mark the assertion as used and return its user (docs/contract 2.3); raises `AssertionRefused`.

    Runs in the transaction that issues the token: a rollback leaves the assertion unused.
    """
    issuer = assertion.issuer.issuer
    key = identity_key(issuer, assertion.tenant or "", assertion.subject)
    until = assertion.expires_at + _SKEW
    if not atomic_updates.spend(tx, "assertion", f"{issuer}\x1f{assertion.jti}", expires_at=until):
        raise AssertionRefused(Reason.REPLAY, "The assertion was used before.")
    if assertion.issued_at <= (tx.one(_WATERMARK, key=key, issuer=issuer) or 0):
        raise AssertionRefused(Reason.EXPIRED, "The assertion was issued before access was revoked.")
    _check_login(tx, key, assertion)
    return _known(tx, key, issuer) or _first_time(
        tx, key, issuer, email=assertion.email, name=assertion.name, actor=actor
    )


def _check_login(tx: Transaction, key: str, assertion: Assertion) -> None:
    """Refuse a login from before the time at which the issuer reported a lost credential."""
    lost = revocations.revoked_before(tx, login_key(key))
    if lost and (assertion.auth_time or 0) <= lost:
        raise AssertionRefused(
            Reason.LOGIN_REQUIRED, "The user has to sign in again.", max_age=max(0, values.now() - lost) // 1000
        )


def sign_in_user(tx: Transaction, person: OpenIdUser, *, actor: str) -> MatchedUser:
    """The user whom an OpenID provider signed in: found by (`iss`, `sub`), or created now.

    The e-mail address alone never selects an account: when another account has it, `LinkApprovalRequired` is raised
    and the account's owner decides. Raises `AssertionRefused` for a revoked sign-in or a disabled account.
    """
    key = identity_key(person.issuer, "", person.subject)
    if person.issued_at <= (tx.one(_WATERMARK, key=key, issuer=person.issuer) or 0):
        raise AssertionRefused(Reason.EXPIRED, "That sign-in is from before access was revoked.")
    return _known(tx, key, person.issuer) or _first_time(
        tx, key, person.issuer, email=person.email, name=person.name, actor=actor
    )


def link(tx: Transaction, *, identity: str, issuer: str, user_id: str, actor: str) -> None:
    """Link the identity to the user; an identity that is linked already keeps its user."""
    tx.run(_LINK, key=identity, issuer=issuer, user_id=user_id, linked_at=values.now())
    audit.record(tx, "user.linked", user_id, actor=actor, issuer=issuer)


def by_email(tx: Transaction, issuer: str, email: str, *, tenant: str = "") -> list[str]:
    """The keys of the identities at this issuer, in this tenant, whose accounts have the e-mail address."""
    begin = identity_key(issuer, tenant, "")
    found = tx.all(_BY_EMAIL, issuer=issuer, email=email)
    return [key for key in found if key.startswith(begin)]


def owner(tx: Transaction, identity: str) -> str | None:
    """The id of the user to whom this identity is linked."""
    return tx.one(_OWNER, key=identity)


def unlink(tx: Transaction, identity: str) -> None:
    """Remove the link between the identity and its user."""
    tx.run(_UNLINK, identity=identity)


def is_known(tx: Transaction, issuer: str, tenant: str, subject: str) -> bool:
    """Whether an account here is linked to this identity."""
    return tx.one(_OWNER, key=identity_key(issuer, tenant, subject)) is not None


def of_user(tx: Transaction, user_id: str) -> list[LinkedIdentity]:
    """The identities that are linked to the user, newest first; at most 100."""
    return tx.all(_OF_USER, user=user_id)


def _known(tx: Transaction, key: str, issuer: str) -> MatchedUser | None:
    found = tx.one(_FIND, key=key)
    if found is None:
        return None
    user_id, email, disabled_at = found
    if disabled_at is not None:
        raise AssertionRefused(Reason.NOT_ENTITLED, "This account is closed.")
    return MatchedUser(user_id, email, issuer, key)


def _first_time(
    tx: Transaction, key: str, issuer: str, *, email: str | None, name: str | None, actor: str
) -> MatchedUser:
    email = user_queries.normalise_email(email) if email else None
    if email and user_queries.by_email(tx, email):
        raise LinkApprovalRequired(email, issuer, key)
    user_id = user_queries.add(tx, email, name=name or "", actor=actor)
    link(tx, identity=key, issuer=issuer, user_id=user_id, actor=actor)
    return MatchedUser(user_id, email, issuer, key)
