"""The pepper, the signing keys and the base URL, and whether they are those of all machines that share the database.

The database has a fingerprint of the pepper and the ids of the signing keys, and while these are in it one of the
secret that encrypts them. The first start records them. A machine with another pepper, or without the key that signs,
would void what the others issue, so it does not start. Another base URL is a warning and not a refusal: an operator may
move a service to another address, and then every machine has the new one after its next start.
"""

import contextlib
import os
import secrets
from collections.abc import Mapping
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from negotiator.base.errors import Conflict, Unavailable
from negotiator.base.values import keyed_digest
from negotiator.config.settings import ENV_PREFIX, Settings
from negotiator.keys.database_keys import WRAPPING, DatabaseKeyring, KeyWrapping
from negotiator.keys.keyring import ALGORITHMS, FolderKeyring, Keyring, UnusableKeyError, read_keys
from negotiator.runtime.fault_log import FaultLog
from negotiator.store import audit, fingerprints
from negotiator.store.statement import Transaction
from negotiator.store.store import Store

PEPPER: Final = "pepper"
_DIGITS: Final = 16
_COPY: Final = "a machine that works with it, or restore a backup"
_IN_DATABASE: Final = "The signing keys of this database are in it: set NEGOTIATOR_KEYS_IN=database."
_IN_FILES: Final = (
    "The signing keys of this database are in files: start a server that has them in NEGOTIATOR_KEYS_DIR, which copies "
    "them into the database, or set NEGOTIATOR_KEYS_IN=files."
)


def load_pepper(settings: Settings) -> bytes:
    """The secret behind codes and cursors: from the settings, else a file that the first start creates."""
    return settings.secret.encode() or _read_or_make(settings.pepper_file)


def load_keys_secret(settings: Settings) -> bytes:
    """The secret that encrypts signing keys in the database: from the settings, else a file that is made once."""
    return settings.keys_secret.encode() or _read_or_make(settings.keys_secret_file)


def _read_or_make(path: Path) -> bytes:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(secrets.token_urlsafe(32))
    return path.read_bytes()


def make_keyring(settings: Settings, store: Store) -> FolderKeyring | DatabaseKeyring:
    """The signing keys of these settings; those of a database are not loaded yet."""
    if settings.keys_in == "files":
        return FolderKeyring(settings.keys_dir)
    return DatabaseKeyring(store, load_keys_secret(settings))


async def open_keyring(settings: Settings, store: Store) -> FolderKeyring | DatabaseKeyring:
    """The signing keys of these settings, loaded; made where the database knows none yet.

    Raises `Unavailable` or `UnusableKeyError` where that cannot be.
    """
    if settings.keys_in == "files":
        return FolderKeyring(settings.keys_dir)
    if fault := fault_of_place(settings, await store.read(fingerprints.recorded)):
        raise Unavailable(fault)
    keyring = DatabaseKeyring(store, load_keys_secret(settings))
    await keyring.make_first()
    await keyring.load()
    return keyring


async def claim_secrets(store: Store, settings: Settings) -> bytes:
    """Create the pepper and the keys where the database knows none yet; returns the pepper.

    Raises `Unavailable` or `UnusableKeyError` when the database's are others, and then leaves no new file.
    """
    before = _files(settings)
    await _copy_keys_of_files(store, settings)
    if fault := missing_secret(settings, await store.read(fingerprints.recorded)):
        raise Unavailable(fault)
    pepper = load_pepper(settings)
    try:
        keyring = await open_keyring(settings, store)
        await store.write(partial(_claim, settings=settings, pepper=pepper, keyring=keyring))
    except (Unavailable, UnusableKeyError):
        for path in _files(settings) - before:
            path.unlink()
        raise
    return pepper


async def _copy_keys_of_files(store: Store, settings: Settings) -> None:
    """Copy the signing keys into a database that is to have them, where they were files before and are here."""
    recorded = await store.read(fingerprints.recorded)
    if settings.keys_in == "files" or WRAPPING in recorded or not _signing(recorded) or not _key_files(settings):
        return
    keys = read_keys(settings.keys_dir)
    if _signing(recorded) <= {key.kid for key in keys}:
        await DatabaseKeyring(store, load_keys_secret(settings)).copy(keys)


def missing_secret(settings: Settings, recorded: Mapping[str, str]) -> str:
    """Which of the database's secrets this machine has not at all, and what to do; empty when it has each."""
    if PEPPER in recorded and not settings.secret and not settings.pepper_file.exists():
        return f"{settings.pepper_file} is missing, the pepper of this database: copy it from {_COPY}."
    if fault := fault_of_place(settings, recorded):
        return fault
    if settings.keys_in == "files" and _signing(recorded) and not _key_files(settings):
        return _other_keys(settings, recorded)
    return ""


async def rotate_keys(store: Store, settings: Settings) -> str:
    """Let the next signing keys sign; returns the id of the ES256 key that signs now.

    Raises `Unavailable` when the keys of these settings are not those of the database.
    """

    def note(tx: Transaction, kid: str) -> None:
        audit.record(tx, "signing_key.rotated", kid, actor="operator")

    recorded = await store.read(fingerprints.recorded)
    if fault := fault_of_place(settings, recorded):
        raise Unavailable(fault)
    keyring = await open_keyring(settings, store)
    if fault := _fault_of_keys(settings, keyring, recorded):
        raise Unavailable(fault)
    if isinstance(keyring, DatabaseKeyring):
        return (await keyring.rotate(note)).kid
    kid = keyring.rotate().kid

    def unit(tx: Transaction) -> None:
        _record_newer(tx, keyring, fingerprints.recorded(tx))
        note(tx, kid)

    await store.write(unit)
    return kid


