"""API keys: their text, their rows, and who calls with one; also the text of opaque access tokens.

`ngt_live_<12 id>_<32 secret><6 checksum>` is an API key of 60 characters. `ngt_temp_<26 id>_<32 secret><6 checksum>`
is an opaque access token. The secret has 190 bits. The checksum is the CRC-32 of the text before it in six digits of
base 62, so that a mistyped text is refused without reading the database and a secret scanner recognises a leaked one.
"""

import asyncio
import contextlib
import hmac
import re
import secrets
import string
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import Final

from sqlalchemy import BigInteger, bindparam, func, or_, update
from sqlmodel import col, select

from negotiator.base import values
from negotiator.base.caller import Caller, CallerRate, RetiringCredential
from negotiator.base.errors import Conflict, Refusal
from negotiator.store import audit
from negotiator.store.statement import Query, RowInsertion, Statement, Transaction
from negotiator.store.store import Store
from negotiator.tokens.tables import ApiKey
from negotiator.trust import revocations

ALPHABET: Final = string.digits + string.ascii_uppercase + string.ascii_lowercase
KEY_PREFIX: Final = "ngt_live_"
BEARER_PREFIX: Final = "ngt_temp_"
_KEY = re.compile(r"(ngt_live_([0-9A-Za-z]{12})_([0-9A-Za-z]{32}))([0-9A-Za-z]{6})")
_BEARER = re.compile(r"(ngt_temp_([0-9a-z]{26})_([0-9A-Za-z]{32}))([0-9A-Za-z]{6})")
KEY_ID_LENGTH: Final = 12
_SECRET, _SUM = 32, 6


def new_id() -> str:
    """A new random key id, which reveals neither the time nor the order of creation."""
    return "".join(secrets.choice(ALPHABET) for _ in range(KEY_ID_LENGTH))


def new_secret() -> str:
    """A new secret: 190 random bits as 32 characters of base 62."""
    return "".join(secrets.choice(ALPHABET) for _ in range(_SECRET))


def derived_secret(pepper: bytes, *parts: str) -> str:
    """A secret in the form of `new_secret`, computed from the parts with HMAC-SHA-512 under `pepper`."""
    octets = hmac.digest(pepper, "\0".join(parts).encode(), "sha512")
    return _base62(int.from_bytes(octets), _SECRET)


def write_key(key_id: str, secret: str) -> str:
    """The text of the API key with this id and secret."""
    return _summed(f"{KEY_PREFIX}{key_id}_{secret}")


def read_key(text: str) -> tuple[str, str] | None:
    """The id and the secret of a well-formed API key; None for any other text."""
    return _read(_KEY, text)


def write_bearer(jti: str, pepper: bytes) -> str:
    """The opaque access token for the row with the id `jti`."""
    return _summed(f"{BEARER_PREFIX}{jti}_{derived_secret(pepper, 'bearer', jti)}")


def read_bearer(text: str, pepper: bytes) -> str | None:
    """The `jti` of an opaque access token that this service made; None for any other text."""
    read = _read(_BEARER, text)
    if read is None:
        return None
    jti, secret = read
    return jti if hmac.compare_digest(secret, derived_secret(pepper, "bearer", jti)) else None


def _read(form: re.Pattern[str], text: str) -> tuple[str, str] | None:
    found = form.fullmatch(text)
    if found is None or _checksum(found[1]) != found[4]:
        return None
    return found[2], found[3]


def _summed(text: str) -> str:
    return text + _checksum(text)


def _checksum(text: str) -> str:
    return _base62(zlib.crc32(text.encode()), _SUM)


def _base62(number: int, length: int) -> str:
    digits: list[str] = []
    for _ in range(length):
        number, digit = divmod(number, len(ALPHABET))
        digits.append(ALPHABET[digit])
    return "".join(reversed(digits))


@dataclass(frozen=True, slots=True)
class ClientEntitlement:
    """The trust level, the allowed scopes and the request rate of a client that holds API keys."""

    level: int
    scopes: frozenset[str]
    rate: CallerRate


FindEntitlement = Callable[[Transaction, str], ClientEntitlement | None]
"""Finds the entitlement of a client id; None when there is no such client or it was removed."""


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
    at, key_id = values.now(), new_id()
    text = write_key(key_id, new_secret())
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
    read = read_key(text)
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


