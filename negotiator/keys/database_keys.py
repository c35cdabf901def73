"""Signing keys in the database, for machines without a shared folder; each is encrypted under a secret of the operator.

A rotation needs no agreement on the time. The command reads which keys are next, waits `LEAD` seconds, and only then
adds a key after each, which makes them sign. A process reads the list of keys twice a second. If its last reading is
younger than `_FRESH`, which is less than `LEAD`, it has every key that may sign; if not, a key that it does not know is
a 503 and no 401. The reasons are in docs/decisions/0005-tokens.md.
"""

import asyncio
import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final

from cryptography.exceptions import InvalidTag, UnsupportedAlgorithm
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_der_private_key
from sqlalchemy import BigInteger, LargeBinary, bindparam, delete
from sqlmodel import Field, col, select

from negotiator.base import values
from negotiator.base.errors import Conflict, Unavailable
from negotiator.keys.keyring import (
    ALGORITHMS,
    RETIRED_FOR,
    Keyring,
    SigningKey,
    UnusableKeyError,
    families,
    named_key,
    new_key,
)
from negotiator.runtime.fault_log import FaultLog
from negotiator.store import fingerprints
from negotiator.store.model import TableModel, table_options
from negotiator.store.statement import Query, RowInsertion, Statement, Transaction, entity
from negotiator.store.store import Store

WRAPPING: Final = "key_wrapping"
"""The name of the fingerprint that the database has while its signing keys are in it."""
LEAD: Final = 5.0
"""Seconds between the moment at which the next keys are surely published and the moment from which on they sign."""
_FRESH: Final = 4.0
_POLL: Final = 0.5
_SIGNS_FOR: Final = values.HOUR / 1000
"""Seconds without a reading after which a process signs no more. A key that was retired meanwhile verifies for days."""
_NONCE: Final = 12
_PURPOSE: Final = b"negotiator signing keys 1"
_NONE: Final = "The database has no signing keys."
_NEVER: Final = float("-inf")


class WrappedKey(TableModel, table=True):
    """A private key (PKCS #8), encrypted by AES-256-GCM; `made_at` in milliseconds by the database's clock."""

    __tablename__ = "signing_keys"
    __table_args__ = table_options(kept="a rotation deletes the keys whose tokens have all expired")

    kid: str = Field(primary_key=True)
    made_at: int = Field(sa_type=BigInteger)
    wrapped: bytes = Field(sa_type=LargeBinary)


_KIDS = Query(select(col(WrappedKey.kid)), lambda row: str(row[0]))
_ALL = Query(select(WrappedKey), entity(WrappedKey))
_INSERT = RowInsertion(WrappedKey)
_DELETE = Statement(delete(WrappedKey).where(col(WrappedKey.kid) == bindparam("kid")))


class KeyWrapping:
    """Encrypts private keys under a secret. A row that was changed or exchanged for another does not open."""

    def __init__(self, secret: bytes) -> None:
        self._cipher = AESGCM(HKDF(SHA256(), 32, None, _PURPOSE).derive(secret))
        self.fingerprint = values.keyed_digest(secret, "fingerprint")[:16]

    def wrap(self, key: SigningKey, made_at: int) -> WrappedKey:
        der = key.private.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
        nonce = os.urandom(_NONCE)
        sealed = self._cipher.encrypt(nonce, der, _bound(key.kid, made_at))
        return WrappedKey(kid=key.kid, made_at=made_at, wrapped=nonce + sealed)

    def unwrap(self, row: WrappedKey) -> SigningKey:
        """The key of a row; `UnusableKeyError` when it was wrapped under another secret, or changed since."""
        place = f"The signing key {row.kid} in the database"
        nonce, sealed = row.wrapped[:_NONCE], row.wrapped[_NONCE:]
        try:
            der = self._cipher.decrypt(nonce, sealed, _bound(row.kid, row.made_at))
            private = load_der_private_key(der, None, unsafe_skip_rsa_key_validation=True)
        except (InvalidTag, ValueError, TypeError, UnsupportedAlgorithm):
            raise UnusableKeyError(
                f"{place} cannot be decrypted: it was changed, or wrapped under another secret."
            ) from None
        return named_key(row.kid, private, place)


