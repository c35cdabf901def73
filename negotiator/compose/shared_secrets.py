"""The pepper and the signing keys, and whether they are those of all machines that share the database.

The database has a fingerprint of the pepper and the ids of the signing keys. The first start records them. A machine
with another pepper, or without the key that signs, would void what the others issue, so it does not start.
"""

import contextlib
import os
import secrets
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Final

from negotiator.errors import Unavailable
from negotiator.fault_log import FaultLog
from negotiator.keys import ALGORITHMS, Keyring
from negotiator.settings import Settings
from negotiator.store import fingerprints
from negotiator.store.statement import Transaction
from negotiator.store.store import Store
from negotiator.values import keyed_digest

PEPPER: Final = "pepper"
_DIGITS: Final = 16
_ADOPT: Final = (
    "a machine that works with it, or run `negotiator keys adopt` to make this machine's count"
)


def load_pepper(settings: Settings) -> bytes:
    """The secret behind codes and cursors: from the settings, else a file that the first start creates."""
    if settings.secret:
        return settings.secret.encode()
    path = settings.pepper_file
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(32))
    return path.read_bytes()


async def claim_secrets(store: Store, settings: Settings) -> bytes:
    """Create the pepper and the keys where the database knows none yet; returns the pepper.

    Raises `Unavailable` when the database's are others, and then leaves no new file.
    """
    recorded = await store.read(fingerprints.recorded)
    if fault := missing_secret(settings, recorded):
        raise Unavailable(fault)
    before = _files(settings)
    pepper = load_pepper(settings)
    try:
        keyring = Keyring(settings.keys_dir)
        await store.write(partial(_claim, settings=settings, pepper=pepper, keyring=keyring))
    except Unavailable:
        for path in _files(settings) - before:
            path.unlink()
        raise
    return pepper


def missing_secret(settings: Settings, recorded: Mapping[str, str]) -> str:
    """Which of the database's secrets this machine has not at all, and what to do; empty when it has each."""
    files = _files(settings)
    if PEPPER in recorded and not settings.secret and settings.pepper_file not in files:
        return f"{settings.pepper_file} is missing, the pepper of this database: copy it from {_ADOPT}."
    has_keys = any(path.suffix == ".pem" for path in files)
    return (
        ""
        if has_keys or recorded.keys().isdisjoint(ALGORITHMS)
        else _other_keys(settings, recorded)
    )


def adopt(tx: Transaction, pepper: bytes, keyring: Keyring) -> None:
    """Make this pepper and these keys those of the database."""
    for name, value in _own(pepper, keyring).items():
        fingerprints.record(tx, name, value)


def note_rotation(tx: Transaction, settings: Settings, keyring: Keyring) -> None:
    """Record the keys that sign after a rotation; `Unavailable` when the database's keys are others."""
    recorded = fingerprints.recorded(tx)
    if fault := _fault_of_keys(settings, keyring, recorded):
        raise Unavailable(fault)
    _record_newer(tx, keyring, recorded)


def fault_of(
    settings: Settings, pepper: bytes, keyring: Keyring, recorded: Mapping[str, str]
) -> str:
    """Why these secrets do not work with the database, and what to do; empty when they do."""
    if recorded.get(PEPPER, _digest(pepper)) != _digest(pepper):
        return _another_pepper(settings)
    return _fault_of_keys(settings, keyring, recorded)


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
        return "lesser: not those of the other machines" if self._faults.error else "ok"


def _claim(tx: Transaction, settings: Settings, pepper: bytes, keyring: Keyring) -> None:
    recorded = fingerprints.recorded(tx)
    if fault := fault_of(settings, pepper, keyring, recorded):
        raise Unavailable(fault)
    for name, value in _own(pepper, keyring).items():
        if name not in recorded:
            fingerprints.record(tx, name, value)
    _record_newer(tx, keyring, recorded)


def _record_newer(tx: Transaction, keyring: Keyring, recorded: Mapping[str, str]) -> None:
    """The ids of keys are ordered by age."""
    for name in ALGORITHMS:
        if (signing := keyring.signing(name).kid) > recorded.get(name, ""):
            fingerprints.record(tx, name, signing)


def _own(pepper: bytes, keyring: Keyring) -> dict[str, str]:
    return {PEPPER: _digest(pepper), **{name: keyring.signing(name).kid for name in ALGORITHMS}}


def _digest(pepper: bytes) -> str:
    return keyed_digest(pepper, "fingerprint")[:_DIGITS]


def _files(settings: Settings) -> set[Path]:
    keys = settings.keys_dir.glob("*.pem") if settings.keys_dir.is_dir() else ()
    return {*keys, *((settings.pepper_file,) if settings.pepper_file.exists() else ())}


def _another_pepper(settings: Settings) -> str:
    place = "NEGOTIATOR_SECRET" if settings.secret else settings.pepper_file
    return f"{place} is not the pepper of this database: copy it from {_ADOPT}."


def _fault_of_keys(settings: Settings, keyring: Keyring, recorded: Mapping[str, str]) -> str:
    own = {key.kid for key in keyring.all()}
    wanted = {recorded[name] for name in ALGORITHMS if name in recorded}
    return "" if wanted <= own else _other_keys(settings, recorded)


def _other_keys(settings: Settings, recorded: Mapping[str, str]) -> str:
    wanted = ", ".join(recorded[name] for name in ALGORITHMS if name in recorded)
    return (
        f"{settings.keys_dir} lacks keys that sign for this database ({wanted}): "
        f"put in the place of its files those of {_ADOPT}."
    )
