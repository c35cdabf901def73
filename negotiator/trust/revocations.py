"""Watermarks: one row kills everything that stands on its subject, on every worker, at the next request."""

from typing import Final

from sqlalchemy import BigInteger, bindparam, update
from sqlmodel import col, select

from negotiator import values
from negotiator.store.statement import Query, Statement, Transaction, insertion
from negotiator.trust.tables import Revocation

FOREVER: Final = 1 << 62

_mark = bindparam("mark", type_=BigInteger)
_MARK = Statement(
    insertion(Revocation).on_conflict_do_update(
        index_elements=["subject"],
        set_={"before": _mark},
        where=col(Revocation.before) < _mark,
    )
)
_LOWER = Statement(
    update(Revocation).where(col(Revocation.subject) == bindparam("withdrawn")).values(before=_mark)
)
_FIND = Query(
    select(Revocation.before).where(col(Revocation.subject) == bindparam("subject")),
    lambda row: int(row[0]),
)


def identity_key(issuer: str, tenant: str, subject: str) -> str:
    """The one name of a person at an issuer; the parts cannot run into each other."""
    return "\x1f".join((issuer, tenant, subject))


def login_key(identity: str) -> str:
    """The watermark of an identity's logins: whoever signed in at the issuer up to it has to do so again."""
    return f"login\x1f{identity}"


def closed_key(identity: str) -> str:
    """When an issuer last closed an identity's account."""
    return f"closed\x1f{identity}"


def revoke(tx: Transaction, subject: str, *, before: int = FOREVER) -> None:
    """Nothing issued to `subject` up to `before` (milliseconds; default: ever) counts any more.

    A watermark only rises: what is shut out for good stays so, whatever comes after.
    """
    tx.run(_MARK, subject=subject, before=before, mark=before)
    tx.announce(subject)


def restore(tx: Transaction, subject: str) -> None:
    """Let what is issued to `subject` from now on count again; what was issued before stays dead."""
    tx.run(_LOWER, withdrawn=subject, mark=values.now())


def revoked_before(tx: Transaction, subject: str) -> int:
    """The watermark of a subject; 0 when it has none."""
    return tx.one(_FIND, subject=subject) or 0