def _bound(kid: str, made_at: int) -> bytes:
    return b"%s\0%s\0%d" % (_PURPOSE, kid.encode(), made_at)


class DatabaseKeyring(Keyring):
    """The keys in a database; `watch` notices what other machines change."""

    def __init__(self, store: Store, secret: bytes, elapsed: Callable[[], float] = values.elapsed) -> None:
        super().__init__()
        self._store = store
        self.wrapping = KeyWrapping(secret)
        self._elapsed = elapsed
        self._read_at = _NEVER
        self._seen: list[str] = []
        self._faults = FaultLog("a signing key in the database cannot be used; the loaded ones are")

    @property
    def fault(self) -> str:
        return self._faults.error

    def all(self) -> list[SigningKey]:
        """All keys as they were last read; `Unavailable` before that."""
        if not self.loaded:
            raise Unavailable("The signing keys have not been read yet.")
        return self.loaded

    def find(self, kid: str) -> SigningKey | None:
        """The key of this id; `Unavailable` when it may be a new one."""
        found = next((key for key in self.all() if key.kid == kid), None)
        if found is None and self._age() > _FRESH:
            raise Unavailable("The signing keys could not be read lately.")
        return found

    def signing(self, algorithm: str) -> SigningKey:
        """The current key of this algorithm; `Unavailable` when that may have changed too long ago."""
        if self._age() > _SIGNS_FOR:
            raise Unavailable("The signing keys could not be read lately.")
        return super().signing(algorithm)

    async def start(self) -> None:
        """Load the keys, which are made if the database has never had any; without it they are loaded by `watch`.

        `UnusableKeyError` when a key cannot be used.
        """
        try:
            await self.make_first()
            await self.load()
        except Unavailable:  # its own log tells
            return

    async def watch(self) -> None:
        while True:
            try:
                await self._refresh()
            except Unavailable:  # the database's own log tells
                pass
            except Exception as fault:  # whatever the driver raises: the loaded keys stay in use
                self._faults.failed(type(fault).__name__)
            await asyncio.sleep(_POLL)

    async def freshen(self) -> None:
        """Read the list again if the last reading is too old; without the database the loaded keys stay in use."""
        if self._age() > _FRESH:
            try:
                await self._refresh()
            except Unavailable:
                return

    async def make_first(self) -> None:
        """Make the first keys, unless the database has or had some; of several processes at once one does."""
        if not await self._store.read(_has_had_keys):
            await self._store.write(partial(self._insert_first, await self._wrapped(_first_keys())))

    async def load(self) -> None:
        """Read the keys; `UnusableKeyError` unless there are some and all can be used."""
        faults = await self._load()
        if faults:
            raise UnusableKeyError(faults[0])

    async def rotate(self, note: Callable[[Transaction, str], None]) -> SigningKey:
        """Let the next keys sign, add new next keys, and delete keys whose tokens have all expired.

        `note` runs in the same unit and gets the id of the ES256 key that signs. `Conflict` when the keys changed while
        this waited; then nothing was done.
        """
        await self.load()
        seen, rows = self._seen, await self._store.read(lambda tx: tx.all(_ALL))
        added = await self._wrapped([new_key(name, self._families[name][-1].kid) for name in ALGORITHMS])
        await asyncio.sleep(LEAD)
        # Both clocks must say that a key's last token has expired.
        retired = min(values.now(), await self._store.clock()) - RETIRED_FOR
        made_at = {row.kid: row.made_at for row in rows}
        old = [
            key.kid
            for family in self._families.values()
            for key, successor in zip(family, family[2:], strict=False)
            if max(successor.made_at, made_at[successor.kid]) < retired
        ]
        signing = {name: self._families[name][-1].kid for name in ALGORITHMS}

        def unit(tx: Transaction) -> None:
            _check_unchanged(tx, seen)
            _delete(tx, old)
            _insert(tx, added)
            for name, kid in signing.items():
                fingerprints.record(tx, name, kid)
            note(tx, signing[ALGORITHMS[0]])

        await self._store.write(unit)
        await self.load()
        return self.current

    async def copy(self, keys: Sequence[SigningKey]) -> None:
        """Put the keys of files into the database; of several processes at once one does."""
        rows = await self._wrapped(keys)

        def unit(tx: Transaction) -> None:
            if not tx.all(_KIDS):
                _insert(tx, rows)
                self._record(tx, keys)

        await self._store.write(unit)

    async def remove(self, kid: str, note: Callable[[Transaction], None]) -> None:
        """Delete this key from the database. `Conflict` when its keys changed since they were loaded."""
        seen = self._seen

        def unit(tx: Transaction) -> None:
            _check_unchanged(tx, seen)
            _delete(tx, [kid])
            note(tx)

        await self._store.write(unit)

    def _age(self) -> float:
        return self._elapsed() - self._read_at

    async def _refresh(self) -> None:
        began = self._elapsed()
        if self._seen and await self._store.read(_kids) == self._seen and not self.fault:
            self._read_at = began
        elif faults := await self._load():
            self._faults.failed(faults[0])
        else:
            self._faults.worked()

    async def _load(self) -> list[str]:
        """Use every stored key that can be used; returns what is wrong with the others.

        Where they are too few to sign, the loaded ones stay.
        """
        began = self._elapsed()
        rows = await self._store.read(lambda tx: tx.all(_ALL))
        keys, faults = self._unwrapped(rows)
        if any(len(family) < 2 for family in families(keys).values()):
            faults = faults or [_NONE]
        else:
            self._use(keys)
            self._seen = sorted(row.kid for row in rows)
        if self.loaded:
            self._read_at = began
        return faults

    def _unwrapped(self, rows: Iterable[WrappedKey]) -> tuple[list[SigningKey], list[str]]:
        """The keys of the rows, in their order, and what is wrong with the other rows."""
        known = {key.kid: key for key in self.loaded}
        keys: list[SigningKey] = []
        faults: list[str] = []
        for row in sorted(rows, key=lambda row: row.kid):
            try:
                keys.append(known.get(row.kid) or self.wrapping.unwrap(row))
            except UnusableKeyError as fault:
                faults.append(str(fault))
        return keys, faults

    async def _wrapped(self, keys: Iterable[SigningKey]) -> list[WrappedKey]:
        made_at = await self._store.clock()
        return [self.wrapping.wrap(key, made_at) for key in keys]

    def _insert_first(self, rows: list[WrappedKey], tx: Transaction) -> None:
        if not _has_had_keys(tx):
            _insert(tx, rows)
            self._record(tx, [self.wrapping.unwrap(row) for row in rows])

    def _record(self, tx: Transaction, keys: Iterable[SigningKey]) -> None:
        """Store which keys sign, and the fingerprint of the secret."""
        for name, family in families(keys).items():
            fingerprints.record(tx, name, family[-2].kid)
        fingerprints.record(tx, WRAPPING, self.wrapping.fingerprint)