KEY_UNUSED: Final = 90 * values.DAY
"""Milliseconds without use after which an API key of an agent that has proven nothing ends."""
_NOTED_EVERY: Final = 300_000
_REMEMBERED: Final = 8192


@dataclass(frozen=True, slots=True)
class LiveApiKey:
    """A live API key and the entitlement of its client."""

    row: ApiKeyRow
    standing: ClientEntitlement


class ApiKeyAuthenticator:
    """Checks API keys against their rows at every request and records their use at most once in five minutes.

    A key of a client of level 1 ends after `KEY_UNUSED` without use.
    """

    def __init__(self, store: Store, pepper: bytes, find_standing: FindEntitlement) -> None:
        self._store = store
        self._pepper = pepper
        self._find_standing = find_standing
        self._noted: dict[str, int] = {}
        self._notes: set[asyncio.Task[None]] = set()

    def live(self, tx: Transaction, text: str) -> LiveApiKey | None:
        """The key with this text, if the key is live and its client exists."""
        return self._live(tx, find(tx, self._pepper, text))

    def stands(self, tx: Transaction, caller: Caller) -> bool:
        """Whether the caller's key is still live."""
        return self._live(tx, by_id(tx, caller.credential)) is not None

    def _live(self, tx: Transaction, key: ApiKeyRow | None) -> LiveApiKey | None:
        standing = self._find_standing(tx, key.client_id) if key else None
        if key is None or standing is None:
            return None
        now = values.now()
        ended = key.revoked_at is not None or (key.expires_at is not None and key.expires_at <= now)
        unused = standing.level == 1 and now - (key.last_used_at or key.created_at) >= KEY_UNUSED
        return None if ended or unused else LiveApiKey(key, standing)

    def confirm(self, tx: Transaction, found: LiveApiKey, address: str) -> LiveApiKey | None:
        """The key as it is now, if it is still live; its use is recorded if it is due."""
        live = self._live(tx, by_id(tx, found.row.id))
        if live and is_use_due(live):
            tx.run(_USED, key=live.row.id, at=values.now(), network=client_network(address))
        return live

    async def authenticate(self, text: str, address: str) -> Caller | None:
        """The caller of a live key, else None. A text with a wrong checksum is refused without reading the database."""
        if read_key(text) is None:
            return None
        found = await self._store.read(lambda tx: self.live(tx, text))
        if found is None:
            return None
        key, standing = found.row, found.standing
        self._note(key, address)
        return Caller(
            kind="agent",
            principal=key.client_id,
            credential=key.id,
            scopes=standing.scopes,
            client_id=key.client_id,
            level=standing.level,
            rate=standing.rate,
            retiring=RetiringCredential(key.retired_at, key.expires_at)
            if key.retired_at is not None and key.expires_at is not None
            else None,
        )

    async def close(self) -> None:
        """Wait until the pending records of use are written."""
        await asyncio.gather(*self._notes)

    def _note(self, key: ApiKeyRow, address: str) -> None:
        """Record the use in a background task, unless it was recorded within the last five minutes."""
        now = values.now()
        last = max(key.last_used_at or 0, self._noted.get(key.id, 0))
        if now - last < _NOTED_EVERY:
            return
        if len(self._noted) >= _REMEMBERED:
            del self._noted[next(iter(self._noted))]
        self._noted[key.id] = now
        task = asyncio.create_task(self._write_note(key.id, now, client_network(address)))
        self._notes.add(task)
        task.add_done_callback(self._notes.discard)

    async def _write_note(self, key_id: str, now: int, seen_from: str) -> None:
        with contextlib.suppress(Refusal):  # the database's own log tells of it
            await self._store.write(lambda tx: tx.run(_USED, key=key_id, at=now, network=seen_from))


def is_use_due(key: LiveApiKey) -> bool:
    """Whether the use of the key was not recorded for five minutes."""
    return values.now() - (key.row.last_used_at or 0) >= _NOTED_EVERY


def client_network(address: str) -> str:
    """The network of a client address, which does not identify one machine: IPv4 /24, IPv6 /48; else empty."""
    try:
        first = ip_address(address.partition("/")[0].partition("%")[0])
    except ValueError:
        return ""
    return str(ip_network((first, 24 if first.version == 4 else 48), strict=False))