async def remove_key(store: Store, settings: Settings, kid: str) -> None:
    """Delete a retired signing key. `NotFound` when there is none of this id, `Conflict` when it signs or will."""
    keyring = await open_keyring(settings, store)
    if not keyring.is_retired(kid):
        raise Conflict(f"{kid} signs, or will after the next rotation; rotate first.")

    def note(tx: Transaction) -> None:
        audit.record(tx, "signing_key.removed", kid, actor="operator")

    if isinstance(keyring, DatabaseKeyring):
        await keyring.remove(kid, note)
    else:
        keyring.remove(kid)
        await store.write(note)


def fault_of(settings: Settings, pepper: bytes, keyring: Keyring, recorded: Mapping[str, str]) -> str:
    """Why these secrets do not work with the database, and what to do; empty when they do."""
    if recorded.get(PEPPER, _digest(pepper)) != _digest(pepper):
        place = "NEGOTIATOR_SECRET" if settings.secret else settings.pepper_file
        return f"{place} is not the pepper of this database: copy it from {_COPY}."
    return fault_of_place(settings, recorded) or _fault_of_keys(settings, keyring, recorded)


class SecretsComparison:
    """Compares the secrets of a running process with the database's, for the health check."""

    def __init__(self, settings: Settings, store: Store, pepper: bytes, keyring: Keyring) -> None:
        self._settings, self._store, self._pepper, self._keyring = settings, store, pepper, keyring
        self._faults = FaultLog("this machine's secrets are not those of the others")

    async def compare(self) -> None:
        """Look at the database's fingerprints."""
        recorded = await self._store.read(fingerprints.recorded)
        if fault := fault_of(self._settings, self._pepper, self._keyring, recorded):
            self._faults.failed(fault)
        else:
            self._faults.worked()

    def state(self) -> str:
        """`ok`, or a few words for the health check, which is public and so names no file."""
        if self._faults.error:
            return "lesser: not those of the other machines"
        return "lesser: a signing key cannot be used" if self._keyring.fault else "ok"


def _claim(tx: Transaction, settings: Settings, pepper: bytes, keyring: Keyring) -> None:
    recorded = fingerprints.recorded(tx)
    if fault := fault_of(settings, pepper, keyring, recorded):
        raise Unavailable(fault)
    own = {PEPPER: _digest(pepper), **{name: keyring.signing(name).kid for name in ALGORITHMS}}
    for name, value in own.items():
        if name not in recorded:
            fingerprints.record(tx, name, value)
    _record_newer(tx, keyring, recorded)


def _record_newer(tx: Transaction, keyring: Keyring, recorded: Mapping[str, str]) -> None:
    """The ids of keys are ordered by age."""
    for name in ALGORITHMS:
        if (signing := keyring.signing(name).kid) > recorded.get(name, ""):
            fingerprints.record(tx, name, signing)


def _digest(pepper: bytes) -> str:
    return keyed_digest(pepper, "fingerprint")[:_DIGITS]


def _files(settings: Settings) -> set[Path]:
    made = (settings.pepper_file, settings.keys_secret_file)
    return {*_key_files(settings), *(path for path in made if path.exists())}


def _key_files(settings: Settings) -> list[Path]:
    return list(settings.keys_dir.glob("*.pem")) if settings.keys_dir.is_dir() else []


def _signing(recorded: Mapping[str, str]) -> set[str]:
    """The ids of the keys that sign for the database."""
    return {recorded[name] for name in ALGORITHMS if name in recorded}


def fault_of_place(settings: Settings, recorded: Mapping[str, str]) -> str:
    """Why the database's signing keys are not where these settings say, or cannot be decrypted by their secret."""
    wrapping = recorded.get(WRAPPING)
    if settings.keys_in == "files":
        return _IN_DATABASE if wrapping else ""
    if wrapping is None:
        return _IN_FILES if _signing(recorded) else ""
    known = settings.keys_secret or settings.keys_secret_file.exists()
    if known and KeyWrapping(load_keys_secret(settings)).fingerprint == wrapping:
        return ""
    place = f"{ENV_PREFIX}KEYS_SECRET" if settings.keys_secret else settings.keys_secret_file
    return f"{place} is not the secret of this database's signing keys: copy it from {_COPY}."


def _fault_of_keys(settings: Settings, keyring: Keyring, recorded: Mapping[str, str]) -> str:
    own = {key.kid for key in keyring.all()}
    return "" if _signing(recorded) <= own else _other_keys(settings, recorded)


def _other_keys(settings: Settings, recorded: Mapping[str, str]) -> str:
    wanted = ", ".join(sorted(_signing(recorded)))
    if settings.keys_in == "database":
        return f"The database lacks keys that sign for it ({wanted}): restore them from a backup."
    return (
        f"{settings.keys_dir} lacks keys that sign for this database ({wanted}): "
        f"put in the place of its files those of {_COPY}."
    )


BASE_URL = "base_url"


def note_base_url(tx: Transaction, settings: Settings) -> str:
    """Record this machine's base URL; returns a warning when the machine that started last had another one."""
    warning = difference(tx, settings)
    if not _is_local(settings):
        fingerprints.record(tx, BASE_URL, settings.base_url)
    return warning


def difference(tx: Transaction, settings: Settings) -> str:
    """A warning when the machine that started last has another base URL; empty for an address on loopback."""
    known = fingerprints.recorded(tx).get(BASE_URL, settings.base_url)
    if known == settings.base_url or _is_local(settings):
        return ""
    return (
        f"the machine that started last has the base URL {known}, this one {settings.base_url}: "
        "tokens, codes and links of the one do not work at the other"
    )


def is_loopback(host: str) -> bool:
    """Whether this host name or address leads to the machine itself."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_local(settings: Settings) -> bool:
    return is_loopback(urlsplit(settings.base_url).hostname or "")
