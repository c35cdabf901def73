"""Passkeys of users: adding, finding, naming and removing them, and recording their use."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import BigInteger, bindparam, delete, update
from sqlmodel import col, select

from negotiator.base import values
from negotiator.base.errors import Conflict, NotFound
from negotiator.store import audit
from negotiator.store.statement import Query, Statement, Transaction, entity, insertion
from negotiator.users.tables import Passkey

MOST_PASSKEYS: Final = 20
"""Passkeys that one user may have."""

_own = (col(Passkey.id) == bindparam("passkey"), col(Passkey.user_id) == bindparam("user"))
_ADD = Statement(insertion(Passkey).on_conflict_do_nothing())
_FIND = Query(select(Passkey).where(col(Passkey.credential_id) == bindparam("credential")), entity(Passkey))
_OF_USER = Query(
    select(Passkey).where(col(Passkey.user_id) == bindparam("user")).order_by(col(Passkey.id)), entity(Passkey)
)
_RENAME = Statement(update(Passkey).where(*_own).values(name=bindparam("called")))
_REMOVE = Statement(delete(Passkey).where(*_own))
_USE = Statement(
    update(Passkey)
    .where(col(Passkey.id) == bindparam("passkey"), col(Passkey.sign_count) == bindparam("expected", type_=BigInteger))
    .values(sign_count=bindparam("reported", type_=BigInteger), used_at=bindparam("now", type_=BigInteger))
)


@dataclass(frozen=True, slots=True)
class NewPasskey:
    """A verified registration; `credential_id` and the COSE `public_key` in base64url."""

    credential_id: str
    public_key: str
    sign_count: int
    is_synced: bool


def add(tx: Transaction, user_id: str, new: NewPasskey, *, name: str) -> str:
    """Store a passkey of this user and return its id; 409 when it is known already or the user has twenty."""
    if len(of_user(tx, user_id)) >= MOST_PASSKEYS:
        raise Conflict(f"You have {MOST_PASSKEYS} passkeys. Remove one first.")
    passkey_id = values.new_id("psk")
    added = tx.run(
        _ADD,
        id=passkey_id,
        user_id=user_id,
        credential_id=new.credential_id,
        public_key=new.public_key,
        sign_count=new.sign_count,
        is_synced=int(new.is_synced),
        name=name,
        created_at=values.now(),
        used_at=None,
    )
    if not added:
        raise Conflict("This passkey is known already.")
    audit.record(tx, "passkey.added", passkey_id, actor=user_id)
    return passkey_id


def find(tx: Transaction, credential_id: str) -> Passkey | None:
    """The passkey with this credential id."""
    return tx.one(_FIND, credential=credential_id)


def of_user(tx: Transaction, user_id: str) -> list[Passkey]:
    """The user's passkeys, oldest first."""
    return tx.all(_OF_USER, user=user_id)


def rename(tx: Transaction, passkey_id: str, name: str, *, user_id: str) -> None:
    """Give a passkey of this user another name; 404 when they have no such passkey."""
    if not tx.run(_RENAME, passkey=passkey_id, user=user_id, called=name):
        raise NotFound("You have no such passkey.")


def remove(tx: Transaction, passkey_id: str, *, user_id: str) -> None:
    """Remove a passkey of this user; 404 when they have no such passkey."""
    if not tx.run(_REMOVE, passkey=passkey_id, user=user_id):
        raise NotFound("You have no such passkey.")
    audit.record(tx, "passkey.removed", passkey_id, actor=user_id)


def record_use(tx: Transaction, passkey: Passkey, sign_count: int) -> bool:
    """Store the counter that the authenticator reported; False when another use was stored meanwhile."""
    return tx.run(_USE, passkey=passkey.id, expected=passkey.sign_count, reported=sign_count, now=values.now()) == 1
