"""Approvals: a secret link behind which the owner, signed in, grants a link or the binding of an agent.

Looking never grants: mail scanners open links. The secret is stored as its digest; five wrong passwords end it.
"""

from typing import Final

from sqlalchemy import BigInteger, bindparam, update
from sqlmodel import col, select

from negotiator import audit, values
from negotiator.store.statement import Query, Statement, Transaction, entity, insertion
from negotiator.users.tables import Approval

LIFE: Final = 3600
ATTEMPTS: Final = 5

_undecided = (
    col(Approval.digest) == bindparam("secret"),
    col(Approval.decided_at).is_(None),
    col(Approval.expires_at) > bindparam("now", type_=BigInteger),
)
_open = (*_undecided, col(Approval.attempts) < ATTEMPTS)
_ADD = Statement(insertion(Approval))
_FIND = Query(select(Approval).where(*_open), entity(Approval))
_TRY = Query(
    update(Approval)
    .where(*_open)
    .values(attempts=Approval.attempts + 1)
    .returning(*Approval.__table__.columns),  # type: ignore[attr-defined]
    entity(Approval),
)
_TAKE = Query(
    update(Approval)
    .where(*_undecided)
    .values(decided_at=bindparam("now", type_=BigInteger))
    .returning(*Approval.__table__.columns),  # type: ignore[attr-defined]
    entity(Approval),
)


def request_link(
    tx: Transaction,
    secret: str,
    *,
    email: str,
    identity: str,
    issuer: str,
    agent_name: str,
) -> None:
    """Ask the owner of `email` to link an identity to his account."""
    _add(
        tx,
        secret,
        kind="link",
        email=email,
        identity=identity,
        issuer=issuer,
        agent_name=agent_name,
    )


def request_binding(
    tx: Transaction, secret: str, *, email: str, agent_id: str, agent_name: str
) -> None:
    """Ask the owner of `email` to bind an agent to himself."""
    _add(
        tx,
        secret,
        kind="binding",
        email=email,
        agent_id=agent_id,
        agent_name=agent_name,
    )


def find(tx: Transaction, secret: str) -> Approval | None:
    """The approval behind this secret, while it is open."""
    return tx.one(_FIND, secret=values.digest(secret), now=values.now())


def count_attempt(tx: Transaction, secret: str) -> Approval | None:
    """Count one try to sign in, the fifth included; None when the approval is not open (any more)."""
    return tx.one(_TRY, secret=values.digest(secret), now=values.now())


def consume(tx: Transaction, secret: str) -> Approval | None:
    """Use the approval up, after a try that was counted; only one of any number at once gets it."""
    return tx.one(_TAKE, secret=values.digest(secret), now=values.now())


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
