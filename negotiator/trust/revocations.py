"""Revocation watermarks: one row voids everything issued to its subject before a time, on all workers at once."""

from typing import Final

from sqlalchemy import BigInteger, bindparam, delete, or_, update
from sqlmodel import SQLModel, col, select

from negotiator.base import values
from negotiator.store.statement import Query, Statement, Transaction, insertion, table
from negotiator.trust.tables import Revocation

FOREVER: Final = 1 << 62
_OUTLIVES_TOKENS: Final = 30 * values.DAY
"""Milliseconds; an access token lives for a day at most (`settings.token_ttl`)."""

_mark = bindparam("mark", type_=BigInteger)
_MARK = Statement(
    insertion(Revocation).on_conflict_do_update(
        index_elements=["subject"], set_={"before": _mark}, where=col(Revocation.before) < _mark
    )
)
_LOWER = Statement(update(Revocation).where(col(Revocation.subject) == bindparam("withdrawn")).values(before=_mark))
_FORGET_AT = Statement(
    update(Revocation)
    .where(col(Revocation.subject) == bindparam("gone"))
    .values(forget_at=bindparam("at", type_=BigInteger))
)
_FORGET = Statement(delete(Revocation).where(col(Revocation.subject) == bindparam("subject")))
_BACKDATING: Final = list[tuple[str, Statement]]()
_FIND = Query(select(Revocation.before).where(col(Revocation.subject) == bindparam("subject")), lambda row: int(row[0]))


def identity_key(issuer: str, tenant: str, subject: str) -> str:
    """The unambiguous key of an identity at an issuer."""
    return "\x1f".join((issuer, tenant, subject))


def login_key(identity: str) -> str:
    """The key of an identity's logins: a login at the issuer before its watermark must be repeated."""
    return f"login\x1f{identity}"


def closed_key(identity: str) -> str:
    """The key under which the time is stored when an issuer last closed an identity's account."""
    return f"closed\x1f{identity}"


def revoke(tx: Transaction, subject: str, *, before: int = FOREVER) -> None:
    """Void everything issued to `subject` up to `before` (milliseconds; default: for ever).

    A watermark only rises: a permanent revocation stays permanent until `restore`.
    """
    tx.run(_MARK, subject=subject, before=before, forget_at=None, mark=before)
    tx.announce(subject)


def revoke_issued(tx: Transaction, subject: str, *, now: int) -> None:
    """Void everything issued to `subject` until now, also what was issued while a clock was ahead of `now`."""
    for kind, statement in _BACKDATING:
        tx.run(statement, subject=subject, first=values.first_id(kind, now).lstrip("_"), mark=now)
    revoke(tx, subject, before=now)


def register_backdating(kind: str, model: type[SQLModel], *, key: str, moment: str) -> None:
    """Register a table whose rows name a client and an identity, so that those from the future are dated back.

    Its column `key` has ids of this kind, `moment` when a row was made.
    """
    columns = table(model).c
    statement = (
        update(table(model))
        .where(
            columns[key] > bindparam("first"),
            columns[moment] > _mark,
            or_(columns.identity == bindparam("subject"), columns.client_id == bindparam("subject")),
        )
        .values({moment: _mark})
    )
    _BACKDATING.append((kind, Statement(statement)))


def revoke_deleted(tx: Transaction, subject: str, *, now: int) -> None:
    """Void everything issued to a subject whose row was deleted; the watermark goes once all its tokens have ended."""
    revoke(tx, subject)
    tx.run(_FORGET_AT, gone=subject, at=now + _OUTLIVES_TOKENS)


def restore(tx: Transaction, subject: str) -> None:
    """Allow what is issued to `subject` from now on; what was issued before stays void."""
    tx.run(_LOWER, withdrawn=subject, mark=values.now())


def forget_identity(tx: Transaction, identity: str) -> None:
    """Delete the watermarks of an identity, whose key names a person at an issuer."""
    for subject in (identity, login_key(identity), closed_key(identity)):
        tx.run(_FORGET, subject=subject)


def revoked_before(tx: Transaction, subject: str) -> int:
    """The watermark of a subject; 0 when it has none."""
    return tx.one(_FIND, subject=subject) or 0