def check_rows(tx: Transaction, secret: bytes) -> None:
    """Raise `UnusableKeyError` unless the database has signing keys and this secret decrypts all of them."""
    rows, wrapping = tx.all(_ALL), KeyWrapping(secret)
    if not rows:
        raise UnusableKeyError(_NONE)
    for row in rows:
        wrapping.unwrap(row)


def _first_keys() -> list[SigningKey]:
    """For each algorithm a current key and a next one."""
    keys: list[SigningKey] = []
    for name in ALGORITHMS:
        keys.append(new_key(name))
        keys.append(new_key(name, keys[-1].kid))
    return keys


def _kids(tx: Transaction) -> list[str]:
    return sorted(tx.all(_KIDS))


def _has_had_keys(tx: Transaction) -> bool:
    return bool(_kids(tx)) or any(name in fingerprints.recorded(tx) for name in ALGORITHMS)


def _check_unchanged(tx: Transaction, seen: list[str]) -> None:
    if _kids(tx) != seen:
        raise Conflict("The signing keys were changed meanwhile; run it again.")


def _insert(tx: Transaction, rows: Iterable[WrappedKey]) -> None:
    for row in rows:
        tx.run(_INSERT, kid=row.kid, made_at=row.made_at, wrapped=row.wrapped)


def _delete(tx: Transaction, kids: Iterable[str]) -> None:
    for kid in kids:
        tx.run(_DELETE, kid=kid)
