"""Approvals: requests that the owner of an account grants on a page behind a secret link, after signing in.

Opening the link grants nothing, because mail scanners open links. Only the digest of the secret is stored. Five
counted attempts to sign in close the approval.
"""

from typing import Final

from sqlalchemy import BigInteger, bindparam, update
from sqlmodel import col, select

from negotiator.base import values
from negotiator.store import audit
from negotiator.store.statement import Query, RowInsertion, Transaction, entity, table
from negotiator.users.tables import Approval

LIFE: Final = 3600
ATTEMPTS: Final = 5
MAX_LISTED: Final = 20

_undecided = (col(Approval.decided_at).is_(None), col(Approval.expires_at) > bindparam("now", type_=BigInteger))
_of_secret = (col(Approval.digest) == bindparam("secret"), *_undecided)
_of_address = (col(Approval.email) == bindparam("address"), *_undecided)
_open = (*_of_secret, col(Approval.attempts) < ATTEMPTS)
_ADD = RowInsertion(Approval)
_FIND = Query(select(Approval).where(*_open), entity(Approval))
_REQUESTS = Query(
    select(Approval).where(*_of_address).order_by(col(Approval.id).desc()).limit(MAX_LISTED), entity(Approval)
)
_TRY = Query(
    update(Approval).where(*_open).values(attempts=Approval.attempts + 1).returning(*table(Approval).columns),
    entity(Approval),
)
_TAKE = Query(
    update(Approval)
    .where(*_of_secret)
    .values(decided_at=bindparam("now", type_=BigInteger))
    .returning(*table(Approval).columns),
    entity(Approval),
)
_TAKE_LISTED = Query(
    update(Approval)
    .where(col(Approval.id) == bindparam("approval"), *_of_address)
    .values(decided_at=bindparam("now", type_=BigInteger))
    .returning(*table(Approval).columns),
    entity(Approval),
)


def request_link(tx: Transaction, secret: str, *, email: str, identity: str, issuer: str, agent_name: str) -> None:
    """Store a request to the owner of `email` to link an identity to their account."""
    _add(tx, secret, kind="link", email=email, identity=identity, issuer=issuer, agent_name=agent_name)


def request_binding(tx: Transaction, secret: str, *, email: str, agent_id: str, agent_name: str) -> None:
    """Store a request to the owner of `email` to bind an agent to their account."""
    _add(tx, secret, kind="binding", email=email, agent_id=agent_id, agent_name=agent_name)


def find(tx: Transaction, secret: str) -> Approval | None:
    """The approval with this secret; None when it is unknown, decided, expired or out of attempts."""
    return tx.one(_FIND, secret=values.digest(secret), now=values.now())


def open_requests(tx: Transaction, email: str) -> list[Approval]:
    """The newest undecided approvals for the account with this address."""
    return tx.all(_REQUESTS, address=email, now=values.now()) if email else []


def open_request(tx: Transaction, email: str, approval_id: str) -> Approval | None:
    """One of the `open_requests`."""
    return next((one for one in open_requests(tx, email) if one.id == approval_id), None)


def count_attempt(tx: Transaction, secret: str) -> Approval | None:
    """Count one attempt to sign in and return the approval; None when the approval was not open before it."""
    return tx.one(_TRY, secret=values.digest(secret), now=values.now())


def consume(tx: Transaction, secret: str) -> Approval | None:
    """Mark the approval as decided and return it; of several concurrent calls one gets it, the others get None."""
    return tx.one(_TAKE, secret=values.digest(secret), now=values.now())


def consume_listed(tx: Transaction, email: str, approval_id: str) -> Approval | None:
    """Mark one of the `open_requests` as decided and return it; None when it is not open."""
    return tx.one(_TAKE_LISTED, address=email, approval=approval_id, now=values.now())


def _add(
    tx: Transaction,
    secret: str,
    *,
    kind: str,
    email: str,
    agent_name: str,
    identity: str = "",
    issuer: str = "",
    agent_id: str = "",
) -> None:
    now = values.now()
    approval_id = values.new_id("apr")
    tx.run(
        _ADD,
        id=approval_id,
        digest=values.digest(secret),
        kind=kind,
        email=email,
        identity=identity,
        issuer=issuer,
        agent_id=agent_id,
        agent_name=agent_name,
        attempts=0,
        created_at=now,
        expires_at=now + LIFE * 1000,
        decided_at=None,
    )
    audit.record(tx, "approval.requested", approval_id, kind=kind, agent=agent_id)
