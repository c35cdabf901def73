"""The rows of API keys: adding, finding, rotating and revoking keys, and recording their use."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import BigInteger, bindparam, func, or_, update
from sqlmodel import col, select

from negotiator import audit
from negotiator.base import values
from negotiator.base.errors import Conflict
from negotiator.store.statement import Query, RowInsertion, Statement, Transaction
from negotiator.tokens import api_keys
from negotiator.tokens.tables import ApiKey
from negotiator.trust import revocations

_TURN: Final = 10_000
"""Milliseconds after a rotation in which the same key is not rotated again."""
KEY_IDENTITY: Final = "key:"
"""The prefix of the `identity` of a token that was issued for an API key."""


@dataclass(frozen=True, slots=True)
class ApiKeyRow:
    """A key's row. It is read at every request, and this class takes a tenth of the time of a table class to build."""

    id: str
    client_id: str
    digest: str
    created_at: int
    retired_at: int | None
    expires_at: int | None
    revoked_at: int | None
    last_used_at: int | None
    last_used_from: str | None


_key = ApiKey
_now = bindparam("now", type_=BigInteger)
_ADD = RowInsertion(ApiKey)
_FIND = Query(select(ApiKey).where(col(_key.id) == bindparam("key")), lambda row: ApiKeyRow(*row))
_OF_CLIENT = Query(
    select(ApiKey)
    .where(
        col(_key.client_id) == bindparam("client"),
        col(_key.revoked_at).is_(None),
        or_(col(_key.expires_at).is_(None), col(_key.expires_at) > _now),
    )
    .order_by(col(_key.created_at), col(_key.id)),
    lambda row: ApiKeyRow(*row),
)
_RETIRE = Statement(
    update(ApiKey)
    .where(
        col(_key.id) == bindparam("key"),
        or_(col(_key.expires_at).is_(None), col(_key.expires_at) > bindparam("until", type_=BigInteger)),
    )
    .values(
        retired_at=func.coalesce(col(_key.retired_at), bindparam("at", type_=BigInteger)),
        expires_at=bindparam("until", type_=BigInteger),
    )
)
_REVOKE = Statement(
    update(ApiKey)
    .where(col(_key.id) == bindparam("key"), col(_key.revoked_at).is_(None))
    .values(revoked_at=bindparam("at", type_=BigInteger))
)
_USED = Statement(
    update(ApiKey)
    .where(col(_key.id) == bindparam("key"))
    .values(last_used_at=bindparam("at", type_=BigInteger), last_used_from=bindparam("network"))
)


@dataclass(frozen=True, slots=True)
class NewApiKey:
    """A new key with its text, which is shown once; `created_at` in milliseconds."""

    id: str
    text: str
    created_at: int


def key_identity(key_id: str) -> str:
    """The `identity` of every token that was issued for this key; revoking it ends them all."""
    return f"{KEY_IDENTITY}{key_id}"


def add(tx: Transaction, pepper: bytes, client_id: str) -> NewApiKey:
    """Create a key for a client; only a digest of the key is stored, keyed with `pepper`."""
    at, key_id = values.now(), api_keys.new_id()
    text = api_keys.write_key(key_id, api_keys.new_secret())
    tx.run(
        _ADD,
        id=key_id,
        client_id=client_id,
        digest=values.keyed_digest(pepper, text),
        created_at=at,
        retired_at=None,
        expires_at=None,
        revoked_at=None,
        last_used_at=None,
        last_used_from=None,
    )
    return NewApiKey(key_id, text, at)


def find(tx: Transaction, pepper: bytes, text: str) -> ApiKeyRow | None:
    """The row of the key with this text, live or not, else None; an unknown key takes as long as a known one."""
    read = api_keys.read_key(text)
    if read is None:
        return None
    row, presented = tx.one(_FIND, key=read[0]), values.keyed_digest(pepper, text)
    known = values.equal_in_constant_time(presented, row.digest if row else "0" * len(presented))
    return row if known else None


def by_id(tx: Transaction, key_id: str) -> ApiKeyRow | None:
    """The row of the key with this id, live or not."""
    return tx.one(_FIND, key=key_id)


def has_any(tx: Transaction, client_id: str) -> bool:
    """Whether the client has a key that is neither revoked nor expired."""
    return bool(tx.all(_OF_CLIENT, client=client_id, now=values.now()))


def is_live(key: ApiKeyRow, *, unused_after: int | None) -> bool:
    """Whether the key works now; a key unused for `unused_after` milliseconds does not, unless that is None."""
    now = values.now()
    if key.revoked_at is not None or (key.expires_at is not None and key.expires_at <= now):
        return False
    idle = now - (key.last_used_at or key.created_at)
    return unused_after is None or idle < unused_after


def rotate(tx: Transaction, pepper: bytes, key: ApiKeyRow, *, overlap: int) -> NewApiKey:
    """Create a successor of this key; the key works for `overlap` more seconds and the client's other keys end now.

    A client therefore has at most two live keys, and one that lost the response can rotate again, after ten seconds: of
    several rotations at once one succeeds, and the others are 409 and end no key that was just handed out.
    """
    now = values.now()
    keys = tx.all(_OF_CLIENT, client=key.client_id, now=now)
    if key.retired_at is not None and any(other.created_at > now - _TURN for other in keys if other.id != key.id):
        raise Conflict("This key was rotated just now. If its new key did not reach you, try again in ten seconds.")
    for other in keys:
        if other.id != key.id or overlap == 0:
            revoke(tx, other, actor=key.client_id)
    if overlap:
        tx.run(_RETIRE, key=key.id, at=now, until=now + overlap * 1000)
    made = add(tx, pepper, key.client_id)
    audit.record(tx, "key.rotated", key.client_id, actor=key.client_id, key=key.id, successor=made.id)
    return made


def revoke(tx: Transaction, key: ApiKeyRow, *, actor: str) -> None:
    """Revoke a key and every token that was issued for it; a revoked key stays as it is."""
    if tx.run(_REVOKE, key=key.id, at=values.now()):
        revocations.revoke(tx, key_identity(key.id))
        audit.record(tx, "key.revoked", key.client_id, actor=actor, key=key.id)


def note_use(tx: Transaction, key_id: str, *, at: int, network: str) -> None:
    """Store when (milliseconds) and from which network a key was used."""
    tx.run(_USED, key=key_id, at=at, network=network)
